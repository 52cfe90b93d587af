(** * One resource: greedy keeps 0.695, whatever the number of types

    A table of the potential in whole numbers, a check of it, and what follows if the check accepts. Coq makes the table of
    the theorem and decides the check; how the table is made plays no part in the proof. *)

From mathcomp Require Import all_ssreflect all_algebra ring.
From Coq Require BinNat.
From packproof Require Import Greedy AllTypes PotentialTable.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.

Module Checked.
Import BinNums BinNat.
Local Open Scope N_scope.
Local Notation "x <=? y" := (N.leb x y) : N_scope.
Local Notation B := bin_of_nat.

(** A table in whole multiples of 1/[unit]. *)
Record numbers := Numbers {
  unit : N; (* of all numbers but values *)
  tangent : N; (* S *)
  level : nat; (* M is 2 to this power *)
  cells : nat; (* of a half server *)
  thick : nat; (* a type that fits the server less often is thick *)
  lows : seq N; (* values at the lower ends of the cells; that of the first is the unit of values *)
  highs : seq N; (* and at the upper ends *)
  slopes : seq N;
  tips : seq N; (* places of tangents, for thin types *)
  gains : seq (seq N); (* by n and r *)
  peaks : seq (seq N) (* places of tangents, for thick types *)
}.

Definition at_ (x : seq N) i := nth 0 x i.
Definition at2 (x : seq (seq N)) n r := nth 0 (nth [::] x n) r.

Fixpoint up_power (W : N) p x := if p is S q then up_power W q (x * x / W + 1) else x.
Fixpoint down_power (W : N) p x := if p is S q then down_power W q (x * x / W) else x.

Section Check.
Variable t : numbers.
Let W := unit t.
Let s := tangent t.
Let M := B (expn 2 (level t)).

(** The gain of thick types that fit n times alone and r times in the room. *)
Definition gain_ok (n r : nat) :=
  let w := at2 (peaks t) n r in let q := at2 (gains t) n r in
  let e := up_power W (level t) (W + (w * W / (s * M) + 1)) in
  let u := M * s + w in let v := u + M * w in let R := B (predn r) in
  (e * u * W + q * R * M * (w * w) <=? q * v * W)
  && (B (subn n r) * e * u * W + q * (M * (W * W) + R * v * W + B n * R * M * (w * w))
      <=? q * (B n * v * W + 2 * R * w * M * W)).

(** How far the cells go in which thick types leave their room. *)
Definition limit (K k n r : N) :=
  N.min (((k + 1) * (n + 1) + n - 2 * K) / (n + 1)) (N.min ((2 * K * r + n - 1) / n) (((k + 1) * r + r) / (r + 1))).

Definition thick_ok (K : N) (k : nat) (kN : N) (lo : N) (n : nat) (nN : N) (row : seq N) (r : nat) :=
  let R := B r in
  (2 * K * (R + 1) <=? kN * nN) || ((kN + 1) * (nN + 1) <=? 2 * K * R)
  || let j := limit K kN nN R in
     [&& j <=? kN, ((kN + 1) * (nN + 1) <=? j * (nN + 1) + 2 * K) || (2 * K * R <=? j * nN) || ((kN + 1) * R <=? j * (R + 1)) &
       (j == 0) || (at_ row r * at_ (highs t) (predn (nat_of_bin j)) <=? W * lo)].

Definition cell_ok (k : nat) :=
  let K := B (cells t) in let T := B (thick t) in let kN := B k in
  let l := at_ (lows t) k in let h := at_ (highs t) k in let q := at_ (slopes t) k in let w := at_ (tips t) k in
  let rho := kN * T - 4 * K in let R := 2 * K * T in let A := q * (s * T - W) in
  [&& l <=? h,
      leq (cells t) (S k) || (h <=? at_ (lows t) (S k)) && (at_ (slopes t) (S k) <=? q),
      q * h + 2 * K * W * l <=? 2 * K * W * h,
      rho * (w * w) * T <=? A * R,
      (T + 1) * T * (W * W) * R + rho * (T + 1) * A + rho * (w * w) * (T * T)
        <=? s * (T + 1) * T * W * R + A * T * R + 2 * rho * (T + 1) * w * T * W &
      all (fun n => let nN := B n in let row := nth [::] (gains t) n in
        all (thick_ok K k kN l n nN row) (iota 1 (half n))) (iota 2 (subn (thick t) 2))].

Definition table_ok (above below : N) :=
  [&& 1 <=? W, W + 1 <=? 2 * s, W <=? s * B (thick t), leq 1 (cells t), leq 2 (thick t), 1 <=? at_ (lows t) 0%nat,
      1 <=? below, 64 * below <=? 211 * above,
      all (fun n => all (gain_ok n) (iota 1 (half n))) (iota 2 (subn (thick t) 2)),
      all cell_ok (iota 0 (cells t)) &
      let d := down_power W (level t) (W + W / M) in
      (1 <=? d) && (s * (M + 1) * at_ (highs t) (predn (cells t)) * below <=? above * M * d * at_ (lows t) 0%nat)].

End Check.

(** ** A table *)

Definition upwards a b := (a + b - 1) / b.

Section Make.
Variables (W s : N) (level cells thick : nat).
Let M := B (expn 2 level).
Let K := B cells.
Let T := B thick.

Definition peak (n r : nat) :=
  let R := B r in let R1 := B (predn r) in
  N.min (W / B n)
    (if r is S (S _) then ((R + R1) * W - N.sqrt (W * W + 4 * R * R1 * s * W)) / (2 * R * R1) else W - s).

