(** * What is proved

    Every theorem of theorems.txt with its statement in full. A definition below, [name : statement := proof], compiles
    only if the proof, a theorem of the file that is named, has this statement. What the words mean is defined in
    Model.v, for the checkers in CertificateModel.v, and for both in BridgeModel.v. *)

From mathcomp Require Import all_ssreflect all_algebra.
From packproof Require Import Model.
From packproof Require Greedy Determined Constant Existence Permutation Sequential Tight OneResource SingleType Universal.
From packproof Require AllTypes PotentialCheck Approximate Cells Duality Partition Placement SectionFive Fairness FairnessCosts.
From Coq Require ZArith QArith List.
From packproof Require CertificateModel Configurations Prices Checker Intensity Throughput Sharing.
From packproof Require BridgeModel Bridge.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(** ** Greedy reservation: any number of pools, any sets of configurations that are closed downwards *)

Section Reservation.
Variables (F : realFieldType) (J P : finType).
Variables (w : P -> F) (K : P -> configuration J -> Prop) (u rho : J -> F).
Hypothesis K_down : down_closed K.
Hypothesis w_ge0 : forall p, 0 <= w p.
Hypothesis u_ge0 : forall j, 0 <= u j.
Variables (st : seq (stage F J P)) (a : assignment F J P).
Hypothesis a_feasible : feasible w K rho a.

(** If all work is served, greedy is optimal. *)
Definition serves_all_optimal : (forall j, served w st j = rho j) -> value u a <= earned w u st
  := fun all => Greedy.serves_all_optimal u_ge0 all a_feasible.

Hypothesis st_run : greedy_run w K u rho st.

(** No assignment earns more than greedy earned before a stage plus the reward of that stage on all servers. *)
Definition stage_bound pre s post : st = pre ++ s :: post -> value u a <= earned w u pre + rate w u s
  := Greedy.stage_bound K_down w_ge0 u_ge0 st_run a_feasible.

(** Greedy earns at least 1 - (1 - x_1) ... (1 - x_n) of every assignment, x_i being the fractions of its stages. *)
Definition greedy_keeps_product : (1 - \prod_(s <- st) (1 - frac s)) * value u a <= earned w u st
  := Greedy.greedy_keeps_product K_down w_ge0 u_ge0 st_run a_feasible.

(** It earns at least 1 - (1 - 1/m)^m of every assignment, for every m that is at least the number of stages. *)
Definition greedy_keeps m : (0 < m)%N -> (size st <= m)%N -> (1 - (1 - m%:R^-1) ^+ m) * value u a <= earned w u st
  := Greedy.greedy_keeps K_down w_ge0 u_ge0 st_run a_feasible.

(** So it earns at least 0.632 of every assignment, however many stages and types there are, ... *)
Definition greedy_keeps_632 : 79%:R / 125%:R * value u a <= earned w u st
  := Constant.greedy_keeps_632 K_down w_ge0 u_ge0 st_run a_feasible.

(** ... because 1 - (1 - 1/n)^n is above 0.632 for every n. *)
Definition complement_power_lt n : (0 < n)%N -> (1 - n%:R^-1) ^+ n < 46%:R / 125%:R :> F
  := @Constant.complement_power_lt F n.

(** It earns at least one half of every assignment. *)
Definition greedy_keeps_half : value u a <= 2%:R * earned w u st
  := Greedy.greedy_keeps_half K_down w_ge0 u_ge0 st_run a_feasible.

(** A greedy run is itself a feasible assignment, and earns the value of this assignment. *)
Definition run_feasible : (forall j, 0 <= rho j) ->
  feasible w K rho (run_assignment w st) /\ value u (run_assignment w st) = earned w u st
  := fun rho_ge0 => Greedy.run_feasible w_ge0 rho_ge0 st_run.

End Reservation.

(** *** With an oracle that finds at least alpha times the greatest reward *)

Section Approximate.
Variables (F : realFieldType) (J P : finType).
Variables (w : P -> F) (K : P -> configuration J -> Prop) (u rho : J -> F) (alpha : F).
Hypothesis K_down : down_closed K.
Hypothesis w_ge0 : forall p, 0 <= w p.
Hypothesis u_ge0 : forall j, 0 <= u j.
Hypothesis alpha_gt0 : 0 < alpha.
Variables (st : seq (stage F J P)) (a : assignment F J P).
Hypothesis st_run : approximate_run w K u rho alpha st.
Hypothesis a_feasible : feasible w K rho a.

(** No assignment earns more than was earned before a stage plus 1/alpha times the reward of that stage on all servers. *)
Definition approximate_stage_bound pre s post :
  st = pre ++ s :: post -> value u a <= earned w u pre + rate w u s / alpha
  := Approximate.approximate_stage_bound K_down w_ge0 u_ge0 alpha_gt0 st_run a_feasible.

Hypothesis alpha_le1 : alpha <= 1.

(** The run earns at least 1 - (1 - alpha x_1) ... (1 - alpha x_n) of every assignment, ... *)
Definition approximate_keeps_product : (1 - \prod_(s <- st) (1 - alpha * frac s)) * value u a <= earned w u st
  := Approximate.approximate_keeps_product K_down w_ge0 u_ge0 alpha_gt0 alpha_le1 st_run a_feasible.

(** ... and at least 1 - (1 - alpha/m)^m of it, for every m that is at least the number of stages. *)
Definition approximate_keeps m : (0 < m)%N -> (size st <= m)%N ->
  (1 - (1 - alpha / m%:R) ^+ m) * value u a <= earned w u st
  := Approximate.approximate_keeps K_down w_ge0 u_ge0 alpha_gt0 alpha_le1 st_run a_feasible.

