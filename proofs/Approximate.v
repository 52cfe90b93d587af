(** * Greedy with an approximate oracle keeps 1 - (1 - alpha/m)^m of the optimum

    Each stage uses configurations of types left that have at least alpha times the greatest reward, 0 < alpha <= 1. The
    bound is attained for every number of types and every rational alpha. *)

From mathcomp Require Import all_ssreflect all_algebra ring.
From packproof Require Import Greedy Tight.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(** ** Numbers with a given sum *)

Section Inequalities.
Variable F : realFieldType.

(** If n numbers of at most 1 sum to c, the product of their complements is at most (1 - c/n)^n. *)
Lemma prod_complement_sum (n : nat) (x : 'I_n -> F) (c : F) :
  (0 < n)%N -> (forall i, x i <= 1) -> \sum_i x i = c -> \prod_i (1 - x i) <= (1 - c / n%:R) ^+ n.
Proof.
move=> n0 x1 sumc.
have nF : 0 < n%:R :> F by rewrite ltr0n.
have cn : #|[pred i : 'I_n | true]| = n by rewrite cardT size_enum_ord.
have := @leif_AGM F _ [pred i | true] (fun i : 'I_n => 1 - x i); rewrite cn.
move=> /(_ _)[|+ _]; first by move=> i _; rewrite subr_ge0.
by rewrite sumrB sumc sumr_const cn mulrBl divff ?gt_eqF.
Qed.

(** (1 - c/n)^n grows with n. *)
Lemma complement_sum_mono (n m : nat) (c : F) :
  (0 < n)%N -> (n <= m)%N -> 0 <= c <= 1 -> (1 - c / n%:R) ^+ n <= (1 - c / m%:R) ^+ m.
Proof.
move=> n0 nm /andP[c0 c1].
have nF : 0 < n%:R :> F by rewrite ltr0n.
pose x (i : 'I_m) : F := if (i < n)%N then c / n%:R else 0.
have sx (G : nat -> F) : \sum_(i < m) (if (i < n)%N then G i else 0) = \sum_(i < n) G i.
  by rewrite -big_mkcond /= (big_ord_widen _ G nm).
have -> : (1 - c / n%:R) ^+ n = \prod_(i < m) (1 - x i) :> F.
  rewrite (eq_bigr (fun i : 'I_m => if (i < n)%N then 1 - c / n%:R else 1)); last first.
    by move=> i _; rewrite /x; case: ifP => _ //; rewrite subr0.
  rewrite -big_mkcond /= -(big_ord_widen _ (fun _ => 1 - c / n%:R : F) nm).
  by rewrite prodr_const card_ord.
apply: prod_complement_sum; first by apply: leq_trans nm.
  move=> i; rewrite /x; case: ifP => _; last by rewrite ler01.
  by rewrite ler_pdivrMr // mul1r; apply: le_trans c1 _; rewrite ler1n.
by rewrite (sx (fun=> c / n%:R)) sumr_const card_ord -[X in X = _]mulr_natr divfK // gt_eqF.
Qed.

End Inequalities.

(** ** The guarantee *)

Section Guarantee.
Variable F : realFieldType.
Variables J P : finType.
Variables (w : P -> F) (K : P -> configuration J -> Prop) (u rho : J -> F) (alpha : F).
Notation stage := (stage F J P).
Notation approximate_run := (@approximate_run F J P w K u rho alpha).
Notation feasible := (@feasible F J P w K rho).
Notation value := (@value F J P u).
Notation rate := (@rate F J P w u).
Notation earned := (@earned F J P w u).
Notation used := (@used F J P).

Hypothesis K_down : down_closed K.
Hypothesis w_ge0 : forall p, 0 <= w p.
Hypothesis u_ge0 : forall j, 0 <= u j.
Hypothesis alpha_gt0 : 0 < alpha.
Hypothesis alpha_le1 : alpha <= 1.

Lemma near_frac_ge0 st s : approximate_run st -> List.In s st -> 0 <= frac s.
Proof. by move=> run /In_split_cat[pre [post e]]; apply/ltW/(near_frac run e). Qed.

Lemma near_frac_le1 st s : approximate_run st -> List.In s st -> 0 <= frac s <= 1.
Proof.
move=> run sst; rewrite (near_frac_ge0 run sst) /=.
case: (In_split_cat sst) => pre [post e]; apply: le_trans (near_servers run).
have pre0 t : List.In t pre -> 0 <= frac t.
  by move=> tp; apply: (near_frac_ge0 run); rewrite e; apply: List.in_or_app; left.
have post0 t : List.In t post -> 0 <= frac t.
  by move=> tp; apply: (near_frac_ge0 run); rewrite e; apply: List.in_or_app; right; right.
by rewrite e /used big_cat big_cons /= addrCA lerDl; apply: addr_ge0; apply: used_ge0.
Qed.

(** The stage bound: no assignment earns more than what was earned before a stage plus the reward of the stage on all
    servers, divided by alpha. *)
Theorem approximate_stage_bound st (a : assignment F J P) pre s post :
  approximate_run st -> feasible a -> st = pre ++ s :: post -> value a <= earned pre + rate s / alpha.
Proof.
move=> run fa e.
have best0 p : 0 <= reward u (conf s p) / alpha by rewrite divr_ge0 ?(ltW alpha_gt0) // reward_ge0.
have bestP p k : K p k -> uses_only (left_types s) k -> reward u k <= reward u (conf s p) / alpha.
  move=> Kk kS; rewrite ler_pdivlMr // mulrC.
  by case: (near_max run e p) => _ _; apply.
have split := value_split K_down u_ge0 fa best0 bestP; apply: (le_trans split).
have -> : \sum_p w p * (reward u (conf s p) / alpha) = rate s / alpha.
  by rewrite /rate mulr_suml; apply: eq_bigr => p _; rewrite mulrA.
rewrite lerD2r; apply: (earned_ge w_ge0 u_ge0); last by apply: (near_gone run e).
move=> t tpre; apply: (near_frac_ge0 run); rewrite e.
by apply: List.in_or_app; left.
Qed.

Lemma near_gap st (a : assignment F J P) pre post :
  approximate_run st -> feasible a -> st = pre ++ post ->
  value a - earned pre <= \prod_(s <- pre) (1 - alpha * frac s) * value a.
Proof.
move=> run fa; elim/last_ind: pre post => [|pre s IH] post e.
  by rewrite /earned !big_nil mul1r subr0.
rewrite -cats1 -catA /= in e.
have bound := approximate_stage_bound run fa e.
have {}IH := IH (s :: post) e.
have f0 := near_frac run e.
have /andP[_ f1] : 0 <= frac s <= 1.
  by apply: (near_frac_le1 run); rewrite e; apply: List.in_or_app; right; left.
rewrite -cats1 big_cat big_seq1 /= /earned big_cat big_seq1 /= -/(earned pre).
set p := \prod_(i <- pre) _ in IH *; set V := value a in IH bound *; set E := earned pre in IH bound *.
have h1 : 0 <= alpha * frac s * (E + rate s / alpha - V).
  by rewrite mulr_ge0 ?subr_ge0 // mulr_ge0 ?ltW.
have h2 : 0 <= (1 - alpha * frac s) * (p * V - (V - E)).
  by rewrite mulr_ge0 ?subr_ge0 // mulr_ile1 // ltW.
have a0 : alpha != 0 by rewrite gt_eqF.
by apply: (ler_from2 h1 h2); field.
Qed.

(** ** Theorem, run by run: it keeps 1 - (1 - alpha x_1) ... (1 - alpha x_n) of every assignment. *)
Theorem approximate_keeps_product st (a : assignment F J P) :
  approximate_run st -> feasible a -> (1 - \prod_(s <- st) (1 - alpha * frac s)) * value a <= earned st.
Proof.
move=> run fa; have h := near_gap run fa (esym (cats0 st)).
by apply: (ler_from2 h (lexx 0)); ring.
Qed.

Lemma near_product_le st : approximate_run st -> used st = 1 ->
  \prod_(s <- st) (1 - alpha * frac s) <= (1 - alpha / (size st)%:R) ^+ size st.
Proof.
move=> run; case: st run => [|s0 st0] run; first by rewrite /used big_nil => /esym/eqP; rewrite oner_eq0.
set st := s0 :: st0 in run *; rewrite /used !(big_nth s0) !big_mkord => sum1.
apply: (@prod_complement_sum F _ (fun i => alpha * frac (nth s0 st i))) => //; last first.
  by rewrite -mulr_sumr sum1 mulr1.
move=> i; have : List.In (nth s0 st i) st.
  move: (ltn_ord i); move: (nat_of_ord i) => {}i.
  by elim: (st) i => // t r IH [|i] h; [left | right; apply: IH].
by move=> /(near_frac_le1 run)/andP[f0 f1]; rewrite mulr_ile1 // ltW.
Qed.

(** ** Theorem: it keeps 1 - (1 - alpha/m)^m of every assignment, for every m at least the number of its stages. *)
Theorem approximate_keeps st (a : assignment F J P) (m : nat) :
  approximate_run st -> feasible a -> (0 < m)%N -> (size st <= m)%N ->
  (1 - (1 - alpha / m%:R) ^+ m) * value a <= earned st.
Proof.
move=> run fa m0 sm; have v0 := value_ge0 u_ge0 fa.
have mF : 0 < m%:R :> F by rewrite ltr0n.
have c0 : 0 <= 1 - alpha / m%:R.
  by rewrite subr_ge0 ler_pdivrMr // mul1r; apply: le_trans alpha_le1 _; rewrite ler1n.
case: (near_end run) => [all|all]; last first.
  apply: le_trans (serves_all_optimal u_ge0 all fa); rewrite -[X in _ <= X]mul1r.
  by apply: ler_wpM2r => //; rewrite gerDl oppr_le0 exprn_ge0.
apply: le_trans (approximate_keeps_product run fa); apply: ler_wpM2r => //.
rewrite lerD2l lerN2; apply: (le_trans (near_product_le run all)).
apply: complement_sum_mono => //; last by rewrite ltW.
by case: (st) all => //; rewrite /used big_nil => /esym/eqP; rewrite oner_eq0.
Qed.

End Guarantee.

(** ** The bound is attained *)

Section Sharp.
Variable F : realFieldType.
Variables (n m c : nat).
Hypothesis c_gt0 : (0 < c)%N.
Hypothesis c_le : (c <= m)%N.
Notation J := (n.+1).
Notation type := 'I_n.+1.
Notation config := (configuration type).
Notation K := (fun _ : unit => @listed n m).
Notation alpha := (near_alpha F m c).
Notation q := (near_q F n m c).
Notation u := (@near_reward F n m c).
Notation rho := (@tight_workload F n m).
Notation from := (@from n).
Notation run := (@tight_run F n c).
Notation best := (@tight_best F n m).

Let mF : 0 < m%:R :> F. Proof. by rewrite ltr0n; apply: leq_trans c_le. Qed.
Let JF : 0 < J%:R :> F. Proof. by rewrite ltr0n. Qed.

Lemma alpha_gt0 : 0 < alpha.
Proof. by rewrite divr_gt0 // ltr0n. Qed.

Lemma alpha_le1 : alpha <= 1.
Proof. by rewrite ler_pdivrMr // mul1r ler_nat. Qed.

Lemma q_bounds : 0 <= q <= 1.
Proof.
apply/andP; split.
  rewrite /near_q subr_ge0 ler_pdivrMr ?ltr0n // mul1r.
  by apply: (le_trans alpha_le1); rewrite ler1n.
by rewrite /near_q gerDl oppr_le0 divr_ge0 // ltW ?alpha_gt0.
Qed.

(** alpha = J (1 - q). *)
Lemma alpha_q : alpha = J%:R * (1 - q).
Proof. by rewrite /near_q opprB addrCA subrr addr0 mulrC divfK // gt_eqF. Qed.

Lemma near_reward_ge0 j : 0 <= u j.
Proof.
have /andP[q0 _] := q_bounds; have a0 := ltW alpha_gt0.
rewrite /near_reward; case: ifP => _; first by rewrite mulr_ge0 ?exprn_ge0.
by rewrite divr_ge0 ?ler0n // mulr_ge0 ?ler0n ?exprn_ge0.
Qed.

(** Sums of powers of q telescope. *)
Lemma alpha_powers (i : nat) L : (i <= L)%N ->
  \sum_(i <= j < L) alpha * q ^+ j = J%:R * (q ^+ i - q ^+ L).
Proof.
move=> iL; rewrite (eq_bigr (fun j => (- (J%:R * q ^+ j.+1)) - (- (J%:R * q ^+ j)))); last first.
  by move=> j _; rewrite exprS; have := alpha_q; set r := q => ->; ring.
by rewrite telescope_sumr //; ring.
Qed.

(** What the mixed configuration earns with the types from i on. *)
Lemma mixed_from (i : nat) : (i <= n)%N ->
  \sum_(j < J) (if (i <= j)%N then u j * (mixed m j)%:R else 0) = J%:R * q ^+ i.
Proof.
move=> iN; rewrite big_ord_recr /= iN {2}/near_reward /mixed ltnn divfK ?gt_eqF //.
rewrite (eq_bigr (fun j : 'I_n => if (i <= j)%N then alpha * q ^+ j else 0)); last first.
  by move=> j _; rewrite /near_reward /= ltn_ord mulr1.
rewrite -big_mkcond /=.
have -> : \sum_(j < n | (i <= j)%N) alpha * q ^+ j = \sum_(i <= j < n) alpha * q ^+ j.
  by rewrite big_geq_mkord.
by rewrite alpha_powers // mulrBr subrK.
Qed.

(** No configuration of types i, ..., n earns more. *)
Lemma near_reward_le (i : type) k : listed m k -> uses_only (from i) k -> reward u k <= J%:R * q ^+ i.
Proof.
move=> Kk ki; have /andP[q0 q1] := q_bounds; have a0 := ltW alpha_gt0.
case: Kk => [le|[l lN le]].
  rewrite -(mixed_from (leq_ord i)) /reward; apply: ler_sum => j _.
  case: ifP => ij; last by rewrite ki ?mulr0 // inE ij.
  by rewrite ler_wpM2l ?near_reward_ge0 // ler_nat le.
have -> : reward u k = u l * (k l)%:R.
  rewrite /reward (bigD1 l) //= big1 ?addr0 // => j /negPf jl.
  by have := le j; rewrite /alone jl leqn0 => /eqP ->; rewrite mulr0.
have [il|li] := leqP i l; last first.
  by rewrite ki ?mulr0 ?mulr_ge0 ?exprn_ge0 ?ler0n // inE -ltnNge.
have := le l; rewrite /alone eqxx lN => kJ.
rewrite /near_reward lN mulrC; apply: (@le_trans _ _ (J%:R * (1 * q ^+ l))).
  apply: ler_pM; rewrite ?ler0n ?ler_nat //; first by rewrite mulr_ge0 ?exprn_ge0.
  by apply: ler_wpM2r; [apply: exprn_ge0 | apply: alpha_le1].
rewrite mul1r ler_wpM2l ?ler0n // -(subnKC il) exprD -[X in _ <= X]mulr1.
by rewrite ler_wpM2l ?exprn_ge0 // exprn_ile1.
Qed.

(** What the oracle takes earns alpha times as much. *)
Lemma near_reward_alone (i : type) : reward u (alone c i) = alpha * (J%:R * q ^+ i).
Proof.
rewrite /reward (bigD1 i) //= big1 ?addr0 => [|j /negPf ji]; last by rewrite /alone ji mulr0.
rewrite /alone eqxx /near_reward; case: ifP => iN; first by rewrite mulrAC -mulrA.
have -> : i = n :> nat by apply/eqP; rewrite eqn_leq -ltnS ltn_ord leqNgt iN.
by set x := q ^+ n; rewrite /near_alpha; ring.
Qed.

Lemma near_alone_listed (i : type) : listed m (alone (n := n) c i).
Proof.
case: (ltnP i n) => iN; [right; exists i => // j | left => j]; rewrite /alone.
  by case: ifP => // _; rewrite iN.
by rewrite /mixed; case: eqP => // ->; rewrite ltnNge iN.
Qed.

Lemma near_is_run : approximate_run (whole F) K u rho alpha run.
Proof.
have used1 : used run = 1.
  rewrite /used big_map big_const_seq count_predT size_enum_ord iter_addr addr0 /=.
  by rewrite -[LHS]mulr_natr mulVf // gt_eqF.
split.
- by move=> pre s post /tight_split[i [-> _]] /=; rewrite invr_gt0.
- move=> pre s post /tight_split[i [-> _]] [] /=; split; [exact: near_alone_listed | exact: alone_uses |].
  move=> k Kk ki; rewrite near_reward_alone; apply: ler_wpM2l; first by rewrite ltW // alpha_gt0.
  exact: near_reward_le.
- move=> pre s post /tight_split[i [-> ->]] j; rewrite inE -ltnNge => ji.
  rewrite served_tight ?take_uniq ?enum_uniq // in_before ji /tight_workload.
  have jn : (j < n)%N by apply: leq_trans ji _; rewrite -ltnS.
  by rewrite jn alone_self // mulVf // gt_eqF.
- move=> j; rewrite served_tight ?enum_uniq // mem_enum /tight_workload /alone eqxx inE.
  case: ifP => jn; first by rewrite mulVf // gt_eqF.
  rewrite ler_pdivrMl //; apply: (@le_trans _ _ m%:R); first by rewrite ler_nat.
  by rewrite ler_pMl ?ler1n.
- by rewrite used1.
- by left.
Qed.

Lemma near_value_best : value u best = J%:R.
Proof.
rewrite -[RHS]mulr1 -(expr0 q) -(mixed_from (leq0n n)) /value; apply: eq_bigr => j _ /=.
by rewrite /tight_workload /mixed; case: ifP.
Qed.

(** ** Theorem: with alpha = c/m some run keeps exactly 1 - (1 - alpha/J)^J of the optimum. *)
Theorem approximate_sharp :
  approximate_earns_exactly (whole F) K u rho alpha (1 - (1 - alpha / J%:R) ^+ J).
Proof.
exists run, best; split.
- exact: near_is_run.
- split.
  + by move=> p k [<-|//]; left.
  + by move=> p k [<-|//]; apply: ler01.
  + by move=> p; rewrite big_seq1.
  + by move=> j; rewrite lexx andbT /= /tight_workload; case: ifP => _; rewrite ?ler01 ?ler0n.
  + move=> j; rewrite sum_one big_seq1 /= mul1r /tight_workload /mixed.
    by case: ifP.
- move=> b fb; apply: ler_sum => j _; apply: ler_wpM2l; first exact: near_reward_ge0.
  by case/andP: (feasible_jobs fb j).
- by rewrite near_value_best.
rewrite near_value_best /earned big_map.
rewrite (eq_bigr (fun i : type => alpha * q ^+ i)); last first.
  by move=> i _; rewrite /rate sum_one mul1r near_reward_alone mulrCA mulKf // gt_eqF.
rewrite big_enum /= -(big_mkord xpredT (fun j => alpha * q ^+ j)) alpha_powers // expr0.
by rewrite mulrC.
Qed.

End Sharp.