Definition gain_at (n r : nat) :=
  let w := peak n r in let R := B (predn r) in
  let e := up_power W level (W + (w * W / (s * M) + 1)) in
  let u := M * s + w in let v := u + M * w in
  N.max (upwards (e * u * W) (v * W - R * M * (w * w)))
    (upwards (B (subn n r) * e * u * W) ((B n * v * W + 2 * R * w * M * W) - (M * (W * W) + R * v * W + B n * R * M * (w * w)))).

Definition by_type (f : nat -> nat -> N) := [seq [seq f n r | r <- iota 0 (S (half n))] | n <- iota 0 thick].

Definition tip (k : nat) :=
  let rho := B k * T - 4 * K in
  let longest := W * (T + 1) / T in
  if rho == 0 then longest else N.min longest ((W - N.sqrt (s * W)) * (2 * K * T) / rho).

Definition slope_at (k : nat) :=
  let rho := B k * T - 4 * K in let R := 2 * K * T in let w := tip k in
  let A := N.max (upwards (rho * (w * w) * T) R)
    (upwards ((T + 1) * T * (W * W) * R + rho * (w * w) * (T * T) - (s * (T + 1) * T * W * R + 2 * rho * (T + 1) * w * T * W))
      (T * R - rho * (T + 1))) in
  upwards A (s * T - W).

(** The values of the cells so far, the last first, and the number of the cell. *)
Definition next_low (gains : seq (seq N)) (highs : seq N) (k : nat) (kN : N) :=
  foldl (fun low n => let nN := B n in let row := nth [::] gains n in
    foldl (fun low r => let R := B r in
      if (2 * K * (R + 1) <=? kN * nN) || ((kN + 1) * (nN + 1) <=? 2 * K * R) then low
      else let j := limit K kN nN R in
        if (j == 0) then low else N.max low (upwards (at_ row r * at_ highs (subn k (nat_of_bin j))) W))
      low (iota 1 (half n)))
    (head W highs) (iota 2 (subn thick 2)).

Fixpoint values (gains : seq (seq N)) (slopes : seq N) (k : nat) (lows highs : seq N) :=
  if slopes is q :: rest then
    let low := next_low gains highs k (B k) in
    let high := upwards (2 * K * W * low) (2 * K * W - q) in
    values gains rest (S k) (low :: lows) (high :: highs)
  else (rev lows, rev highs).

Definition make :=
  let gains := by_type gain_at in let slopes := map slope_at (iota 0 cells) in
  let v := values gains slopes 0 [::] [::] in
  Numbers W s level cells thick v.1 v.2 slopes (map tip (iota 0 cells)) gains (by_type peak).

End Make.

(** The table of the theorem: S is 0.6078, M is 4096, the half server has 400 cells, and types that fit a server less than
    40 times are thick. It shows that greedy loses at most 61/200. *)
Definition numbers_of_theorem := make 1099511627776 668283167362 12 400 40.
Definition lost_above : N := 61.
Definition lost_below : N := 200.

End Checked.

Local Open Scope ring_scope.

(** ** What the checks say of numbers of an ordered field *)

Section Facts.
Variable F : realFieldType.

(** A quadratic inequality from one at both ends of an interval, by a tangent at [l0]. *)
Lemma thin_fact (rho A S l0 E l : F) : 0 <= rho -> 0 < E -> 0 <= l -> l <= E -> rho * l0 ^+ 2 <= A ->
  E + rho * E * A + rho * l0 ^+ 2 <= S * E + A + 2%:R * rho * E * l0 -> (1 - l * rho) * (l - A) <= S * l.
Proof.
move=> r0 E0 l0' lE h1 h2; apply: le_by_diff; set x := l / E.
have xl : x * E = l by rewrite /x divfK // gt_eqF.
have x0 : 0 <= x by apply: divr_ge0 l0' (ltW E0).
have x1 : x <= 1 by rewrite ler_pdivrMr // mul1r.
have -> : S * l - (1 - l * rho) * (l - A) = (1 - x) * (A - rho * l0 ^+ 2)
  + x * (S * E + A + 2%:R * rho * E * l0 - (E + rho * E * A + rho * l0 ^+ 2)) + rho * (l - l0) ^+ 2 by rewrite -xl; ring.
apply: addr_ge0; last by rewrite mulr_ge0 // sqr_ge0.
by apply: addr_ge0; apply: mulr_ge0; rewrite ?subr_ge0.
Qed.

Lemma gain_fact (S b0 e q b : F) (M n r : nat) (g := S + b0 / M%:R) : 0 < S -> (0 < M)%N -> (0 < r)%N -> (r <= n)%N ->
  0 <= b0 -> 0 <= q -> 0 <= b -> b * n%:R <= 1 -> b < S -> power S M b0 <= e ->
  e * g <= q * (g + b0 - r.-1%:R * b0 ^+ 2) ->
  (n%:R - r%:R) * e * g <= q * (n%:R * (g + b0) - 1 - r.-1%:R * (g + b0) + r.-1%:R * (2%:R * b0 - n%:R * b0 ^+ 2)) ->
  (1 - r%:R * b) * power S M b <= q * (1 - r.-1%:R * b).
