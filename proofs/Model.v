(** * The definitions of which the theorems speak

    Statements.v has the theorems, this file every definition that they need, but for those of the checker
    (CertificateModel.v) and three functions of which the theorems say what they compute: [Existence.greedy],
    [Configurations.configurations] and [Checker.check]. All numbers are in an arbitrary ordered field, for example the
    rationals or the reals. *)

From mathcomp Require Import all_ssreflect all_algebra.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(** ** Greedy reservation

    The model of the auto-scaling paper in the limit of many servers. Job types [J] and server pools [P] are finite
    sets. *)

(** A configuration: the number of slots of each type on one server. *)
Definition configuration (J : Type) := J -> nat.

(** An assignment gives every pool a list of configurations with the share of all servers that they take, and says how
    many jobs of each type are in service. *)
Record assignment (F J P : Type) := Assignment { columns : P -> seq (configuration J * F); jobs : J -> F }.

Section Reservation.
Variable F : realFieldType.
Variables J P : finType.
Notation configuration := (configuration J).
Notation assignment := (assignment F J P).

(** [w p] is the share of pool [p] among all servers, [K p] says which configurations a server of the pool can hold,
    [u j] is the reward of a job of type [j], and [rho j] the workload: jobs of the type per server. *)
Variables (w : P -> F) (K : P -> configuration -> Prop) (u rho : J -> F).

(** Whatever is below a feasible configuration is feasible. *)
Definition down_closed := forall p k k', K p k -> (forall j, (k' j <= k j)%N) -> K p k'.

(** U(k): the reward of a server with all slots full. *)
Definition reward (k : configuration) : F := \sum_j u j * (k j)%:R.

(** [k] uses only types in [S]. *)
Definition uses_only (S : {set J}) (k : configuration) := forall j, j \notin S -> k j = 0%N.

(** MaxReward: a feasible configuration of types in [S] with the greatest reward (ties may be broken in any way). *)
Definition is_max_reward p (S : {set J}) (k : configuration) :=
  [/\ K p k, uses_only S k & forall k', K p k' -> uses_only S k' -> reward k' <= reward k].

(** A stage of the greedy assignment: the types left, the configuration of each pool, and the fraction of the servers of
    every pool that the stage takes. *)
Record stage := Stage { left_types : {set J}; conf : P -> configuration; frac : F }.

(** Slots of type [j] and reward of an average server during a stage. *)
Definition slots (s : stage) j : F := \sum_p w p * (conf s p j)%:R.
Definition rate (s : stage) : F := \sum_p w p * reward (conf s p).

(** Slots of type [j], reward, and fraction of the servers, all stages together. *)
Definition served (st : seq stage) j : F := \sum_(s <- st) frac s * slots s j.
Definition earned (st : seq stage) : F := \sum_(s <- st) frac s * rate s.
Definition used (st : seq stage) : F := \sum_(s <- st) frac s.

(** A greedy run (Definition 3.2): every stage takes a positive fraction of the servers and uses MaxReward of the types
    left, types that are not left have been served completely by the stages before, nothing is overfilled, and the run
    ends because all servers are used or because all work is served. *)
Record greedy_run (st : seq stage) : Prop := GreedyRun {
  run_frac : forall pre s post, st = pre ++ s :: post -> 0 < frac s;
  run_max : forall pre s post, st = pre ++ s :: post -> forall p, is_max_reward p (left_types s) (conf s p);
  run_gone : forall pre s post, st = pre ++ s :: post ->
    forall j, j \notin left_types s -> served pre j = rho j;
  run_fits : forall j, served st j <= rho j;
  run_servers : used st <= 1;
  run_end : used st = 1 \/ forall j, served st j = rho j }.

(** A run with an approximate oracle: every stage uses, in each pool, a configuration of types left that has at least
    [alpha] times the greatest reward; everything else is as in a greedy run. *)
