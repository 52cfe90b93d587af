(** * What certificates speak of

    Instances, assignments, greedy runs, laws of sizes and clusters as lists of exact numbers (rationals of the standard
    library), in the form in which the checker reads them. *)

From Coq Require Import ZArith QArith List Bool Lia Lqa.
Import ListNotations.
Open Scope Q_scope.

(** ** The model *)

(** Configurations of a server: those whose total demand fits the capacity (one row of demands a type), or those below a
    listed one. *)
Inductive space :=
| Additive (capacity : list Z) (demands : list (list Z))
| Listed (tops : list (list Z)).

(** What is left of the capacities when [s] jobs of demand [row] are placed. *)
Fixpoint less (capacity : list Z) (s : Z) (row : list Z) : list Z :=
  match capacity, row with
  | c :: capacity, d :: row => (c - s * d)%Z :: less capacity s row
  | _, _ => []
  end.

(** [k] has one number of jobs for each row of demands, at least 0, and when all are placed no capacity is negative. *)
Fixpoint fits (demands : list (list Z)) (capacity k : list Z) : Prop :=
  match demands, k with
  | [], [] => Forall (fun c => 0 <= c)%Z capacity
  | row :: demands, s :: k => (0 <= s)%Z /\ fits demands (less capacity s row) k
  | _, _ => False
  end.

(** [J] is the number of types. *)
Definition feasible (J : nat) (room : space) (k : list Z) : Prop :=
  length k = J /\
  match room with
  | Additive capacity demands => fits demands capacity k
  | Listed tops => Forall (fun s => 0 <= s)%Z k /\ Exists (Forall2 Z.le k) tops
  end.

(** Rewards and workload of the types; share of all servers and configurations of each pool. *)
Record instance := Instance { rewards : list Q; workload : list Q; pools : list (Q * space) }.
Definition types (m : instance) : nat := length (rewards m).

(** Sums of products, of numbers and of numbers with slots. *)
Fixpoint inner (a b : list Q) : Q :=
  match a, b with x :: a, y :: b => x * y + inner a b | _, _ => 0 end.
Fixpoint worth (a : list Q) (k : list Z) : Q :=
  match a, k with x :: a, s :: k => x * inject_Z s + worth a k | _, _ => 0 end.
Fixpoint sum (a : list Q) : Q := match a with x :: a => x + sum a | [] => 0 end.
Fixpoint plus (a b : list Q) : list Q :=
  match a, b with x :: a, y :: b => x + y :: plus a b | _, _ => [] end.
Definition times (x : Q) (a : list Q) : list Q := map (Qmult x) a.

(** Slots of each of [J] types of configurations with the shares of servers that have them. *)
Definition slots (J : nat) (columns : list (list Z * Q)) : list Q :=
  fold_right (fun c => plus (times (snd c) (map inject_Z (fst c)))) (repeat 0 J) columns.

(** Columns: configurations in [K] with shares of servers that sum to at most [share]. *)
Definition mixture (K : list Z -> Prop) (columns : list (list Z * Q)) (share : Q) : Prop :=
  Forall (fun c => K (fst c) /\ 0 <= snd c) columns /\ sum (map snd columns) <= share.

(** An assignment: columns for each pool, and jobs in service: no more than there are, no more than slots. *)
Definition is_assignment (m : instance) (columns : list (list (list Z * Q))) (jobs : list Q) : Prop :=
  Forall2 (fun p cs => mixture (feasible (types m) (snd p)) cs (fst p)) (pools m) columns
  /\ Forall2 (fun y r => 0 <= y <= r) jobs (workload m)
  /\ Forall2 Qle jobs (slots (types m) (concat columns)).
Definition value (m : instance) (jobs : list Q) : Q := inner (rewards m) jobs.

(** ** Greedy runs *)

(** A stage: which types are left, the configuration of each pool, the fraction of the servers. *)
Record stage := Stage { left_types : list bool; confs : list (list Z); frac : Q }.

(** Slots of only the types that are left. *)
Definition only (left : list bool) (k : list Z) : Prop :=
  Forall2 (fun (l : bool) s => l = false -> s = 0%Z) left k.

