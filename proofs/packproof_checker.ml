(* Reads a certificate in the form that convert.py writes and asks the proved checker of its kind. Nothing here is
   proved: trusted are this reader, convert.py, the extraction of Coq, and the compiler of OCaml. *)

open Extracted

exception Unreadable of string

let unreadable message = raise (Unreadable message)

(* Words of the input, in order. *)
let words channel =
  let text = really_input_string channel (in_channel_length channel) in
  ref (List.filter (( <> ) "") (String.split_on_char ' ' (String.map (function '\n' -> ' ' | c -> c) text)))

let next input =
  match !input with
  | [] -> unreadable "the certificate ends too early"
  | word :: rest -> input := rest; word

let expect input word =
  let found = next input in
  if found <> word then unreadable (Printf.sprintf "expected %s, found %s" word found)

(* Numbers of any length, digit by digit. *)
let rec small n = if n = 0 then Z0 else Z.add (small (n - 1)) (Zpos XH)
let digits = Array.init 11 small

let natural word =
  if word = "" then unreadable "a number is empty";
  let value = ref Z0 in
  String.iter
    (fun c ->
      if c < '0' || c > '9' then unreadable ("not a number: " ^ word);
      value := Z.add (Z.mul !value digits.(10)) digits.(Char.code c - Char.code '0'))
    word;
  !value

let integer word =
  if word <> "" && word.[0] = '-' then Z.opp (natural (String.sub word 1 (String.length word - 1))) else natural word

let rational word =
  let above, below =
    match String.index_opt word '/' with
    | None -> (word, "1")
    | Some i -> (String.sub word 0 i, String.sub word (i + 1) (String.length word - i - 1))
  in
  match natural below with
  | Zpos d -> { qnum = integer above; qden = d }
  | _ -> unreadable ("a denominator is not positive: " ^ word)

let count input =
  match int_of_string_opt (next input) with
  | Some n when n >= 0 && n <= 1_000_000 -> n
  | _ -> unreadable "a count is missing"

let rec nat n = if n = 0 then O else S (nat (n - 1))

let rec times n read = if n = 0 then [] else let first = read () in first :: times (n - 1) read

let fraction input = rational (next input)
let integers input n = times n (fun () -> integer (next input))
let rationals input n = times n (fun () -> fraction input)
let counted input read = let n = count input in times n read
let indices input = counted input (fun () -> nat (count input))

let named input name read = expect input name; read ()

let choice input choices =
  let word = next input in
  match List.assoc_opt word choices with
  | Some value -> value
  | None -> unreadable ("expected " ^ String.concat " or " (List.map fst choices) ^ ", found " ^ word)

(* Configurations of so many types, with shares of servers. *)
let columns input types =
  counted input (fun () -> let share = fraction input in (integers input types, share))

let instance input =
  let types = named input "types" (fun () -> count input) in
  let rewards = named input "rewards" (fun () -> rationals input types) in
  let workload = named input "workload" (fun () -> rationals input types) in
  let pool () =
    let share = fraction input in
    match next input with
    | "additive" ->
        let resources = count input in
        let capacity = integers input resources in
        (share, Additive (capacity, times types (fun () -> integers input resources)))
    | "listed" -> (share, Listed (counted input (fun () -> integers input types)))
    | word -> unreadable ("expected additive or listed, found " ^ word)
  in
  let pools = named input "pools" (fun () -> counted input pool) in
  (types, List.length pools, { rewards; workload; pools })

let assignment input =
  let types, pools, model = instance input in
  let order = named input "order" (fun () -> indices input) in
  let stage () =
    let share = fraction input in
    let configurations = times pools (fun () -> integers input types) in
    ((configurations, share), indices input)
  in
  let listed = named input "stages" (fun () -> counted input stage) in
  let columns = named input "columns" (fun () -> times pools (fun () -> columns input types)) in
  let slot_prices = named input "slot_prices" (fun () -> rationals input types) in
  let server_prices = named input "server_prices" (fun () -> rationals input pools) in
  expect input "claims";
  let greedy_reward = fraction input in
  let optimal_reward = fraction input in
  let ratio = fraction input in
  let guarantee = fraction input in
  let guarantee_stagewise = fraction input in
  check { model; order; listed; columns; slot_prices; server_prices; greedy_reward; optimal_reward; ratio;
          guarantee; guarantee_stagewise }

