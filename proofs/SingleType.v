(** * Lemma 6.1 with its sharp constant: what the best single job type is worth

    A server has R resources. A rule that uses the best configuration of a single type keeps 1/(R T) of the greatest
    weight, where every type fits at least N times and T = 1 + 1/(N+1) + 1/((N+1)(N+2)) + ..., each denominator the one
    before times itself plus one. Only finite parts of the series occur, so no limits are needed. *)

From mathcomp Require Import all_ssreflect all_algebra ring.
From packproof Require Import Greedy.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Series.
Variable F : realFieldType.

Lemma natS n : n.+1%:R = n%:R + 1 :> F.
Proof. by rewrite -addn1 natrD. Qed.

Notation series := (@series F).
Notation constant := (@constant F).

Lemma series_ge0 b s : 0 <= series b s.
Proof. by elim: s b => [|s IH] b //=; rewrite addr_ge0 ?invr_ge0 ?ler0n. Qed.

Lemma series_mono b s t : (s <= t)%N -> series b s <= series b t.
Proof.
elim: s b t => [|s IH] b [|t] //=; first by rewrite addr_ge0 ?invr_ge0 ?ler0n ?series_ge0.
by rewrite ltnS => st; rewrite lerD2l IH.
Qed.

Lemma inverse_step b : (0 < b)%N -> b%:R^-1 - b.+1%:R^-1 = (b * b.+1)%:R^-1 :> F.
Proof.
move=> b0; have bF : b%:R != 0 :> F by rewrite pnatr_eq0 -lt0n.
have b1 : b.+1%:R != 0 :> F by rewrite pnatr_eq0.
rewrite natrM; move: b1 bF; rewrite natS; move: b%:R => x x1 x0; field.
by rewrite x0 x1.
Qed.

(** All of it is at most 2/b. *)
Lemma series_le b s : (0 < b)%N -> series b s <= 2%:R / b%:R.
Proof.
elim: s b => [|s IH] b b0 /=; first by rewrite divr_ge0 ?ler0n.
have bF : 0 < b%:R :> F by rewrite ltr0n.
have {}IH := IH (b * b.+1)%N; rewrite muln_gt0 b0 /= in IH; have {}IH := IH isT.
have h : 2%:R / (b * b.+1)%:R <= b%:R^-1 :> F.
  rewrite natrM invfM mulrCA -[X in _ <= X]mulr1; apply: ler_wpM2l; first by rewrite invr_ge0 ltW.
  by rewrite ler_pdivrMr ?ltr0n // mul1r ler_nat.
move: IH h; set z := series _ s; set y := _ / _; set x := b%:R^-1 => IH h.
by apply: (ler_from2 IH h); ring.
Qed.

(** All of it after 1/b is at most 1/(b - 1): the constant is at most 1 + 1/N = (N + 1)/N. *)
Lemma series_le_inverse b s : (0 < b)%N -> series b.+1 s <= b%:R^-1.
Proof.
elim: s b => [|s IH] b b0 /=; first by rewrite invr_ge0 ler0n.
have c0 : (b * b.+1 <= (b.+1 * b.+2).-1)%N.
  by rewrite -ltnS prednK // mulnC ltn_pmul2l.
have bb : (0 < b * b.+1)%N by rewrite muln_gt0 b0.
rewrite -lerBrDl inverse_step //.
have {}IH := IH (b.+1 * b.+2).-1 (leq_trans bb c0); rewrite prednK // in IH.
apply: le_trans IH _; rewrite lef_pV2 ?posrE ?ltr0n ?ler_nat //; exact: leq_trans bb c0.
Qed.

Lemma constant_le N s : (0 < N)%N -> constant N s <= N.+1%:R / N%:R.
Proof.
move=> N0; rewrite (natS N) mulrDl divff ?pnatr_eq0 -?lt0n // mul1r lerD2l.
exact: series_le_inverse.
Qed.

