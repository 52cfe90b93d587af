(** * One resource: a potential from a table

    The potential that [AllTypes.potential_keeps] asks for, from values at the ends of K cells of equal length, into which half
    of the server is divided. The steps are finitely many inequalities on these values: types that fit the server at least T
    times are thin and need a slope in each cell; of the others it counts how many of them fit the server and the room. *)

From mathcomp Require Import all_ssreflect all_algebra ring.
From packproof Require Import Greedy AllTypes.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(** ** A potential from its values at the ends of cells *)

Section Steps.
Variables (F : realFieldType) (S : F) (M K T : nat) (lo hi slope room : nat -> F) (gain : nat -> nat -> F).
Hypothesis S_half : 2%:R^-1 < S.
Hypothesis M_gt0 : (0 < M)%N.
Hypothesis K_gt0 : (0 < K)%N.
Hypothesis T_gt1 : (1 < T)%N.
Hypothesis lo_ge1 : 1 <= lo 0%N.
Hypothesis lo_hi : forall k, (k < K)%N -> lo k <= hi k.
Hypothesis hi_lo : forall k, (k.+1 < K)%N -> hi k <= lo k.+1.
Hypothesis slope_ge0 : forall k, (k < K)%N -> 0 <= slope k.
Hypothesis slope_falls : forall k, (k.+1 < K)%N -> slope k.+1 <= slope k.
Hypothesis steep : forall k, (k < K)%N -> slope k * hi k <= (2 * K)%:R * (hi k - lo k).
Hypothesis room_ge0 : forall k, (k < K)%N -> 0 <= room k.
Hypothesis room_is : forall k, (k < K)%N -> room k = 0 \/ room k * (2 * K * T)%:R + (4 * K)%:R = (k * T)%:R.
Hypothesis thin : forall k l, (k < K)%N -> 0 <= l -> l * T%:R <= T.+1%:R ->
  (1 - l * room k) * (l - slope k * (S - T%:R^-1)) <= S * l.
Hypothesis gains : forall n r b, (1 < n < T)%N -> (0 < r)%N -> (2 * r <= n)%N -> 0 <= b -> b * n%:R <= 1 ->
  (1 - r%:R * b) * power S M b <= gain n r * (1 - r.-1%:R * b).
Hypothesis thick : forall k n r j, (k < K)%N -> (1 < n < T)%N -> (0 < r)%N -> (2 * r <= n)%N ->
  (k * n < 2 * K * r.+1)%N -> (2 * K * r < k.+1 * n.+1)%N -> (j <= k)%N ->
  (j * n.+1 + 2 * K < k.+1 * n.+1)%N -> (j * n < 2 * K * r)%N -> (j * r.+1 < k.+1 * r)%N ->
  gain n r * hi j <= lo k.
Variable c : nat.
Hypothesis c_gt0 : (0 < c)%N.

Let S_gt0 : 0 < S. Proof. by apply: lt_trans S_half; rewrite invr_gt0 ltr0n. Qed.

Lemma natS n : n.+1%:R = n%:R + 1 :> F.
Proof. by rewrite mulrSr. Qed.

Definition place g : F := (2 * K * g)%:R / c%:R.
Definition cell g := (2 * K * g %/ c)%N.
Definition table g : F :=
  if (cell g < K)%N then lo (cell g) + (hi (cell g) - lo (cell g)) * (place g - (cell g)%:R) else hi K.-1.

Let cF : 0 < c%:R :> F. Proof. by rewrite ltr0n. Qed.

Lemma cell_le g : (cell g)%:R <= place g.
Proof. by rewrite /place ler_pdivlMr // -natrM ler_nat leq_trunc_div. Qed.

Lemma cell_gt g : place g <= (cell g).+1%:R.
Proof. by rewrite /place ler_pdivrMr // -natrM ler_nat ltnW // ltn_ceil. Qed.

Lemma climb s k m : 0 <= s -> (k.+1 + m < K)%N -> (forall i, (k <= i <= k.+1 + m)%N -> s <= hi i - lo i) ->
  s * m%:R <= lo (k.+1 + m)%N - hi k.
Proof.
move=> s0; elim: m => [|m IH] small h.
  by rewrite mulr0 addn0 subr_ge0 hi_lo // -[X in (X < _)%N]addn0.