let yes_or_no = [ ("1", true); ("0", false) ]

let region input =
  let types, pools, traffic = instance input in
  let carriers = named input "columns" (fun () -> times pools (fun () -> columns input types)) in
  let prices = named input "prices" (fun () -> rationals input types) in
  let intensity = named input "claims" (fun () -> fraction input) in
  let supportable = choice input yes_or_no in
  check_intensity { traffic; carriers; prices; intensity; supportable }

let throughput input =
  let sizes = named input "sizes" (fun () -> counted input (fun () -> fraction input)) in
  let n = List.length sizes in
  let chances = named input "chances" (fun () -> rationals input n) in
  let servers = named input "servers" (fun () -> fraction input) in
  let below = named input "below" (fun () -> columns input n) in
  let size_prices = named input "prices" (fun () -> rationals input n) in
  let j = named input "J" (fun () -> count input) in
  let vqs_columns = named input "queues" (fun () -> columns input (2 * j)) in
  let queue_prices = named input "queue_prices" (fun () -> rationals input (2 * j)) in
  expect input "claims";
  let lower = fraction input in
  let upper = fraction input in
  let vqs = fraction input in
  let vqs_lost = fraction input in
  check_throughput { law = { sizes; chances }; servers; below; size_prices; vqs_columns; queue_prices; lower; upper;
                     vqs; vqs_lost; vqs_J = nat j }

let mechanisms =
  [ ("drf", DRF); ("ps-dsf", PS_DSF); ("ps-dsf-tdm", PS_DSF_TDM); ("c-drfh", C_DRFH); ("cdrf", CDRF); ("tsf", TSF) ]

let allocation input =
  let mech = named input "mechanism" (fun () -> choice input mechanisms) in
  let users = named input "users" (fun () -> count input) in
  let classes = named input "classes" (fun () -> count input) in
  let resources = named input "resources" (fun () -> count input) in
  let weights = named input "weights" (fun () -> rationals input users) in
  let dominants = named input "dominants" (fun () -> rationals input users) in
  let host () =
    let may = choice input yes_or_no in
    let alone = fraction input in
    (may, alone, rationals input resources)
  in
  let hosts = times users (fun () -> times classes host) in
  let of_hosts part = List.map (List.map part) hosts in
  let placed = named input "placed" (fun () -> times users (fun () -> rationals input classes)) in
  let stage () =
    let class_prices = times classes (fun () -> rationals input resources) in
    { class_prices; task_values = rationals input users }
  in
  let price_stages = named input "stages" (fun () -> counted input stage) in
  let claimed = named input "claims" (fun () -> rationals input users) in
  let shared =
    { users = nat users; classes = nat classes; resources = nat resources; weights; dominants;
      allowed = of_hosts (fun (may, _, _) -> may); alones = of_hosts (fun (_, alone, _) -> alone);
      needs = of_hosts (fun (_, _, parts) -> parts) }
  in
  check_allocation { mech; shared; placed; price_stages; claimed }

let kinds = [ ("assignment", assignment); ("region", region); ("throughput", throughput); ("allocation", allocation) ]

let () =
  match Sys.argv with
  | [| _; path |] -> (
      try
        let channel = open_in_bin path in
        let input = words channel in
        let verdict = (choice input kinds) input in
        if !input <> [] then unreadable "the certificate goes on after its end";
        if verdict then print_endline "accepted" else (print_endline "refused"; exit 1)
      with Unreadable message | Sys_error message -> prerr_endline ("packproof-checker: " ^ message); exit 2)
  | _ -> prerr_endline "usage: packproof-checker CONVERTED_CERTIFICATE"; exit 2