(** For N = 1 the constant is below 423/250 = 1.692. *)
Theorem constant_one s : constant 1 s < 423%:R / 250%:R.
Proof.
apply: (@le_lt_trans _ _ (1 + 2%:R^-1 + 6%:R^-1 + 42%:R^-1 + 2%:R / (42 * 43)%:R)); last first.
  rewrite natrM -subr_gt0 (_ : _ - _ = 47%:R / (125%:R * (21%:R * 43%:R))); last by field.
  by rewrite divr_gt0 ?mulr_gt0 ?ltr0n.
have h : series 2 s <= 2%:R^-1 + (6%:R^-1 + (42%:R^-1 + series (42 * 43) s)).
  apply: (@le_trans _ _ (series 2 s.+3)); first by apply: series_mono; rewrite -addn3 leq_addr.
  by rewrite /= lexx.
have b0 : (0 < 42 * 43)%N by [].
rewrite /constant -!addrA lerD2l; apply: (le_trans h).
by rewrite !lerD2l; apply: series_le.
Qed.

(** Room that the items a_1, ..., a_s take if item a takes (more than) 1/(a+1), and their value: item a is worth 1/a. *)
Definition room (l : seq nat) : F := \sum_(a <- l) a.+1%:R^-1.
Definition worth (l : seq nat) : F := \sum_(a <- l) a%:R^-1.

Lemma room_rem a l : a \in l -> room l = a.+1%:R^-1 + room (rem a l).
Proof. by move=> al; rewrite /room (perm_big _ (perm_to_rem al)) big_cons. Qed.

Lemma worth_rem a l : a \in l -> worth l = a%:R^-1 + worth (rem a l).
Proof. by move=> al; rewrite /worth (perm_big _ (perm_to_rem al)) big_cons. Qed.

Lemma room_ge0 l : 0 <= room l.
Proof. by apply: sumr_ge0 => a _; rewrite invr_ge0 ler0n. Qed.

(** Items of which none is below [c] are worth at most (c+1)/c times their room. *)
Lemma worth_le_room c l : (0 < c)%N -> (forall a, a \in l -> (c <= a)%N) -> worth l <= c.+1%:R / c%:R * room l.
Proof.
move=> c0 cl; rewrite /worth /room mulr_sumr !big_seq; apply: ler_sum => a /cl ca.
have cF : 0 < c%:R :> F by rewrite ltr0n.
have aF : 0 < a%:R :> F by rewrite ltr0n (leq_trans c0).
have : c%:R <= a%:R :> F by rewrite ler_nat.
rewrite !natS; move: cF aF; move: c%:R a%:R => x y x0 y0 xy.
have y1 : 0 < y + 1 by rewrite addr_gt0 ?ltr01.
have -> : (x + 1) / x * (y + 1)^-1 = y^-1 + (y - x) / (y * x * (y + 1)).
  by field; rewrite !gt_eqF.
by rewrite lerDl divr_ge0 ?subr_ge0 // !mulr_ge0 // ltW.
Qed.

(** Items that take less than 1/b are worth at most the series from b, of as many terms as there are items: the next
    greedy denominator b + 1 is among them, or all are smaller. *)
Lemma worth_lt_inverse (b : nat) (l : seq nat) : (0 < b)%N -> (forall a, a \in l -> (0 < a)%N) ->
  room l < b%:R^-1 -> worth l <= series b (size l).
Proof.
move: {2}(size l) (leqnn (size l)) => s; elim: s b l => [|s IH] b l sl b0 pos small.
  by case: l sl pos small => // _ _ _; rewrite /worth big_nil.
have bF : 0 < b%:R :> F by rewrite ltr0n.
have least a : a \in l -> (b <= a)%N.
  move=> al; rewrite -ltnS -(ltr_nat F) -ltf_pV2 ?posrE ?ltr0n //.
  by apply: le_lt_trans small; rewrite (room_rem al) lerDl room_ge0.
case bl : (b \in l).
  have sr : size l = (size (rem b l)).+1 by rewrite size_rem //; case: (l) bl.
  rewrite (worth_rem bl) sr /= lerD2l; apply: IH.
  - by rewrite -ltnS -sr.
  - by rewrite muln_gt0 b0.
  - by move=> a /mem_rem; apply: pos.
  - move: small; rewrite (room_rem bl) -ltrBrDl => small; apply: lt_le_trans small _.
    by rewrite inverse_step.
