(** * Greedy placement on whole servers follows the greedy assignment (Lemma B.1 of the auto-scaling paper) *)

From mathcomp Require Import all_ssreflect all_algebra ring.
From packproof Require Import Greedy.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Step.
Variables (F : realFieldType) (i K : nat) (D : nat -> F) (t : nat -> nat).
Hypothesis t_le : forall l, (l <= i)%N -> (t l <= K)%N.
Hypothesis t_gt0 : (0 < t i)%N.
Notation E := (\sum_(l < i) `|D l|).

Lemma sum_le (r : nat -> nat) R : (forall l, (l < i)%N -> (r l <= R)%N) -> `|\sum_(l < i) D l * (r l)%:R| <= R%:R * E.
Proof.
move=> rR; apply: (le_trans (ler_norm_sum _ _ _)); rewrite mulr_sumr; apply: ler_sum => l _.
by rewrite normrM normr_nat mulrC; apply: ler_wpM2r; rewrite ?normr_ge0 // ler_nat rR.
Qed.

(** Errors [D l] of the stages before stage [i] bound that of stage [i], from above if all stages together have no
    servers too many, or the stage has not, or they have too many slots of a type by no more than one server has;
    likewise from below. *)
Lemma error_step :
  (\sum_(l < i.+1) D l <= 0 \/ D i <= 0 \/ \sum_(l < i.+1) D l * (t l)%:R <= (t i)%:R -> D i <= 1 + K%:R * E) /\
  (0 <= \sum_(l < i.+1) D l \/ 0 <= D i \/ 0 <= \sum_(l < i.+1) D l * (t l)%:R -> - D i <= 1 + K%:R * E).
Proof.
rewrite !big_ord_recr /=.
have : `|\sum_(l < i) D l| <= E by apply: ler_norm_sum.
set A := \sum_(l < i) D l; move: (@sum_le t K (fun l li => t_le (ltnW li))).
set B := \sum_(l < i) _ * _; have E0 : 0 <= E by apply: sumr_ge0.
move: (E) E0 => e e0; rewrite !ler_norml => /andP[B1 B2] /andP[A1 A2].
have k1 : 1 <= K%:R :> F by rewrite ler1n (leq_trans t_gt0) ?t_le.
have r1 : 1 <= (t i)%:R :> F by rewrite ler1n.
move: ((t i)%:R) (K%:R) B1 B2 k1 r1 => r k B1 B2 k1 r1.
have r0 : 0 < r by apply: lt_le_trans r1; apply: ltr01.
have k0 : 0 <= k by apply: le_trans k1; apply: ler01.
have ke : e <= k * e by rewrite -[X in X <= _]mul1r; apply: ler_wpM2r.
have ker : k * e <= k * e * r by rewrite -[X in X <= _]mulr1; apply: ler_wpM2l; rewrite ?mulr_ge0.
have ke1 : k * e <= 1 + k * e by rewrite lerDr ler01.
split=> [up|down]; last first.
  apply: le_trans ke1; case: down => [h|[h|h]].
  - by apply: le_trans ke; apply: le_trans A2; rewrite -subr_ge0 opprK.
  - by apply: (@le_trans _ _ 0); rewrite ?oppr_le0 ?mulr_ge0.
  - rewrite -(ler_pM2r r0); apply: le_trans ker; apply: le_trans B2.
    by rewrite -subr_ge0 mulNr opprK.
case: up => [h|[h|h]].
- apply: le_trans ke1; apply: le_trans ke; rewrite lerNl in A1; apply: le_trans A1.
  by rewrite -subr_ge0 -opprD oppr_ge0.
- by apply: (le_trans h); rewrite addr_ge0 ?ler01 ?mulr_ge0.
- rewrite -lerBlDl -(ler_pM2r r0); apply: le_trans ker; rewrite lerNl in B1; apply: le_trans B1.
  by rewrite -subr_ge0; apply: (ler_from2 h (lexx 0)) => //; ring.
Qed.

End Step.

Section Placement.
Variables (F : realFieldType) (J : nat).
Notation type := 'I_J.
Notation config := (configuration type).
Variables (rho : type -> F) (mr : unit -> {set type} -> config).
Variables (K L : nat) (order order' : nat -> type) (z : nat -> F) (servers : nat -> nat).
Hypothesis mr_le : forall S j, (mr tt S j <= K)%N.
Hypothesis mr_uses : forall S, uses_only S (mr tt S).
Hypothesis fluid : proposition_3_1 (whole F) rho mr order z.
Hypothesis placed : placement (whole F) rho mr L order' servers.
Notation x := (assigned z).
Notation slots o := (stage_slots (whole F) mr o).
Notation done o n := (done_before (whole F) mr o n).
Notation X := (fun l => (servers l)%:R : F).
Notation D := (fun l => (servers l)%:R - L%:R * x l : F).
Notation E m := (\sum_(l < m) `|(servers l)%:R - L%:R * x l : F|).
Notation same m := (forall l, (l < m)%N -> order' l = order l).

Lemma slotsE o l j : slots o l j = (mr tt (left_before o l) j)%:R.
Proof. by rewrite /stage_slots /slots_of (bigD1 tt) //= big1 ?addr0 ?mul1r // => -[]. Qed.

Lemma slots_same m l j : same m -> (l <= m)%N -> slots order' l j = slots order l j.
Proof.
move=> e lm; rewrite !slotsE; congr (mr tt _ j)%:R; apply/setP => i; rewrite !inE.
by apply: eq_forallb => r; rewrite e // (leq_trans (ltn_ord r)).
Qed.

Lemma done_same m j : same m -> done order' X m.+1 j = done order X m.+1 j.
Proof. by move=> e; apply: eq_bigr => l _; rewrite (slots_same j e) // -ltnS. Qed.

Lemma sum_assigned i : \sum_(l < i) x l = Num.min 1 (\sum_(l < i) z l).
Proof.
elim: i => [|i IH]; first by rewrite !big_ord0 min_r ?ler01.
by rewrite big_ord_recr IH /= addrC subrK.
Qed.

Lemma assigned_le l : (l < J)%N -> x l <= z l.
Proof.
move=> lJ; rewrite /assigned lerBlDl big_ord_recr /=; have := lasts fluid lJ.
move: (\sum_(_ < l) _) (z l) => S r r0; case: (leP 1 S) => _.
  by rewrite ge_min lerDl r0.
by rewrite ge_min lexx orbT.
Qed.

Lemma assigned_ge0 l : (l < J)%N -> 0 <= x l.
Proof.
move=> lJ; rewrite subr_ge0 le_min !ge_min lexx /=.
by rewrite big_ord_recr /= lerDl (lasts fluid lJ) orbT.
Qed.

Lemma sum_errors m : \sum_(l < m) D l = (\sum_(l < m) servers l)%:R - L%:R * Num.min 1 (\sum_(l < m) z l).
Proof. by rewrite sumrB natr_sum -mulr_sumr sum_assigned. Qed.

Lemma slot_errors m j : \sum_(l < m) D l * slots order l j = done order X m j - L%:R * done order x m j.
Proof. by rewrite /done_before mulr_sumr -sumrB; apply: eq_bigr => l _; rewrite mulrBl mulrA. Qed.

Lemma done_assigned_le m j : (m <= J)%N -> done order x m j <= done order z m j.
Proof.
move=> mJ; apply: ler_sum => l _; apply: ler_wpM2r; first by rewrite slotsE ler0n.
by apply: assigned_le; apply: leq_trans mJ.
Qed.

Lemma K_gt0 m : (m < J)%N -> (0 < K)%N.
Proof.
move=> mJ; have := has_slots fluid mJ; rewrite slotsE ltr0n => h.
exact: leq_trans h (mr_le _ _).
Qed.

(** Not too many servers in a stage, if the orders agree before it, ... *)
Lemma not_too_many m : (m < J)%N -> same m -> D m <= 1 + K%:R * E m.
Proof.
move=> mJ e; pose t l := mr tt (left_before order l) (order m).
have t0 : (0 < t m)%N by have := has_slots fluid mJ; rewrite slotsE ltr0n.
have [up _] := @error_step F m K D t (fun l _ => mr_le _ _) t0; apply: up.
case: (leP 1 (\sum_(l < m.+1) z l)) => z1; [left | right].
  by rewrite sum_errors min_l // mulr1 subr_le0 ler_nat (place_servers placed).
case: (posnP (servers m)) => [none|some]; [left | right].
  by rewrite none mulr0n sub0r oppr_le0 mulr_ge0 ?ler0n ?assigned_ge0.
have -> : \sum_(l < m.+1) D l * (t l)%:R = \sum_(l < m.+1) D l * slots order l (order m).
  by apply: eq_bigr => l _; rewrite slotsE.
have zero : \sum_(l < m.+1) (z l - x l) = 0 by rewrite sumrB sum_assigned min_r ?subrr // ltW.
have xz (l : 'I_m.+1) : 0 <= z l - x l by rewrite subr_ge0 assigned_le // (leq_trans (ltn_ord l)).
have all : done order x m.+1 (order m) = rho (order m).
  rewrite (exhausts fluid mJ); apply: eq_bigr => l _; congr (_ * _).
  by apply/esym/eqP; rewrite -subr_eq0 (psumr_eq0P (fun l _ => xz l) zero).
have left_m : order m \in left_before order' m.
  have -> : left_before order' m = left_before order m.
    by apply/setP => i; rewrite !inE; apply: eq_forallb => r; rewrite e.
  by apply: contraTT t0 => /mr_uses; rewrite /t => ->.
have := place_first placed mJ some left_m; rewrite (slots_same _ e) // (has_slots fluid mJ) => /(_ isT).
by rewrite (done_same _ e) slot_errors all ltrBlDr -ltrBlDl slotsE => /ltW.
Qed.

(** ... and not too few, unless another type was exhausted. *)
Lemma not_too_few m : (m < J)%N ->
  (\sum_(l < m.+1) servers l)%N = L \/ L%:R * rho (order m) <= done order X m.+1 (order m) ->
  - D m <= 1 + K%:R * E m.
Proof.
move=> mJ stop; pose t l := mr tt (left_before order l) (order m).
have t0 : (0 < t m)%N by have := has_slots fluid mJ; rewrite slotsE ltr0n.
have [_ down] := @error_step F m K D t (fun l _ => mr_le _ _) t0; apply: down.
case: stop => [all|enough]; [left | right; right].
  by rewrite sum_errors all -{1}[L%:R]mulr1 -mulrBr mulr_ge0 ?ler0n // subr_ge0 ge_min lexx.
have -> : \sum_(l < m.+1) D l * (t l)%:R = \sum_(l < m.+1) D l * slots order l (order m).
  by apply: eq_bigr => l _; rewrite slotsE.
rewrite slot_errors subr_ge0; apply: le_trans enough; apply: ler_wpM2l; first exact: ler0n.
by rewrite (exhausts fluid mJ) done_assigned_le.
Qed.

(** Errors that satisfy the recursion grow by the factor K + 1. *)
Lemma errors_le m : (m <= J)%N -> (forall l, (l < m)%N -> `|D l| <= 1 + K%:R * E l) ->
  (1 + K%:R * E m <= K.+1%:R ^+ m)%R.
Proof.
elim: m => [|m IH] mJ step; first by rewrite big_ord0 mulr0 addr0 expr0.
have := ler_wpM2l (ler0n F K.+1) (IH (ltnW mJ) (fun l lm => step l (ltnW lm))).
rewrite big_ord_recr exprS /=; apply: le_trans.
have h : 0 <= K%:R * ((1 + K%:R * E m) - `|D m|).
  by apply: mulr_ge0; [apply: ler0n | rewrite subr_ge0 step].
move: (E m) (`|D m|) h => S d h; rewrite -addn1 natrD.
by move: (K%:R) h => k h; apply: (ler_from2 h (lexx 0)); ring.
Qed.

(** ** Theorem (Lemma B.1): if placement and assignment exhaust types in the same order, the servers of stage [i] are
    within (K + 1)^i of [L] times the share of the stage, for every [L]. Stages are counted from 0. *)
Theorem lemma_b_1 i : (forall l, (l < J)%N -> order' l = order l) -> (i < J)%N ->
  `|(servers i)%:R - L%:R * x i| <= K.+1%:R ^+ i.
Proof.
move=> e iJ; have step m : (m < J)%N -> `|D m| <= 1 + K%:R * E m.
  move=> mJ; have em : same m by move=> l lm; apply: e; apply: ltn_trans lm mJ.
  rewrite ler_norml lerNl not_too_many // andbT; apply: not_too_few => //.
  by case: (place_stops placed mJ) => [|[]]; [left | rewrite e // (done_same _ em); right].
by apply: le_trans (step i iJ) (errors_le (ltnW iJ) _) => l li; apply: step; apply: ltn_trans li iJ.
Qed.

(** Once no servers are left in one of the two, the order does not matter. *)
Lemma ended_step m : (m < J)%N -> 1 <= \sum_(l < m) z l \/ (\sum_(l < m) servers l)%N = L ->
  `|D m| <= 1 + K%:R * E m /\ (1 <= \sum_(l < m.+1) z l \/ (\sum_(l < m.+1) servers l)%N = L).
Proof.
move=> mJ ended; have z0 := lasts fluid mJ; have := place_servers placed mJ.
have [up down] := @error_step F m K D (fun=> 1%N) (fun _ _ => K_gt0 mJ) isT.
case: ended => [zm|all] within; split.
- have zm1 : 1 <= \sum_(l < m.+1) z l by rewrite big_ord_recr /= ler_wpDr.
  rewrite ler_norml lerNl up ?down //; last by left; rewrite sum_errors min_l // mulr1 subr_le0 ler_nat.
  by right; left; rewrite /assigned !min_l // subrr mulr0 subr0 ler0n.
- by left; rewrite big_ord_recr /= ler_wpDr.
- have same : (\sum_(l < m.+1) servers l)%N = L by apply/eqP; rewrite eqn_leq within big_ord_recr /= all leq_addr.
  have none : servers m = 0%N by move: same; rewrite big_ord_recr /= all -[RHS]addn0 => /addnI.
  rewrite ler_norml lerNl up ?down //; last first.
    by right; left; rewrite none mulr0n sub0r oppr_le0 mulr_ge0 ?ler0n ?assigned_ge0.
  by left; rewrite sum_errors same -{1}[L%:R]mulr1 -mulrBr mulr_ge0 ?ler0n // subr_ge0 ge_min lexx.
- by right; apply/eqP; rewrite eqn_leq within big_ord_recr /= all leq_addr.
Qed.

(** ** Theorem (Lemma B.1, many servers): if every type that a stage does not exhaust, and of which it has slots, lacks
    [d] jobs a server at its end, (K + 1)^J / d servers are enough, whatever the order in which placement exhausts
    types. *)
Variable d : F.
Hypothesis gap : forall i, (i < J)%N -> \sum_(l < i) z l < 1 ->
  forall j : type, j != order i -> j \in left_before order i -> 0 < slots order i j -> done order z i.+1 j + d <= rho j.
Hypothesis many : K.+1%:R ^+ J <= L%:R * d.

Lemma no_other m : (m < J)%N -> same m -> \sum_(l < m) z l < 1 -> (forall l, (l < m)%N -> `|D l| <= 1 + K%:R * E l) ->
  L%:R * rho (order' m) <= done order X m.+1 (order' m) -> order' m = order m.
Proof.
move=> mJ e z1 step enough; apply/eqP; apply: contraTT many => other; rewrite -ltNge.
have [] := place_left placed mJ; rewrite (slots_same _ e) //.
have -> : left_before order' m = left_before order m.
  by apply/setP => i; rewrite !inE; apply: eq_forallb => r; rewrite e.
set j := order' m in enough other *; move=> j_left j_slots.
have lacks := gap mJ z1 other j_left j_slots.
have K0 := ler0n F K; have E0 : 0 <= E m by apply: sumr_ge0.
have before : \sum_(l < m) D l * slots order l j <= K%:R * E m.
  under eq_bigr do rewrite slotsE.
  by apply: le_trans (ler_norm _) _; apply: (@sum_le F m D (fun l => mr tt (left_before order l) j)).
have now : D m * slots order m j <= (1 + K%:R * E m) * K%:R.
  apply: (@le_trans _ _ ((1 + K%:R * E m) * slots order m j)).
    by apply: ler_wpM2r; [apply: ltW | apply: not_too_many].
  by rewrite slotsE; apply: ler_wpM2l; rewrite ?addr_ge0 ?ler01 ?mulr_ge0 // ler_nat.
have errors : L%:R * d <= \sum_(l < m.+1) D l * slots order l j.
  rewrite slot_errors lerBrDl; apply: le_trans enough; rewrite -mulrDr; apply: ler_wpM2l; first exact: ler0n.
  by apply: le_trans lacks; rewrite lerD2r done_assigned_le.
apply: (le_lt_trans errors); rewrite big_ord_recr /=; apply: (le_lt_trans (lerD before now)).
have power : K.+1%:R ^+ m.+1 <= K.+1%:R ^+ J :> F by apply: ler_weXn2l; rewrite ?ler1n.
apply: lt_le_trans power; rewrite exprS.
have := ler_wpM2l (ler0n F K.+1) (errors_le (ltnW mJ) step); apply: lt_le_trans.
rewrite -addn1 natrD; move: (K%:R) (E m) => k S.
by apply: (@ltr_from1 _ _ _ 0 1 ltr01); ring.
Qed.

Theorem lemma_b_1_many i : (i < J)%N -> `|(servers i)%:R - L%:R * x i| <= K.+1%:R ^+ i.
Proof.
have inv m : (m <= J)%N -> (forall l, (l < m)%N -> `|D l| <= 1 + K%:R * E l) /\
    (same m \/ 1 <= \sum_(l < m) z l \/ (\sum_(l < m) servers l)%N = L).
  elim: m => [|m IH] mJ; first by split=> //; left.
  have [step orders] := IH (ltnW mJ).
  have [now after] : `|D m| <= 1 + K%:R * E m /\
      (same m.+1 \/ 1 <= \sum_(l < m.+1) z l \/ (\sum_(l < m.+1) servers l)%N = L).
    case: orders => [e|ended]; last by have [a b] := ended_step mJ ended; split=> //; right.
    case: (leP 1 (\sum_(l < m) z l)) => [z1|z1].
      by have [a b] := ended_step mJ (or_introl z1); split=> //; right.
    rewrite ler_norml lerNl not_too_many // andbT.
    case: (place_stops placed mJ) => [all|[]]; first by split; [apply: not_too_few => //; left | right; right].
    rewrite (done_same _ e) => enough _; have om := no_other mJ e z1 step enough.
    split; first by apply: not_too_few => //; right; rewrite -om.
    by left=> l; rewrite ltnS leq_eqVlt => /orP[/eqP->|/e].
  by split=> // l; rewrite ltnS leq_eqVlt => /orP[/eqP->|/step].
move=> iJ; have [step _] := inv _ iJ.
by apply: le_trans (step i (ltnSn i)) (errors_le (ltnW iJ) _) => l li; apply: step; apply: ltnW.
Qed.

End Placement.