(** The order of Definition 2.2 among configurations of equal reward: more slots of the first type that differs. *)
Fixpoint lex_ge (k k' : list Z) : Prop :=
  match k, k' with
  | s :: k, s' :: k' => (s' < s)%Z \/ s = s' /\ lex_ge k k'
  | _, _ => True
  end.

(** MaxReward of the types left, with its tie rule. *)
Definition max_reward (m : instance) (room : space) (left : list bool) (k : list Z) : Prop :=
  feasible (types m) room k /\ only left k /\
  forall k', feasible (types m) room k' -> only left k' ->
    worth (rewards m) k' < worth (rewards m) k \/ worth (rewards m) k' == worth (rewards m) k /\ lex_ge k k'.

(** Slots of an average server in a stage, jobs served and reward of stages, fraction of servers. *)
Definition stage_slots (m : instance) (s : stage) : list Q :=
  slots (types m) (combine (confs s) (map fst (pools m))).
Definition served (m : instance) (st : list stage) : list Q :=
  fold_right (fun s => plus (times (frac s) (stage_slots m s))) (repeat 0 (types m)) st.
Definition earned (m : instance) (st : list stage) : Q := inner (rewards m) (served m st).
Definition used (st : list stage) : Q := sum (map frac st).

(** As [greedy_run] of Model.v, for the lists of this file. *)
Definition greedy_run (m : instance) (st : list stage) : Prop :=
  (forall pre s post, st = pre ++ s :: post ->
     0 < frac s
     /\ Forall2 (fun p k => max_reward m (snd p) (left_types s) k) (pools m) (confs s)
     /\ Forall2 (fun (l : bool) yr => l = false -> fst yr == snd yr) (left_types s)
          (combine (served m pre) (workload m)))
  /\ Forall2 Qle (served m st) (workload m)
  /\ used st <= 1
  /\ (used st == 1 \/ Forall2 Qeq (served m st) (workload m)).

(** ** Prices *)

Fixpoint minus (a b : list Q) : list Q :=
  match a, b with x :: a, y :: b => (x - y) :: minus a b | _, _ => [] end.

(** A price of a server is right if no configuration is worth more. *)
Definition server_price (J : nat) (beta : list Q) (p : Q * space) (gamma : Q) : Prop :=
  0 <= gamma /\ forall k, feasible J (snd p) k -> worth beta k <= gamma.

(** ** Certificates of an assignment *)

Record certificate := Certificate {
  model : instance;
  order : list nat;                               (* the order in which types are exhausted *)
  listed : list (list (list Z) * Q * list nat);   (* stages: configurations by pool, fraction, types exhausted *)
  columns : list (list (list Z * Q));             (* the optimal assignment, by pool *)
  slot_prices : list Q;
  server_prices : list Q;
  greedy_reward : Q;
  optimal_reward : Q;
  ratio : Q;
  guarantee : Q;
  guarantee_stagewise : Q }.

(** Every row has an entry for every capacity, none negative, one positive. *)
Definition row_ok (n : nat) (row : list Z) : bool :=
  Nat.eqb (length row) n && forallb (fun d => 0 <=? d)%Z row && existsb (fun d => 0 <? d)%Z row.

(** ** Certificates of a traffic intensity *)

(** Columns for each pool have slots for the whole workload, if there are [z] times as many servers. *)
Definition carries (m : instance) (z : Q) (columns : list (list (list Z * Q))) : Prop :=
  Forall2 (fun p cs => mixture (feasible (types m) (snd p)) cs (z * fst p)) (pools m) columns
  /\ Forall2 Qle (workload m) (slots (types m) (concat columns)).

Record intensity_certificate := IntensityCertificate {
  traffic : instance;
  carriers : list (list (list Z * Q));   (* columns that carry the workload, by pool *)
  prices : list Q;                       (* of a slot of each type *)
  intensity : Q;
  supportable : bool }.

(** ** Certificates of a throughput: a law of finitely many sizes, as parts of a server *)

Record size_law := SizeLaw { sizes : list Q; chances : list Q }.

(** Numbers of jobs of each size that fit one server. *)
Definition fits_server (law : size_law) (k : list Z) : Prop :=
  length k = length (sizes law) /\ Forall (fun s => 0 <= s)%Z k /\ worth (sizes law) k <= 1.

(** An average server that holds configurations in [K] has slots for [w] jobs, of which [shares] are of each kind. *)
Definition supports (K : list Z -> Prop) (shares : list Q) (w : Q) (columns : list (list Z * Q)) : Prop :=
  mixture K columns 1 /\ Forall2 Qle (times w shares) (slots (length shares) columns).

(** The share of jobs whose sizes are above [low] and at most [high]. *)
Fixpoint share_of (low high : Q) (xs ps : list Q) : Q :=
  match xs, ps with
  | x :: xs, p :: ps => (if negb (Qle_bool x low) && Qle_bool x high then p else 0) + share_of low high xs ps
  | _, _ => 0
  end.
Definition share_up_to (law : size_law) (x : Q) : Q := share_of 0 x (sizes law) (chances law).
Definition power (m : nat) : Z := 2 ^ Z.of_nat m.

(** Queue 2m of the universal partition has the sizes in (2/3 2^-m, 2^-m], queue 2m + 1 those in (1/2 2^-m, 2/3 2^-m],
    and the last of the 2J queues all that are smaller. *)
Definition upper_end (j : nat) : Q := (if Nat.even j then 1 else 2 # 3) / inject_Z (power (Nat.div2 j)).
Definition queue_shares (law : size_law) (J : nat) : list Q :=
  map (fun j => share_of (if Nat.eqb (S j) (2 * J) then 0 else upper_end (S j)) (upper_end j) (sizes law) (chances law))
    (seq 0 (2 * J)).

(** The reduced configurations, of one queue or of queue 1 and another. *)
Definition queues (J : nat) (jobs : list (nat * Z)) : list Z :=
  map (fun i => fold_right (fun job s => if Nat.eqb (fst job) i then snd job else s) 0%Z jobs) (seq 0 (2 * J)).
Definition reduced (J : nat) : list (list Z) :=
  map (queues J) (flat_map (fun m : nat =>
    let even := (2 * m)%nat in let odd := S even in let n := power m in
    match m with
    | O => [[(0%nat, 1%Z)]]
    | _ => [[(even, n)]; [(odd, 3 * n / 2)%Z]; [(1%nat, 1%Z); (odd, n / 2)%Z]]
    end ++ (if Nat.leb 2 m then [[(1%nat, 1%Z); (even, n / 3)%Z]] else [])) (seq 0 J)).

Record throughput_certificate := ThroughputCertificate {
  law : size_law;
  servers : Q;
  below : list (list Z * Q);       (* numbers of jobs of each size, with shares of a server *)
  size_prices : list Q;
  vqs_columns : list (list Z * Q);
  queue_prices : list Q;
  lower : Q;
  upper : Q;
  vqs : Q;
  vqs_lost : Q;
  vqs_J : nat }.

(** ** Certificates of an allocation

    Users, classes of servers and resources have the numbers 0, 1, ... . A task of a user takes of each resource of a
    class, all its servers together, the part that [needs] says; [allowed] says where a user may run, [alones] how many
    tasks it could run on a class alone if it might run there, and [dominants] the greatest part that a task takes of a
    resource of all servers. *)

Record cluster := Cluster {
  users : nat; classes : nat; resources : nat;
  weights : list Q;
  dominants : list Q;
  allowed : list (list bool);
  needs : list (list (list Q));
  alones : list (list Q) }.

Definition may (c : cluster) (n i : nat) : bool := nth i (nth n (allowed c) []) false.
Definition need (c : cluster) (n i : nat) : list Q := nth i (nth n (needs c) []) [].
Definition part (c : cluster) (n i r : nat) : Q := nth r (need c n i) 0.
Definition entry (rows : list (list Q)) (n i : nat) : Q := nth i (nth n rows []) 0.

(** The sum of [f 0], ..., [f (n - 1)]. *)
Fixpoint total (n : nat) (f : nat -> Q) : Q := match n with O => 0 | S n => total n f + f n end.

(** An allocation gives tasks to each user on each class. Of no resource is more used than there is. *)
Definition tasks (c : cluster) (x : nat -> nat -> Q) (n : nat) : Q := total (classes c) (x n).
Definition load (c : cluster) (x : nat -> nat -> Q) (i r : nat) : Q :=
  total (users c) (fun n => part c n i r * x n i).
Definition is_allocation (c : cluster) (x : nat -> nat -> Q) : Prop :=
  (forall n i, (n < users c)%nat -> (i < classes c)%nat -> 0 <= x n i /\ (may c n i = false -> x n i == 0))
  /\ (forall i r, (i < classes c)%nat -> (r < resources c)%nat -> load c x i r <= 1).

(** Greatest of some numbers and 0. The level of a user on a class: its tasks over those it could run there alone, by
    weight. *)
Definition largest (a : list Q) : Q := fold_right (fun x y => if Qle_bool x y then y else x) 0 a.
Definition level (c : cluster) (x : nat -> nat -> Q) (n i : nat) : Q :=
  tasks c x n * largest (need c n i) / nth n (weights c) 0.

(** PS-DSF (Definition 5): nobody can have more tasks unless somebody else has fewer on a class where its level is no
    higher. *)
Definition is_ps_dsf (c : cluster) (x : nat -> nat -> Q) : Prop :=
  is_allocation c x /\ forall n y, (n < users c)%nat -> is_allocation c y -> tasks c x n < tasks c y n ->
    exists p i, (p < users c)%nat /\ p <> n /\ (i < classes c)%nat /\ may c n i = true
                /\ y p i < x p i /\ level c x p i <= level c x n i.

(** Servers that are shared in time have one resource. *)
Definition timed (c : cluster) : cluster :=
  Cluster (users c) (classes c) 1 (weights c) (dominants c) (allowed c) (map (map (fun a => [largest a])) (needs c))
    (alones c).

(** Max-min fair in one number a user: nobody can have more tasks unless one whose number is no higher has fewer. *)
Definition is_max_min_fair (c : cluster) (height : nat -> Q) (x : nat -> nat -> Q) : Prop :=
  is_allocation c x /\ forall n y, (n < users c)%nat -> is_allocation c y -> tasks c x n < tasks c y n ->
    exists p, (p < users c)%nat /\ tasks c y p < tasks c x p /\ height p <= height n.

Inductive mechanism := DRF | PS_DSF | PS_DSF_TDM | C_DRFH | CDRF | TSF.

(** Tasks that a user could run alone, as the mechanism counts them. *)
Definition tasks_alone (mech : mechanism) (c : cluster) (n : nat) : Q :=
  match mech with
  | C_DRFH => 1 / nth n (dominants c) 0
  | TSF => total (classes c) (entry (alones c) n)
  | _ => total (classes c) (fun i => if may c n i then entry (alones c) n i else 0)
  end.
Definition height (mech : mechanism) (c : cluster) (x : nat -> nat -> Q) (n : nat) : Q :=
  tasks c x n / (nth n (weights c) 0 * tasks_alone mech c n).

(** What each mechanism defines; DRF knows one server. *)
Definition is_fair (mech : mechanism) (c : cluster) (x : nat -> nat -> Q) : Prop :=
  match mech with
  | DRF => classes c = 1%nat /\ is_ps_dsf c x
  | PS_DSF => is_ps_dsf c x
  | PS_DSF_TDM => is_ps_dsf (timed c) x
  | _ => is_max_min_fair c (height mech c x) x
  end.

(** Prices of the resources of each class, and what they let a task of each user be worth. *)
Record price_stage := PriceStage { class_prices : list (list Q); task_values : list Q }.

Record allocation_certificate := AllocationCertificate {
  mech : mechanism;
  shared : cluster;
  placed : list (list Q);        (* tasks by user and class *)
  price_stages : list price_stage;
  claimed : list Q }.            (* tasks by user *)
