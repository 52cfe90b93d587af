(** * Filling pools one after another keeps exactly one half

    The rule of packproof's [sequential_greedy]: the pools are filled in some order, each by greedy on the work that the
    earlier ones left. It keeps one half of the optimum, and no more in general. *)

From mathcomp Require Import all_ssreflect all_algebra ring.
From packproof Require Import Greedy.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Sequential.
Variable F : realFieldType.
Variables J P : finType.
Variables (w : P -> F) (K : P -> configuration J -> Prop) (u rho : J -> F).

Notation filling := (filling F J P).
Notation filled := (@filled F J P).
Notation gained := (@gained F J P u).
Notation used_of := (@used_of F J P).
Notation sequential_run := (@sequential_run F J P w K u rho).

Hypothesis K_down : down_closed K.
Hypothesis w_gt0 : forall p, 0 < w p.
Hypothesis u_ge0 : forall j, 0 <= u j.

Lemma gained_filled st : gained st = \sum_j u j * filled st j.
Proof.
rewrite /gained /filled /reward; under eq_bigr do rewrite mulr_sumr.
rewrite exchange_big /=; apply: eq_bigr => j _; rewrite mulr_sumr.
by apply: eq_bigr => s _; rewrite mulrCA.
Qed.

Lemma filled_ge0 st j : (forall s, List.In s st -> 0 <= share s) -> 0 <= filled st j.
Proof.
rewrite /filled; elim: st => [|s st IH] x0; first by rewrite big_nil.
by rewrite big_cons addr_ge0 ?mulr_ge0 ?ler0n //; [apply: x0; left | apply: IH => t tst; apply: x0; right].
Qed.

(** What is exhausted before a stage is exhausted at the end. *)
Lemma exhausted_stays st pre s post j : sequential_run st -> st = pre ++ s :: post ->
  filled pre j = rho j -> filled st j = rho j.
Proof.
move=> run e ej; apply/le_anti; rewrite (fill_fits run) /= -ej e /filled big_cat /= lerDl.
apply: (@filled_ge0 (s :: post)) => t tst; apply: (fill_share run); rewrite e.
by apply: List.in_or_app; right.
Qed.

Lemma pool_gain_ge0 (st : seq filling) p : (forall s, List.In s st -> 0 <= share s) ->
  0 <= \sum_(s <- st | pool s == p) share s * reward u (held s).
Proof.
have r0 (s : filling) : 0 <= reward u (held s) by apply: reward_ge0.
elim: st => [|s st IH] x0; first by rewrite big_nil.
rewrite big_cons; case: ifP => _; last by apply: IH => t tst; apply: x0; right.
by rewrite addr_ge0 ?mulr_ge0 //; [apply: x0; left | apply: IH => t tst; apply: x0; right].
Qed.

(** ** Theorem: filling pools one after another keeps one half of every assignment. *)
Theorem sequential_half st (a : assignment F J P) : sequential_run st -> feasible w K rho a ->
  value u a <= 2%:R * gained st.
Proof.
move=> run fa.
pose S := [set j | filled st j != rho j].
(* the best reward of types that are left at the end, pool by pool, is what each stage of the pool earns at least *)
have stage_ge s k : List.In s st -> K (pool s) k -> uses_only S k -> reward u k <= reward u (held s).
  move=> /(@List.in_split filling s st)[pre [post e]] Kk kS.
  case: (fill_max run e) => _; apply=> // j ej; apply: kS.
  by rewrite inE negbK; apply/eqP; apply: (exhausted_stays run e ej).
