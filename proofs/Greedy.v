(** * Greedy reservation keeps 1 - (1 - 1/m)^m of the optimum, over any number of pools

    The model of the auto-scaling paper in the limit of many servers (Model.v). *)

From mathcomp Require Import all_ssreflect all_algebra ring.
From packproof Require Export Model Inequalities.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(** ** Three inequalities about numbers that sum to one *)

Section Inequalities.
Variable F : realFieldType.

(** An inequality follows from two others if the differences agree. *)
Lemma ler_from2 (a b p q r s : F) : p <= q -> r <= s -> b - a = (q - p) + (s - r) -> a <= b.
Proof. by move=> pq rs e; rewrite -subr_ge0 e addr_ge0 // subr_ge0. Qed.

Lemma ltr_from1 (a b p q : F) : p < q -> b - a = q - p -> a < b.
Proof. by move=> pq e; rewrite -subr_gt0 e subr_gt0. Qed.

(** If n numbers in [0, 1] sum to one, the product of their complements is at most (1 - 1/n)^n. *)
Lemma prod_complement_le (n : nat) (x : 'I_n -> F) :
  (forall i, 0 <= x i <= 1) -> \sum_i x i = 1 -> \prod_i (1 - x i) <= (1 - n%:R^-1) ^+ n.
Proof.
move=> x01 sum1.
have n0 : (0 < n)%N.
  by case: n x x01 sum1 => // x _; rewrite big_ord0 => /esym/eqP; rewrite oner_eq0.
have nF : 0 < n%:R :> F by rewrite ltr0n.
have cn : #|[pred i : 'I_n | true]| = n by rewrite cardT size_enum_ord.
have := @leif_AGM F _ [pred i | true] (fun i : 'I_n => 1 - x i); rewrite cn.
move=> /(_ _)[|+ _]; first by move=> i _; rewrite subr_ge0; case/andP: (x01 i).
by rewrite sumrB sum1 sumr_const cn mulrBl divff ?gt_eqF // mul1r.
Qed.

(** The constant (1 - 1/n)^n grows with n. *)
Lemma complement_power_mono (n m : nat) :
  (0 < n)%N -> (n <= m)%N -> (1 - n%:R^-1) ^+ n <= (1 - m%:R^-1) ^+ m :> F.
Proof.
move=> n0 nm.
have nF : 0 < n%:R :> F by rewrite ltr0n.
pose x (i : 'I_m) : F := if (i < n)%N then n%:R^-1 else 0.
have sx (G : nat -> F) : \sum_(i < m) (if (i < n)%N then G i else 0) = \sum_(i < n) G i.
  by rewrite -big_mkcond /= (big_ord_widen _ G nm).
have -> : (1 - n%:R^-1) ^+ n = \prod_(i < m) (1 - x i) :> F.
  rewrite (eq_bigr (fun i : 'I_m => if (i < n)%N then 1 - n%:R^-1 else 1)); last first.
    by move=> i _; rewrite /x; case: ifP => _ //; rewrite subr0.
  rewrite -big_mkcond /= -(big_ord_widen _ (fun _ => 1 - n%:R^-1 : F) nm).
  by rewrite prodr_const card_ord.
apply: prod_complement_le.
  move=> i; rewrite /x; case: ifP => _; last by rewrite lexx ler01.
  by rewrite invr_ge0 ltW //= invf_le1 // ler1n.
by rewrite (sx (fun=> n%:R^-1)) sumr_const card_ord -[X in X = _]mulr_natr mulVf // gt_eqF.
Qed.

(** If they sum to one, the product is at most 1/2. *)
Lemma prod_complement_half (T : Type) (s : seq T) (x : T -> F) :
  (forall t, List.In t s -> 0 <= x t <= 1) -> \prod_(t <- s) (1 - x t) * (1 + \sum_(t <- s) x t) <= 1.
Proof.
move=> x01; have [] : [/\ \prod_(t <- s) (1 - x t) * (1 + \sum_(t <- s) x t) <= 1,
    0 <= \prod_(t <- s) (1 - x t) & 0 <= \sum_(t <- s) x t]; last by [].
elim: s x01 => [|t s IH] x01; first by rewrite !big_nil addr0 mulr1 ler01.
have [|h p0 s0] := IH; first by move=> v vs; apply: x01; right.
have /andP[x0 x1] : 0 <= x t <= 1 by apply: x01; left.
rewrite !big_cons; split; last 2 first.
- by rewrite mulr_ge0 // subr_ge0.
- by rewrite addr_ge0.
set p := \prod_(i <- s) _ in h p0 *; set S := \sum_(i <- s) _ in h s0 *.
have a : 0 <= p * (x t * (x t + S)) by rewrite !mulr_ge0 // addr_ge0.
by apply: (ler_from2 h a); ring.
Qed.

End Inequalities.

(** ** The model *)

Section Model.
Variable F : realFieldType.
Variables J P : finType.
Variables (w : P -> F) (K : P -> configuration J -> Prop) (u rho : J -> F).
Notation configuration := (configuration J).
Notation reward := (@reward F J u).
Notation is_max_reward := (@is_max_reward F J P K u).
Notation stage := (stage F J P).
Notation used := (@used F J P).
Notation slots := (@slots F J P w).
Notation rate := (@rate F J P w u).
Notation served := (@served F J P w).
Notation earned := (@earned F J P w u).
Notation greedy_run := (@greedy_run F J P w K u rho).
Notation assignment := (assignment F J P).
Notation feasible := (@feasible F J P w K rho).
Notation value := (@value F J P u).
Notation run_assignment := (@run_assignment F J P w).

Hypothesis K_down : down_closed K.
Hypothesis w_ge0 : forall p, 0 <= w p.
Hypothesis u_ge0 : forall j, 0 <= u j.

Lemma reward_ge0 k : 0 <= reward k.
Proof. by apply: sumr_ge0 => j _; rewrite mulr_ge0 ?ler0n. Qed.

Lemma rate_ge0 s : 0 <= rate s.
Proof. by apply: sumr_ge0 => p _; rewrite mulr_ge0 ?reward_ge0. Qed.

Lemma slots_ge0 s j : 0 <= slots s j.
Proof. by apply: sumr_ge0 => p _; rewrite mulr_ge0 ?ler0n. Qed.

(** The reward of a stage or of a run is that of the jobs that fill its slots. *)
Lemma rate_slots s : rate s = \sum_j u j * slots s j.
Proof.
rewrite /rate /reward; under eq_bigr do rewrite mulr_sumr.
rewrite exchange_big /=; apply: eq_bigr => j _; rewrite /slots mulr_sumr.
by apply: eq_bigr => p _; rewrite mulrCA.
Qed.

Lemma earned_served st : earned st = \sum_j u j * served st j.
Proof.
rewrite /earned /served; under [RHS]eq_bigr do rewrite mulr_sumr.
rewrite exchange_big /=; apply: eq_bigr => s _.
by rewrite rate_slots mulr_sumr; apply: eq_bigr => j _; rewrite mulrCA.
Qed.

(** *** Upper bounds on every assignment *)

(** A configuration restricted to the types in [S]. *)
Definition restrict (S : {set J}) (k : configuration) : configuration := fun j => if j \in S then k j else 0%N.

Lemma restrict_feasible p S k : K p k -> K p (restrict S k).
Proof. by move=> /K_down; apply=> j; rewrite /restrict; case: ifP. Qed.

Lemma restrict_uses S k : uses_only S (restrict S k).
Proof. by move=> j /negPf jS; rewrite /restrict jS. Qed.

(** Sums over the columns of a pool. *)
Lemma sum_columns_le (a : assignment) p (f : configuration -> F) (b : F) :
  feasible a -> 0 <= b -> (forall k, K p k -> f k <= b) -> \sum_(c <- columns a p) c.2 * f c.1 <= w p * b.
Proof.
move=> fa b0 fb.
have h : \sum_(c <- columns a p) c.2 * f c.1 <= (\sum_(c <- columns a p) c.2) * b.
  have := feasible_share fa (p := p); have := feasible_conf fa (p := p).
  elim: (columns a p) => [|c s IH] Kc c0; first by rewrite !big_nil mul0r.
  rewrite !big_cons mulrDl; apply: lerD.
    by apply: ler_wpM2l; [apply: c0; left | apply/fb/Kc; left].
  by apply: IH => d ds; [apply: Kc | apply: c0]; right.
by apply: (le_trans h); apply: ler_wpM2r => //; apply: (feasible_pool fa).
Qed.

(** Types outside [S] earn at most their workload, the others at most what the columns earn without the types outside
    [S]. *)
Lemma value_columns (a : assignment) (S : {set J}) : feasible a ->
  value a <= \sum_(j | j \notin S) u j * rho j
    + \sum_p \sum_(c <- columns a p) c.2 * reward (restrict S c.1).
Proof.
move=> fa; rewrite /value (bigID (mem S)) /= addrC; apply: lerD.
  by apply: ler_sum => j _; apply: ler_wpM2l => //; case/andP: (feasible_jobs fa j).
have -> : \sum_p \sum_(c <- columns a p) c.2 * reward (restrict S c.1)
        = \sum_(j in S) u j * \sum_p \sum_(c <- columns a p) c.2 * (c.1 j)%:R.
  under [RHS]eq_bigr do rewrite mulr_sumr.
  rewrite exchange_big /=; apply: eq_bigr => p _.
  under [RHS]eq_bigr do rewrite mulr_sumr.
  rewrite exchange_big /=; apply: eq_bigr => c _.
  rewrite /reward mulr_sumr [RHS]big_mkcond /=; apply: eq_bigr => j _.
  by rewrite /restrict; case: ifP => _; [rewrite mulrCA | rewrite !mulr0].
by apply: ler_sum => j _; apply: ler_wpM2l => //; apply: (feasible_slots fa).
Qed.

(** The bound behind every result on greedy: types outside [S] earn at most their workload, the others at most what the
    best configurations of types in [S] earn. *)
Lemma value_split (a : assignment) (S : {set J}) (best : P -> F) :
  feasible a -> (forall p, 0 <= best p) ->
  (forall p k, K p k -> uses_only S k -> reward k <= best p) ->
  value a <= \sum_(j | j \notin S) u j * rho j + \sum_p w p * best p.
Proof.
move=> fa best0 bestP; apply: (le_trans (value_columns S fa)); rewrite lerD2l.
apply: ler_sum => p _; apply: (@sum_columns_le a p (fun k => reward (restrict S k))) => // k Kk.
by apply: bestP; [apply: restrict_feasible | apply: restrict_uses].
Qed.

Lemma sum_stages_ge0 st (f : stage -> F) :
  (forall s, List.In s st -> 0 <= frac s) -> (forall s, 0 <= f s) -> 0 <= \sum_(s <- st) frac s * f s.
Proof.
move=> + f0; elim: st => [|s st IH] x0; first by rewrite big_nil.
by rewrite big_cons addr_ge0 ?mulr_ge0 //; [apply: x0; left | apply: IH => t tst; apply: x0; right].
Qed.

(** What a part of a run earns is at least the workload of the types that it has served completely. *)
Lemma earned_ge (st : seq stage) (S : {set J}) :
  (forall s, List.In s st -> 0 <= frac s) -> (forall j, j \notin S -> served st j = rho j) ->
  \sum_(j | j \notin S) u j * rho j <= earned st.
Proof.
move=> f0 gone; rewrite earned_served [X in _ <= X](bigID (mem S)) /= addrC -[X in X <= _]addr0; apply: lerD.
  by apply: ler_sum => j jS; rewrite gone.
by apply: sumr_ge0 => j _; rewrite mulr_ge0 // sum_stages_ge0 // => s; apply: slots_ge0.
Qed.

Lemma In_split_cat (st : seq stage) s : List.In s st -> exists pre post, st = pre ++ s :: post.
Proof. by move=> /(@List.in_split stage s st). Qed.

Lemma run_frac_ge0 st s : greedy_run st -> List.In s st -> 0 <= frac s.
Proof. by move=> run /In_split_cat[pre [post e]]; apply/ltW/(run_frac run e). Qed.

(** ** Theorem: a greedy run is itself an assignment, and what it earns is the value of that assignment. *)
Theorem run_feasible st : (forall j, 0 <= rho j) -> greedy_run st ->
  feasible (run_assignment st) /\ value (run_assignment st) = earned st.
Proof.
move=> rho0 run; split; last by rewrite earned_served.
split.
- move=> p c /= /(@List.in_map_iff stage (configuration * F)) [s [<- /In_split_cat[pre [post e]]]] /=.
  by case: (run_max run e p).
- move=> p c /= /(@List.in_map_iff stage (configuration * F)) [s [<- sst]] /=.
  by rewrite mulr_ge0 //; apply: (run_frac_ge0 run).
- move=> p /=; rewrite big_map /= -mulr_suml -[X in _ <= X]mul1r; apply: ler_wpM2r => //.
  exact: (run_servers run).
- move=> j /=; rewrite (run_fits run) andbT.
  by apply: sum_stages_ge0 => [s|s]; [apply: run_frac_ge0 | apply: slots_ge0].
- move=> j /=; rewrite /served /slots; under eq_bigr do rewrite mulr_sumr.
  rewrite exchange_big /=; apply: ler_sum => p _; rewrite big_map /= le_eqVlt; apply/orP; left.
  by apply/eqP; apply: eq_bigr => s _; rewrite mulrA.
Qed.

(** ** The stage bound (B1): no assignment earns more than what greedy earned before a stage plus the reward of the
    stage on all servers. *)
Theorem stage_bound st (a : assignment) pre s post :
  greedy_run st -> feasible a -> st = pre ++ s :: post -> value a <= earned pre + rate s.
Proof.
move=> run fa e.
apply: (le_trans (@value_split a (left_types s) (fun p => reward (conf s p)) fa _ _)).
- by move=> p; apply: reward_ge0.
- by move=> p k Kk kS; case: (run_max run e p) => _ _; apply.
- apply: lerD => //; apply: earned_ge; last by apply: (run_gone run e).
  move=> t tpre; apply: (run_frac_ge0 run); rewrite e.
  by apply: List.in_or_app; left.
Qed.

(** When all work is served, greedy is optimal. *)
Theorem serves_all_optimal st (a : assignment) :
  (forall j, served st j = rho j) -> feasible a -> value a <= earned st.
Proof.
move=> all fa; rewrite earned_served; apply: ler_sum => j _; rewrite all.
by apply: ler_wpM2l => //; case/andP: (feasible_jobs fa j).
Qed.

Lemma frac_part st (pre post : seq stage) : greedy_run st -> st = pre ++ post ->
  (forall s, List.In s pre -> 0 <= frac s) /\ (forall s, List.In s post -> 0 <= frac s).
Proof.
by move=> run e; split=> s ss; apply: (run_frac_ge0 run); rewrite e; apply: List.in_or_app; [left | right].
Qed.

Lemma used_ge0 st : (forall s, List.In s st -> 0 <= frac s) -> 0 <= used st.
Proof.
move=> f0; rewrite /used; have := @sum_stages_ge0 st (fun=> 1) f0 (fun=> ler01).
by under eq_bigr do rewrite mulr1.
Qed.

Lemma run_frac_le1 st s : greedy_run st -> List.In s st -> 0 <= frac s <= 1.
Proof.
move=> run sst; rewrite (run_frac_ge0 run sst) /=.
case: (In_split_cat sst) => pre [post e]; apply: le_trans (run_servers run).
have [pre0 _] := frac_part run e.
have post0 t : List.In t post -> 0 <= frac t.
  have [|_ h] := @frac_part st (rcons pre s) post run; first by rewrite cat_rcons.
  by apply: h.
by rewrite e /used big_cat big_cons /= addrCA lerDl; apply: addr_ge0; apply: used_ge0.
Qed.

(** The gap to the optimum shrinks by the factor 1 - x at a stage of fraction x. *)
Lemma gap_shrinks st (a : assignment) pre post :
  greedy_run st -> feasible a -> st = pre ++ post ->
  value a - earned pre <= \prod_(s <- pre) (1 - frac s) * value a.
Proof.
move=> run fa; elim/last_ind: pre post => [|pre s IH] post e.
  by rewrite /earned !big_nil mul1r subr0.
rewrite -cats1 -catA /= in e.
have bound := stage_bound run fa e.
have {}IH := IH (s :: post) e.
have f0 := run_frac run e.
have /andP[_ f1] : 0 <= frac s <= 1.
  by apply: (run_frac_le1 run); rewrite e; apply: List.in_or_app; right; left.
rewrite -cats1 big_cat big_seq1 /= /earned big_cat big_seq1 /= -/(earned pre).
set p := \prod_(i <- pre) _ in IH *; set V := value a in IH bound *; set E := earned pre in IH bound *.
have h1 : 0 <= frac s * (E + rate s - V) by rewrite mulr_ge0 ?subr_ge0 // ltW.
have h2 : 0 <= (1 - frac s) * (p * V - (V - E)) by rewrite mulr_ge0 ?subr_ge0.
by apply: (ler_from2 h1 h2); ring.
Qed.

Lemma value_ge0 a : feasible a -> 0 <= value a.
Proof. by move=> fa; apply: sumr_ge0 => j _; rewrite mulr_ge0 //; case/andP: (feasible_jobs fa j). Qed.

(** ** Theorem (B1 and B9), instance by instance: greedy keeps 1 - (1 - x_1) ... (1 - x_n) of every assignment. *)
Theorem greedy_keeps_product st (a : assignment) :
  greedy_run st -> feasible a -> (1 - \prod_(s <- st) (1 - frac s)) * value a <= earned st.
Proof.
move=> run fa; have h := gap_shrinks run fa (esym (cats0 st)).
by apply: (ler_from2 h (lexx 0)); ring.
Qed.

(** The product over stages, as numbers indexed by 0, ..., n - 1. *)
Lemma product_le st : greedy_run st -> used st = 1 ->
  \prod_(s <- st) (1 - frac s) <= (1 - (size st)%:R^-1) ^+ size st.
Proof.
move=> run; case: st run => [|s0 st0] run; first by rewrite /used big_nil => /esym/eqP; rewrite oner_eq0.
set st := s0 :: st0 in run *; rewrite /used !(big_nth s0) !big_mkord => sum1.
apply: (@prod_complement_le F _ (fun i => frac (nth s0 st i))) => // i.
apply: (run_frac_le1 run); move: (ltn_ord i); move: (nat_of_ord i) => {}i.
by elim: (st) i => // t r IH [|i] h; [left | right; apply: IH].
Qed.

(** ** Theorem (B1 and B9): greedy keeps 1 - (1 - 1/m)^m of every assignment, for every m at least the number of its
    stages. The number of stages is at most the number of types (file Existence.v). *)
Theorem greedy_keeps st (a : assignment) (m : nat) :
  greedy_run st -> feasible a -> (0 < m)%N -> (size st <= m)%N ->
  (1 - (1 - m%:R^-1) ^+ m) * value a <= earned st.
Proof.
move=> run fa m0 sm; have v0 := value_ge0 fa.
have mF : 0 < m%:R :> F by rewrite ltr0n.
have c0 : 0 <= 1 - m%:R^-1 :> F by rewrite subr_ge0 invf_le1 // ler1n.
case: (run_end run) => [all|all]; last first.
  apply: le_trans (serves_all_optimal all fa); rewrite -[X in _ <= X]mul1r.
  by apply: ler_wpM2r => //; rewrite gerDl oppr_le0 exprn_ge0.
apply: le_trans (greedy_keeps_product run fa); apply: ler_wpM2r => //.
rewrite lerD2l lerN2; apply: (le_trans (product_le run all)).
apply: complement_power_mono => //.
by case: (st) all => //; rewrite /used big_nil => /esym/eqP; rewrite oner_eq0.
Qed.

(** ** Theorem 3.7 of the auto-scaling paper: greedy keeps one half. *)
Theorem greedy_keeps_half st (a : assignment) :
  greedy_run st -> feasible a -> value a <= 2%:R * earned st.
Proof.
move=> run fa; have v0 := value_ge0 fa.
have e0 : 0 <= earned st.
  by apply: sum_stages_ge0 => [s|]; [apply: run_frac_ge0 | apply: rate_ge0].
case: (run_end run) => [all|all]; last first.
  by apply: (ler_from2 (serves_all_optimal all fa) e0); ring.
have keeps := greedy_keeps_product run fa.
have half : \prod_(s <- st) (1 - frac s) * (1 + 1) <= 1.
  have := @prod_complement_half F _ st (@frac F J P) (fun s => @run_frac_le1 st s run).
  by rewrite -/(used st) all.
set p := \prod_(s <- st) _ in keeps half.
have h : 0 <= (1 - p * (1 + 1)) * value a by rewrite mulr_ge0 // subr_ge0.
by apply: (@ler_from2 _ _ _ _ _ _ _ (ler_wpM2l (ler0n _ 2) keeps) h); ring.
Qed.
End Model.
