(** * The universal partition keeps 2/3 of every feasible configuration, for every J >= 2

    Proposition 1 of the high-throughput bin packing paper, as a statement about configurations: with any weights of the
    2J types, no feasible configuration weighs more than 3/2 times the heaviest reduced one. The proof is a direct case
    analysis for all J. The types are numbered as in packproof's [universal_cells]: 2m has sizes in
    (2/3 2^-m, 2^-m], 2m + 1 sizes in (1/2 2^-m, 2/3 2^-m], for m < J. *)

From mathcomp Require Import all_ssreflect all_algebra ring.
From packproof Require Import Greedy.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Universal.
Variable F : realFieldType.

Notation inf_size := (@inf_size F).

Variable J : nat.

Notation weight := (@weight F J).
Notation fits := (@universal_fits F J).

(** Jobs of sizes above the lower ends of their types that fit one server make a feasible configuration. *)
Lemma sizes_feasible (jobs : seq ('I_J.*2 * F)) :
  (forall c, c \in jobs -> inf_size c.1 < c.2) -> \sum_(c <- jobs) c.2 <= 1 ->
  fits (fun j => count (fun c : 'I_J.*2 * F => nat_of_ord c.1 == j) jobs).
Proof.
move=> above; rewrite /fits.
have -> : \sum_(j < J.*2) inf_size j * (count (fun c : 'I_J.*2 * F => nat_of_ord c.1 == j) jobs)%:R
        = \sum_(c <- jobs) inf_size c.1.
  elim: {above} jobs => [|c s IH]; first by rewrite big_nil big1 // => j _; rewrite mulr0.
  rewrite big_cons -IH (bigD1 c.1) //= [X in _ = _ + X](bigD1 c.1) //= eqxx natrD mulrDr mulr1 -addrA.
  congr (_ + (_ + _)); apply: eq_bigr => j jc; rewrite (_ : (_ == _) = false) //.
  by apply/negbTE; rewrite eq_sym.
case: jobs above => [|c s] above sum1; first by rewrite big_nil ltr01.
apply: lt_le_trans sum1; rewrite !big_cons; apply: ltr_leD; first by apply: above; apply: mem_head.
rewrite !big_seq; apply: ler_sum => d ds; apply/ltW/above.
by rewrite inE ds orbT.
Qed.

Variables (Q : nat -> F) (M : F).
Hypothesis J_ge2 : (1 < J)%N.
Hypothesis Q_ge0 : forall j, 0 <= Q j.
Hypothesis M_max : forall k, reduced J k -> weight Q k <= M.

Lemma half_double_S (m : nat) : m.*2.+1./2 = m.
Proof. by rewrite -[m.*2.+1]add1n halfD odd_double doubleK add0n. Qed.

Lemma inf_even m : inf_size m.*2 = 2%:R / 3%:R / 2%:R ^+ m.
Proof. by rewrite /inf_size odd_double doubleK. Qed.

Lemma inf_odd m : inf_size m.*2.+1 = 2%:R^-1 / 2%:R ^+ m.
Proof. by rewrite /inf_size half_double_S (_ : odd m.*2.+1) //= odd_double. Qed.

Lemma weight_single j c : (j < J.*2)%N -> weight Q (single j c) = Q j * c%:R.
Proof.
move=> jJ; rewrite /weight (bigD1 (Ordinal jJ)) //= /single eqxx big1 ?addr0 // => i ij.
by rewrite (_ : (_ == _) = false) ?mulr0 //; apply: contraNF ij => /eqP ij; apply/eqP/val_inj.
Qed.

Lemma weight_two j c : (1 < J.*2)%N -> (j < J.*2)%N ->
  weight Q (fun i => single 1 1 i + single j c i)%N = Q 1%N + Q j * c%:R.
Proof.
move=> J1 jJ; rewrite -(weight_single c jJ) -[Q 1%N]mulr1 -(weight_single 1 J1) /weight -big_split /=.
by apply: eq_bigr => i _; rewrite natrD mulrDr.
Qed.

Lemma odd_lt m : (m < J)%N -> (m.*2.+1 < J.*2)%N. Proof. by rewrite ltn_Sdouble. Qed.
Lemma even_lt m : (m < J)%N -> (m.*2 < J.*2)%N. Proof. by rewrite ltn_double. Qed.
Lemma one_lt : (1 < J.*2)%N. Proof. exact: (odd_lt (ltnW J_ge2)). Qed.

Lemma pow_gt0 m : 0 < 2%:R ^+ m :> F. Proof. by rewrite exprn_gt0 // ltr0n. Qed.

Lemma M_ge0 : 0 <= M.
Proof.
apply: le_trans (M_max (even_alone (ltnW J_ge2))).
by rewrite weight_single ?even_lt ?(ltnW J_ge2) // mulr_ge0 ?ler0n.
Qed.

(** *** What the reduced configurations say of single weights *)

Lemma Q1_le : Q 1%N <= M.
Proof.
apply: le_trans (M_max (odd_beside J_ge2)); rewrite weight_two ?one_lt ?odd_lt //.
by rewrite lerDl mulr_ge0 ?ler0n.
Qed.

(** All types but 1 weigh at most 3/2 M times their least size. *)
Lemma Q_size j : (j < J.*2)%N -> j != 1%N -> Q j <= 3%:R / 2%:R * M * inf_size j.
Proof.
have M0 := M_ge0; have [m [->|->]] : exists m, j = m.*2 \/ j = m.*2.+1.
    by exists j./2; case: (boolP (odd j)) => oj; [right | left]; rewrite -{1}[j]odd_double_half ?oj // (negPf oj).
- rewrite ltn_double => mJ _; have := M_max (even_alone mJ).
  rewrite weight_single ?even_lt // inf_even natrX.
  have x0 := pow_gt0 m; set x := _ ^+ m in x0 *; rewrite -ler_pdivlMr // => h.
  by apply: (ler_from2 h (lexx 0)); field; rewrite gt_eqF.
- case: m => [|m]; first by [].
  rewrite ltn_Sdouble => mJ _; have := M_max (odd_alone mJ).
  rewrite weight_single ?odd_lt // inf_odd natrM natrX exprS.
  have x0 := pow_gt0 m; set x := _ ^+ m in x0 *.
  have y0 : 0 < 3%:R * x by rewrite mulr_gt0 // ltr0n.
  rewrite -ler_pdivlMr // => h.
  have h' : 0 <= M / (24%:R * x) by rewrite divr_ge0 // mulr_ge0 ?ler0n // ltW.
  by apply: (ler_from2 h h'); field; rewrite gt_eqF.
Qed.

(** The types from 3 on weigh at most 6 (M - Q_1) times their least size. *)
Lemma Q_size_beside j : (j < J.*2)%N -> (2 < j)%N -> Q j <= 6%:R * (M - Q 1%N) * inf_size j.
Proof.
have q0 : 0 <= M - Q 1%N by rewrite subr_ge0 Q1_le.
have [m [->|->]] : exists m, j = m.*2 \/ j = m.*2.+1.
    by exists j./2; case: (boolP (odd j)) => oj; [right | left]; rewrite -{1}[j]odd_double_half ?oj // (negPf oj).
- case: m => [//|[//|m]]; rewrite ltn_double => mJ _; have := M_max (even_beside mJ).
  rewrite weight_two ?one_lt ?even_lt // inf_even !exprS.
  have x0 := pow_gt0 m.
  have : 2%:R ^+ m <= (2 ^ m.+2 %/ 3)%:R :> F.
    rewrite -natrX ler_nat leq_divRL // !expnS.
    by rewrite mulnA [(2 * 2 * _)%N]mulnC leq_mul2l orbT.
  set x := _ ^+ m in x0 *; set y := (_ %/ _)%:R => xy h.
  have {}h : Q m.+2.*2 <= (M - Q 1%N) / x.
    rewrite ler_pdivlMr // lerBrDl; apply: le_trans h; rewrite lerD2l.
    by apply: ler_wpM2l.
  by apply: (ler_from2 h (lexx 0)); field; rewrite gt_eqF.
- case: m => [//|m]; rewrite ltn_Sdouble => mJ _; have := M_max (odd_beside mJ).
  rewrite weight_two ?one_lt ?odd_lt // inf_odd natrX exprS.
  have x0 := pow_gt0 m; set x := _ ^+ m in x0 *.
  rewrite -lerBrDl -ler_pdivlMr // => h.
  have h' : 0 <= (M - Q 1%N) / (2%:R * x) by rewrite divr_ge0 // mulr_ge0 ?ler0n // ltW.
  by apply: (ler_from2 h h'); field; rewrite gt_eqF.
Qed.

(** Weights that are at most [c] times the least sizes weigh at most [c] times the room that they take. *)
Lemma weight_le (p : pred 'I_J.*2) (k : nat -> nat) c :
  (forall j : 'I_J.*2, p j -> k j != 0%N -> Q j <= c * inf_size j) ->
  \sum_(j < J.*2 | p j) Q j * (k j)%:R <= c * \sum_(j < J.*2 | p j) inf_size j * (k j)%:R.
Proof.
move=> h; rewrite mulr_sumr; apply: ler_sum => j pj; rewrite mulrA.
have [->|kj] := eqVneq (k j) 0%N; first by rewrite !mulr0.
by apply: ler_wpM2r; [apply: ler0n | apply: h].
Qed.

Lemma inf_size_ge0 j : 0 <= inf_size j.
Proof.
rewrite /inf_size; case: odd; rewrite ?divr_ge0 ?invr_ge0 ?ler0n ?exprn_ge0 ?ler0n //.
Qed.

(** ** Theorem (Proposition 1 of the paper): every feasible configuration weighs at most 3/2 M. *)
Theorem universal_two_thirds (k : nat -> nat) : fits k -> weight Q k <= 3%:R / 2%:R * M.
Proof.
have M0 := M_ge0; have q0 : 0 <= M - Q 1%N by rewrite subr_ge0 Q1_le.
have c0 : 0 <= 3%:R / 2%:R * M by rewrite mulr_ge0 ?divr_ge0 ?ler0n.
pose zero := Ordinal (even_lt (ltnW J_ge2)).
pose one := Ordinal one_lt.
pose two := Ordinal (even_lt J_ge2).
have s0 : inf_size 0 = 2%:R / 3%:R by rewrite /inf_size /= expr0 divr1.
have s1 : inf_size 1 = 2%:R^-1 by rewrite /inf_size /= expr0 divr1.
have s2 : inf_size 2 = 3%:R^-1 by rewrite /inf_size /= expr1; field.
have ord_neq (i j : 'I_J.*2) : i != j -> i != j :> nat by apply: contraNN => /eqP h; apply/eqP/val_inj.
have room_ge0 (p : pred 'I_J.*2) : 0 <= \sum_(j < J.*2 | p j) inf_size j * (k j)%:R.
  by apply: sumr_ge0 => j _; rewrite mulr_ge0 ?inf_size_ge0 ?ler0n.
rewrite /fits /weight (bigD1 one) //= [X in _ -> X <= _](bigD1 one) //= s1.
set R1 := \sum_(j < _ | _) inf_size j * _; set W1 := \sum_(j < _ | _) Q j * _.
have rest1 : W1 <= 3%:R / 2%:R * M * R1.
  by apply: weight_le => j j1 _; apply: Q_size => //; apply: ord_neq j1.
have R1_ge0 : 0 <= R1 by apply: room_ge0.
case k1 : (k 1%N) => [|[|c]] room; last first.
- have h1 : 1 <= 2%:R^-1 * c.+2%:R :> F by rewrite mulrC ler_pdivlMr ?ltr0n // mul1r ler_nat.
  by have := lt_le_trans room h1; rewrite ltNge lerDl R1_ge0.
- have {}room : R1 < 2%:R^-1 by apply: (ltr_from1 room); field.
  have k0 : k 0%N = 0%N.
    case k0 : (k 0%N) => [//|c].
    have h : 2%:R / 3%:R * 1 <= R1.
      rewrite /R1 (bigD1 zero) //= s0 k0; apply: (@le_trans _ _ (2%:R / 3%:R * c.+1%:R)).
        by apply: ler_wpM2l; rewrite ?divr_ge0 ?ler0n // ler1n.
      by rewrite lerDl room_ge0.
    have := le_lt_trans h room; rewrite mulr1 ltr_pdivrMr ?ltr0n // mulrC ltr_pdivlMr ?ltr0n //.
    by rewrite -natrM ltr_nat.
  have h2 : Q 2%N * 2%:R <= M by have := M_max (even_alone J_ge2); rewrite weight_single ?even_lt.
  pose R2 := \sum_(j < J.*2 | (j != one) && (j != two)) inf_size j * (k j)%:R.
  pose W2 := \sum_(j < J.*2 | (j != one) && (j != two)) Q j * (k j)%:R.
  have eR : R1 = 3%:R^-1 * (k 2%N)%:R + R2 by rewrite /R1 (bigD1 two) //= s2.
  have eW : W1 = Q 2%N * (k 2%N)%:R + W2 by rewrite /W1 (bigD1 two).
  rewrite eW; move: rest1 room; rewrite eR eW => rest1 room.
  have R2_ge0 : 0 <= R2 by apply: room_ge0.
  have rest2 : W2 <= 6%:R * (M - Q 1%N) * R2.
    apply: weight_le => j /andP[/ord_neq j1 /ord_neq j2] kj; apply: Q_size_beside => //.
    by move: (nat_of_ord j) j1 j2 kj => [|[|[|i]]] //=; rewrite k0.
  have small r : R2 <= r -> W2 <= 6%:R * (M - Q 1%N) * r.
    by move=> h; apply: le_trans rest2 _; apply: ler_wpM2l => //; rewrite mulr_ge0 ?ler0n.
  case k2 : (k 2%N) rest1 room => [|[|c]] rest1 room.
  + move: rest1 room; rewrite !mulr0 !add0r => rest1 room.
    have b1 : W2 <= 3%:R / 2%:R * M * 2%:R^-1 by apply: (le_trans rest1); apply: ler_wpM2l => //; apply: ltW.
    have b2 := small _ (ltW room).
    have b3 : W2 * (2%:R / 3%:R) <= 3%:R / 2%:R * M * 2%:R^-1 * (2%:R / 3%:R).
      by apply: ler_wpM2r => //; rewrite divr_ge0 ?ler0n.
    have b4 : W2 * 3%:R^-1 <= 6%:R * (M - Q 1%N) * 2%:R^-1 * 3%:R^-1.
      by apply: ler_wpM2r => //; rewrite invr_ge0 ler0n.
    by apply: (ler_from2 b3 b4); field.
  + have b1 : R2 <= 6%:R^-1 by apply: (ler_from2 (ltW room) (lexx 0)); field.
    have b2 := small _ b1.
    have b3 : Q 2%N <= M / 2%:R by rewrite ler_pdivlMr // ltr0n.
    by apply: (ler_from2 b2 b3); field.
  + have h : 2%:R / 3%:R <= 3%:R^-1 * c.+2%:R :> F.
      by rewrite mulrC; apply: ler_wpM2l; rewrite ?invr_ge0 ?ler0n // ler_nat.
    have : 2%:R / 3%:R < 2%:R^-1 :> F by apply: le_lt_trans h _; apply: le_lt_trans room; rewrite lerDl.
    by rewrite ltr_pdivrMr ?ltr0n // mulrC ltr_pdivlMr ?ltr0n // -natrM ltr_nat.
- move: room; rewrite !mulr0 !add0r => room.
  by apply: (le_trans rest1); rewrite -[X in _ <= X]mulr1; apply: ler_wpM2l => //; apply: ltW.
Qed.

End Universal.

(** ** Theorem: 3/2 is attained, by one job just above 1/2 and one just above 1/3. *)
Theorem universal_attained (F : realFieldType) (J : nat) : (1 < J)%N ->
  exists (Q : nat -> F) (k : nat -> nat),
    [/\ forall j, 0 <= Q j, forall k', reduced J k' -> weight J Q k' <= 1, universal_fits F J k &
        weight J Q k = 3%:R / 2%:R].
Proof.
move=> J2; pose Q j : F := if j == 1%N then 1 else if j == 2%N then 2%:R^-1 else 0.
have Q0 j : 0 <= Q j by rewrite /Q; case: eqP => _; rewrite ?ler01 //; case: eqP => _; rewrite // invr_ge0 ler0n.
exists Q, (fun j => single 1 1 j + single 2 1 j)%N; split=> // [k'| |].
- case=> m mJ.
  + rewrite weight_single ?even_lt // /Q; case: m mJ => [|[|m]] mJ //=; rewrite ?mul0r ?ler01 //.
    by rewrite mulVf // pnatr_eq0.
  + by rewrite weight_single ?odd_lt // /Q /= mul0r ler01.
  + by rewrite weight_two ?one_lt ?even_lt // /Q /= mul0r addr0.
  + by rewrite weight_two ?one_lt ?odd_lt // /Q /= mul0r addr0.
- have := weight_two (inf_size F) 1 (one_lt J2) (even_lt J2); rewrite /weight /universal_fits => ->.
  rewrite /inf_size /= expr0 expr1 divr1 mulr1.
  have -> : 2%:R^-1 + 2%:R / 3%:R / 2%:R = 5%:R / 6%:R :> F by field.
  by rewrite ltr_pdivrMr ?ltr0n // mul1r ltr_nat.
- have := weight_two Q 1 (one_lt J2) (even_lt J2) => ->; rewrite /Q /= mulr1.
  by field.
Qed.
