(** * Section V of the PS-DSF paper contradicts its Table IV *)

From mathcomp Require Import all_ssreflect all_algebra ring.
From packproof Require Import Model.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(** ** Theorem: if the 40 and 20 tasks of users who can run 80 and 40 alone fill every resource of class A that one of
    them demands, and the first can run 55 alone on class D, the second can run 27.5 there, and not the 41.25 that are printed. *)
Theorem section_5_full (F : realFieldType) (R : finType) (class_A class_D d1 d2 : R -> F) :
  (forall r, 0 <= d1 r) -> (forall r, 0 <= d2 r) ->
  alone_tasks class_A d1 80%:R -> alone_tasks class_A d2 40%:R -> alone_tasks class_D d1 55%:R ->
  (forall r, 0 < d1 r \/ 0 < d2 r -> 40%:R * d1 r + 20%:R * d2 r = class_A r) ->
  alone_tasks class_D d2 (55%:R / 2%:R) /\ ~ alone_tasks class_D d2 (165%:R / 4%:R).
Proof.
move=> d1_ge0 d2_ge0 [fit1 _] [fit2 _] [fitD [r [d1r fullD]]] full.
have twice s : d2 s = 2%:R * d1 s.
  have [demanded|] := boolP ((0 < d1 s) || (0 < d2 s)); last first.
    rewrite negb_or -!leNgt => /andP[le1 le2]; have zero (x : F) : 0 <= x -> x <= 0 -> x = 0.
      by move=> x0 x1; apply: le_anti; rewrite x1.
    by rewrite (zero _ (d1_ge0 s) le1) (zero _ (d2_ge0 s) le2) mulr0.
  have e := full s (orP demanded).
  apply/eqP; rewrite eq_le; apply/andP; split.
    have := fit2 s; rewrite -e -subr_ge0 (_ : _ - _ = 20%:R * (2%:R * d1 s - d2 s)); last by ring.
    by rewrite pmulr_rge0 ?ltr0n // subr_ge0.
  have := fit1 s; rewrite -e -subr_ge0 (_ : _ - _ = 20%:R * (d2 s - 2%:R * d1 s)); last by ring.
  by rewrite pmulr_rge0 ?ltr0n // subr_ge0.
have half s : 55%:R / 2%:R * d2 s = 55%:R * d1 s by rewrite twice; field.
split; first split.
- by move=> s; rewrite half.
- by exists r; rewrite half twice; split=> //; rewrite mulr_gt0 ?ltr0n.
case=> [fit _]; have := fit r; rewrite -fullD twice -subr_ge0.
rewrite (_ : _ - _ = - (55%:R / 2%:R * d1 r)); last by field.
by rewrite oppr_ge0 leNgt mulr_gt0 // divr_gt0 ?ltr0n.
Qed.
