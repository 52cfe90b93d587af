(** * Inequalities under the names of mathcomp 2

    mathcomp 2 has renamed lemmas on sums, products and minima of ordered numbers. The proofs use the new names, and this
    file has the lemmas under these names for mathcomp 1. They say what those of mathcomp 2 say. *)

From mathcomp Require Import all_ssreflect all_algebra.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(** ** Minima *)

Section Minima.
Variables (disp : _) (T : orderType disp).
Implicit Types x y z : T.

Lemma le_min z x y : (z <= Order.min x y)%O = (z <= x)%O && (z <= y)%O.
Proof.
case: (leP x y) => h; apply/idP/andP => [zm|[]//]; split=> //; first exact: le_trans h.
exact: le_trans zm (ltW h).
Qed.

Lemma lt_min z x y : (z < Order.min x y)%O = (z < x)%O && (z < y)%O.
Proof.
case: (leP x y) => h; apply/idP/andP => [zm|[]//]; split=> //; first exact: lt_le_trans h.
exact: lt_trans zm h.
Qed.

Lemma ge_min z x y : (Order.min x y <= z)%O = (x <= z)%O || (y <= z)%O.
Proof. by rewrite !leNgt lt_min negb_and. Qed.

Lemma gt_min z x y : (Order.min x y < z)%O = (x < z)%O || (y < z)%O.
Proof. by rewrite !ltNge le_min negb_and. Qed.

End Minima.

(** ** Sums *)

Section Sums.
Variable R : numDomainType.
Implicit Types x y z t : R.

Lemma lerD2l x : {mono +%R x : y z / y <= z}.
Proof. by move=> y z; rewrite -subr_ge0 opprD addrACA subrr add0r subr_ge0. Qed.

Lemma lerD2r x : {mono +%R^~ x : y z / y <= z}.
Proof. by move=> y z; rewrite -![_ + x]addrC lerD2l. Qed.

Lemma ltrD2l x : {mono +%R x : y z / y < z}.
Proof. by move=> y z; rewrite -subr_gt0 opprD addrACA subrr add0r subr_gt0. Qed.

Lemma ltrD2r x : {mono +%R^~ x : y z / y < z}.
Proof. by move=> y z; rewrite -![_ + x]addrC ltrD2l. Qed.

Lemma lerD x y z t : x <= y -> z <= t -> x + z <= y + t.
Proof. by move=> xy zt; apply: (@le_trans _ _ (y + z)); rewrite ?lerD2r ?lerD2l. Qed.

Lemma ltr_leD x y z t : x < y -> z <= t -> x + z < y + t.
Proof. by move=> xy zt; apply: (@lt_le_trans _ _ (y + z)); rewrite ?ltrD2r ?lerD2l. Qed.

Lemma ltrD x y z t : x < y -> z < t -> x + z < y + t.
Proof. by move=> xy /ltW; apply: ltr_leD. Qed.

Lemma ler_wpDr y x z : 0 <= x -> y <= z -> y <= z + x.
Proof. by move=> x0 yz; rewrite -[y]addr0 lerD. Qed.

Lemma ltr_wpDr y x z : 0 <= x -> y < z -> y < z + x.
Proof. by move=> x0 yz; rewrite -[y]addr0 ltr_leD. Qed.

Lemma lerDl x y : (x <= x + y) = (0 <= y).
Proof. by rewrite -{1}[x]addr0 lerD2l. Qed.

Lemma lerDr x y : (x <= y + x) = (0 <= y).
Proof. by rewrite addrC lerDl. Qed.

Lemma ltrDl x y : (x < x + y) = (0 < y).
Proof. by rewrite -{1}[x]addr0 ltrD2l. Qed.

Lemma gerDl x y : (x + y <= x) = (y <= 0).
Proof. by rewrite -{2}[x]addr0 lerD2l. Qed.

Lemma lerBlDr x y z : (x - y <= z) = (x <= z + y).
Proof. by rewrite -(lerD2r y (x - y)) subrK. Qed.

Lemma lerBlDl x y z : (x - y <= z) = (x <= y + z).
Proof. by rewrite lerBlDr addrC. Qed.

Lemma lerBrDr x y z : (x <= y - z) = (x + z <= y).
Proof. by rewrite -(lerD2r z x) subrK. Qed.

Lemma lerBrDl x y z : (x <= y - z) = (z + x <= y).
Proof. by rewrite lerBrDr addrC. Qed.

Lemma ltrBlDr x y z : (x - y < z) = (x < z + y).
Proof. by rewrite -(ltrD2r y (x - y)) subrK. Qed.

Lemma ltrBlDl x y z : (x - y < z) = (x < y + z).
Proof. by rewrite ltrBlDr addrC. Qed.

Lemma ltrBrDl x y z : (x < y - z) = (z + x < y).
Proof. by rewrite -(ltrD2r z x) subrK addrC. Qed.

Lemma lerN2 : {mono -%R : x y /~ (x : R) <= y}.
Proof. by move=> x y; rewrite -subr_ge0 opprK addrC subr_ge0. Qed.

Lemma lerNl x y : (- x <= y) = (- y <= x).
Proof. by rewrite -{1}[y]opprK lerN2. Qed.

End Sums.

(** ** Products *)

Section Products.
Variable R : numDomainType.
Implicit Types x y z t : R.

Lemma ler_wpM2l x : 0 <= x -> {homo *%R x : y z / y <= z}.
Proof. by move=> x0 y z yz; rewrite -subr_ge0 -mulrBr mulr_ge0 // subr_ge0. Qed.

Lemma ler_wpM2r x : 0 <= x -> {homo *%R^~ x : y z / y <= z}.
Proof. by move=> x0 y z yz; rewrite ![_ * x]mulrC ler_wpM2l. Qed.

Lemma ler_pM2l x : 0 < x -> {mono *%R x : y z / y <= z}.
Proof. by move=> x0 y z; rewrite -subr_ge0 -mulrBr pmulr_rge0 // subr_ge0. Qed.

Lemma ler_pM2r x : 0 < x -> {mono *%R^~ x : y z / y <= z}.
Proof. by move=> x0 y z; rewrite ![_ * x]mulrC ler_pM2l. Qed.

Lemma ltr_pM2l x : 0 < x -> {mono *%R x : y z / y < z}.
Proof. by move=> x0 y z; rewrite -subr_gt0 -mulrBr pmulr_rgt0 // subr_gt0. Qed.

Lemma ltr_pM2r x : 0 < x -> {mono *%R^~ x : y z / y < z}.
Proof. by move=> x0 y z; rewrite ![_ * x]mulrC ltr_pM2l. Qed.

Lemma ler_pM x1 y1 x2 y2 : 0 <= x1 -> 0 <= x2 -> x1 <= y1 -> x2 <= y2 -> x1 * x2 <= y1 * y2.
Proof.
move=> x10 x20 xy1 xy2; apply: (@le_trans _ _ (y1 * x2)); first exact: ler_wpM2r.
by apply: ler_wpM2l => //; apply: le_trans xy1.
Qed.

Lemma ler_pMl x y : 0 < y -> (y <= x * y) = (1 <= x).
Proof. by move=> y0; rewrite -{1}[y]mul1r ler_pM2r. Qed.

Lemma ltr_pMr x y : 0 < y -> (y < y * x) = (1 < x).
Proof. by move=> y0; rewrite -{1}[y]mulr1 ltr_pM2l. Qed.

Lemma ler_weXn2l x : 1 <= x -> {homo GRing.exp x : m n / (m <= n)%N >-> m <= n}.
Proof.
move=> x1 m n /subnK <-; rewrite exprD; have x0 := le_trans ler01 x1.
elim: (n - m)%N => [|d IH]; first by rewrite mul1r.
by apply: le_trans IH _; rewrite exprS -mulrA -[X in X <= _]mul1r; apply: ler_wpM2r; rewrite // -exprD exprn_ge0.
Qed.

End Products.

(** ** Quotients *)

Section Quotients.
Variable F : numFieldType.
Implicit Types x y z : F.

Lemma ler_pdivlMr z x y : 0 < z -> (x <= y / z) = (x * z <= y).
Proof. by move=> z0; rewrite -(ler_pM2r z0 x) divfK ?gt_eqF. Qed.

Lemma ler_pdivrMr z x y : 0 < z -> (y / z <= x) = (y <= x * z).
Proof. by move=> z0; rewrite -(ler_pM2r z0 (y / z)) divfK ?gt_eqF. Qed.

Lemma ltr_pdivlMr z x y : 0 < z -> (x < y / z) = (x * z < y).
Proof. by move=> z0; rewrite -(ltr_pM2r z0 x) divfK ?gt_eqF. Qed.

Lemma ltr_pdivrMr z x y : 0 < z -> (y / z < x) = (y < x * z).
Proof. by move=> z0; rewrite -(ltr_pM2r z0 (y / z)) divfK ?gt_eqF. Qed.

Lemma ler_pdivlMl z x y : 0 < z -> (x <= z^-1 * y) = (z * x <= y).
Proof. by move=> z0; rewrite mulrC ler_pdivlMr // mulrC. Qed.

Lemma ler_pdivrMl z x y : 0 < z -> (z^-1 * y <= x) = (y <= z * x).
Proof. by move=> z0; rewrite mulrC ler_pdivrMr // mulrC. Qed.

Lemma ltr_pdivrMl z x y : 0 < z -> (z^-1 * y < x) = (y < z * x).
Proof. by move=> z0; rewrite mulrC ltr_pdivrMr // mulrC. Qed.

Lemma lef_pV2 : {in Num.pos &, {mono GRing.inv : x y /~ (x : F) <= y}}.
Proof.
by move=> x y; rewrite !posrE => x0 y0; rewrite -[x^-1]mul1r ler_pdivrMr // ler_pdivlMl // mulr1.
Qed.

Lemma ltf_pV2 : {in Num.pos &, {mono GRing.inv : x y /~ (x : F) < y}}.
Proof.
by move=> x y; rewrite !posrE => x0 y0; rewrite -[x^-1]mul1r ltr_pdivrMr // mulrC ltr_pdivlMr // mul1r.
Qed.

End Quotients.
