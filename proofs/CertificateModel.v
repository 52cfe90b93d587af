(** * What a certificate of an assignment speaks of

    Instances, assignments and greedy runs as lists of exact numbers (rationals of the standard library), in the form in
    which the checker reads them. *)

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

(** An assignment: columns for each pool, and jobs in service: no more than there are, no more than slots. *)
Definition is_assignment (m : instance) (columns : list (list (list Z * Q))) (jobs : list Q) : Prop :=
  Forall2 (fun p cs => Forall (fun c => feasible (types m) (snd p) (fst c) /\ 0 <= snd c) cs
                       /\ sum (map snd cs) <= fst p) (pools m) columns
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
  every_end : bool;                               (* whether all types that a stage exhausts are listed, or one *)
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