Record approximate_run (alpha : F) (st : seq stage) : Prop := ApproximateRun {
  near_frac : forall pre s post, st = pre ++ s :: post -> 0 < frac s;
  near_max : forall pre s post, st = pre ++ s :: post -> forall p,
    [/\ K p (conf s p), uses_only (left_types s) (conf s p)
      & forall k, K p k -> uses_only (left_types s) k -> alpha * reward k <= reward (conf s p)];
  near_gone : forall pre s post, st = pre ++ s :: post ->
    forall j, j \notin left_types s -> served pre j = rho j;
  near_fits : forall j, served st j <= rho j;
  near_servers : used st <= 1;
  near_end : used st = 1 \/ forall j, served st j = rho j }.

(** An assignment is feasible if servers can hold its configurations, these take no more than the share of their pool,
    and at most as many jobs of a type are in service as there are, and as there are slots. *)
Record feasible (a : assignment) : Prop := Feasible {
  feasible_conf : forall p c, List.In c (columns a p) -> K p c.1;
  feasible_share : forall p c, List.In c (columns a p) -> 0 <= c.2;
  feasible_pool : forall p, \sum_(c <- columns a p) c.2 <= w p;
  feasible_jobs : forall j, 0 <= jobs a j <= rho j;
  feasible_slots : forall j, jobs a j <= \sum_p \sum_(c <- columns a p) c.2 * (c.1 j)%:R }.

Definition value (a : assignment) : F := \sum_j u j * jobs a j.

(** Some run with an approximate oracle earns [c] times the greatest value of an assignment, which is not zero. *)
Definition approximate_earns_exactly (alpha c : F) := exists st a,
  [/\ approximate_run alpha st, feasible a, forall b, feasible b -> value b <= value a, 0 < value a
    & earned st = c * value a].

(** A greedy run as an assignment. *)
Definition run_assignment (st : seq stage) : assignment :=
  Assignment (fun p => [seq (conf s p, frac s * w p) | s <- st]) (served st).

(** *** Pools that are filled one after another *)

(** A stage: servers of one pool, as a share of all servers, take a configuration. *)
Record filling := Filling { pool : P; held : configuration; share : F }.

Definition filled (st : seq filling) j : F := \sum_(s <- st) share s * (held s j)%:R.
Definition gained (st : seq filling) : F := \sum_(s <- st) share s * reward (held s).
Definition used_of (st : seq filling) p : F := \sum_(s <- st | pool s == p) share s.

(** A run: every stage uses a configuration of the greatest reward among those of types that are not exhausted yet,
    nothing is overfilled, and every pool is used up unless the types that are left at the end earn nothing in it (all
    work is served, or none of them fits). The order of the pools is not prescribed. *)
Record sequential_run (st : seq filling) : Prop := SequentialRun {
  fill_share : forall s, List.In s st -> 0 <= share s;
  fill_max : forall pre s post, st = pre ++ s :: post -> K (pool s) (held s) /\
    forall k, K (pool s) k -> (forall j, filled pre j = rho j -> k j = 0%N) -> reward k <= reward (held s);
  fill_fits : forall j, filled st j <= rho j;
  fill_pool : forall p, used_of st p <= w p;
  fill_end : forall p, used_of st p = w p \/
    forall k, K p k -> (forall j, filled st j = rho j -> k j = 0%N) -> reward k <= 0 }.

End Reservation.

(** A server with additive resources holds what its capacity of each resource allows. *)
Definition additive (J R : finType) (d : J -> R -> nat) (capacity : R -> nat) (k : configuration J) :=
  forall r, (\sum_j k j * d j r <= capacity r)%N.

(** ** Types in an order: 0, 1, ..., J - 1 *)

Section Ordered.
Variable F : realFieldType.
Variables (J : nat) (P : finType).
Notation type := 'I_J.
Notation config := (configuration type).
Variables (w : P -> F) (K : P -> config -> Prop) (u rho : type -> F).

