(** * The constant 1 - (1 - 1/n)^n is above 0.632 for every n, without limits

    It falls to 1 - 1/e = 0.63212... With x = 1/n the first terms of (1 - x)^-n = sum of C(n - 1 + i, i) x^i are at
    least 1/i!, so (1 - 1/n)^n times 1 + 1 + 1/2 + 1/6 + 1/24 + 1/120 + 1/720 = 1957/720 is at most 1. *)

From mathcomp Require Import all_ssreflect all_algebra ring.
From packproof Require Import Greedy.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Constant.
Variable F : realFieldType.

(** The first terms of (1 - x)^-(a+1). *)
Definition terms (x : F) (a k : nat) : F := \sum_(i < k.+1) 'C(a + i, i)%:R * x ^+ i.

Lemma terms_step x a k : (1 - x) * terms x a.+1 k = terms x a k - 'C(a.+1 + k, k)%:R * x ^+ k.+1.
Proof.
rewrite /terms; elim: k => [|k IH]; first by rewrite !big_ord_recl !big_ord0 !bin0 expr0 expr1 !addr0 !mulr1 !mul1r.
rewrite big_ord_recr mulrDr IH [in RHS]big_ord_recr /= !addSn !addnS binS natrD (exprS x k.+1).
set S := \sum_(_ < _) _; set A := 'C(_, k.+1)%:R; set B := 'C(_, k)%:R; set y := x ^+ k.+1.
by ring.
Qed.

Lemma terms_le x a k : 0 <= x <= 1 -> (1 - x) ^+ a.+1 * terms x a k <= 1.
Proof.
case/andP=> x0 x1; have y0 : 0 <= 1 - x by rewrite subr_ge0.
elim: a => [|a IH].
  rewrite expr1 /terms (eq_bigr (fun i : 'I_k.+1 => x ^+ i)) => [|i _]; last by rewrite add0n binn mul1r.
  by rewrite -opprB mulNr -subrX1 opprB gerDl oppr_le0 exprn_ge0.
apply: le_trans IH; rewrite exprSr -mulrA; apply: ler_wpM2l; first exact: exprn_ge0.
by rewrite terms_step gerDl oppr_le0 mulr_ge0 ?ler0n ?exprn_ge0.
Qed.

Lemma power_le_ffact a i : (a.+1 ^ i <= (a + i) ^_ i)%N.
Proof.
elim: i => [|i IH]; first by rewrite expn0 ffactn0.
by rewrite addnS ffactSS expnS leq_mul // ltnS leq_addr.
Qed.

Lemma term_ge a i : i`!%:R^-1 <= 'C(a + i, i)%:R * a.+1%:R^-1 ^+ i :> F.
Proof.
have f0 : 0 < i`!%:R :> F by rewrite ltr0n fact_gt0.
rewrite exprVn -natrX ler_pdivlMr ?ltr0n ?expn_gt0 // mulrC ler_pdivrMr // -natrM bin_ffact ler_nat.
exact: power_le_ffact.
Qed.

(** ** Theorem: (1 - 1/n)^n is below 0.368. *)
Theorem complement_power_lt (n : nat) : (0 < n)%N -> (1 - n%:R^-1) ^+ n < 46%:R / 125%:R :> F.
Proof.
case: n => // a _; set x : F := _^-1.
have x01 : 0 <= x <= 1 by rewrite invr_ge0 ler0n invf_le1 ?ltr0n // ler1n.
have y0 : 0 <= (1 - x) ^+ a.+1 by rewrite exprn_ge0 // subr_ge0; case/andP: x01.
have e : 1957%:R / 720%:R <= terms x a 6.
  apply: (@le_trans _ _ (\sum_(i < 7) i`!%:R^-1)); last by apply: ler_sum => i _; apply: term_ge.
  by rewrite !big_ord_recr big_ord0 /= !factS fact0 le_eqVlt; apply/orP; left; apply/eqP; field.
have h := le_trans (ler_wpM2l y0 e) (terms_le a 6 x01).
have c0 : 0 < 1957%:R / 720%:R :> F by rewrite divr_gt0 ?ltr0n.
apply: (@le_lt_trans _ _ (720%:R / 1957%:R)).
  by rewrite -invf_div -[_^-1]mul1r ler_pdivlMr.
rewrite ltr_pdivrMr ?ltr0n // mulrAC ltr_pdivlMr ?ltr0n // -!natrM ltr_nat.
by vm_compute.
Qed.

(** ** Theorem: greedy keeps 0.632 of every assignment, over any number of pools and stages. *)
Theorem greedy_keeps_632 (J P : finType) (w : P -> F) (K : P -> configuration J -> Prop) (u rho : J -> F) st a :
  down_closed K -> (forall p, 0 <= w p) -> (forall j, 0 <= u j) -> greedy_run w K u rho st -> feasible w K rho a ->
  79%:R / 125%:R * value u a <= earned w u st.
Proof.
move=> Kd w0 u0 run fa.
apply: le_trans (greedy_keeps Kd w0 u0 run fa (ltn0Sn (size st)) (leqnSn (size st))).
apply: ler_wpM2r; first exact: (value_ge0 u0 fa).
rewrite (_ : 79%:R / 125%:R = 1 - 46%:R / 125%:R); last by field.
by rewrite lerD2l lerN2; apply/ltW/complement_power_lt.
Qed.

End Constant.