Proof.
move=> S0 M0 r0 rn b00 q0 b0' bn bS pe h1 h2.
have MF : 0 < M%:R :> F by rewrite ltr0n.
have g0 : S <= g by rewrite /g lerDl; apply: divr_ge0 b00 (ltW MF).
have gp : 0 < g by apply: lt_le_trans g0.
have d0 : 0 < g + b0 - b by rewrite subr_gt0; apply: lt_le_trans bS _; apply: le_trans g0 _; rewrite lerDl.
have rF : r%:R = r.-1%:R + 1 :> F by rewrite -{1}(prednK r0) mulrSr.
have lin : (1 - r%:R * b) * (e * g) <= q * (1 - r.-1%:R * b) * (g + b0 - b).
  apply: le_by_diff; rewrite rF; rewrite rF in h2.
  have -> : q * (1 - r.-1%:R * b) * (g + b0 - b) - (1 - (r.-1%:R + 1) * b) * (e * g)
    = (1 - b * n%:R) * (q * (g + b0 - r.-1%:R * b0 ^+ 2) - e * g)
    + b * (q * (n%:R * (g + b0) - 1 - r.-1%:R * (g + b0) + r.-1%:R * (2%:R * b0 - n%:R * b0 ^+ 2))
           - (n%:R - (r.-1%:R + 1)) * e * g) + q * r.-1%:R * (b - b0) ^+ 2 by ring.
  apply: addr_ge0; last by apply: mulr_ge0 (mulr_ge0 q0 (ler0n _ _)) (sqr_ge0 _).
  by apply: addr_ge0; apply: mulr_ge0; rewrite ?subr_ge0.
have C0 : 0 <= 1 - r%:R * b.
  by rewrite subr_ge0; apply: le_trans bn; rewrite mulrC; apply: ler_wpM2l; rewrite // ler_nat.
have SM : 0 < S * M%:R by apply: mulr_gt0.
have y0 : 0 < 1 + b0 / (S * M%:R) by apply: lt_le_trans ltr01 _; rewrite lerDl; apply: divr_ge0 b00 (ltW SM).
set y := (b - b0) / (M%:R * g).
have Mg : M%:R * g = S * M%:R + b0 by rewrite /g; field; rewrite gt_eqF.
have Mg0 : 0 < M%:R * g by apply: mulr_gt0.
have e1 : (1 + b0 / (S * M%:R)) * (1 + y) = 1 + b / (S * M%:R).
  rewrite /y Mg; rewrite Mg in Mg0; field; by rewrite !gt_eqF.