have least1 a : a \in l -> (b.+1 <= a)%N.
  move=> al; rewrite ltn_neqAle least // andbT; apply: contraFneq bl => ->.
  exact: al.
case: l sl pos small least least1 {bl} => [|a [|a' l]] sl pos small least least1.
- by rewrite /worth big_nil.
- rewrite /worth big_seq1 /= addr0 lef_pV2 ?posrE ?ltr0n //; last by apply: pos; rewrite inE.
  by rewrite ler_nat least ?mem_head.
have h := worth_le_room (ltn0Sn b) least1.
set L := [:: a, a' & l] in small h *.
apply: (@le_trans _ _ (series b 2)); last by apply: series_mono.
have h2 : b.+2%:R / b.+1%:R * room L <= b.+2%:R / b.+1%:R * b%:R^-1.
  by apply: ler_wpM2l; [rewrite divr_ge0 ?ler0n | apply: ltW].
apply: (le_trans h); apply: (le_trans h2); rewrite /= addr0 -inverse_step // le_eqVlt; apply/orP; left; apply/eqP.
have b1 : b.+1%:R != 0 :> F by rewrite pnatr_eq0.
have bF' : b%:R != 0 :> F by rewrite gt_eqF.
move: b1 bF'; rewrite !natS; move: b%:R => x x1 x0; field.
by rewrite x0 x1.
Qed.

(** ** Theorem: items a >= N >= 1 that take less than one server, a of which would more than fill it together, are worth
    at most the constant. *)
Theorem worth_le_constant (N : nat) (l : seq nat) : (0 < N)%N -> (forall a, a \in l -> (N <= a)%N) ->
  room l < 1 -> worth l <= constant N (size l).
Proof.
move=> N0 least small.
have NF : 0 < N%:R :> F by rewrite ltr0n.
have N1F : 0 < N.+1%:R :> F by rewrite ltr0n.
pose c := count_mem N l; pose r := [seq a <- l | a != N].
have splitF (f : nat -> F) : \sum_(a <- l) f a = c%:R * f N + \sum_(a <- r) f a.
  rewrite /c /r; elim: (l) => [|a l' IH] /=; first by rewrite !big_nil mul0r addr0.
  rewrite big_cons IH; case: eqP => [->|_] /=; last by rewrite big_cons add0n addrCA.
  by rewrite natrD mulrDl mul1r addrA.
have eR : room l = c%:R * N.+1%:R^-1 + room r by apply: splitF.
have eW : worth l = c%:R * N%:R^-1 + worth r by apply: splitF.
have least1 a : a \in r -> (N.+1 <= a)%N.
  by rewrite mem_filter => /andP[aN /least]; rewrite ltn_neqAle eq_sym aN.
have sr : (size r <= size l)%N by rewrite size_filter count_size.
have cN : (c <= N)%N.
  rewrite -ltnS -(ltr_nat F) -[X in _ < X]mul1r -ltr_pdivrMr //.
  by apply: le_lt_trans small; rewrite eR lerDl room_ge0.
move: cN; rewrite leq_eqVlt => /orP[/eqP cN|cN].
  rewrite eW cN mulfV ?gt_eqF // /constant lerD2l.
  apply: le_trans (series_mono _ sr); apply: worth_lt_inverse => //.
    by move=> a /least1; apply: leq_trans.
  have e : N.+1%:R^-1 = 1 - N%:R * N.+1%:R^-1 :> F.
    move: N1F; rewrite natS; move: N%:R => x x1; field.
    by rewrite gt_eqF.
  by move: small; rewrite eR cN -ltrBrDl -e.
case: (leqP (size l) 1) => [s1|s2].
  apply: (@le_trans _ _ 1); last by rewrite /constant lerDl series_ge0.
  case: (l) s1 least => [|a [|//]] _ least'; first by rewrite /worth big_nil ler01.
  have aN : (N <= a)%N by apply: least'; rewrite inE.
  by rewrite /worth big_seq1 invf_le1 ?ltr0n ?ler1n (leq_trans N0 aN).
have w := worth_le_room (ltn0Sn N) least1.
apply: (@le_trans _ _ (constant N 2)); last by rewrite lerD2l series_mono.
have small' : room r <= 1 - c%:R * N.+1%:R^-1.
  by rewrite lerBrDl -eR; apply: ltW.
have k0 : 0 <= N.+2%:R / N.+1%:R :> F by rewrite divr_ge0 ?ler0n.
have h1 := ler_wpM2l k0 small'.
have cn : c%:R + 1 <= N%:R :> F by rewrite -natS ler_nat.
have N2F : 0 < N.+2%:R :> F by rewrite ltr0n.
rewrite eW; apply: (@le_trans _ _ (c%:R * N%:R^-1 + N.+2%:R / N.+1%:R * (1 - c%:R * N.+1%:R^-1))).
  by rewrite lerD2l; apply: (le_trans w).
rewrite /constant /= addr0 natrM -subr_ge0.
have N1n : N.+1%:R = N%:R + 1 :> F by rewrite natS.
have N2n : N.+2%:R = N%:R + 2%:R :> F by rewrite -natrD addn2.
move: N1F N2F; rewrite N1n N2n; set x : F := N%:R in NF cn *; set y : F := c%:R in cn * => N1F N2F.
have -> : 1 + ((x + 1)^-1 + ((x + 1) * (x + 2%:R))^-1) - (y / x + (x + 2%:R) / (x + 1) * (1 - y / (x + 1)))
  = (x - 1 - y) / (x * (x + 1) ^+ 2) + 2%:R / (x * (x + 1) ^+ 2 * (x + 2%:R)).
  by field; rewrite !gt_eqF.
have xy : 0 <= x - 1 - y by rewrite -addrA -opprD subr_ge0 addrC.
have x0 : 0 <= x := ltW NF.
by rewrite addr_ge0 // divr_ge0 // ?mulr_ge0 ?exprn_ge0 ?ler0n // ltW.
Qed.

(** ** The lemma with R resources *)

Section Resources.
Variables (J R : finType).
(** [d j r]: share of resource [r] of a server that a job of type [j] takes. *)
Variable d : J -> R -> F.
Hypothesis d_ge0 : forall j r, 0 <= d j r.
(** [most j]: how many jobs of type [j] alone fit; one more would exceed some resource. *)
Variables (most : J -> nat) (N : nat).
Hypothesis one_more : forall j, exists r, 1 < (most j).+1%:R * d j r.
Hypothesis N_gt0 : (0 < N)%N.
Hypothesis at_least : forall j, (N <= most j)%N.

Notation fits := (@fits_shares F J R d).

Lemma sum_copies (f : nat -> F) (k : J -> nat) (s : seq J) :
  \sum_(a <- flatten [seq nseq (k j) (most j) | j <- s]) f a = \sum_(j <- s) (k j)%:R * f (most j).
Proof.
elim: s => [|j s IH] /=; first by rewrite !big_nil.
by rewrite big_cat IH big_cons big_nseq iter_addr addr0 [X in _ = X + _]mulr_natl.
Qed.

(** ** Theorem (Lemma 6.1): a feasible configuration is worth at most R times the constant, if a job is worth one over
    the number of jobs of its type that fit a server. *)
Theorem lemma_6_1 (k : J -> nat) : fits k ->
  \sum_j (k j)%:R / (most j)%:R <= #|R|%:R * constant N (\sum_j k j).
Proof.
move=> kfits; have [res resP] := fin_all_exists one_more.
rewrite (partition_big res predT) //= mulr_natl -[X in _ <= X]/(_ *+ _) -sumr_const.
apply: ler_sum => r _.
pose s := [seq j <- enum J | res j == r].
pose l := flatten [seq nseq (k j) (most j) | j <- s].
have sumE (f : J -> F) : \sum_(j <- s) f j = \sum_(j | res j == r) f j by rewrite big_filter big_enum_cond.
have -> : \sum_(j | res j == r) (k j)%:R / (most j)%:R = worth l by rewrite /worth sum_copies sumE.
have size_l : (size l <= \sum_j k j)%N.
  rewrite /l size_flatten /shape -map_comp sumnE big_map big_filter big_enum_cond /=.
  rewrite [X in (_ <= X)%N](bigID (fun j => res j == r)) /=; apply: leq_trans (leq_addr _ _).
  by apply: leq_sum => j _; rewrite size_nseq.
apply: (@le_trans _ _ (constant N (size l))); last by rewrite lerD2l; apply: series_mono.
apply: worth_le_constant => //.
  by move=> a /flattenP[c /mapP[j _ ->]] /nseqP[-> _].
have part j : res j == r -> (k j)%:R * (most j).+1%:R^-1 <= (k j)%:R * d j r.
  move=> /eqP jr; apply: ler_wpM2l; first exact: ler0n.
  by rewrite -[X in X <= _]mul1r ler_pdivrMr ?ltr0n // mulrC ltW // -jr.
rewrite /room sum_copies sumE.
have [/existsP[j /andP[jr kj]]|none] := boolP [exists j, (res j == r) && (k j != 0%N)]; last first.
  rewrite big1 ?ltr01 // => j jr; move: none; rewrite negb_exists => /forallP/(_ j).
  by rewrite jr /= negbK => /eqP ->; rewrite mul0r.
apply: lt_le_trans (kfits r).
rewrite [X in _ < X](bigID (fun j => res j == r)) /= (bigD1 j) //= [X in _ < X + _](bigD1 j) //= -addrA.
apply: ltr_leD.
  rewrite ltr_pM2l ?ltr0n ?lt0n // -[X in X < _]mul1r ltr_pdivrMr ?ltr0n // mulrC.
  by rewrite -(eqP jr).
apply: ler_wpDr; first by apply: sumr_ge0 => i _; rewrite mulr_ge0 ?ler0n.
by apply: ler_sum => i /andP[ir _]; apply: part.
Qed.

(** ** Theorem: the best configuration of a single type keeps 1/(R T) of the greatest weight. *)
Theorem single_type_keeps (v : J -> F) (best : F) (k : J -> nat) :
  (forall j, 0 <= v j) -> (forall j, v j * (most j)%:R <= best) -> 0 <= best -> fits k ->
  \sum_j v j * (k j)%:R <= #|R|%:R * constant N (\sum_j k j) * best.
Proof.
move=> v0 vb b0 kfits; apply: le_trans (ler_wpM2r b0 (lemma_6_1 kfits)).
rewrite mulr_suml; apply: ler_sum => j _.
have m0 : 0 < (most j)%:R :> F by rewrite ltr0n (leq_trans N_gt0).
rewrite -mulrA mulrC; apply: ler_wpM2l; first exact: ler0n.
by rewrite mulrC ler_pdivlMr.
Qed.

(** ** Theorem (Lemma 6.1 as printed): it keeps N / (R (N + 1)). *)
Theorem single_type_keeps_printed (v : J -> F) (best : F) (k : J -> nat) :
  (forall j, 0 <= v j) -> (forall j, v j * (most j)%:R <= best) -> 0 <= best -> fits k ->
  \sum_j v j * (k j)%:R <= #|R|%:R * (N.+1%:R / N%:R) * best.
Proof.
move=> v0 vb b0 kfits; apply: le_trans (single_type_keeps v0 vb b0 kfits) _.
by apply: ler_wpM2r => //; apply: ler_wpM2l (constant_le _ N_gt0); rewrite ler0n.
Qed.
End Resources.

(** ** The constant cannot be improved *)

Section Sharp.
Variables (N s : nat) (R : finType).
Hypothesis N_gt0 : (0 < N)%N.

(** The denominators N+1, (N+1)(N+2), ... of the series. *)
Definition denominator (i : nat) : nat := iter i (fun b => b * b.+1)%N N.+1.

Lemma denominator_gt i : (N < denominator i)%N.
Proof.
elim: i => [|i IH] //=; apply: (leq_trans IH); rewrite -[X in (X <= _)%N]muln1.
by rewrite leq_mul2l orbT.
Qed.

Lemma denominator_mono i j : (i <= j)%N -> (denominator i <= denominator j)%N.
Proof.
move=> /subnK <-; elim: (j - i)%N => [|l IH] //; apply: (leq_trans IH).
by rewrite addSn /= -[X in (X <= _)%N]muln1 leq_mul2l orbT.
Qed.

Lemma series_sum b t : series b t = \sum_(i < t) (iter i (fun b => b * b.+1)%N b)%:R^-1.
Proof.
elim: t b => [|t IH] b; first by rewrite big_ord0.
by rewrite big_ord_recl /= IH; congr (_ + _); apply: eq_bigr => i _; rewrite -iterSr.
Qed.

(** Greedy unit fractions fill a server but for one over the next denominator. *)
Lemma room_greedy t : \sum_(i < t) (denominator i).+1%:R^-1 = N.+1%:R^-1 - (denominator t)%:R^-1 :> F.
Proof.
elim: t => [|t IH]; first by rewrite big_ord0 subrr.
rewrite big_ord_recr /= IH -inverse_step; last exact: leq_ltn_trans (denominator_gt t).
rewrite -/(denominator t); set x := _^-1; set y := (denominator t)%:R^-1; set z := _^-1.
by rewrite opprB addrA addrAC.
Qed.

(** Types: on each resource one of which N fit, and one for each of [s] denominators b, of which b fit. Each takes a
    little more than 1/(N+1) or 1/(b+1) of its resource. A server holds N jobs of the first and one of each other. *)
Notation index := 'I_s.+1.
Definition sharp_most (c : R * index) : nat := if nat_of_ord c.2 is i.+1 then denominator i else N.
Definition sharp_extra : F := ((N + s) * denominator s)%:R^-1.
Definition sharp_demand (c : R * index) (r : R) : F :=
  if c.1 == r then (sharp_most c).+1%:R^-1 + sharp_extra else 0.
Definition sharp_jobs (c : R * index) : nat := if nat_of_ord c.2 is _.+1 then 1%N else N.

Lemma sharp_extra_gt0 : 0 < sharp_extra.
Proof. by rewrite invr_gt0 ltr0n muln_gt0 addn_gt0 N_gt0 (leq_ltn_trans _ (denominator_gt s)). Qed.

Lemma sharp_fits : fits_shares sharp_demand sharp_jobs.
Proof.
move=> r; rewrite -(pair_bigA _ (fun q i => (sharp_jobs (q, i))%:R * sharp_demand (q, i) r)) /= (bigD1 r) //=.
rewrite [X in _ + X]big1 ?addr0 => [|q qr]; last first.
  by apply: big1 => i _; rewrite /sharp_demand /= (negPf qr) mulr0.
rewrite big_ord_recl /sharp_demand /= eqxx /sharp_jobs /sharp_most /=.
under eq_bigr do rewrite mul1r ?add0n.
rewrite big_split /= sumr_const card_ord room_greedy /sharp_extra natrM invfM -[X in _ + (_ + X)]mulr_natl.
have Ns : (N + s)%:R != 0 :> F by rewrite pnatr_eq0 -lt0n addn_gt0 N_gt0.
have b0 : (denominator s)%:R != 0 :> F by rewrite pnatr_eq0 -lt0n (leq_ltn_trans _ (denominator_gt s)).
have N1 : N%:R + 1 != 0 :> F by rewrite -natS pnatr_eq0.
rewrite natS; move: Ns b0 N1; rewrite natrD; move: N%:R s%:R (denominator s)%:R => x y z xy z0 x1.
rewrite le_eqVlt; apply/orP; left; apply/eqP; field.
by rewrite xy z0 x1.
Qed.

(** Each type fits alone as often as [sharp_most] says, and not once more. *)
Lemma sharp_most_fits c r : (sharp_most c)%:R * sharp_demand c r <= 1.
Proof.
rewrite /sharp_demand; case: eqP => _; last by rewrite mulr0 ler01.
have : (sharp_most c * (sharp_most c).+1 <= (N + s) * denominator s)%N.
  have b0 : (0 < denominator s)%N := leq_ltn_trans (leq0n N) (denominator_gt s).
  rewrite /sharp_most; case: c => _ [[|i] /= il].
    by apply: leq_mul; [apply: leq_addr | apply: denominator_gt].
  apply: (@leq_trans (1 * denominator s)).
    by rewrite mul1n; apply: (@denominator_mono i.+1); rewrite -ltnS.
  by rewrite leq_mul2r addn_gt0 N_gt0 orbT.
have m0 : (0 < sharp_most c)%N.
  rewrite /sharp_most; case: (nat_of_ord c.2) => // i; exact: leq_ltn_trans (denominator_gt i).
rewrite -(ler_nat F) /sharp_extra; move: m0; rewrite -(ltr0n F) => m0.
have m1 : 0 < (sharp_most c).+1%:R :> F by rewrite ltr0n.
have e0 := sharp_extra_gt0; rewrite /sharp_extra invr_gt0 in e0.
rewrite natrM => h; have {}h : (sharp_most c)%:R * ((N + s) * denominator s)%:R^-1 <= (sharp_most c).+1%:R^-1 :> F.
  by rewrite ler_pdivrMr // mulrC ler_pdivlMr.
rewrite mulrDr; apply: (@le_trans _ _ ((sharp_most c)%:R * (sharp_most c).+1%:R^-1 + (sharp_most c).+1%:R^-1)).
  by rewrite lerD2l.
by rewrite -[X in _ + X]mul1r -mulrDl -natS divff // gt_eqF.
Qed.

Lemma sharp_one_more c : exists r, 1 < (sharp_most c).+1%:R * sharp_demand c r.
Proof.
exists c.1; rewrite /sharp_demand eqxx mulrDr divff ?pnatr_eq0 // ltrDl.
by rewrite mulr_gt0 ?ltr0n ?sharp_extra_gt0.
Qed.

Lemma sharp_at_least c : (N <= sharp_most c)%N.
Proof. by rewrite /sharp_most; case: (nat_of_ord c.2) => // i; apply/ltnW/denominator_gt. Qed.

(** ** Theorem: for every R, N and number of terms there is a server on which a configuration is worth R times the
    constant, a job of each type being worth one over the number of jobs of the type that fit the server. *)
Theorem lemma_6_1_sharp : exists (J : finType) (d : J -> R -> F) (most k : J -> nat),
  [/\ forall j r, 0 <= d j r, fits_shares d k,
      forall j, (N <= most j)%N /\ forall r, (most j)%:R * d j r <= 1,
      forall j, exists r, 1 < (most j).+1%:R * d j r &
      \sum_j (k j)%:R / (most j)%:R = #|R|%:R * constant N s].
Proof.
eexists; exists sharp_demand, sharp_most, sharp_jobs.
split; [| exact: sharp_fits | | exact: sharp_one_more |].
- move=> c r; rewrite /sharp_demand; case: ifP => // _.
  by rewrite addr_ge0 ?invr_ge0 ?ler0n //; apply: ltW; apply: sharp_extra_gt0.
- by move=> c; split; [exact: sharp_at_least | move=> r; exact: sharp_most_fits].
rewrite -(pair_bigA _ (fun q i => (sharp_jobs (q, i))%:R / (sharp_most (q, i))%:R)) /=.
rewrite (eq_bigr (fun=> constant N s)) ?sumr_const ?mulr_natl // => q _.
rewrite big_ord_recl /sharp_jobs /sharp_most /= divff ?pnatr_eq0 -?lt0n // /constant; congr (_ + _).
by rewrite series_sum; apply: eq_bigr => i _; rewrite mul1r.
Qed.
End Sharp.
End Series.