have pool_ge p k : K p k -> uses_only S k ->
    w p * reward u k <= \sum_(s <- st | pool s == p) share s * reward u (held s).
  move=> Kk kS; have r0 (s : filling) : 0 <= reward u (held s) by apply: reward_ge0.
  have x0 := fill_share run.
  case: (fill_end run p) => [<-|none]; last first.
    apply: (@le_trans _ _ 0).
      apply: mulr_ge0_le0; first exact: ltW.
       apply: none => // j ej; apply: kS.
      by rewrite inE ej eqxx.
    exact: pool_gain_ge0.
  rewrite /used_of mulr_suml; move: x0 stage_ge; elim: (st) => [|s st' IH] x0 ge; first by rewrite !big_nil.
  have {}IH := IH (fun t tst => x0 t (or_intror tst)) (fun t k' tst => ge t k' (or_intror tst)).
  rewrite !big_cons; case: ifP => // /eqP sp; apply: lerD => //.
  apply: ler_wpM2l; first by apply: x0; left.
  by apply: ge; [left | rewrite sp |].
apply: (le_trans (value_columns u_ge0 S fa)); rewrite mulr_natl mulr2n; apply: lerD.
  rewrite gained_filled [X in _ <= X](bigID (mem S)) /= addrC -[X in X <= _]addr0; apply: lerD.
    by apply: ler_sum => j; rewrite inE negbK => /eqP ->.
  by apply: sumr_ge0 => j _; rewrite mulr_ge0 // filled_ge0 //; apply: fill_share run.
have -> : gained st = \sum_p \sum_(s <- st | pool s == p) share s * reward u (held s).
  rewrite (exchange_big_dep predT) //= /gained; apply: eq_bigr => s _.
  by rewrite (big_pred1 (pool s)) => // p; rewrite /= eq_sym.
apply: ler_sum => p _; set G := (X in _ <= X).
have wp := w_gt0 p.
have G0 : 0 <= G / w p.
  by apply: divr_ge0; [apply: pool_gain_ge0; apply: (fill_share run) | apply: ltW].
have best k : K p k -> reward u (restrict S k) <= G / w p.
  move=> Kk; rewrite ler_pdivlMr // mulrC; apply: pool_ge; last exact: restrict_uses.
  exact: (restrict_feasible K_down S Kk).
by have := sum_columns_le fa G0 best; rewrite mulrCA divff ?mulr1 // gt_eqF.
Qed.

End Sequential.

(** ** The half is attained *)

Section Attained.
Variable F : realFieldType.
(** Two types that demand 2 and 3 of one resource, two pools of capacities 3 and 2 with equal shares, rewards 1, half a
    job of each type per server ([two_pools] of Model.v). Types are false and true, pools likewise. *)
Notation half := (2%:R^-1 : F).
Definition first_only : configuration bool := fun j => if j then 0%N else 1%N.
Definition second_only : configuration bool := fun j => if j then 1%N else 0%N.

(** The first pool takes the first type (a tie); then nothing that fits the second pool is left. *)
Definition in_turn : seq (filling F _ _) := [:: Filling false first_only half].
Definition swapped : assignment F bool bool :=
  Assignment (fun p => if p then [:: (first_only, half)] else [:: (second_only, half)]) (fun=> half).

Theorem sequential_half_attained : exists st a,
  [/\ sequential_run (fun=> half) two_pools (fun=> 1) (fun=> half) st,
      feasible (fun=> half) two_pools (fun=> half) a, value (fun=> 1) a = 1 & gained (fun=> 1) st = half].
Proof.
exists in_turn, swapped.
have h0 : 0 < half by rewrite invr_gt0 ltr0n.
have rewardE k : reward (fun _ : bool => 1 : F) k = (k true + k false)%:R.
  by rewrite /reward big_bool !mul1r natrD.
have filledE j : filled in_turn j = if j then 0 else half.
  by rewrite /filled big_seq1 /= /first_only; case: j; rewrite ?mulr0 ?mulr1.
split.
- split.
  + by move=> s [<-|//]; apply: ltW.
  + move=> [|t pre] s post; last by case: pre.
    case=> <- _; split=> // k /= Kk _; rewrite !rewardE /= ler_nat.
    rewrite ?addn0 ?add0n -ltnS -(ltn_pmul2r (isT : (0 < 2)%N)) addnC mulnDl ltnS.
    by apply: leq_trans Kk; rewrite leq_add2l leq_mul2l orbT.
  + by move=> j; rewrite filledE; case: j; rewrite ?lexx // ltW.
  + by case; rewrite /used_of /in_turn ?big_cons ?big_nil /= ?addr0 // ltW.
  + case; last by left; rewrite /used_of big_cons big_nil addr0.
    right=> k Kk gone; have k0 : k false = 0%N by apply: gone; rewrite filledE.
    move: Kk; rewrite /two_pools k0 rewardE k0; case: (k true) => [|kt] //=.
- split.
  + by case=> c [<-|//].
  + by case=> c [<-|//]; apply: ltW.
  + by case; rewrite /= big_cons big_nil /= addr0.
  + by move=> j; rewrite /= lexx ltW.
  + by move=> j; rewrite big_bool /= !big_cons !big_nil /=; case: j; rewrite /= ?mulr0 ?mulr1 ?addr0 ?add0r.
- by rewrite /value big_bool /= !mul1r; field.
- by rewrite /gained /in_turn big_cons big_nil rewardE /= addr0 mulr1.
Qed.
End Attained.
