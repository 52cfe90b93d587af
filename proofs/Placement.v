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
by rewrite normrM normr_nat mulrC; apply: ler_wpmul2r; rewrite ?normr_ge0 // ler_nat rR.
Qed.

(** Errors [D l] of the stages before stage [i] bound that of stage [i]. It is not above 0, or the stage has no slots too
    many of a type, or too many by less than one server, or all stages together have no servers too many; likewise below. *)
Lemma error_step :
  \sum_(l < i.+1) D l <= 0 \/ D i <= 0 \/ \sum_(l < i.+1) D l * (t l)%:R <= (t i)%:R ->
  0 <= \sum_(l < i.+1) D l \/ 0 <= \sum_(l < i.+1) D l * (t l)%:R -> `|D i| <= 1 + K%:R * E.
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
have ke : e <= k * e by rewrite -[X in X <= _]mul1r; apply: ler_wpmul2r.
have ker : k * e <= k * e * r by rewrite -[X in X <= _]mulr1; apply: ler_wpmul2l; rewrite ?mulr_ge0.
have ke1 : k * e <= 1 + k * e by rewrite ler_addr ler01.
move=> up down; apply/andP; split.
  rewrite ler_oppl; apply: le_trans ke1; case: down => h.
    by apply: le_trans ke; apply: le_trans A2; rewrite -subr_ge0 opprK.
  rewrite -(ler_pmul2r r0); apply: le_trans ker; apply: le_trans B2.
  by rewrite -subr_ge0 mulNr opprK.
case: up => [h|[h|h]].
- apply: le_trans ke1; apply: le_trans ke; rewrite ler_oppl in A1; apply: le_trans A1.
  by rewrite -subr_ge0 -opprD oppr_ge0.
- by apply: (le_trans h); rewrite addr_ge0 ?ler01 ?mulr_ge0.
- rewrite -ler_subl_addl -(ler_pmul2r r0); apply: le_trans ker; rewrite ler_oppl in B1; apply: le_trans B1.
  by rewrite -subr_ge0; apply: (ler_from2 h (lexx 0)) => //; ring.
Qed.

End Step.

Section Placement.
Variables (F : realFieldType) (J : nat).
Notation type := 'I_J.
Notation config := (configuration [finType of type]).
Variables (rho : type -> F) (mr : unit -> {set type} -> config).
Variables (K L : nat) (order : nat -> type) (z : nat -> F) (servers : nat -> nat).
Hypothesis mr_le : forall S j, (mr tt S j <= K)%N.
Hypothesis fluid : proposition_3_1 (whole F) rho mr order z.
Hypothesis whole_servers : placement (whole F) rho mr L order servers.
Notation x := (assigned z).

Lemma stage_slotsE l j : stage_slots (whole F) mr order l j = (mr tt (left_before order l) j)%:R.
Proof. by rewrite /stage_slots /slots_of (bigD1 tt) //= big1 ?addr0 ?mul1r // => -[]. Qed.

Lemma sum_assigned i : \sum_(l < i) x l = Num.min 1 (\sum_(l < i) z l).
Proof.
elim: i => [|i IH]; first by rewrite !big_ord0 min_r ?ler01.
by rewrite big_ord_recr IH /= addrC subrK.
Qed.

Lemma assigned_le l : (l < J)%N -> x l <= z l.
Proof.
move=> lJ; rewrite /assigned ler_subl_addl big_ord_recr /=; have := lasts fluid lJ.
move: (\sum_(_ < l) _) (z l) => S r r0; case: (leP 1 S) => _.
  by rewrite le_minl ler_addl r0.
by rewrite le_minl lexx orbT.
Qed.

(** ** Theorem (Lemma B.1): if placement and assignment exhaust types in the same order, the servers of stage [i] are
    within (K + 1)^i of [L] times the share of the stage, for every [L]. Stages are counted from 0. *)
Theorem lemma_b_1 i : (i < J)%N -> `|(servers i)%:R - L%:R * x i| <= K.+1%:R ^+ i.
Proof.
pose D l : F := (servers l)%:R - L%:R * x l.
have step m : (m < J)%N -> `|D m| <= 1 + K%:R * \sum_(l < m) `|D l|.
  move=> mJ; pose t l := mr tt (left_before order l) (order m).
  have tE l : stage_slots (whole F) mr order l (order m) = (t l)%:R by apply: stage_slotsE.
  have [o0 t0] := place_left whole_servers mJ.
  have sumD : \sum_(l < m.+1) D l = (\sum_(l < m.+1) servers l)%:R - L%:R * Num.min 1 (\sum_(l < m.+1) z l).
    by rewrite sumrB natr_sum -mulr_sumr sum_assigned.
  have sumDt : \sum_(l < m.+1) D l * (t l)%:R
      = done_before (whole F) mr order (fun l => (servers l)%:R) m.+1 (order m) - L%:R * \sum_(l < m.+1) x l * (t l)%:R.
    rewrite /done_before mulr_sumr -sumrB; apply: eq_bigr => l _.
    by rewrite tE mulrBl mulrA.
  have rhoE : rho (order m) = \sum_(l < m.+1) z l * (t l)%:R.
    by rewrite (exhausts fluid mJ); apply: eq_bigr => l _; rewrite tE.
  have xz (l : 'I_m.+1) : 0 <= z l - x l by rewrite subr_ge0 assigned_le // (leq_trans (ltn_ord l)).
  apply: (@error_step _ _ _ D t) => [l _||//|].
  - exact: mr_le.
  - by rewrite -(ltr_nat F) -tE.
  - case: (leP 1 (\sum_(l < m.+1) z l)) => z1; [left | right].
      by rewrite sumD min_l // mulr1 subr_le0 ler_nat (place_servers whole_servers).
    case: (posnP (servers m)) => [none|some]; [left | right].
      rewrite /D none mulr0n sub0r oppr_le0 mulr_ge0 ?ler0n // /assigned subr_ge0 le_minr !le_minl lexx /=.
      by rewrite big_ord_recr /= ler_addl (lasts fluid mJ) orbT.
    have zero : \sum_(l < m.+1) (z l - x l) = 0 by rewrite sumrB sum_assigned min_r ?subrr // ltW.
    have same : \sum_(l < m.+1) x l * (t l)%:R = rho (order m).
      rewrite rhoE; apply: eq_bigr => l _; congr (_ * _); apply/esym/eqP; rewrite -subr_eq0; apply/eqP.
      exact: (psumr_eq0P (fun l _ => xz l) zero).
    have := place_first whole_servers mJ some o0 t0; rewrite sumDt same tE.
    by rewrite ltr_subl_addr -ltr_subl_addl => /ltW.
  - case: (place_stops whole_servers mJ) => [all|[enough _]]; [left | right].
      by rewrite sumD all -{1}[L%:R]mulr1 -mulrBr mulr_ge0 ?ler0n // subr_ge0 le_minl lexx.
    rewrite sumDt subr_ge0; apply: le_trans enough; rewrite rhoE; apply: ler_wpmul2l; first exact: ler0n.
    by apply: ler_sum => l _; apply: ler_wpmul2r; rewrite ?ler0n // -subr_ge0.
have bound m : (m <= J)%N -> (1 + K%:R * (\sum_(l < m) `|D l|) <= K.+1%:R ^+ m)%R.
  elim: m => [|m IH] mJ; first by rewrite big_ord0 mulr0 addr0 expr0.
  rewrite big_ord_recr exprS /=; have := ler_wpmul2l (ler0n F K.+1) (IH (ltnW mJ)); apply: le_trans.
  have h : 0 <= K%:R * (1 + K%:R * (\sum_(l < m) `|D l|) - `|D m|) by apply: mulr_ge0; [apply: ler0n | rewrite subr_ge0 step].
  move: (\sum_(l < m) _) (`|D m|) h => S d h; rewrite -addn1 natrD.
  by move: (K%:R) h => k h; apply: (ler_from2 h (lexx 0)); ring.
move=> iJ; exact: le_trans (step i iJ) (bound i (ltnW iJ)).
Qed.

End Placement.