End Approximate.

(** For every number J = n + 1 of types and every rational alpha = c/m in (0, 1] some run on an instance whose
    configurations are listed earns exactly 1 - (1 - alpha/J)^J of the optimum. *)
Definition approximate_sharp (F : realFieldType) (n m c : nat) (alpha := near_alpha F m c) :
  (0 < c)%N -> (c <= m)%N ->
  approximate_earns_exactly (whole F) (fun _ : unit => @listed n m) (@near_reward F n m c) (@tight_workload F n m)
    alpha (1 - (1 - alpha / n.+1%:R) ^+ n.+1)
  := @Approximate.approximate_sharp F n m c.

(** ** The greedy assignment as a function, and its permutation *)

Section Ordered.
Variables (F : realFieldType) (J : nat) (P : finType).
Notation config := (configuration 'I_J).
Variables (w : P -> F) (u rho : 'I_J -> F).
Hypothesis w_ge0 : forall p, 0 <= w p.
Hypothesis u_gt0 : forall j, 0 < u j.
Hypothesis rho_ge0 : forall j, 0 <= rho j.

Section Given.
Variables (K : P -> config -> Prop) (mr : P -> {set 'I_J} -> config).
Hypothesis K_down : down_closed K.
(** [mr] is MaxReward, ties broken in any way, and every type fits some server. *)
Hypothesis mr_max : forall p S, is_max_reward K u p S (mr p S).
Hypothesis all_fit : forall j, exists p k, [/\ 0 < w p, K p k & (0 < k j)%N].

(** The construction (53)-(54), written as a function, is a greedy run. *)
Definition greedy_is_run : greedy_run w K u rho (Existence.greedy w rho mr)
  := Existence.greedy_is_run K_down w_ge0 u_gt0 rho_ge0 mr_max all_fit.

(** It has at most as many stages as there are types. *)
Definition greedy_stages : (size (Existence.greedy w rho mr) <= J)%N
  := Existence.greedy_stages w rho mr.

(** At most one order, with one sequence of lengths, satisfies the conditions of Proposition 3.1 (for any [mr]). *)
Definition permutation_unique order z order' z' :
  proposition_3_1 w rho mr order z -> proposition_3_1 w rho mr order' z' ->
  forall i, (i < J)%N -> order i = order' i /\ z i = z' i
  := @Permutation.permutation_unique F J P w K u rho mr w_ge0 mr_max order z order' z'.

(** Some order satisfies them. *)
Definition permutation_exists : (0 < J)%N -> exists order z, proposition_3_1 w rho mr order z
  := Permutation.permutation_exists K_down w_ge0 u_gt0 rho_ge0 mr_max all_fit.

(** All runs with the tie rule earn the same. *)
Definition ties_determine st st' :
  greedy_run_with_ties w K u rho st -> greedy_run_with_ties w K u rho st' -> earned w u st = earned w u st'
  := @Determined.ties_determine F J P w K u rho w_ge0 st st'.

Variable a : assignment F 'I_J P.
Hypothesis a_feasible : feasible w K rho a.

(** It earns at least 1 - (1 - 1/J)^J of every assignment. *)
Definition greedy_guarantee : (0 < J)%N ->
  (1 - (1 - J%:R^-1) ^+ J) * value u a <= earned w u (Existence.greedy w rho mr)
  := fun J_gt0 => Existence.greedy_guarantee K_down w_ge0 u_gt0 rho_ge0 mr_max all_fit J_gt0 a_feasible.

(** If it serves all work, no assignment earns more. *)
Definition greedy_optimal : (forall j, served w (Existence.greedy w rho mr) j = rho j) ->
  value u a <= earned w u (Existence.greedy w rho mr)
  := fun all => Existence.greedy_optimal u_gt0 all a_feasible.

End Given.

(** *** Without a hypothesis on MaxReward: a server holds finitely many configurations, of at most [N] jobs of a type *)

Section Finite.
Variables (N : nat) (K : P -> config -> bool).
Notation KP := (K : P -> config -> Prop).
Hypothesis K_down : down_closed KP.
Hypothesis K_bound : forall p k j, K p k -> (k j <= N)%N.
Hypothesis K_zero : forall p, K p (fun=> 0%N).

(** MaxReward exists, with the tie rule. *)
Definition MaxReward_exists : exists mr, forall p S, is_MaxReward KP u p S (mr p S)
  := Existence.MaxReward_exists u K_down K_bound K_zero.

Hypothesis all_fit : forall j, exists p k, [/\ 0 < w p, K p k & (0 < k j)%N].
Hypothesis J_gt0 : (0 < J)%N.

(** There is a greedy run, with the tie rule, of at most J stages, and it keeps 1 - (1 - 1/J)^J of every assignment. *)
Definition greedy_run_exists : exists st,
  [/\ greedy_run_with_ties w KP u rho st, (size st <= J)%N &
      forall a, feasible w KP rho a -> (1 - (1 - J%:R^-1) ^+ J) * value u a <= earned w u st]
  := Existence.greedy_run_exists K_down K_bound K_zero w_ge0 u_gt0 rho_ge0 all_fit J_gt0.

(** Exactly one order, with exactly one sequence of lengths, satisfies the conditions of Proposition 3.1. *)
Definition exactly_one_permutation : exists mr order z,
  [/\ forall p S, is_MaxReward KP u p S (mr p S), proposition_3_1 w rho mr order z &
      forall order' z', proposition_3_1 w rho mr order' z' -> forall i, (i < J)%N -> order' i = order i /\ z' i = z i]
  := Permutation.exactly_one_permutation K_down K_bound K_zero w_ge0 u_gt0 rho_ge0 all_fit J_gt0.

End Finite.
End Ordered.

(** ** Greedy placement on whole servers

    On one pool, for servers of at most [K] jobs of a type each: the servers of stage i are within (K + 1)^i of [L]
    times what the assignment gives it, ... *)

Section Placement.
Variables (F : realFieldType) (J : nat) (rho : 'I_J -> F).
Variables (mr : unit -> {set 'I_J} -> configuration 'I_J) (K L : nat) (order order' : nat -> 'I_J).
Variables (z : nat -> F) (servers : nat -> nat).
Hypothesis mr_le : forall S j, (mr tt S j <= K)%N.
Hypothesis mr_uses : forall S, uses_only S (mr tt S).
Hypothesis fluid : proposition_3_1 (whole F) rho mr order z.

(** ... for every number [L] of servers with which placement exhausts the types in the order of the assignment, ... *)
Definition lemma_b_1 i : placement (whole F) rho mr L order servers -> (i < J)%N ->
  `|(servers i)%:R - L%:R * assigned z i| <= K.+1%:R ^+ i
  := fun placed => @Placement.lemma_b_1 F J rho mr K L order order z servers mr_le mr_uses fluid placed i
       (fun _ _ => erefl).

(** ... and, whatever its order, for (K + 1)^J / d servers and more if every type that a stage does not exhaust, and of
    which it has slots, lacks [d] jobs a server at its end. *)
Hypothesis placed : placement (whole F) rho mr L order' servers.
Definition lemma_b_1_many (d : F) :
  (forall i, (i < J)%N -> \sum_(l < i) z l < 1 ->
     forall j, j != order i -> j \in left_before order i -> 0 < stage_slots (whole F) mr order i j ->
     done_before (whole F) mr order z i.+1 j + d <= rho j) ->
  K.+1%:R ^+ J <= L%:R * d -> forall i, (i < J)%N -> `|(servers i)%:R - L%:R * assigned z i| <= K.+1%:R ^+ i
  := @Placement.lemma_b_1_many F J rho mr K L order order' z servers mr_le mr_uses fluid placed d.

End Placement.

(** ** The constant is attained *)

Section Attained.
Variables (F : realFieldType) (n m : nat).
Hypothesis m_gt0 : (0 < m)%N.
Notation J := (n.+1).
Notation config := (configuration 'I_J).
Notation additive_set := (Model.additive (@tight_demand n m) (@tight_capacity n m)).
Notation keeps_exactly K :=
  (greedy_earns_exactly (whole F) (fun _ : unit => K : config -> Prop) (@tight_reward F n m)
     (@tight_workload F n m) (1 - (1 - J%:R^-1) ^+ J)).

(** Greedy keeps exactly 1 - (1 - 1/J)^J of the optimum if configurations are listed, ... *)
Definition tight_listed : keeps_exactly (@listed n m)
  := Tight.tight_listed F n m_gt0.

(** ... with additive resources, ... *)
Definition tight_additive : keeps_exactly additive_set
  := Tight.tight_additive F n m_gt0.

(** ... of which there are J (J - 1)/2 + 1, ... *)
Definition tight_resources : #|{: resource n}| = ((J * n)./2.+1)%N
  := Tight.tight_resources n.

(** ... and with any set of configurations between the two. *)
Definition tight (K : config -> Prop) :
  (forall k, listed m k -> K k) -> (forall k, K k -> additive_set k) -> keeps_exactly K
  := @Tight.tight F n m m_gt0 K.

End Attained.

(** *** On one resource *)

Section OneResource.
Variables (F : realFieldType) (p m : nat).
Notation additive_set m := (fun _ : unit => Model.additive (@member_demand p m) (@member_capacity p m)).

(** Of p >= 1 powers of two and m + 1 smaller types greedy keeps exactly 1 less the sum of 1/3, 1/7, ..., 1/(2^p - 1) and
    of all 1/t_i, over 2 (1 + 1/T_1 + ... + 1/T_m). *)
Definition one_resource_member : (0 < p)%N ->
  greedy_earns_exactly (whole F) (additive_set m) (@member_reward F p m) (@member_workload F p m)
    (1 - (\sum_(2 <= k < p.+1) (2 ^ k - 1)%:R^-1 + \sum_(i < m.+1) (small_number p i)%:R^-1)
         / (2%:R * (1 + \sum_(1 <= i < m.+1) (small_product p i)%:R^-1)))
  := @OneResource.one_resource_member F p m.

(** Of one smaller type, n + 1 types in all, it keeps 1 - (2^-n + 1/3 + 1/7 + ... + 1/(2^n - 1))/2, ... *)
Definition one_resource_keeps (n := p) : (0 < n)%N ->
  greedy_earns_exactly (whole F) (additive_set 0) (@member_reward F n 0) (@member_workload F n 0)
    (1 - ((2 ^ n)%:R^-1 + \sum_(2 <= k < n.+1) (2 ^ k - 1)%:R^-1) / 2%:R)
  := @OneResource.one_resource_keeps F n.

(** ... and of two, J = p + 2 types in all, 1 - N^2/(N^2 + 1) D/2, D = 1/(N (N + 1)) + 1/N + 1/3 + ... + 1/(2^p - 1). *)
Definition one_resource_inserted (N : F := (2 ^ p)%:R) : (0 < p)%N ->
  greedy_earns_exactly (whole F) (additive_set 1) (@member_reward F p 1) (@member_workload F p 1)
    (1 - N ^+ 2 / (N ^+ 2 + 1) * ((N * (N + 1))^-1 + N^-1 + \sum_(2 <= k < p.+1) (2 ^ k - 1)%:R^-1) / 2%:R)
  := @OneResource.one_resource_inserted F p.

End OneResource.

(** On one resource greedy keeps 1 - L of every assignment, whatever the number of types, if there is a potential P: P g
    bounds, as a factor, what types in a room of g units add to the loss. A type whose jobs take z units fits c/z times alone
    and g/z times in the room, and one job has the part b of the reward of its stage. *)
Definition potential_keeps (F : realFieldType) (J : finType) (d : J -> nat) (c : nat) (u rho : J -> F)
    (S L : F) (M : nat) (P : nat -> F) (st : seq (stage F J _)) (a : assignment F J _)
    (one_resource := fun _ : unit => Model.additive (fun j (_ : unit) => d j) (fun=> c)) :
  (forall j, 0 < u j) -> (forall j, (0 < d j <= c)%N) ->
  0 < S -> (0 < M)%N -> 64%:R / 211%:R <= L -> (forall g, 1 <= P g) ->
  (forall z g b, (0 < z)%N -> (z <= g)%N -> (2 * g < c)%N -> 0 <= b -> b * (c %/ z)%:R <= 1 ->
    (1 - (g %/ z)%:R * b) * (1 + b / (S * M%:R)) ^+ M * P (g - z)%N <= (1 - (g %/ z).-1%:R * b) * P g) ->
  (forall g, (2 * g < c)%N -> S * (1 + M%:R^-1) / (1 + M%:R^-1) ^+ M * P g <= L) ->
  greedy_run (whole F) one_resource u rho st -> feasible (whole F) one_resource rho a ->
  (1 - L) * value u a <= earned (whole F) u st
  := @AllTypes.potential_keeps F J d c u rho S L M P st a.

(** There is one with L = 61/200, so that greedy keeps 139/200 of every assignment, which is 0.695. *)
Definition one_resource_all_types (F : realFieldType) (J : finType) (d : J -> nat) (c : nat) (u rho : J -> F)
    (st : seq (stage F J _)) (a : assignment F J _)
    (one_resource := fun _ : unit => Model.additive (fun j (_ : unit) => d j) (fun=> c)) :
  (forall j, 0 < u j) -> (forall j, (0 < d j <= c)%N) ->
  greedy_run (whole F) one_resource u rho st -> feasible (whole F) one_resource rho a ->
  139%:R / 200%:R * value u a <= earned (whole F) u st
  := @PotentialCheck.one_resource_all_types F J d c u rho st a.

(** ** Pools one after another *)

(** They keep at least half of every assignment, ... *)
Definition sequential_half (F : realFieldType) (J P : finType) (w : P -> F) (K : P -> configuration J -> Prop)
    (u rho : J -> F) :
  down_closed K -> (forall p, 0 < w p) -> (forall j, 0 <= u j) ->
  forall (st : seq (filling F J P)) (a : assignment F J P),
  sequential_run w K u rho st -> feasible w K rho a -> value u a <= 2%:R * gained u st
  := @Sequential.sequential_half F J P w K u rho.

(** ... and exactly half on two pools with half of the servers each, rewards 1 and half a job of each type a server. *)
Definition sequential_half_attained (F : realFieldType) (half := 2%:R^-1 : F) : exists st a,
  [/\ sequential_run (fun=> half) two_pools (fun=> 1) (fun=> half) st,
      feasible (fun=> half) two_pools (fun=> half) a, value (fun=> 1) a = 1 & gained (fun=> 1) st = half]
  := Sequential.sequential_half_attained F.

(** ** Lemma 6.1: the best configuration of a single type *)

Section SingleType.
Variable F : realFieldType.

(** Numbers a >= N >= 1 with a sum of 1/(a+1) below 1 have a sum of 1/a of at most T. *)
Definition worth_le_constant (N : nat) (l : seq nat) : (0 < N)%N -> (forall a, a \in l -> (N <= a)%N) ->
  \sum_(a <- l) a.+1%:R^-1 < 1 :> F -> \sum_(a <- l) a%:R^-1 <= constant F N (size l)
  := @SingleType.worth_le_constant F N l.

(** For N = 1 the constant is below 423/250. *)
Definition constant_one s : constant F 1 s < 423%:R / 250%:R
  := SingleType.constant_one F s.

(** For all N, R and numbers s of terms there is a server, on which each type fits alone [most j] times, at least N
    times and not once more, and a configuration that attains R times the constant. *)
Definition lemma_6_1_sharp (N s : nat) (R : finType) : (0 < N)%N ->
  exists (J : finType) (d : J -> R -> F) (most k : J -> nat),
  [/\ forall j r, 0 <= d j r, fits_shares d k,
      forall j, (N <= most j)%N /\ forall r, (most j)%:R * d j r <= 1,
      forall j, exists r, 1 < (most j).+1%:R * d j r &
      \sum_j (k j)%:R / (most j)%:R = #|R|%:R * constant F N s]
  := @SingleType.lemma_6_1_sharp F N s R.

(** Types that fit alone at most [most j] times, N at least, on a server of resources [R]; a feasible configuration. *)
Variables (J R : finType) (d : J -> R -> F) (most : J -> nat) (N : nat) (k : J -> nat).
Hypothesis d_ge0 : forall j r, 0 <= d j r.
Hypothesis one_more : forall j, exists r, 1 < (most j).+1%:R * d j r.
Hypothesis N_gt0 : (0 < N)%N.
Hypothesis at_least : forall j, (N <= most j)%N.
Hypothesis k_fits : fits_shares d k.

(** The sum of k_j / n_j is at most R T. *)
Definition lemma_6_1 : \sum_j (k j)%:R / (most j)%:R <= #|R|%:R * constant F N (\sum_j k j)
  := SingleType.lemma_6_1 d_ge0 one_more N_gt0 at_least k_fits.

(** With weights [v], of which the best configuration of a single type has at most [best] ... *)
Variables (v : J -> F) (best : F).
Hypothesis v_ge0 : forall j, 0 <= v j.
Hypothesis best_single : forall j, v j * (most j)%:R <= best.
Hypothesis best_ge0 : 0 <= best.

(** ... a configuration weighs at most R T times this, ... *)
Definition single_type_keeps : \sum_j v j * (k j)%:R <= #|R|%:R * constant F N (\sum_j k j) * best
  := SingleType.single_type_keeps d_ge0 one_more N_gt0 at_least v_ge0 best_single best_ge0 k_fits.

(** ... and so at most R (N + 1)/N times, as printed. *)
Definition single_type_keeps_printed : \sum_j v j * (k j)%:R <= #|R|%:R * (N.+1%:R / N%:R) * best
  := SingleType.single_type_keeps_printed d_ge0 one_more N_gt0 at_least v_ge0 best_single best_ge0 k_fits.

End SingleType.

(** ** The universal partition *)

Section Universal.
Variables (F : realFieldType) (J : nat).

(** Jobs of real sizes above the lower ends of their types that fit a server make a feasible configuration. *)
Definition sizes_feasible (jobs : seq ('I_J.*2 * F)) :
  (forall c, c \in jobs -> inf_size F c.1 < c.2) -> \sum_(c <- jobs) c.2 <= 1 ->
  universal_fits F J (fun j => count (fun c => nat_of_ord c.1 == j) jobs)
  := @Universal.sizes_feasible F J jobs.

Hypothesis J_ge2 : (1 < J)%N.

(** If no reduced configuration weighs more than M, no feasible one weighs more than 3/2 M. *)
Definition universal_two_thirds (Q : nat -> F) (M : F) : (forall j, 0 <= Q j) ->
  (forall k, reduced J k -> weight J Q k <= M) -> forall k, universal_fits F J k -> weight J Q k <= 3%:R / 2%:R * M
  := @Universal.universal_two_thirds F J Q M J_ge2.

(** 3/2 is attained. *)
Definition universal_attained : exists (Q : nat -> F) k, [/\ forall j, 0 <= Q j,
  forall k', reduced J k' -> weight J Q k' <= 1, universal_fits F J k & weight J Q k = 3%:R / 2%:R]
  := Universal.universal_attained F J_ge2.

End Universal.

(** ** Partitions of sizes *)

Section Cells.
Variable F : realFieldType.

(** However sizes are rounded up to finitely many numbers, there are two sizes, 1/2 - eps and 1/2 + eps, of which an
    average server can hold one job each, but at most 2/3 of a job each once they are rounded. *)
Definition finite_partitions_lose (tops : seq F) (up : F -> F) :
  (forall x, 0 < x <= 1 -> up x \in tops /\ x <= up x) ->
  exists eps : F, let size (b : bool) := if b then 2%:R^-1 + eps else 2%:R^-1 - eps in
  [/\ 0 < eps <= 6%:R^-1, supported (fun b x => x = size b) (fun=> 1) &
    forall c, supported (fun b x => x = up (size b)) (fun=> c) -> c <= 2%:R / 3%:R]
  := @Cells.finite_partitions_lose F tops up.

Variable J : nat.
Hypothesis J_gt0 : (0 < J)%N.

(** Cuts at powers of two: if [n m] jobs of each cell can be in service, so can 1/(2 - 2^(1-J)) times as many that are
    rounded up; ... *)
Definition powers_of_two_keep (n : 'I_J -> F) :
  supported (@power_cell F J) n -> supported (@power_top F J) (fun m => n m / (2%:R - 2%:R / 2%:R ^+ J))
  := @Cells.powers_of_two_keep F J J_gt0 n.

(** ... and no more where all jobs have one size [x], so that 2^J - 1 of them fit a server. *)
Definition powers_of_two_attained : exists (m : 'I_J) (x : F) (n : 'I_J -> F),
  [/\ power_cell m x, supported (fun i y => i = m /\ y = x) n, n m = 2%:R ^+ J - 1 &
      forall n', supported (@power_top F J) n' -> n' m <= n m / (2%:R - 2%:R / 2%:R ^+ J)]
  := Cells.powers_of_two_attained F J_gt0.

End Cells.

(** ** From weights to workloads *)

(** No configuration in [K] weighs more than [c] times the heaviest in the list [R], whatever the weights [Q], exactly
    if configurations in [R] carry on [c] times as many servers what those in [K] carry. *)
Definition weights_decide_workloads (F : realFieldType) (J : finType) (K : (J -> nat) -> Prop) (R : seq (J -> nat))
    (c : F) : 0 < c ->
  (forall Q (M : F), (forall j, 0 <= Q j) -> 0 <= M -> (forall k, List.In k R -> reward Q k <= M) ->
     forall k, K k -> reward Q k <= c * M) <->
  (forall n, carried K n -> carried (fun k => List.In k R) (fun j => n j / c))
  := @Duality.weights_decide_workloads F J K R c.

Section Partition.
Variables (F : realFieldType) (C : finType) (low top : C -> F) (N : nat).
Hypothesis low_top : forall c, low c < top c.

(** Numbers of jobs that sizes just above the lower ends allow come from jobs of real sizes, one for each cell. *)
Definition content_law m : content low m ->
  exists size : C -> F, (forall c, in_cell low top c (size c)) /\
    supported (fun c x => x = size c) (fun c => (m c)%:R)
  := @Partition.content_law F C low top low_top m.

Hypothesis low_gt : forall c, 1 < N%:R * low c.
Variable G : F.
Hypothesis G_gt0 : 0 < G.

(** Sizes are above 1/N. Rounded up, the jobs that sizes in the cells support need at most [G] times as many servers,
    exactly if the jobs of each single server do; ... *)
Definition partition_guarantee :
  (forall n, supported (in_cell low top) n -> carried (rounded top) (fun c => n c / G)) <->
  (forall m, content low m -> carried (rounded top) (fun c => (m c)%:R / G))
  := Partition.partition_guarantee low_top low_gt G_gt0.

(** ... and exactly if these never weigh more than [G] times the heaviest configuration of rounded jobs. *)
Definition partition_weights :
  (forall n, supported (in_cell low top) n -> carried (rounded top) (fun c => n c / G)) <->
  (forall Q M, (forall c, 0 <= Q c) -> 0 <= M -> (forall k, rounded top k -> reward Q k <= M) ->
     forall m, content low m -> reward Q m <= G * M)
  := Partition.partition_weights low_top low_gt G_gt0.

End Partition.

Section UniversalPartition.
Variables (F : realFieldType) (J : nat).
Hypothesis J_ge2 : (1 < J)%N.
Notation low := (fun j : 'I_J.*2 => inf_size F j).
Notation top := (fun j : 'I_J.*2 => max_size F j).

(** Of the jobs by cell of the universal partition that real sizes support, reduced configurations carry 2/3, ... *)
Definition universal_workloads n : supported (in_cell low top) n ->
  carried (fun k => exists2 r, reduced J r & forall j : 'I_J.*2, k j = r j) (fun j => 2%:R / 3%:R * n j)
  := @Partition.universal_workloads F J J_ge2 n.

(** ... which fit servers with all sizes rounded up. *)
Definition universal_keeps n :
  supported (in_cell low top) n -> carried (rounded top) (fun j => 2%:R / 3%:R * n j)
  := @Partition.universal_keeps F J J_ge2 n.

End UniversalPartition.

(** ** Section V of the PS-DSF paper against its Table IV

    Users 1 and 2 can run 80 and 40 tasks alone on class A. If 40 and 20 together fill every resource that one of them
    demands, and user 1 can run 55 alone on class D, user 2 can run 27.5 there, and not 41.25, as is printed. *)

Definition section_5_full (F : realFieldType) (R : finType) (class_A class_D d1 d2 : R -> F) :
  (forall r, 0 <= d1 r) -> (forall r, 0 <= d2 r) ->
  alone_tasks class_A d1 80%:R -> alone_tasks class_A d2 40%:R -> alone_tasks class_D d1 55%:R ->
  (forall r, 0 < d1 r \/ 0 < d2 r -> 40%:R * d1 r + 20%:R * d2 r = class_A r) ->
  alone_tasks class_D d2 (55%:R / 2%:R) /\ ~ alone_tasks class_D d2 (165%:R / 4%:R)
  := @SectionFive.section_5_full F R class_A class_D d1 d2.

(** ** Servers that users share

    Capacities [c], demands [d], weights [phi]; on server [i] user [n] can run [gamma n i] tasks alone. *)

Section Sharing.
Variables (F : realFieldType) (N S R : finType).
Variables (c : S -> R -> F) (d : N -> R -> F) (phi : N -> F) (gamma : N -> S -> F).
Hypothesis alone : runs_alone c d gamma.
Variables x y : N -> S -> F.

(** What time division allows, resource division does. *)
Definition time_fits : (forall i r, 0 <= c i r) -> timed gamma x -> divided c d gamma x
  := @Fairness.time_fits F N S R c d gamma alone x.

(** Under time division an allocation is PS-DSF exactly if all time is used where somebody can run, and whoever is served
    there has no higher level than any other who can run there. *)
Definition time_test : timed gamma x ->
  ps_dsf phi gamma (timed gamma) x <->
  (forall i, usable gamma i -> \sum_n x n i / gamma n i = 1) /\
  forall n m i, 0 < gamma n i -> 0 < x m i -> level phi gamma x m i <= level phi gamma x n i
  := @Fairness.time_test F N S R c d phi gamma alone x.

Section Demands.
Hypothesis d_ge0 : forall n r, 0 <= d n r.

(** Under resource division it is exactly if every user has a bottleneck wherever it can run. *)
Definition bottleneck_test : divided c d gamma x ->
  ps_dsf phi gamma (divided c d gamma) x <->
  forall n i, 0 < gamma n i -> exists r, bottleneck c d phi gamma x n i r
  := @Fairness.bottleneck_test F N S R c d phi gamma d_ge0 alone x.

(** Then it keeps at least 1/R of the greatest mean utilisation if every server has each of R resources. *)
Definition idle_resources : (forall i r, 0 < c i r) ->
  ps_dsf phi gamma (divided c d gamma) x -> divided c d gamma y ->
  mean_utilisation c d gamma y / #|R|%:R <= mean_utilisation c d gamma x
  := fun c_gt0 => @FairnessCosts.idle_resources F N S R c d phi gamma d_ge0 alone c_gt0 x y.

End Demands.

Hypothesis phi_gt0 : forall n, 0 < phi n.

(** Users [n] and [m] with tasks on servers [i] and [j] exchange time: [a] of [n] on [i] for [b] of [m] on [j]. Neither
    gains unless the other loses, since what they gain has a weighted sum that is not positive. *)
Definition exchange_of_time (n m : N) (i j : S) (a b : F)
    (gain_n := b * gamma n j - a * gamma n i) (gain_m := a * gamma m i - b * gamma m j)
    (A := level phi gamma x m i - level phi gamma x n i) (B := level phi gamma x n j - level phi gamma x m j)
    (rate := tasks x n * phi m / (tasks x m * phi n)) :
  timed gamma x -> ps_dsf phi gamma (timed gamma) x -> 0 < x n i -> 0 < x m j -> 0 <= a -> 0 <= b ->
  [/\ 0 < gain_n -> gain_m < 0, 0 < gain_m -> gain_n < 0 &
      0 < gamma m i -> 0 < gamma n j -> [/\ 0 <= A, 0 <= B, 0 < rate &
        gain_n + rate * gain_m
          = - (a * A * (gamma n i * gamma m i) + b * B * (gamma n j * gamma m j)) * (phi m / tasks x m)]]
  := @Fairness.exchange_of_time F N S R c d phi gamma alone phi_gt0 x n m i j a b.

Hypothesis somewhere : forall n, exists i, 0 < gamma n i.

(** Under time division PS-DSF is the equilibrium of a market. *)
Definition fisher_market : timed gamma x ->
  ps_dsf phi gamma (timed gamma) x <->
  (forall n, 0 < tasks x n) /\ exists price, market_equilibrium phi gamma x price
  := @Fairness.fisher_market F N S R c d phi gamma alone phi_gt0 x somewhere.

(** It keeps at least (2 s - 1)/N of every sum of parts if weights are equal, s being the root of the number N of users, ... *)
Definition price_of_fairness (s : F) : (forall n m, phi n = phi m) ->
  ps_dsf phi gamma (timed gamma) x -> timed gamma y -> 0 <= s -> s ^+ 2 = #|N|%:R ->
  (2%:R * s - 1) / #|N|%:R * (\sum_n part gamma y n) <= \sum_n part gamma x n
  := fun equal => @FairnessCosts.price_of_fairness F N S R c d phi gamma alone phi_gt0 somewhere equal x y s.

End Sharing.

(** ... and no more on k servers of k^2 users, for every k. *)
Definition price_of_fairness_attained (F : realFieldType) (k : nat) : (0 < k)%N ->
  exists (gamma : 'I_k * 'I_k -> 'I_k -> F) x y,
  [/\ runs_alone (fun _ (_ : unit) => 1) (fun _ _ => 1) gamma /\ (forall n, exists i, 0 < gamma n i),
      ps_dsf (fun=> 1) gamma (timed gamma) x, timed gamma y, 0 < \sum_n part gamma y n &
      \sum_n part gamma x n = (2%:R * k%:R - 1) / (k ^ 2)%:R * (\sum_n part gamma y n)]
  := @FairnessCosts.price_of_fairness_attained F k.

(** Two users can run as if alone on a server beside each other, and not in time. *)
Definition time_is_stricter (F : realFieldType) :
  exists (c : unit -> bool -> F) (d : bool -> bool -> F) (gamma x : bool -> unit -> F),
  [/\ runs_alone c d gamma, forall n, tasks x n = gamma n tt, divided c d gamma x & ~ timed gamma x]
  := Fairness.time_is_stricter F.

(** On one server with n + 1 users and q + 1 resources, where a mean utilisation of 1 is possible, resource division has
    1/(q + 1) + (1 - 1/(q + 1))/(n + 1). *)
Definition idle_resources_family (F : realFieldType) (n q : nat)
    (c := fun (_ : unit) (_ : 'I_q.+1) => 1 : F) (d := @idle_demand F n q)
    (gamma := fun (_ : 'I_n.+1) (_ : unit) => 1 : F) :
  exists x y, [/\ runs_alone c d gamma, ps_dsf (fun=> 1) gamma (divided c d gamma) x, divided c d gamma y,
    mean_utilisation c d gamma y = 1 &
    mean_utilisation c d gamma x = q.+1%:R^-1 + (1 - q.+1%:R^-1) / n.+1%:R]
  := @FairnessCosts.idle_resources_family F n q.

(** TSF and C-DRFH leave a user 2/(2 + m) of one half, which PS-DSF gives it, and no number is below all 2/(2 + m). *)
Definition unfairness_without_bound (F : realFieldType) (m : F)
    (c := unfair_capacity m) (d := @unfair_demand F) (gamma := @unfair_gamma F) : 0 < m ->
  [/\ runs_alone c d gamma,
      (exists x, tsf c d (fun=> 1) gamma x) /\ (exists x, c_drfh c d (fun=> 1) gamma x),
      forall x, ps_dsf (fun=> 1) gamma (divided c d gamma) x -> tasks x false = 2%:R^-1,
      forall x, tsf c d (fun=> 1) gamma x \/ c_drfh c d (fun=> 1) gamma x ->
        tasks x false = 2%:R / (2%:R + m) * 2%:R^-1 &
      forall e, 0 < e -> 2%:R / e <= m -> 2%:R / (2%:R + m) < e]
  := @FairnessCosts.unfairness_without_bound F m.

(** ** The checkers, over the rationals of the standard library *)

Module Checked.
Import ZArith QArith List CertificateModel.
Local Open Scope Q_scope.

(** The generator lists every configuration of additive resources, ... *)
Definition configurations_complete : forall n demands capacity k,
  length capacity = n -> forallb (row_ok n) demands = true -> fits demands capacity k ->
  In k (Configurations.configurations demands capacity)
  := Configurations.configurations_complete.

(** ... and no other. *)
Definition configurations_sound : forall n demands capacity k,
  length capacity = n -> forallb (row_ok n) demands = true -> Forall (fun c => 0 <= c)%Z capacity ->
  In k (Configurations.configurations demands capacity) -> fits demands capacity k
  := Configurations.configurations_sound.

(** Prices of slots and of servers bound what any assignment earns. *)
Definition prices_bound : forall m beta gamma columns jobs,
  Forall2 (fun b x => 0 <= b <= x) beta (rewards m) -> Forall2 (server_price (types m) beta) (pools m) gamma ->
  is_assignment m columns jobs ->
  value m jobs <= inner (minus (rewards m) beta) (workload m) + inner gamma (map fst (pools m))
  := Prices.prices_bound.

(** What the checker of assignments accepts is true: the optimum is attained, and nothing earns more; there is a greedy
    run with the listed configurations and fractions, and it earns what is claimed; and so for the ratio and the
    guarantees. *)
Definition check_sound : forall c, Checker.check c = true ->
  let m := model c in
  (exists jobs, is_assignment m (columns c) jobs /\ value m jobs == optimal_reward c)
  /\ (forall columns jobs, is_assignment m columns jobs -> value m jobs <= optimal_reward c)
  /\ (exists st, greedy_run m st /\ earned m st == greedy_reward c
        /\ Forall2 (fun s l => Forall2 (Forall2 eq) (confs s) (fst (fst l)) /\ frac s == snd (fst l)) st (listed c))
  /\ (if Qeq_bool (optimal_reward c) 0 then ratio c == 1 else ratio c * optimal_reward c == greedy_reward c)
  /\ guarantee c * optimal_reward c <= greedy_reward c
  /\ guarantee_stagewise c * optimal_reward c <= greedy_reward c
  := Checker.check_sound.

(** What it accepts is a greedy run and an optimal assignment in the sense of Model.v, with numbers in any ordered
    field, ... *)
Definition accepted_run : forall (F : realFieldType) c, Checker.check c = true -> let m := model c in exists st a,
  [/\ Model.greedy_run_with_ties (@BridgeModel.share F m) (@BridgeModel.can_hold m) (@BridgeModel.reward_of F m)
        (@BridgeModel.work_of F m) st,
      Model.earned (@BridgeModel.share F m) (@BridgeModel.reward_of F m) st = BridgeModel.of_Q F (greedy_reward c),
      Model.feasible (@BridgeModel.share F m) (@BridgeModel.can_hold m) (@BridgeModel.work_of F m) a,
      Model.value (@BridgeModel.reward_of F m) a = BridgeModel.of_Q F (optimal_reward c) &
      forall b, Model.feasible (@BridgeModel.share F m) (@BridgeModel.can_hold m) (@BridgeModel.work_of F m) b ->
        (Model.value (@BridgeModel.reward_of F m) b <= BridgeModel.of_Q F (optimal_reward c))%R]
  := Bridge.accepted_run.

(** ... so that the theorems on greedy runs hold of it: greedy earns at least 0.632 of the optimum. *)
Definition accepted_keeps_632 : forall c, Checker.check c = true ->
  (79 # 125) * optimal_reward c <= greedy_reward c
  := Bridge.accepted_keeps_632.

(** What the checker of traffic intensities accepts is true: the columns carry the workload if there are that many times
    as many servers, no fewer do, and the workload is supportable if it is below 1. *)
Definition check_intensity_sound : forall c, Intensity.check_intensity c = true ->
  carries (traffic c) (intensity c) (carriers c)
  /\ (forall z columns, 0 <= z -> carries (traffic c) z columns -> intensity c <= z)
  /\ (supportable c = true <-> intensity c < 1)
  := Intensity.check_intensity_sound.

(** What the checker of throughputs accepts is true: on all servers the columns support as many jobs as the lower bound
    says, and nothing supports more than the upper bound; the reduced configurations of the 2J queues support just what
    is claimed of VQS; and the share of sizes up to 2^-J is right, and 0 for no smaller J (if not for this, for none up
    to 30). *)
Definition check_throughput_sound : forall c, Throughput.check_throughput c = true ->
  let fitting := fits_server (law c) in
  let queued k := In k (reduced (vqs_J c)) in
  let shares := queue_shares (law c) (vqs_J c) in
  let tail j := share_up_to (law c) (1 / inject_Z (power j)) in
  0 < servers c
  /\ supports fitting (chances (law c)) (lower c / servers c) (below c)
  /\ (forall w columns, supports fitting (chances (law c)) w columns -> servers c * w <= upper c)
  /\ supports queued shares (vqs c / servers c) (vqs_columns c)
  /\ (forall w columns, supports queued shares w columns -> servers c * w <= vqs c)
  /\ vqs_lost c == tail (vqs_J c)
  /\ (forall j, (2 <= j)%coq_nat -> (j < vqs_J c)%coq_nat -> 0 < tail j)
  /\ (vqs_lost c == 0 \/ 0 < tail 30%nat)
  := Throughput.check_throughput_sound.

(** What the checker of allocations accepts is true: the allocation is what the mechanism defines, and the users have
    the claimed tasks. *)
Definition check_allocation_sound : forall a, Sharing.check_allocation a = true ->
  is_fair (mech a) (shared a) (entry (placed a))
  /\ forall n, (n < users (shared a))%coq_nat -> nth n (claimed a) 0 == tasks (shared a) (entry (placed a)) n
  := Sharing.check_allocation_sound.

End Checked.