have t : 0 <= 1 + y.
  rewrite -(pmulr_rge0 _ y0) e1; apply: addr_ge0 ler01 (divr_ge0 b0' (ltW SM)).
have key : power S M b * (g + b0 - b) <= e * g.
  have -> : power S M b = power S M b0 * (1 + y) ^+ M by rewrite /power -e1 exprMn.
  have h := power_complement M t.
  have -> : g + b0 - b = g * (1 - M%:R * y) by rewrite /y; field; rewrite !gt_eqF.
  have -> : power S M b0 * (1 + y) ^+ M * (g * (1 - M%:R * y)) = power S M b0 * g * ((1 + y) ^+ M * (1 - M%:R * y)) by ring.
  have p0 : 0 <= power S M b0 by apply: exprn_ge0; apply: ltW.
  apply: le_trans (ler_wpM2l (mulr_ge0 p0 (ltW gp)) h) _; rewrite mulr1.
  by apply: ler_wpM2r => //; apply: ltW.
rewrite -(ler_pM2r d0) -mulrA; apply: le_trans (ler_wpM2l C0 key) _.
exact: lin.
Qed.

Local Notation N := BinNums.N.
Local Notation one := (BinNums.Npos BinNums.xH).
Local Notation phi x := ((nat_of_bin x)%:R : F).

Lemma le_N (x y : N) : BinNat.N.leb x y -> (nat_of_bin x <= nat_of_bin y)%N.
Proof. by move=> h; rewrite -(BinNat.N.sub_add x y (proj1 (BinNat.N.leb_le x y) h)) nat_of_add_bin leq_addl. Qed.

Lemma le_phi (x y : N) : BinNat.N.leb x y -> phi x <= phi y.
Proof. by move=> h; rewrite ler_nat le_N. Qed.

Lemma phi_gt0 (x : N) : BinNat.N.leb one x -> 0 < phi x.
Proof. by move=> h; rewrite ltr0n; apply: (le_N h). Qed.

Lemma phiD (x y : N) : phi (BinNat.N.add x y) = phi x + phi y.
Proof. by rewrite nat_of_add_bin natrD. Qed.

Lemma phiM (x y : N) : phi (BinNat.N.mul x y) = phi x * phi y.
Proof. by rewrite nat_of_mul_bin natrM. Qed.

Lemma phi_nat (n : nat) : phi (bin_of_nat n) = n%:R.
Proof. by rewrite bin_of_natK. Qed.

Lemma phi_sub (x y : N) : phi (BinNat.N.sub x y) = 0 \/ phi (BinNat.N.sub x y) + phi y = phi x.
Proof.
case: (BinNat.N.le_ge_cases x y) => h; [left | right]; first by rewrite (proj2 (BinNat.N.sub_0_le x y) h).
by rewrite -phiD (BinNat.N.sub_add _ _ h).
Qed.

Lemma phi_subK (x y : N) : BinNat.N.leb y x -> phi (BinNat.N.sub x y) = phi x - phi y.
Proof. by move=> h; rewrite -{2}(BinNat.N.sub_add y x (proj1 (BinNat.N.leb_le y x) h)) phiD addrK. Qed.

Lemma ge1_neq0 (x : N) : BinNat.N.leb one x -> x <> BinNums.N0.
Proof. by case: x. Qed.

Lemma div_up (x y : N) : BinNat.N.leb one y -> phi x <= phi y * (phi (BinNat.N.div x y) + 1).
Proof.
move=> y0; have h := BinNat.N.mul_succ_div_gt x y (ge1_neq0 y0); have := BinNat.N.lt_le_incl _ _ h.
by move/BinNat.N.leb_le => /le_phi; rewrite -BinNat.N.add_1_r phiM phiD.
Qed.

Lemma div_down (x y : N) : BinNat.N.leb one y -> phi y * phi (BinNat.N.div x y) <= phi x.
Proof. by move=> y0; have := BinNat.N.mul_div_le x y (ge1_neq0 y0); move/BinNat.N.leb_le => /le_phi; rewrite phiM. Qed.

Lemma up_powerP (W : N) p x : BinNat.N.leb one W -> (phi x / phi W) ^+ (2 ^ p) <= phi (Checked.up_power W p x) / phi W.
Proof.
move=> W1; have W0 := phi_gt0 W1.
elim: p x => [|p IH] x; first by rewrite expn0 expr1.
apply: le_trans (IH _); rewrite expnS exprM; apply: pow_le; first by apply: exprn_ge0 (divr_ge0 (ler0n _ _) (ler0n _ _)).
have := div_up (BinNat.N.mul x x) W1; rewrite phiD phiM; set d := BinNat.N.div _ _ => h.
have -> : phi one = 1 by [].
apply: le_by_diff.
have -> : (phi d + 1) / phi W - (phi x / phi W) ^+ 2 = (phi W * (phi d + 1) - phi x * phi x) / (phi W * phi W).
  by field; rewrite gt_eqF.
by apply: divr_ge0 (ltW (mulr_gt0 W0 W0)); rewrite subr_ge0.
Qed.

Lemma down_powerP (W : N) p x : BinNat.N.leb one W -> phi (Checked.down_power W p x) / phi W <= (phi x / phi W) ^+ (2 ^ p).
Proof.
move=> W1; have W0 := phi_gt0 W1.
elim: p x => [|p IH] x; first by rewrite expn0 expr1.
apply: le_trans (IH _) _; rewrite expnS exprM; apply: pow_le; first by apply: divr_ge0 (ler0n _ _) (ler0n _ _).
have := div_down (BinNat.N.mul x x) W1; rewrite phiM; set d := BinNat.N.div _ _ => h.
apply: le_by_diff.
have -> : (phi x / phi W) ^+ 2 - phi d / phi W = (phi x * phi x - phi W * phi d) / (phi W * phi W).
  by field; rewrite gt_eqF.
by apply: divr_ge0 (ltW (mulr_gt0 W0 W0)); rewrite subr_ge0.
Qed.

End Facts.

(** ** What is checked holds *)

Lemma leb_one (n : nat) : (0 < n)%N -> BinNat.N.leb (BinNums.Npos BinNums.xH) (bin_of_nat n).
Proof.
move=> n0; case e: (bin_of_nat n) => [|p]; last by case: p {e}.
by move: n0; rewrite -(bin_of_natK n) e.
Qed.

Section Sound.
Variable F : realFieldType.
Variables (t : Checked.numbers) (above below : BinNums.N).
Hypothesis ok : Checked.table_ok t above below.
Local Notation N := BinNums.N.
Local Notation one := (BinNums.Npos BinNums.xH).
Local Notation phi x := ((nat_of_bin x)%:R : F).
Local Notation K := (Checked.cells t).
Local Notation T := (Checked.thick t).
Local Notation W := (phi (Checked.unit t)).
Local Notation at_ := Checked.at_.
Local Notation M := (2 ^ Checked.level t)%N.

Definition lowest := phi (at_ (Checked.lows t) 0).
Definition S_of : F := phi (Checked.tangent t) / W.
Definition lo k : F := phi (at_ (Checked.lows t) k) / lowest.
Definition hi k : F := phi (at_ (Checked.highs t) k) / lowest.
Definition slope k : F := phi (at_ (Checked.slopes t) k) / W.
Definition left_over k := BinNat.N.sub (BinNat.N.mul (bin_of_nat k) (bin_of_nat T)) (BinNat.N.mul (BinNums.Npos (BinNums.xO (BinNums.xO BinNums.xH))) (bin_of_nat K)).
Definition room k : F := phi (left_over k) / (2 * K * T)%:R.
Definition gain n r : F := phi (Checked.at2 (Checked.gains t) n r) / W.

Lemma parts : [/\ [/\ BinNat.N.leb one (Checked.unit t), S_of > 2%:R^-1, W <= phi (Checked.tangent t) * T%:R &
   BinNat.N.leb (Checked.unit t) (BinNat.N.mul (Checked.tangent t) (bin_of_nat T))],
  [/\ (0 < K)%N, (1 < T)%N, 0 < lowest & 0 < phi below], 64%:R / 211%:R <= phi above / phi below,
  [/\ forall n r, (1 < n < T)%N -> (0 < r)%N -> (2 * r <= n)%N -> Checked.gain_ok t n r &
      forall k, (k < K)%N -> Checked.cell_ok t k] &
  S_of * (1 + M%:R^-1) / (1 + M%:R^-1) ^+ M * hi K.-1 <= phi above / phi below].
Proof.
case/and5P: ok => W1 Ws sT K1 /and5P[T2 D1 b1 c1 /and3P[gains cells last]].
have W0 := phi_gt0 F W1; have D0 : 0 < lowest by apply: phi_gt0 D1.
have b0 := phi_gt0 F b1.
have T0 : (1 < T)%N by [].
split=> //.
- split=> //.
    rewrite /S_of ltr_pdivlMr // ltr_pdivrMl ?ltr0n // -natrM ltr_nat.
    by have := le_N Ws; rewrite nat_of_add_bin nat_of_mul_bin addn1.
  by have := le_phi F sT; rewrite phiM phi_nat.
- have := le_phi F c1; rewrite !phiM => c2.
  by rewrite ler_pdivrMr ?ltr0n // mulrAC ler_pdivlMr // [X in _ <= X]mulrC.
- split=> [n r /andP[n1 nT] r0 rn|k kK]; last first.
    by move/allP: cells; apply; rewrite mem_iota.
  move/allP: gains => /(_ n); rewrite mem_iota n1 addnC subnK // nT => /(_ isT) /allP; apply.
  rewrite mem_iota r0 add1n ltnS geq_half_double -mul2n; exact: rn.
move: last; cbv zeta; set dn := Checked.down_power _ _ _ => /andP[d1 c3].
have d0 := phi_gt0 F d1.
have M0 : 0 < M%:R :> F by rewrite ltr0n expn_gt0.
have one_le : 1 <= 1 + M%:R^-1 :> F by rewrite lerDl invr_ge0; apply: ltW.
have pos1 : 0 < 1 + M%:R^-1 :> F by apply: lt_le_trans ltr01 one_le.
have dM : phi dn / W <= (1 + M%:R^-1) ^+ M.
  apply: le_trans (down_powerP F _ _ W1) _; apply: pow_le; first by apply: divr_ge0 (ler0n _ _) (ler0n _ _).
  rewrite phiD ler_pdivrMr // mulrDl mul1r lerD2l ler_pdivlMl // -[M%:R](phi_nat F M).
  by apply: div_down; apply: leb_one; rewrite expn_gt0.
have c4 := le_phi F c3; move: c4; rewrite !(phiM, phiD, phi_nat) -/lowest.
have -> : phi one = 1 by [].
move=> c4.
have h : S_of * (1 + M%:R^-1) * hi K.-1 * phi below <= phi above * (phi dn / W).
  apply: le_by_diff.
  have -> : phi above * (phi dn / W) - S_of * (1 + M%:R^-1) * hi K.-1 * phi below =
    (phi above * M%:R * phi dn * lowest - phi (Checked.tangent t) * (M%:R + 1) * phi (at_ (Checked.highs t) K.-1) * phi below) / (W * M%:R * lowest).
    by rewrite /S_of /hi; field; rewrite !gt_eqF.
  by apply: divr_ge0; [rewrite subr_ge0 | apply: ltW; rewrite !mulr_gt0].
have Q0 : 0 < (1 + M%:R^-1) ^+ M :> F by apply: exprn_gt0.
rewrite ler_pdivlMr // -(ler_pM2r Q0).
have -> (x y z q : F) : q != 0 -> x / q * y * z * q = x * y * z by move=> q0; field.
  by apply: le_trans h _; apply: ler_wpM2l => //; exact: ler0n.
by rewrite gt_eqF.
Qed.

Let W0 : 0 < W. Proof. by case: parts => -[W1 _ _ _] _ _ _ _; apply: phi_gt0 W1. Qed.
Let D0 : 0 < lowest. Proof. by case: parts => _ [_ _ D _] _ _ _. Qed.
Let K0 : (0 < K)%N. Proof. by case: parts => _ [k _ _ _] _ _ _. Qed.
Let T1 : (1 < T)%N. Proof. by case: parts => _ [_ k _ _] _ _ _. Qed.
Let S_half : 2%:R^-1 < S_of. Proof. by case: parts => -[]. Qed.
Let S0 : 0 < S_of. Proof. by apply: lt_trans S_half; rewrite invr_gt0 ltr0n. Qed.
Let M0 : (0 < M)%N. Proof. by rewrite expn_gt0. Qed.
Let one_is : phi one = 1. Proof. by []. Qed.
Let two_is : phi (BinNums.Npos (BinNums.xO BinNums.xH)) = 2%:R. Proof. by []. Qed.
Let four_is : phi (BinNums.Npos (BinNums.xO (BinNums.xO BinNums.xH))) = 4%:R. Proof. by []. Qed.

Lemma lo0 : 1 <= lo 0.
Proof. by rewrite /lo divff // gt_eqF. Qed.

Lemma table_tangent : [/\ 0 < S_of, (0 < M)%N, 64%:R / 211%:R <= phi above / phi below &
  S_of * (1 + M%:R^-1) / (1 + M%:R^-1) ^+ M * hi K.-1 <= phi above / phi below].
Proof. by case: parts => _ _ h _ h'; split. Qed.

Section Cell.
Variable k : nat.
Hypothesis kK : (k < K)%N.
Let cell : Checked.cell_ok t k. Proof. by case: parts => _ _ _ [_ h] _; apply: h. Qed.

Lemma lo_hi : lo k <= hi k.
Proof.
case/and5P: cell => h _ _ _ _; rewrite /lo /hi; apply: ler_wpM2r; first by rewrite invr_ge0 ltW.
exact: le_phi h.
Qed.

Lemma next_cell : (k.+1 < K)%N -> hi k <= lo k.+1 /\ slope k.+1 <= slope k.
Proof.
move=> k1; case/and5P: cell => _ h _ _ _; move: h; rewrite leqNgt k1 /= => /andP[h1 h2].
split; first by rewrite /lo /hi; apply: ler_wpM2r (le_phi F h1); rewrite invr_ge0 ltW.
by rewrite /slope; apply: ler_wpM2r (le_phi F h2); rewrite invr_ge0 ltW.
Qed.

Lemma steep : slope k * hi k <= (2 * K)%:R * (hi k - lo k).
Proof.
case/and5P: cell => _ _ h _ _; have := le_phi F h; rewrite !(phiM, phiD, phi_nat) two_is => {h} c1.
apply: le_by_diff; rewrite natrM /slope /hi /lo.
have e (w d q h l z y : F) : w != 0 -> d != 0 -> z * y * (h / d - l / d) - q / w * (h / d) = (z * y * w * h - (q * h + z * y * w * l)) / (w * d).
  by move=> w0 d0; field; rewrite w0 d0.
rewrite e ?gt_eqF //; apply: divr_ge0 (ltW (mulr_gt0 W0 D0)); rewrite subr_ge0; exact: c1.
Qed.

Lemma slope_ge0 : 0 <= slope k.
Proof. by apply: divr_ge0 (ler0n _ _) (ler0n _ _). Qed.

Lemma room_ge0 : 0 <= room k.
Proof. by apply: divr_ge0 (ler0n _ _) (ler0n _ _). Qed.

Lemma room_is : room k = 0 \/ room k * (2 * K * T)%:R + (4 * K)%:R = (k * T)%:R.
Proof.
rewrite /room /left_over; set x := BinNat.N.mul _ _; set y := BinNat.N.mul _ _.
case: (phi_sub F x y) => h; [left; by rewrite h mul0r | right].
rewrite divfK; last by rewrite pnatr_eq0 !muln_eq0 /= !gtn_eqF // ltnW.
by move: h; rewrite [X in _ = X]phiM [phi y]phiM four_is !phi_nat -!natrM.
Qed.

Lemma thin_holds l : 0 <= l -> l * T%:R <= T.+1%:R ->
  (1 - l * room k) * (l - slope k * (S_of - T%:R^-1)) <= S_of * l.
Proof.
move=> l0 lT; have TF : 0 < T%:R :> F by rewrite ltr0n ltnW.
have KF : 0 < K%:R :> F by rewrite ltr0n.
case/and5P: cell => _ _ _ c1 /andP[c2 _]; have := le_phi F c1; have := le_phi F c2.
have sT : BinNat.N.leb (Checked.unit t) (BinNat.N.mul (Checked.tangent t) (bin_of_nat T)) by case: parts => -[].
cbv zeta; rewrite !(phiM, phiD, phi_subK F sT) -/(left_over k) !phi_nat two_is one_is => {c1 c2} c2 c1.
pose E : F := T.+1%:R / T%:R; pose w := phi (at_ (Checked.tips t) k) / W.
have TS : T.+1%:R = T%:R + 1 :> F by rewrite mulrSr.
have E0 : 0 < E by rewrite divr_gt0 // ltr0n.
have lE : l <= E by rewrite ler_pdivlMr.
apply: (@thin_fact F (room k) _ S_of w E l room_ge0 E0 l0 lE); apply: le_by_diff.
  rewrite /room /w /slope /S_of !natrM.
  have e (r z y v q s u m : F) : z != 0 -> y != 0 -> u != 0 -> m != 0 -> q / u * (s / u - y^-1) - r / (m * z * y) * (v / u) ^+ 2 =
    (q * (s * y - u) * (m * z * y) - r * (v * v) * y) / (u * u * y * (m * z * y)).
    by move=> z0 y0 u0 m0; field; rewrite z0 y0 u0 m0.
  rewrite e ?gt_eqF // ?ltr0n //; apply: divr_ge0; first by rewrite subr_ge0.
  by apply: ltW; rewrite !mulr_gt0 // ltr0n.
rewrite /E TS /room /w /slope /S_of !natrM.
have e (r z y v q s u m : F) : z != 0 -> y != 0 -> u != 0 -> m != 0 ->
    let e := (y + 1) / y in let a := q / u * (s / u - y^-1) in let rr := r / (m * z * y) in
    s / u * e + a + m * rr * e * (v / u) - (e + rr * e * a + rr * (v / u) ^+ 2) =
    (s * (y + 1) * y * u * (m * z * y) + q * (s * y - u) * y * (m * z * y) + m * r * (y + 1) * v * y * u -
     ((y + 1) * y * (u * u) * (m * z * y) + r * (y + 1) * (q * (s * y - u)) + r * (v * v) * (y * y))) / (u * u * (y * y) * (m * z * y)).
  by move=> z0 y0 u0 m0; rewrite /=; field; rewrite z0 y0 u0 m0.
have := e (phi (left_over k)) K%:R T%:R (phi (at_ (Checked.tips t) k)) (phi (at_ (Checked.slopes t) k)) (phi (Checked.tangent t)) W 2%:R.
have two0 : (2%:R : F) != 0 by rewrite pnatr_eq0.
move=> /(_ (lt0r_neq0 KF) (lt0r_neq0 TF) (lt0r_neq0 W0) two0) /= ->.
apply: divr_ge0; first by rewrite subr_ge0.
by apply: ltW; rewrite !mulr_gt0 // ltr0n.
Qed.

End Cell.


Lemma low_end (e q w s m R z : F) : z != 0 -> m != 0 -> q / z * (s / z + w / z / m + w / z - R * (w / z) ^+ 2) - e / z * (s / z + w / z / m) =
    (q * (m * s + w + m * w) * z - (e * (m * s + w) * z + q * R * m * (w * w))) / (z * z * z * m).
Proof. by move=> z0 m0; field; rewrite z0 m0. Qed.

Lemma high_end (e q w s m R z n r : F) : z != 0 -> m != 0 ->
    q / z * (n * (s / z + w / z / m + w / z) - 1 - R * (s / z + w / z / m + w / z) + R * (2%:R * (w / z) - n * (w / z) ^+ 2))
      - (n - r) * (e / z) * (s / z + w / z / m) =
    (q * (n * (m * s + w + m * w) * z + 2%:R * R * w * m * z) -
     ((n - r) * e * (m * s + w) * z + q * (m * (z * z) + R * (m * s + w + m * w) * z + n * R * m * (w * w)))) / (z * z * z * m).
Proof. by move=> z0 m0; field; rewrite z0 m0. Qed.

Lemma gains_hold n r b : (1 < n < T)%N -> (0 < r)%N -> (2 * r <= n)%N -> 0 <= b -> b * n%:R <= 1 ->
  (1 - r%:R * b) * power S_of M b <= gain n r * (1 - r.-1%:R * b).
Proof.
move=> nT r0 rn b0 bn.
have MF : 0 < M%:R :> F by rewrite ltr0n.
have sF : 0 < phi (Checked.tangent t) by move: S0; rewrite /S_of pmulr_lgt0 ?invr_gt0.
have W1 : BinNat.N.leb one (Checked.unit t) by case: parts => -[].
have : Checked.gain_ok t n r by case: parts => _ _ _ [h _] _; apply: h.
have rn' : (r <= n)%N by apply: leq_trans rn; apply: leq_pmull.
rewrite /Checked.gain_ok; cbv zeta; set w := Checked.at2 _ n r; set q := Checked.at2 _ n r.
set x := BinNat.N.add (Checked.unit t) _; set e := Checked.up_power _ _ _ => /andP[c1 c2].
have := le_phi F c2; have := le_phi F c1; rewrite !(phiM, phiD, phi_nat) two_is natrB // => {c1 c2} c1 c2.
apply: (@gain_fact F S_of (phi w / W) (phi e / W) (gain n r) b M n r) => //.
- exact: divr_ge0 (ler0n _ _) (ler0n _ _).
- exact: divr_ge0 (ler0n _ _) (ler0n _ _).
- apply: le_lt_trans S_half; rewrite -[X in _ <= X]mul1r ler_pdivlMr ?ltr0n //; apply: le_trans bn.
  by apply: ler_wpM2l; rewrite // ler_nat; case/andP: nT.
- apply: le_trans (up_powerP F (Checked.level t) x W1); apply: pow_le.
    apply: addr_ge0 ler01 (divr_ge0 (divr_ge0 (ler0n _ _) (ler0n _ _)) (ltW (mulr_gt0 S0 MF))).
  have sM : BinNat.N.leb one (BinNat.N.mul (Checked.tangent t) (bin_of_nat M)).
    rewrite -[BinNat.N.mul _ _]nat_of_binK; apply: leb_one; rewrite nat_of_mul_bin muln_gt0 bin_of_natK M0 andbT.
    by move: sF; rewrite ltr0n.
  have := div_up F (BinNat.N.mul w (Checked.unit t)) sM; rewrite !phiM phi_nat /x !phiD one_is.
  set d := BinNat.N.div _ _ => h; apply: le_by_diff.
  have -> : (W + (phi d + 1)) / W - (1 + phi w / W / (S_of * M%:R)) =
      (phi (Checked.tangent t) * M%:R * (phi d + 1) - phi w * W) / (W * (phi (Checked.tangent t) * M%:R)).
    by rewrite /S_of; field; rewrite !gt_eqF.
  by apply: divr_ge0; [rewrite subr_ge0 | apply: ltW; rewrite !mulr_gt0].
- rewrite /gain -/q /S_of; apply: le_by_diff.
  rewrite (low_end _ _ _ _ _ (lt0r_neq0 W0) (lt0r_neq0 MF)).
  by apply: divr_ge0; [rewrite subr_ge0 | apply: ltW; rewrite !mulr_gt0].
rewrite /gain -/q /S_of; apply: le_by_diff.
rewrite (high_end _ _ _ _ _ _ _ (lt0r_neq0 W0) (lt0r_neq0 MF)).
by apply: divr_ge0; [rewrite subr_ge0 | apply: ltW; rewrite !mulr_gt0].
Qed.

Lemma thick_holds k n r j : (k < K)%N -> (1 < n < T)%N -> (0 < r)%N -> (2 * r <= n)%N ->
  (k * n < 2 * K * r.+1)%N -> (2 * K * r < k.+1 * n.+1)%N -> (j <= k)%N ->
  (j * n.+1 + 2 * K < k.+1 * n.+1)%N -> (j * n < 2 * K * r)%N -> (j * r.+1 < k.+1 * r)%N ->
  gain n r * hi j <= lo k.
Proof.
move=> kK nT r0 rn f1 f2 _ f3 f4 f5.
have : Checked.cell_ok t k by case: parts => _ _ _ [_ h] _; apply: h.
case/and5P=> _ _ _ _ /andP[_ /allP/(_ n)]; case/andP: nT => n1 nT.
rewrite mem_iota n1 addnC subnK // nT => /(_ isT) /allP /(_ r).
rewrite mem_iota r0 add1n ltnS geq_half_double -mul2n => /(_ rn).
rewrite /Checked.thick_ok; cbv zeta; set l := Checked.limit _ _ _ _; set row := nth _ _ _.
have two : nat_of_bin (BinNums.Npos (BinNums.xO BinNums.xH)) = 2%N by [].
have one_n : nat_of_bin one = 1%N by [].
pose casts := (nat_of_add_bin, nat_of_mul_bin, bin_of_natK, two, one_n, addn1).
case/orP=> [/orP[/le_N|/le_N]|]; rewrite ?casts.
- by rewrite leqNgt f1.
- by rewrite leqNgt f2.
case/and3P=> /le_N; rewrite ?casts => lk far /orP[/eqP l0|/le_N].
  exfalso; move: far; rewrite l0 => /orP[/orP[/le_N|/le_N]|/le_N]; rewrite !casts /= ?mul0n ?add0n leqNgt.
  - by rewrite (leq_ltn_trans _ f3) // leq_addl.
  - by rewrite (leq_ltn_trans _ f4).
  - by rewrite (leq_ltn_trans _ f5).
have jl : (j < nat_of_bin l)%N.
  rewrite ltnNge; apply/negP => lj.
  move: far => /orP[/orP[/le_N|/le_N]|/le_N]; rewrite !casts /= leqNgt.
  - by rewrite (leq_ltn_trans _ f3) // leq_add2r leq_mul2r lj orbT.
  - by rewrite (leq_ltn_trans _ f4) // leq_mul2r lj orbT.
  - by rewrite (leq_ltn_trans _ f5) // leq_mul2r lj orbT.
rewrite !nat_of_mul_bin => h.
have l0 : (0 < nat_of_bin l)%N by apply: leq_ltn_trans jl.
have up : hi j <= hi (nat_of_bin l).-1.
  apply: (@hi_up F K lo hi) => [i iK|i iK||]; first exact: lo_hi.
  - by case: (next_cell (ltnW iK) iK).
  - by rewrite -ltnS prednK.
  - by rewrite prednK // (leq_trans lk) // ltnW.
have g0 : 0 <= gain n r by apply: divr_ge0 (ler0n _ _) (ler0n _ _).
apply: le_trans (ler_wpM2l g0 up) _; apply: le_by_diff.
have id (x y z w v : F) : w != 0 -> v != 0 -> x / w - y / v * (z / w) = (v * x - y * z) / (v * w).
  by move=> w0 v0; field; rewrite w0 v0.
rewrite /gain /hi /lo (id _ _ _ _ _ (lt0r_neq0 D0) (lt0r_neq0 W0)).
apply: divr_ge0 (ltW (mulr_gt0 W0 D0)); rewrite subr_ge0 -!natrM ler_nat; exact: h.
Qed.

End Sound.

(** *** Greedy keeps what a table that is accepted says *)
Lemma table_keeps (t : Checked.numbers) (above below : BinNums.N) (F : realFieldType) (J : finType) (d : J -> nat) (c : nat)
    (u rho : J -> F) (st : seq (stage F J _)) (a : assignment F J _) :
  Checked.table_ok t above below -> (forall j, 0 < u j) -> (forall j, (0 < d j <= c)%N) ->
  greedy_run (whole F) (fun _ : unit => Model.additive (fun j (_ : unit) => d j) (fun=> c)) u rho st ->
  feasible (whole F) (fun _ : unit => Model.additive (fun j (_ : unit) => d j) (fun=> c)) rho a ->
  (1 - (nat_of_bin above)%:R / (nat_of_bin below)%:R) * value u a <= earned (whole F) u st.
Proof.
move=> ok u0 dc run fa; have [S0 M0 big lost] := table_tangent F ok.
have [[_ half _ _] [K0 T1 _ _] _ _ _] := parts F ok.
have hl i : (i.+1 < Checked.cells t)%N -> hi F t i <= lo F t i.+1.
  by move=> iK; case: (next_cell F ok (ltnW iK) iK).
have sl i : (i.+1 < Checked.cells t)%N -> slope F t i.+1 <= slope F t i.
  by move=> iK; case: (next_cell F ok (ltnW iK) iK).
have lh i : (i < Checked.cells t)%N -> lo F t i <= hi F t i by move=> iK; apply: (lo_hi F ok iK).
pose P g : F := if c is _.+1 then table (Checked.cells t) (lo F t) (hi F t) c g else 1.
apply: (@potential_keeps F J d c u rho (S_of F t) _ (2 ^ Checked.level t) P st a u0 dc S0 M0 big _ _ _ run fa).
- move=> g; rewrite /P; case: (posnP c) => [-> //|c0]; rewrite -(prednK c0) /=.
  by apply: table_ge1 => //; exact: (lo0 F ok).
- move=> z g b z0 zg gc b0 bn; have c0 : (0 < c)%N by apply: leq_ltn_trans gc.
  have e x : P x = table (Checked.cells t) (lo F t) (hi F t) c x by rewrite /P -(prednK c0).
  rewrite !e -/(power _ _ _).
  apply: (@step F (S_of F t) _ _ (Checked.thick t) (lo F t) (hi F t) (slope F t) (room F t) (gain F t)) => //.
  + exact: (lo0 F ok).
  + by move=> k _; apply: slope_ge0.
  + by move=> k kK; apply: (steep F ok kK).
  + by move=> k kK; apply: (room_is F ok).
  + by move=> k l kK; apply: (thin_holds ok kK).
  + by move=> n r; apply: (gains_hold ok).
  + by move=> k n r; apply: (thick_holds F ok).
move=> g gc; have c0 : (0 < c)%N by apply: leq_ltn_trans gc.
have -> : P g = table (Checked.cells t) (lo F t) (hi F t) c g by rewrite /P -(prednK c0).
apply: le_trans lost; apply: ler_wpM2l; last exact: table_le.
apply: divr_ge0; last by apply: exprn_ge0; apply: addr_ge0 ler01 _; rewrite invr_ge0; apply: ler0n.
apply: mulr_ge0 (ltW S0) (addr_ge0 ler01 _); rewrite invr_ge0; apply: ler0n.
Qed.

(** Coq computes the table and decides that it is right. *)
Lemma accepted : Checked.table_ok Checked.numbers_of_theorem Checked.lost_above Checked.lost_below.
Proof. vm_cast_no_check (erefl true). Qed.

(** ** Theorem: on one resource greedy keeps 0.695, whatever the number of types. *)
Theorem one_resource_all_types (F : realFieldType) (J : finType) (d : J -> nat) (c : nat)
    (u rho : J -> F) (st : seq (stage F J _)) (a : assignment F J _) :
  (forall j, 0 < u j) -> (forall j, (0 < d j <= c)%N) ->
  greedy_run (whole F) (fun _ : unit => Model.additive (fun j (_ : unit) => d j) (fun=> c)) u rho st ->
  feasible (whole F) (fun _ : unit => Model.additive (fun j (_ : unit) => d j) (fun=> c)) rho a ->
  139%:R / 200%:R * value u a <= earned (whole F) u st.
Proof.
move=> u0 dc run fa; have := table_keeps accepted u0 dc run fa.
have -> : nat_of_bin Checked.lost_above = 61%N by [].
have -> : nat_of_bin Checked.lost_below = 200%N by [].
by have -> : 1 - 61%:R / 200%:R = 139%:R / 200%:R :> F by field.
Qed.
