(* Reads a certificate in the form that convert.py writes and asks the proved checker. Nothing here is proved: trusted
   are this reader, convert.py, the extraction of Coq, and the compiler of OCaml. *)

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

let read input =
  let integers n = times n (fun () -> integer (next input)) in
  let rationals n = times n (fun () -> rational (next input)) in
  let indices () = let n = count input in times n (fun () -> nat (count input)) in
  expect input "types";
  let types = count input in
  expect input "rewards";
  let rewards = rationals types in
  expect input "workload";
  let workload = rationals types in
  expect input "pools";
  let pools = count input in
  let pool () =
    let share = rational (next input) in
    match next input with
    | "additive" ->
        let resources = count input in
        let capacity = integers resources in
        (share, Additive (capacity, times types (fun () -> integers resources)))
    | "listed" -> let n = count input in (share, Listed (times n (fun () -> integers types)))
    | word -> unreadable ("expected additive or listed, found " ^ word)
  in
  let model = { rewards; workload; pools = times pools pool } in
  expect input "order";
  let order = indices () in
  expect input "ends";
  let every_end =
    match next input with
    | "all" -> true
    | "one" -> false
    | word -> unreadable ("expected all or one, found " ^ word)
  in
  expect input "stages";
  let stages = count input in
  let stage () =
    let fraction = rational (next input) in
    let configurations = times pools (fun () -> integers types) in
    ((configurations, fraction), indices ())
  in
  let listed = times stages stage in
  expect input "columns";
  let column () = let fraction = rational (next input) in (integers types, fraction) in
  let columns = times pools (fun () -> let n = count input in times n column) in
  expect input "slot_prices";
  let slot_prices = rationals types in
  expect input "server_prices";
  let server_prices = rationals pools in
  expect input "claims";
  match rationals 5 with
  | [ greedy_reward; optimal_reward; ratio; guarantee; guarantee_stagewise ] ->
      if !input <> [] then unreadable "the certificate goes on after its end";
      { model; order; listed; every_end; columns; slot_prices; server_prices; greedy_reward; optimal_reward; ratio;
        guarantee; guarantee_stagewise }
  | _ -> assert false

let () =
  match Sys.argv with
  | [| _; path |] -> (
      try
        let channel = open_in_bin path in
        let certificate = read (words channel) in
        if check certificate then print_endline "accepted"
        else (print_endline "refused"; exit 1)
      with Unreadable message | Sys_error message -> prerr_endline ("packproof-checker: " ^ message); exit 2)
  | _ -> prerr_endline "usage: packproof-checker CONVERTED_CERTIFICATE"; exit 2