rewrite addnS in small *; apply: (@le_trans _ _ (s + (lo (k.+1 + m)%N - hi k))).
  rewrite natS mulrDr mulr1 addrC lerD2l; apply: IH => [|i /andP[ki ik]]; first by apply: ltnW.
  by apply: h; rewrite ki /= addnS (leq_trans ik).
have h1 : s <= hi (k.+1 + m)%N - lo (k.+1 + m)%N by apply: h; rewrite !addSn addnS !leqnSn andbT; apply: leqW; apply: leq_addr.
apply: le_trans (lerD h1 (lexx _)) _; apply: le_by_diff.
have -> (x y z t : F) : x - y - (z - t + (t - y)) = x - z by ring.
by rewrite subr_ge0 hi_lo.
Qed.

Lemma lo_up i k : (i <= k)%N -> (k < K)%N -> lo i <= lo k.
Proof.
elim: k => [|k IH]; first by rewrite leqn0 => /eqP ->.
rewrite leq_eqVlt => /orP[/eqP -> //|ik] kK; apply: le_trans (hi_lo kK).
by apply: le_trans (lo_hi (ltnW kK)); apply: IH => //; apply: ltnW.
Qed.

Lemma hi_up i k : (i <= k)%N -> (k < K)%N -> hi i <= hi k.
Proof.
rewrite leq_eqVlt => /orP[/eqP -> //|ik] kK; apply: le_trans (lo_hi kK).
by apply: le_trans (hi_lo _) (lo_up _ _) => //; apply: leq_ltn_trans kK.
Qed.

Lemma slope_down i k : (i <= k)%N -> (k < K)%N -> slope k <= slope i.
Proof.
elim: k => [|k IH]; first by rewrite leqn0 => /eqP ->.
rewrite leq_eqVlt => /orP[/eqP -> //|ik] kK; apply: le_trans (slope_falls kK) _.
by apply: IH => //; apply: ltnW.
Qed.

Lemma lo_ge k : (k < K)%N -> 1 <= lo k.
Proof. by move=> kK; apply: le_trans lo_ge1 (lo_up _ _). Qed.

Lemma table_lo g : (cell g < K)%N -> lo (cell g) <= table g.
Proof.
move=> kK; rewrite /table kK lerDl mulr_ge0 // ?subr_ge0 ?lo_hi //.
exact: cell_le.
Qed.

Lemma table_hi g : (cell g < K)%N -> table g <= hi (cell g).
Proof.
move=> kK; rewrite /table kK -lerBrDl -[X in _ <= X]mulr1 ler_wpM2l // ?subr_ge0 ?lo_hi //.
by rewrite lerBlDl -natS cell_gt.
Qed.

Lemma last_lt : (K.-1 < K)%N. Proof. by rewrite prednK. Qed.

Lemma table_ge1 g : 1 <= table g.
Proof.
case: (ltnP (cell g) K) => kK; first exact: le_trans (lo_ge kK) (table_lo kK).
by rewrite /table ltnNge kK /=; apply: le_trans (lo_hi last_lt); apply: lo_ge; apply: last_lt.
Qed.

Lemma table_le g : table g <= hi K.-1.
Proof.
case: (ltnP (cell g) K) => kK; last by rewrite /table ltnNge kK.
by apply: le_trans (table_hi kK) (hi_up _ last_lt); rewrite -ltnS prednK.
Qed.

Lemma cell_up g g' : (g' <= g)%N -> (cell g' <= cell g)%N.
Proof. by move=> gg; apply: leq_div2r; rewrite leq_mul2l gg orbT. Qed.

Lemma rise_by s g g' : (g' <= g)%N -> (cell g < K)%N -> 0 <= s ->
  (forall i, (cell g' <= i <= cell g)%N -> s <= hi i - lo i) -> s * (place g - place g') <= table g - table g'.
Proof.
move=> gg kK s0 h; have jk := cell_up gg; have jK := leq_ltn_trans jk kK.
have pp : place g' <= place g.
  rewrite /place; apply: ler_wpM2r; first by rewrite invr_ge0 ltW.
  by rewrite ler_nat leq_mul2l gg orbT.
have hk : s <= hi (cell g) - lo (cell g) by apply: h; rewrite jk leqnn.
have hj : s <= hi (cell g') - lo (cell g') by apply: h; rewrite jk leqnn.
have up : s * (place g - (cell g)%:R) <= table g - lo (cell g).
  by rewrite /table kK [X in _ <= X]addrAC subrr add0r; apply: ler_wpM2r hk; rewrite subr_ge0 cell_le.
have down : s * ((cell g').+1%:R - place g') <= hi (cell g') - table g'.
  rewrite /table jK; apply: le_trans (ler_wpM2r _ hj) _; first by rewrite subr_ge0 cell_gt.
  rewrite natS le_eqVlt; apply/orP; left; apply/eqP; ring.
move: jk; rewrite leq_eqVlt => /orP[/eqP e|jk].
  have -> : table g - table g' = (hi (cell g) - lo (cell g)) * (place g - place g').
    by rewrite /table kK jK e; ring.
  by apply: ler_wpM2r hk; rewrite subr_ge0.
have e : ((cell g').+1 + (cell g - (cell g').+1) = cell g)%N by rewrite subnKC.
have := @climb s (cell g') (cell g - (cell g').+1)%N s0; rewrite e => /(_ kK h) mid.
apply: le_trans (le_trans (lerD (lerD up mid) down) _).
  have eF : (cell g)%:R = (cell g').+1%:R + (cell g - (cell g').+1)%:R :> F by rewrite -natrD e.
  rewrite eF le_eqVlt; apply/orP; left; apply/eqP; ring.
rewrite le_eqVlt; apply/orP; left; apply/eqP; ring.
Qed.

Lemma rise z g : (z <= g)%N -> (cell g < K)%N ->
  table (g - z) * (1 + slope (cell g) * (z%:R / c%:R)) <= table g.
Proof.
move=> zg kK; have gg := leq_subr z g; have jk := cell_up gg; have jK := leq_ltn_trans jk kK.
set s := slope (cell g) * table (g - z) / (2 * K)%:R.
have K2 : 0 < (2 * K)%:R :> F by rewrite ltr0n muln_gt0.
have t0 : 0 <= table (g - z) by apply: le_trans (table_ge1 _).
have s0 : 0 <= s by apply: divr_ge0 (ltW K2); apply: mulr_ge0 t0; apply: slope_ge0.
have h i : (cell (g - z) <= i <= cell g)%N -> s <= hi i - lo i.
  case/andP=> ji ik; have iK := leq_ltn_trans ik kK.
  rewrite /s ler_pdivrMr // [X in _ <= X]mulrC; apply: le_trans (steep iK).
  apply: ler_pM => //; first exact: slope_ge0.
    exact: slope_down.
  by apply: le_trans (table_hi jK) (hi_up ji iK).
have := rise_by gg kK s0 h; rewrite lerBrDr; apply: le_trans.
rewrite /s /place natrM [(2 * K * (g - z))%:R]natrM natrB // natrM le_eqVlt; apply/orP; left; apply/eqP.
have K0 : K%:R != 0 :> F by rewrite pnatr_eq0 -lt0n.
have c0 : c%:R != 0 :> F by rewrite gt_eqF.
by rewrite natrM; field; rewrite K0 c0.
Qed.

(** A type whose jobs fit the server at least T times. *)
Lemma step_thin z g b : (0 < z)%N -> (z <= g)%N -> (cell g < K)%N -> (2 * (g %/ z) <= c %/ z)%N -> 0 <= b ->
  b * (c %/ z)%:R <= 1 -> (T <= c %/ z)%N ->
  (1 - (g %/ z)%:R * b) * power S M b * table (g - z) <= (1 - (g %/ z).-1%:R * b) * table g.
Proof.
move=> z0 zg kK; set n := (c %/ z)%N; set r := (g %/ z)%N => rn b0 bn Tn.
have r0 : (0 < r)%N by rewrite divn_gt0.
have zF : 0 < z%:R :> F by rewrite ltr0n.
have TF : 0 < T%:R :> F by rewrite ltr0n ltnW.
pose v : F := z%:R / c%:R; pose l := b / v; set k := cell g in kK *.
have v0 : 0 < v by rewrite divr_gt0.
have l0 : 0 <= l by rewrite divr_ge0 // ltW.
have lv : l * v = b by rewrite /l divfK // gt_eqF.
have bT : b * T%:R <= 1 by apply: le_trans bn; apply: ler_wpM2l; rewrite // ler_nat.
have lT : l * T%:R <= T.+1%:R.
  have h : l <= b * n.+1%:R.
    rewrite /l /v invf_div; apply: ler_wpM2l => //.
    by rewrite ler_pdivrMr // -natrM ler_nat ltnW // ltn_ceil.
  apply: le_trans (ler_wpM2r (ltW TF) h) _.
  have -> : b * n.+1%:R * T%:R = b * n%:R * T%:R + b * T%:R by rewrite natS; ring.
  by rewrite natS; apply: lerD => //; rewrite -[X in _ <= X]mul1r; apply: ler_wpM2r => //; exact: ltW.
have lr : l * room k <= r.-1%:R * b.
  case: (room_is kK) => [->|e]; first by rewrite mulr0 mulr_ge0.
  rewrite -lv mulrCA; apply: ler_wpM2l => //; rewrite /v mulrA ler_pdivlMr //.
  have KT : 0 < (2 * K * T)%:R :> F by rewrite ltr0n !muln_gt0 K_gt0 (ltnW T_gt1).
  rewrite -(ler_pM2r KT) mulrAC.
  have -> : room k * (2 * K * T)%:R = (k * T)%:R - (4 * K)%:R by rewrite -e addrK.
  rewrite mulrBl lerBlDr -!natrM -natrD ler_nat.
  have h1 : (k * c <= 2 * K * g)%N by apply: leq_trunc_div.
  have h2 : (T * z <= c)%N by apply: leq_trans (leq_trunc_div c z); rewrite leq_mul2r Tn orbT.
  have h3 : (g < (r.-1 + 2) * z)%N by rewrite addn2 prednK // ltn_ceil.
  rewrite mulnAC; apply: leq_trans (leq_mul h1 (leqnn T)) _; rewrite mulnAC.
  apply: leq_trans (leq_mul (leqnn (2 * K * T)) (ltnW h3)) _; rewrite mulnDl mulnDr.
  apply: leq_add; first by rewrite mulnC.
  have -> : (2 * K * T * (2 * z) = 4 * K * (T * z))%N by rewrite mulnACA [(2 * K * 2)%N]mulnAC.
  by apply: leq_mul.
have t0' : 0 <= table (g - z) by apply: le_trans (table_ge1 _).
have half : r%:R * b <= 2%:R^-1.
  rewrite -[X in _ <= X]mul1r ler_pdivlMr ?ltr0n // mulrC mulrA -natrM mulrC; apply: le_trans bn.
  by apply: ler_wpM2l; rewrite // ler_nat.
have rS : r%:R * b = r.-1%:R * b + b by rewrite -{1}(prednK r0) natS mulrDl mul1r.
set D := 1 - r.-1%:R * b; have D0 : 0 <= D.
  rewrite subr_ge0; apply: le_trans (_ : r%:R * b <= 1); first by rewrite rS lerDl.
  by apply: le_trans half _; rewrite invf_le1 ?ler1n ?ltr0n.
have -> : 1 - r%:R * b = D - b by rewrite rS /D; ring.
set A := slope k * (S - T%:R^-1).
have key : D * (l - A) <= S * l.
  case: (lerP 0 (l - A)) => h.
    by apply: le_trans (thin kK l0 lT); apply: ler_wpM2r => //; rewrite lerD2l lerN2.
  apply: (@le_trans _ _ 0); first by apply: mulr_ge0_le0 => //; apply: ltW.
  by apply: mulr_ge0 => //; apply: ltW.
have MF : 0 < M%:R :> F by rewrite ltr0n.
have t : 0 <= 1 + b / (S * M%:R) by apply: addr_ge0 ler01 (divr_ge0 b0 (ltW (mulr_gt0 S_gt0 MF))).
have E1 : power S M b * (1 - b / S) <= 1.
  have := power_complement M t; rewrite /power.
  have -> // : M%:R * (b / (S * M%:R)) = b / S by field; rewrite !gt_eqF.
have E0 : 0 <= power S M b by apply: exprn_ge0.
have ineq : D - b <= D * (1 + slope k * v) * (1 - b / S).
  have bs : b <= T%:R^-1 by rewrite -[X in _ <= X]mul1r ler_pdivlMr.
  have -> : D * (1 + slope k * v) * (1 - b / S) = D - b + S^-1 * (v * (S * l - D * (l - A)) + D * v * slope k * (T%:R^-1 - b)).
    by rewrite -lv /A; field; rewrite !gt_eqF.
  rewrite lerDl; apply: mulr_ge0; first by rewrite invr_ge0 ltW.
  apply: addr_ge0; first by apply: mulr_ge0; [apply: ltW | rewrite subr_ge0].
  by apply: mulr_ge0 (mulr_ge0 (mulr_ge0 D0 (ltW v0)) (slope_ge0 kK)) _; rewrite subr_ge0.
apply: (@le_trans _ _ (D * (1 + slope k * v) * (1 - b / S) * power S M b * table (g - z))).
  by apply: ler_wpM2r => //; apply: ler_wpM2r.
apply: (@le_trans _ _ (D * (table (g - z) * (1 + slope k * v)))); last first.
  by apply: ler_wpM2l => //; apply: rise.
have -> : D * (1 + slope k * v) * (1 - b / S) * power S M b * table (g - z) =
  D * (table (g - z) * (1 + slope k * v)) * (power S M b * (1 - b / S)) by ring.
rewrite -[X in _ <= X]mulr1; apply: ler_wpM2l => //.
exact: mulr_ge0 D0 (mulr_ge0 t0' (addr_ge0 ler01 (mulr_ge0 (slope_ge0 kK) (ltW v0)))).
Qed.

(** Facts on whole numbers for a type that fits the server n times and the room r times. *)
Lemma whole_facts (k j z g n r : nat) : (0 < z)%N -> (z <= g)%N -> (2 * g < c)%N ->
  (n * z <= c)%N -> (c < n.+1 * z)%N -> (r * z <= g)%N -> (g < r.+1 * z)%N -> (0 < n)%N -> (0 < r)%N ->
  (k * c <= 2 * K * g)%N -> (2 * K * g < k.+1 * c)%N -> (j * c <= 2 * K * (g - z))%N ->
  [/\ (2 * r <= n)%N, (k * n < 2 * K * r.+1)%N, (2 * K * r < k.+1 * n.+1)%N &
  [/\ (j * n.+1 + 2 * K < k.+1 * n.+1)%N, (j * n < 2 * K * r)%N & (j * r.+1 < k.+1 * r)%N]].
Proof.
move=> z0 zg gc nz cn rz gr n0 r0 kg gk; rewrite mulnBr leq_subRL ?leq_mul2l ?zg ?orbT // => jg.
have K2 : (0 < 2 * K)%N by rewrite muln_gt0 K_gt0.
have small : (2 * r <= n)%N.
  rewrite -ltnS -(ltn_pmul2r z0); apply: leq_ltn_trans cn.
  by apply: leq_trans (ltnW gc); rewrite -mulnA leq_mul2l.
have jz : (j * c < 2 * K * (r * z))%N.
  rewrite -(ltn_add2l (2 * K * z)); apply: leq_ltn_trans jg _.
  by rewrite -mulnDr -mulSn ltn_pmul2l.
split=> //; [| |split].
- rewrite -(ltn_pmul2r c_gt0) mulnAC; apply: (@leq_ltn_trans (2 * K * g * n)); first by rewrite leq_mul2r kg orbT.
  apply: (@leq_trans (2 * K * (r.+1 * z) * n)); first by rewrite ltn_pmul2r // ltn_pmul2l.
  have -> : (2 * K * (r.+1 * z) * n = 2 * K * r.+1 * (n * z))%N by rewrite -!mulnA [(z * n)%N]mulnC.
  exact: leq_mul.
- rewrite -(ltn_pmul2r z0) -[(2 * K * r * z)%N]mulnA -[(k.+1 * n.+1 * z)%N]mulnA.
  apply: leq_ltn_trans (leq_mul (leqnn _) rz) _; apply: leq_trans gk _.
  exact: leq_mul (leqnn _) (ltnW cn).
- rewrite -(ltn_pmul2r c_gt0) mulnDl [(k.+1 * n.+1 * c)%N]mulnAC [(j * n.+1 * c)%N]mulnAC.
  apply: (@leq_ltn_trans ((2 * K * z + j * c) * n.+1)).
    rewrite mulnDl addnC leq_add2r -[X in (_ <= X)%N]mulnA [(z * _)%N]mulnC.
    exact: leq_mul (leqnn _) (ltnW cn).
  by rewrite ltn_pmul2r //; apply: leq_ltn_trans jg gk.
- rewrite -(ltn_pmul2r c_gt0) mulnAC; apply: (@leq_trans (2 * K * (r * z) * n)); first by rewrite ltn_pmul2r.
  have -> : (2 * K * (r * z) * n = 2 * K * r * (n * z))%N by rewrite -!mulnA [(z * n)%N]mulnC.
  exact: leq_mul.
rewrite -(ltn_pmul2r c_gt0) mulnAC; apply: (@leq_ltn_trans (2 * K * g * r)).
  rewrite -(leq_add2l (2 * K * g)) -mulnS; apply: leq_trans (leq_mul jg (leqnn r.+1)).
  rewrite mulnDl leq_add2r -[(2 * K * z * _)%N]mulnA; apply: leq_mul => //.
  by rewrite mulnC ltnW.
by rewrite [(k.+1 * r * c)%N]mulnAC ltn_pmul2r.
Qed.

Lemma step z g b : (0 < z)%N -> (z <= g)%N -> (2 * g < c)%N -> 0 <= b -> b * (c %/ z)%:R <= 1 ->
  (1 - (g %/ z)%:R * b) * power S M b * table (g - z) <= (1 - (g %/ z).-1%:R * b) * table g.
Proof.
move=> z0 zg gc b0 bn.
have kK : (cell g < K)%N by rewrite ltn_divLR // -mulnA mulnCA ltn_pmul2l.
have r0 : (0 < g %/ z)%N by rewrite divn_gt0.
have n0 : (0 < c %/ z)%N by rewrite divn_gt0 //; apply: leq_trans zg _; apply: leq_trans (ltnW gc); apply: leq_pmull.
have [] := @whole_facts (cell g) (cell (g - z)) z g (c %/ z) (g %/ z) z0 zg gc (leq_trunc_div _ _) (ltn_ceil _ z0)
  (leq_trunc_div _ _) (ltn_ceil _ z0) n0 r0 (leq_trunc_div _ _) (ltn_ceil _ c_gt0) (leq_trunc_div _ _).
move=> rn f1 f2 [f3 f4 f5].
case: (leqP T (c %/ z)) => nT; first exact: step_thin.
have n1 : (1 < c %/ z)%N by apply: leq_trans rn; apply: leq_pmulr.
have nn : (1 < c %/ z < T)%N by rewrite n1.
have D0 : 0 <= 1 - (g %/ z).-1%:R * b.
  rewrite subr_ge0; apply: le_trans bn; rewrite mulrC; apply: ler_wpM2l => //.
  by rewrite ler_nat; apply: leq_trans (leq_pred _) _; apply: leq_trans rn; apply: leq_pmull.
have t0 : 0 <= table (g - z) by apply: le_trans (table_ge1 _).
have jk := cell_up (leq_subr z g).
have t1 : table (g - z) <= hi (cell (g - z)) by apply: table_hi; apply: leq_ltn_trans kK.
have G := gains nn r0 rn b0 bn; have H := thick kK nn r0 rn f1 f2 jk f3 f4 f5.
have MF : 0 < M%:R :> F by rewrite ltr0n.
have E0 : 0 <= power S M b by apply: exprn_ge0; apply: addr_ge0 ler01 (divr_ge0 b0 (ltW (mulr_gt0 S_gt0 MF))).
have C0 : 0 <= 1 - (g %/ z)%:R * b.
  rewrite subr_ge0; apply: le_trans bn; rewrite mulrC; apply: ler_wpM2l => //.
  by rewrite ler_nat; apply: leq_trans rn; apply: leq_pmull.
have h0 : 0 <= hi (cell (g - z)) by apply: le_trans t1.
apply: le_trans (ler_wpM2l (mulr_ge0 C0 E0) t1) _; apply: le_trans (ler_wpM2r h0 G) _.
rewrite mulrAC mulrC; apply: ler_wpM2l => //; apply: le_trans H (table_lo kK).
Qed.

End Steps.