(** [k] equals [k'] or has more slots than it of the first type in which they differ. *)
Definition lexicographically_ge (k k' : config) :=
  (forall j, k j = k' j) \/ exists j, (k' j < k j)%N /\ forall i : type, (i < j)%N -> k' i = k i.

(** MaxReward with the tie rule of Definition 2.2: of the best configurations, the one with most slots of the first
    type, and so on. *)
Definition is_MaxReward p (S : {set type}) k :=
  is_max_reward K u p S k /\
  forall k', K p k' -> uses_only S k' -> reward u k' = reward u k -> lexicographically_ge k k'.

(** A greedy run with this tie rule. *)
Definition greedy_run_with_ties st :=
  greedy_run w K u rho st /\ forall s, List.In s st -> forall p, is_MaxReward p (left_types s) (conf s p).

(** There are runs with this tie rule, and each of them earns [c] times the greatest value of an assignment, which is
    not zero. *)
Definition greedy_earns_exactly (c : F) := exists a,
  [/\ feasible w K rho a, forall b, feasible w K rho b -> value u b <= value u a, 0 < value u a,
      exists st, greedy_run_with_ties st & forall st, greedy_run_with_ties st -> earned w u st = c * value u a].

(** *** The conditions of Proposition 3.1 *)

(** [mr p S] is MaxReward of the types in [S] for a server of pool [p]: then so many slots of type [j] are on an average
    server if the types in [S] are left. *)
Variable mr : P -> {set type} -> config.
Definition slots_of (S : {set type}) (j : type) : F := \sum_p w p * (mr p S j)%:R.

(** Types in the order [order 0], [order 1], ...; the types left before stage [i]. *)
Implicit Types (order : nat -> type) (z : nat -> F).
Definition left_before order i : {set type} := [set j | [forall l : 'I_i, order l != j]].

(** Slots of type [j] on an average server in stage [i], and jobs of the type served in the first [i] stages if stage
    [l] lasts [z l]. *)
Definition stage_slots order i (j : type) : F := slots_of (left_before order i) j.
Definition done_before order z i (j : type) : F := \sum_(l < i) z l * stage_slots order l j.

(** (1) Stage i has slots of the type that it exhausts, and the lengths solve (6); (2) if a stage exhausts a later type
    too, of which it has slots, ties go to the lower index. A type with slots is one that is left, so the order is a
    permutation (see [order_inj] in Permutation.v). *)
Record proposition_3_1 order z : Prop := Proposition {
  has_slots : forall i, (i < J)%N -> 0 < stage_slots order i (order i);
  lasts : forall i, (i < J)%N -> 0 <= z i;
  exhausts : forall i, (i < J)%N -> rho (order i) = done_before order z i.+1 (order i);
  ties : forall i j, (i < j)%N -> (j < J)%N -> 0 < stage_slots order i (order j) ->
    rho (order j) = done_before order z i.+1 (order j) -> (order i < order j)%N }.

(** *** Whole servers *)

(** The share of the servers that stage [i] takes in the assignment: what it lasts, until no servers are left. *)
Definition assigned z i : F := Num.min 1 (\sum_(l < i.+1) z l) - Num.min 1 (\sum_(l < i) z l).

(** Greedy placement of [L rho j] jobs of each type on [L] servers: stage [i] uses [servers i] of them. It stops when no
    servers are left, or with the first server with which the slots suffice for a type of which it has slots; of several
    such types, the one with the lowest index is not left then. *)
Record placement (L : nat) order (servers : nat -> nat) : Prop := Placement {
  place_left : forall i, (i < J)%N -> order i \in left_before order i /\ 0 < stage_slots order i (order i);
  place_servers : forall i, (i <= J)%N -> (\sum_(l < i) servers l <= L)%N;
  place_stops : forall i, (i < J)%N -> let slots := done_before order (fun l => (servers l)%:R) i.+1 in
    (\sum_(l < i.+1) servers l)%N = L \/ L%:R * rho (order i) <= slots (order i) /\
      forall j : type, (j < order i)%N -> j \in left_before order i -> 0 < stage_slots order i j ->
        slots j < L%:R * rho j;
  place_first : forall i, (i < J)%N -> (0 < servers i)%N ->
    forall j : type, j \in left_before order i -> 0 < stage_slots order i j ->
    done_before order (fun l => (servers l)%:R) i.+1 j - stage_slots order i j < L%:R * rho j }.

End Ordered.

(** ** Instances on which greedy keeps little *)

(** One pool has all servers. *)
Definition whole (F : realFieldType) : unit -> F := fun=> 1.

(** *** Two pools of capacities 3 and 2, two types that demand 2 and 3; pools and types are false and true *)

Definition two_pools (p : bool) (k : configuration bool) : Prop :=
  (k false * 2 + k true * 3 <= if p then 2 else 3)%N.

(** *** The tight family of J = n + 1 types, with an arbitrary m >= 1 *)

Section Tight.
Variable F : realFieldType.
Variables n m : nat.
Notation J := (n.+1).
Notation type := 'I_n.+1.
Notation config := (configuration type).

Definition tight_q : F := 1 - J%:R^-1.

(** Rewards (1 - 1/J)^j; the last type has J (1 - 1/J)^n / m. *)
Definition tight_reward (j : type) : F := if (j < n)%N then tight_q ^+ j else J%:R * tight_q ^+ n / m%:R.

(** One job a server of every type, m of the last. *)
Definition tight_workload (j : type) : F := if (j < n)%N then 1 else m%:R.

(** The configuration (1, ..., 1, m), and the one that holds jobs of type [i] only. *)
Definition mixed : config := fun j => if (j < n)%N then 1%N else m.
Definition alone (i : type) : config := fun j => if j == i then (if (i < n)%N then J else m) else 0%N.

(** Listed: whatever is below [mixed], or below [alone i] for a type i but the last. *)
Definition listed (k : config) :=
  (forall j, (k j <= mixed j)%N) \/ exists2 i : type, (i < n)%N & forall j, (k j <= alone i j)%N.

(** The family with an approximate oracle, alpha = c/m: rewards alpha (1 - alpha/J)^j, and the last type has
    J (1 - alpha/J)^n / m. The oracle takes J jobs of a type but the last, or c jobs of the last. *)
Definition near_alpha (c : nat) : F := c%:R / m%:R.
Definition near_q (c : nat) : F := 1 - near_alpha c / J%:R.
Definition near_reward (c : nat) (j : type) : F :=
  if (j < n)%N then near_alpha c * near_q c ^+ j else J%:R * near_q c ^+ n / m%:R.

(** Additive: a resource for each interval a <= p of the first n types, of which each of these types in the interval
    takes 1/J and the last type (1 - (p - a + 1)/J)/m, and one resource of which the last type takes 1/m. Everything is
    multiplied by J m to make it whole. *)
Definition interval := {e : 'I_n * 'I_n | (e.1 <= e.2)%N}.
Definition resource := option interval.
Definition tight_capacity (r : resource) : nat := (J * m)%N.
Definition tight_demand (j : type) (r : resource) : nat :=
  if r is Some e then
    let: (a, p) := val e in
    if (j < n)%N then (if (a <= j <= p)%N then m else 0%N) else (J - (p.+1 - a))%N
  else if (j < n)%N then 0%N else J.

End Tight.

(** *** A family on one resource: p powers of two, and m + 1 smaller types *)

Section OneResource.
Variable F : realFieldType.
Variables p m : nat.
Notation type := 'I_(m + p).+1.

(** t_0 = 2^p, t_(i+1) = t_i (t_i + 1), and the products T_i = 2^p t_0 ... t_(i-1). *)
Fixpoint small_number (i : nat) : nat := if i is i'.+1 then (small_number i' * (small_number i').+1)%N else (2 ^ p)%N.
Definition small_product (i : nat) : nat := (2 ^ p * \prod_(0 <= l < i) small_number l)%N.

(** A server has L - 1 units, L = t_(m+1). First come types i = m, ..., 0 that take L/(t_i + 1) units and earn 1/T_i, then
    types k = p, ..., 1 that take L/2^k and earn 1/2^k. There is one job of every type a server. *)
Definition member_part (j : type) : nat := (if j <= m then (small_number (m - j)).+1 else 2 ^ (m + p.+1 - j))%N.
Definition member_demand (j : type) (r : unit) : nat := (small_number m.+1 %/ member_part j)%N.
Definition member_capacity (r : unit) : nat := (small_number m.+1).-1.
Definition member_reward (j : type) : F :=
  (if j <= m then small_product (m - j) else 2 ^ (m + p.+1 - j))%N%:R^-1.
Definition member_workload (j : type) : F := 1.

End OneResource.

(** ** The best configuration of a single type *)

Section SingleType.
Variable F : realFieldType.

(** 1/b + 1/(b (b+1)) + ..., [s] terms, each denominator the one before times itself plus one. *)
Fixpoint series (b s : nat) : F := if s is s'.+1 then b%:R^-1 + series (b * b.+1) s' else 0.

(** 1 + 1/(N+1) + 1/((N+1)(N+2)) + ... with [s] terms after the first: T as far as it matters for s items. *)
Definition constant (N s : nat) : F := 1 + series N.+1 s.

(** A configuration fits a server of [R] resources if jobs of type [j] take the share [d j r] of resource [r]. *)
Definition fits_shares (J R : finType) (d : J -> R -> F) (k : J -> nat) := forall r, \sum_j (k j)%:R * d j r <= 1.

End SingleType.

(** ** The universal partition: type 2m has sizes in (2/3 2^-m, 2^-m], 2m + 1 sizes in (1/2 2^-m, 2/3 2^-m], m < J *)

(** [c] jobs of type [j] and no other. *)
Definition single (j c i : nat) : nat := if i == j then c else 0%N.

(** The reduced configurations K_RED of (19), as listed by packproof's [reduced_configurations]. *)
Inductive reduced (J : nat) : (nat -> nat) -> Prop :=
| even_alone m : (m < J)%N -> reduced J (single m.*2 (2 ^ m))
| odd_alone m : (m.+1 < J)%N -> reduced J (single m.+1.*2.+1 (3 * 2 ^ m))
| even_beside m : (m.+2 < J)%N -> reduced J (fun j => single 1 1 j + single m.+2.*2 (2 ^ m.+2 %/ 3) j)%N
| odd_beside m : (m.+1 < J)%N -> reduced J (fun j => single 1 1 j + single m.+1.*2.+1 (2 ^ m) j)%N.

Section Universal.
Variable F : realFieldType.

(** The greatest lower bound of the sizes of type [j]: 2/3 2^-m for j = 2m, 1/2 2^-m for j = 2m + 1. *)
Definition inf_size (j : nat) : F :=
  (if odd j then 2%:R^-1 else 2%:R / 3%:R) / 2%:R ^+ j./2.

(** Their greatest sizes: 2^-m for j = 2m, 2/3 2^-m for j = 2m + 1. *)
Definition max_size (j : nat) : F :=
  (if odd j then 2%:R / 3%:R else 1) / 2%:R ^+ j./2.

Variable J : nat.

(** Weight of a configuration [k] for weights [Q] of the 2J types. *)
Definition weight (Q : nat -> F) (k : nat -> nat) : F := \sum_(j < J.*2) Q j * (k j)%:R.

(** A configuration is feasible if jobs just above the lower ends of their intervals fit a server of size 1. *)
Definition universal_fits (k : nat -> nat) : Prop := \sum_(j < J.*2) inf_size j * (k j)%:R < 1.

End Universal.

(** ** Sizes by cells, rounded up or not *)

Section Cells.
Variable F : realFieldType.
Variable C : finType.

(** Lists of jobs on a server, each with its cell and its size, and the share of the servers that have them: sizes are
    [allowed] and fit a server of size 1. On an average server [n c] jobs of cell [c] are in service. *)
Record schedule (allowed : C -> F -> Prop) (n : C -> F) (lists : seq (seq (C * F) * F)) : Prop := Schedule {
  list_allowed : forall e, e \in lists -> forall c, c \in e.1 -> allowed c.1 c.2;
  list_fits : forall e, e \in lists -> \sum_(c <- e.1) c.2 <= 1;
  list_share : forall e, e \in lists -> 0 <= e.2;
  list_shares : \sum_(e <- lists) e.2 <= 1;
  list_serves : forall c, n c = \sum_(e <- lists) e.2 * (count (fun d => d.1 == c) e.1)%:R }.

(** [n c] jobs of each cell, for an average server, can be in service. *)
Definition supported (allowed : C -> F -> Prop) (n : C -> F) := exists lists, schedule allowed n lists.

End Cells.

(** The cells of cuts at powers of two: (2^-(m+1), 2^-m], m < J. *)
Definition power_cell (F : realFieldType) (J : nat) (m : 'I_J) (x : F) := 2%:R ^- m.+1 < x <= 2%:R ^- m.
Definition power_top (F : realFieldType) (J : nat) (m : 'I_J) (x : F) := x = 2%:R ^- m.

(** ** Workloads of configurations

    [n j] jobs of each type, for an average server, are carried if servers that have configurations in [K] have as many
    slots: a list of configurations, each with its share of the servers. *)

Definition carried (F : realFieldType) (J : finType) (K : (J -> nat) -> Prop) (n : J -> F) :=
  exists mix : seq ((J -> nat) * F),
  [/\ forall e, List.In e mix -> K e.1 /\ 0 <= e.2, \sum_(e <- mix) e.2 <= 1 &
      forall j, n j <= \sum_(e <- mix) e.2 * (e.1 j)%:R].

(** Sizes by cells with lower and upper ends, of which only the upper ends belong to the cells: the numbers of jobs by
    cell that fit a server if sizes are just above the lower ends, and if they are rounded up. *)
Section Partition.
Variables (F : realFieldType) (C : finType) (low top : C -> F).

Definition in_cell (c : C) (x : F) := low c < x <= top c.
Definition content (m : C -> nat) := \sum_c (m c)%:R * low c < 1.
Definition rounded (k : C -> nat) := \sum_c (k c)%:R * top c <= 1.

End Partition.

(** ** Tasks of a user alone on a server *)

(** On a server of capacities [c] exactly [g] tasks (a whole number or not) of demands [d] fit. *)
Definition alone_tasks (F : realFieldType) (R : finType) (c d : R -> F) (g : F) :=
  (forall r, g * d r <= c r) /\ exists r, 0 < d r /\ g * d r = c r.

(** ** Servers that users share

    Capacities [c], demands [d] of a task, weights [phi]. User [n] can run [gamma n i] tasks alone on server [i]: 0 where
    it may not run, or where a resource that it demands is missing. *)

Section Sharing.
Variables (F : realFieldType) (N S R : finType).
Variables (c : S -> R -> F) (d : N -> R -> F) (phi : N -> F) (gamma : N -> S -> F).
Implicit Types x y : N -> S -> F.

Definition runs_alone := forall n i, gamma n i = 0 \/ 0 < gamma n i /\ alone_tasks (c i) (d n) (gamma n i).

(** Tasks of users on servers: numbers that may be fractions, none where a user can run none. *)
Definition placed x := forall n i, 0 <= x n i /\ (gamma n i = 0 -> x n i = 0).

(** Resources are divided (9), or time is (10). *)
Definition divided x := placed x /\ forall i r, \sum_n x n i * d n r <= c i r.
Definition timed x := placed x /\ forall i, \sum_n x n i / gamma n i <= 1.

Definition tasks x n : F := \sum_i x n i.

(** The virtual dominant share by weight. *)
Definition level x n i : F := tasks x n / gamma n i / phi n.

(** PS-DSF (Definition 5): nobody can have more tasks unless somebody else has fewer on a server where its level is no
    higher. *)
Definition ps_dsf (allocation : (N -> S -> F) -> Prop) x :=
  allocation x /\ forall n y, allocation y -> tasks x n < tasks y n ->
    exists m i, [/\ m != n, y m i < x m i, 0 < gamma n i & level x m i <= level x n i].

(** A bottleneck (Definition 6): a resource that the user demands, that is used up, and of which nobody with a higher
    level has any. *)
Definition bottleneck x n i r :=
  [/\ 0 < d n r, \sum_m x m i * d m r = c i r & forall m, 0 < x m i -> 0 < d m r -> level x m i <= level x n i].

(** Prices of servers, for all their time. *)
Definition market_equilibrium x (price : S -> F) :=
  [/\ forall n i, phi n * gamma n i / tasks x n <= price i,
      forall n i, 0 < x n i -> phi n * gamma n i / tasks x n = price i,
      forall n i, 0 < gamma n i -> \sum_m x m i / gamma m i = 1 &
      forall n, \sum_i price i * (x n i / gamma n i) = phi n].

(** The part of a user: its tasks over what it could run alone on all servers. *)
Definition part x n : F := tasks x n / \sum_i gamma n i.

(** Mean utilisation of the [R] resources of the servers that somebody can use. *)
Definition usable i := [exists n, 0 < gamma n i].
Definition mean_utilisation x : F :=
  (\sum_(i | usable i) \sum_r (\sum_n x n i * d n r) / c i r) / (#|usable| * #|R|)%:R.

(** Tasks alone on all servers, whether the user may run there or not, and the greatest part of a resource of all servers
    that a task takes. *)
Definition runs_anywhere (most : N -> F) :=
  exists g : N -> S -> F, (forall n i, alone_tasks (c i) (d n) (g n i)) /\ forall n, most n = \sum_i g n i.
Definition dominant_share (share : N -> F) := forall n,
  (forall r, d n r / (\sum_i c i r) <= share n) /\ exists r, share n = d n r / (\sum_i c i r).

(** Max-min fair in x_n / unit_n by weight: nobody can have more tasks unless somebody whose number is no higher has
    fewer. TSF counts in tasks alone on all servers, C-DRFH in inverse dominant shares. *)
Definition max_min_fair (unit : N -> F) x :=
  divided x /\ forall n y, divided y -> tasks x n < tasks y n ->
    exists m, tasks y m < tasks x m /\ tasks x m / unit m / phi m <= tasks x n / unit n / phi n.
Definition tsf x := exists most, runs_anywhere most /\ max_min_fair most x.
Definition c_drfh x := exists share, dominant_share share /\ max_min_fair (fun n => (share n)^-1) x.

End Sharing.

(** *** A server on which resources stay idle: the first of n + 1 users demands all resources, the others the first *)

Definition idle_demand (F : realFieldType) (n q : nat) (k : 'I_n.+1) (r : 'I_q.+1) : F :=
  ((k == ord0) || (r == ord0))%:R.

(** *** Two users and a server that neither can use

    The first user (false) demands memory and bandwidth, the second memory alone; a server (false) has one unit of each,
    another [m] of memory and no bandwidth, on which the second user may not run. *)

Section Unfair.
Variables (F : realFieldType) (m : F).

Definition unfair_capacity (i r : bool) : F := if i then (if r then 0 else m) else 1.
Definition unfair_demand (n r : bool) : F := if n && r then 0 else 1.
Definition unfair_gamma (n i : bool) : F := if i then 0 else 1.

End Unfair.
