(** * What partitions of sizes keep: cuts at powers of two, and every finite partition

    Section IV and Proposition 2 of the high-throughput paper. Jobs of a cell are rounded up to one size. A law of sizes
    enters only by the mean numbers of jobs by cell, and the jobs of a server have finitely many of these, if sizes are
    not arbitrarily small; so schedules of finitely many lists of jobs are enough. *)

From mathcomp Require Import all_ssreflect all_algebra ring.
From packproof Require Import Greedy.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Schedules.
Variables (F : realFieldType) (C : finType).

(** Sums over jobs as sums over cells. *)
Lemma sum_by_cell (l : seq (C * F)) (f : C -> F) :
  \sum_(c <- l) f c.1 = \sum_c (count (fun d => d.1 == c) l)%:R * f c.
Proof.
elim: l => [|d l IH]; first by rewrite big_nil big1 // => c _; rewrite mul0r.
rewrite big_cons IH (bigD1 d.1) //= [in RHS](bigD1 d.1) //= eqxx natrD mulrDl mul1r -addrA.
congr (_ + (_ + _)); apply: eq_bigr => c cd; rewrite (_ : (_ == _) = false) //.
by apply/negbTE; rewrite eq_sym.
Qed.

(** What counts at most [b] on each server counts at most [b] on average. *)
Lemma average_le (ok : C -> F -> Prop) n lists (f : C -> F) (b : F) : schedule ok n lists -> 0 <= b ->
  (forall l : seq (C * F), (forall c, c \in l -> ok c.1 c.2) -> \sum_(c <- l) c.2 <= 1 -> \sum_(c <- l) f c.1 <= b) ->
  \sum_c n c * f c <= b.
Proof.
move=> s b0 h; have -> : \sum_c n c * f c = \sum_(e <- lists) e.2 * \sum_(c <- e.1) f c.1.
  under eq_bigr do rewrite (list_serves s) mulr_suml.
  rewrite exchange_big /=; apply: eq_bigr => e _; rewrite sum_by_cell mulr_sumr.
  by apply: eq_bigr => c _; rewrite mulrA.
apply: (@le_trans _ _ (\sum_(e <- lists) e.2 * b)).
  rewrite !big_seq; apply: ler_sum => e es; apply: ler_wpM2l; first exact: (list_share s es).
  by apply: h; [apply: (list_allowed s es) | apply: (list_fits s es)].
by rewrite -mulr_suml -[X in _ <= X]mul1r; apply: ler_wpM2r => //; apply: (list_shares s).
Qed.

Lemma supported_ge0 (ok : C -> F -> Prop) n lists c : schedule ok n lists -> 0 <= n c.
Proof.
move=> s; rewrite (list_serves s) big_seq; apply: sumr_ge0 => e es.
by rewrite mulr_ge0 ?ler0n // (list_share s es).
Qed.

End Schedules.

Section Powers.
Variable F : realFieldType.
Variable J : nat.
Notation cell := (@power_cell F J).
Notation top := (@power_top F J).
Notation two := (2%:R : F).

(** The inverse of the guarantee: 2 - 2^(1-J) servers hold what real sizes fill one with. *)
Definition servers_of_one : F := 2%:R - 2%:R / 2%:R ^+ J.

Lemma pow_gt0 m : 0 < two ^+ m. Proof. by rewrite exprn_gt0 // ltr0n. Qed.

(** Tops of the cells of jobs that fit a server sum to at most 2 - 2^(1-J): half of it is less than 1 and a multiple of
    2^-J. *)
Lemma tops_le (l : seq ('I_J * F)) : (forall c, c \in l -> cell c.1 c.2) -> \sum_(c <- l) c.2 <= 1 ->
  \sum_(c <- l) two ^- c.1 <= servers_of_one.
Proof.
move=> ok fit; pose T := (\sum_(c <- l) 2 ^ (J - c.1.+1))%N.
have half (m : 'I_J) : two ^- m.+1 = (2 ^ (J - m.+1))%:R / two ^+ J.
  rewrite -[in two ^+ J](subnK (ltn_ord m)) exprD natrX invfM mulrA divff ?mul1r // gt_eqF //.
  exact: pow_gt0.
have TE : T%:R / two ^+ J = \sum_(c <- l) two ^- c.1.+1.
  by rewrite natr_sum mulr_suml; apply: eq_bigr => c _; rewrite half.
have lt1 : (T < 2 ^ J)%N.
  rewrite -(ltr_nat F) natrX -[X in _ < X]mul1r -ltr_pdivrMr ?pow_gt0 // TE.
  case: l ok fit @T {TE} => [|c l] ok fit _; first by rewrite big_nil ltr01.
  apply: lt_le_trans fit; rewrite !big_cons; apply: ltr_leD.
    by have := ok c (mem_head _ _); rewrite /power_cell => /andP[].
  rewrite !big_seq; apply: ler_sum => d dl; apply: ltW.
  by have : cell d.1 d.2 by [apply: ok; rewrite inE dl orbT]; rewrite /power_cell => /andP[].
have -> : \sum_(c <- l) two ^- c.1 = two * (T%:R / two ^+ J).
  rewrite TE mulr_sumr; apply: eq_bigr => c _; rewrite exprS invfM mulrA divff ?mul1r //.
  by rewrite pnatr_eq0.
have -> : servers_of_one = two * ((two ^+ J - 1) / two ^+ J).
  rewrite /servers_of_one; move: (two ^+ J) (pow_gt0 J) => x x0; field.
  by rewrite gt_eqF.
apply: ler_wpM2l; first exact: ler0n.
apply: ler_wpM2r; first by rewrite invr_ge0 ltW // pow_gt0.
by rewrite lerBrDr -natrX -[1]/(1%:R) -natrD ler_nat addn1.
Qed.

Hypothesis J_gt0 : (0 < J)%N.

Lemma servers_gt0 : 0 < servers_of_one.
Proof.
rewrite subr_gt0 ltr_pdivrMr ?pow_gt0 // -[X in X < _]mulr1 ltr_pM2l ?ltr0n //.
by rewrite -natrX ltr1n -{1}(expn0 2) ltn_exp2l.
Qed.

(** ** Theorem: what real sizes support, rounded ones support but for the factor 1/(2 - 2^(1-J)). *)
Theorem powers_of_two_keep n : supported cell n -> supported top (fun m => n m / (2%:R - 2%:R / 2%:R ^+ J)).
Proof.
rewrite -/servers_of_one; case=> lists s; have g0 := servers_gt0.
have n0 m : 0 <= n m by apply: supported_ge0 s.
pose full (m : 'I_J) := (nseq (2 ^ m) (m, two ^- m), n m * two ^- m / servers_of_one).
exists [seq full m | m <- enum 'I_J]; split.
- by move=> e /mapP[m _ ->] c /nseqP[-> _].
- move=> e /mapP[m _ ->]; rewrite big_nseq iter_addr addr0 /= -[X in X <= _]mulr_natl natrX divff // gt_eqF //.
  exact: pow_gt0.
- by move=> e /mapP[m _ ->] /=; rewrite divr_ge0 ?mulr_ge0 ?invr_ge0 ?exprn_ge0 ?ler0n // ltW.
- rewrite big_map big_enum /= -mulr_suml ler_pdivrMr // mul1r.
  by apply: (average_le s) => [|l]; [apply: ltW | apply: tops_le].
move=> m; rewrite big_map big_enum /= (bigD1 m) //= big1 ?addr0 => [|i im]; last first.
  by rewrite count_nseq /= (negPf im) mul0n mulr0.
rewrite count_nseq /= eqxx mul1n natrX; have := pow_gt0 m; move: (two ^+ m) => x x0.
by field; rewrite !gt_eqF.
Qed.

(** ** Theorem: the factor cannot be improved: 2^J - 1 jobs of one size a little above 2^-J fit a server, but rounded up
    no more than 2^(J-1), which is that factor times as many. *)
Theorem powers_of_two_attained : exists (m : 'I_J) (x : F) (n : 'I_J -> F),
  [/\ cell m x, supported (fun i y => i = m /\ y = x) n, n m = 2%:R ^+ J - 1 &
      forall n', supported top n' -> n' m <= n m / (2%:R - 2%:R / 2%:R ^+ J)].
Proof.
have lastJ : (J.-1 < J)%N by rewrite prednK.
pose m := Ordinal lastJ; pose N := (2 ^ J).-1.
have PJ : (2 ^ J = N.+1)%N by rewrite prednK // expn_gt0.
have pJ : two ^+ J = N%:R + 1 by rewrite -natrX PJ -addn1 natrD.
have half : two ^+ J = two * two ^+ J.-1 by rewrite -exprS prednK.
have N0 : (0 < N)%N by rewrite -ltnS -PJ -{1}(expn0 2) ltn_exp2l.
have NF : 0 < N%:R :> F by rewrite ltr0n.
exists m, N%:R^-1, (fun i => if i == m then N%:R else 0); split.
- rewrite /power_cell /= prednK //; apply/andP; split.
    by rewrite ltf_pV2 ?posrE ?pow_gt0 // pJ ltrDl ltr01.
  rewrite lef_pV2 ?posrE ?pow_gt0 // -natrX ler_nat -ltnS -PJ -[in X in (_ < X)%N](prednK J_gt0).
  by rewrite ltn_exp2l.
- exists [:: (nseq N (m, N%:R^-1), 1)]; split.
  + by move=> e; rewrite inE => /eqP-> c /nseqP[-> _].
  + by move=> e; rewrite inE => /eqP->; rewrite big_nseq iter_addr addr0 -[X in X <= _]mulr_natl mulfV ?gt_eqF.
  + by move=> e; rewrite inE => /eqP->; apply: ler01.
  + by rewrite big_seq1.
  + move=> c; rewrite big_seq1 mul1r count_nseq /= eq_sym.
    by case: (m == c); rewrite /= ?mul1n ?mul0n.
- by rewrite eqxx pJ addrK.
move=> n' [lists s]; rewrite eqxx pJ.
have x0 := pow_gt0 J.-1; rewrite pJ in half.
have -> : N%:R / (2%:R - 2%:R / (N%:R + 1)) = two ^+ J.-1.
  have e : two ^+ J.-1 = (N%:R + 1) / two by rewrite half mulrC mulKf // pnatr_eq0.
  rewrite e; have N1 : 0 < N%:R + 1 :> F by rewrite addr_gt0 ?ltr01.
  have -> : 2%:R - 2%:R / (N%:R + 1) = 2%:R * N%:R / (N%:R + 1) :> F.
    by field; rewrite gt_eqF.
  by field; rewrite !gt_eqF.
rewrite -[X in _ <= X]mul1r -ler_pdivrMr //.
have := @average_le F _ _ n' lists (fun i => if i == m then two ^- J.-1 else 0) 1 s ler01.
rewrite (bigD1 m) //= eqxx big1 ?addr0 => [|i /negPf->]; last by rewrite mulr0.
apply=> l ok fit; apply: le_trans fit; rewrite !big_seq; apply: ler_sum => c cl.
rewrite (ok c cl); case: eqP => [->|_] //.
by rewrite invr_ge0 ltW // pow_gt0.
Qed.

End Powers.

(** ** No finite partition keeps more than two thirds *)

Section TwoThirds.
Variable F : realFieldType.
Notation half := (2%:R^-1 : F).

(** Some distance from 1/2 is that of none of finitely many numbers. *)
Lemma free_distance (tops : seq F) : exists eps, [/\ 0 < eps, eps <= 6%:R^-1, half - eps \notin tops &
  half + eps \notin tops].
Proof.
have [eps [e0 e6 far]] : exists eps : F, [/\ 0 < eps, eps <= 6%:R^-1 &
    forall t, t \in tops -> t = half \/ eps < `|t - half|].
  elim: tops => [|t tops [eps [e0 e6 far]]]; first by exists 6%:R^-1; rewrite invr_gt0 ltr0n lexx.
  have [th|th] := eqVneq t half.
    exists eps; split=> // v; rewrite inE => /orP[/eqP->|/far//]; by left.
  have d0 : 0 < `|t - half| / 2%:R by rewrite divr_gt0 ?ltr0n // normr_gt0 subr_eq0.
  exists (Num.min eps (`|t - half| / 2%:R)); split; first by rewrite lt_min e0.
    by rewrite ge_min e6.
  move=> v; rewrite inE => /orP[/eqP->|/far[->|lt]]; [right | by left | right].
    by rewrite gt_min ltr_pdivrMr ?ltr0n // ltr_pMr ?ltr1n ?orbT // normr_gt0 subr_eq0.
  by rewrite gt_min lt.
exists eps; split=> //; apply/negP => /far[].
- by move/eqP; rewrite -subr_eq0 addrAC subrr add0r oppr_eq0 gt_eqF.
- by rewrite addrAC subrr add0r normrN gtr0_norm // ltxx.
- by move/eqP; rewrite -subr_eq0 addrAC subrr add0r gt_eqF.
- by rewrite addrAC subrr add0r gtr0_norm // ltxx.
Qed.

(** ** Theorem (Proposition 2): however sizes are rounded up to finitely many, there are two sizes of which a server
    holds one each, but no more than 2/3 of each on average once they are rounded. *)
Theorem finite_partitions_lose (tops : seq F) (up : F -> F) :
  (forall x, 0 < x <= 1 -> up x \in tops /\ x <= up x) ->
  exists eps : F, let size (b : bool) := if b then half + eps else half - eps in
  [/\ 0 < eps <= 6%:R^-1, supported (fun b x => x = size b) (fun=> 1) &
    forall c, supported (fun b x => x = up (size b)) (fun=> c) -> c <= 2%:R / 3%:R].
Proof.
move=> upP; have [eps [e0 e6 small large]] := free_distance tops.
have e1 : eps < half by apply: le_lt_trans e6 _; rewrite ltf_pV2 ?posrE ?ltr0n // ltr_nat.
pose size (b : bool) := if b then half + eps else half - eps.
have halves : half + half = 1 by field.
have size01 b : 0 < size b <= 1.
  have h0 : 0 < half by rewrite invr_gt0 ltr0n.
  case: b; rewrite /size; apply/andP; split.
  - exact: addr_gt0.
  - by rewrite -[X in _ <= X]halves lerD2l ltW.
  - by rewrite subr_gt0.
  - by rewrite -[X in _ <= X]halves lerD2l (le_trans _ (ltW h0)) // oppr_le0 ltW.
have above b : size b < up (size b).
  have [ut le] := upP _ (size01 b); rewrite lt_neqAle le andbT; apply: contraTneq ut => <-.
  by case: b {le}; [exact: large | exact: small].
exists eps; split; first by rewrite e0.
  exists [:: ([:: (false, size false); (true, size true)], 1)]; split.
  - by move=> e; rewrite inE => /eqP-> c; rewrite !inE => /orP[/eqP->|/eqP->].
  - move=> e; rewrite inE => /eqP->; rewrite !big_cons big_nil /= addr0 addrA addrAC subrK.
    by rewrite halves.
  - by move=> e; rewrite inE => /eqP->; apply: ler01.
  - by rewrite big_seq1.
  - by move=> b; rewrite big_seq1 mul1r; case: b.
move=> c [lists s].
have := @average_le F _ _ _ lists (fun b => if b then 1 else half) 1 s ler01.
rewrite big_bool /= => h.
have {}h : c * 1 + c * half <= 1.
  apply: h => l ok fit; have {}fit : \sum_(d <- l) up (size d.1) <= 1.
    by apply: le_trans fit; rewrite !big_seq; apply: ler_sum => d dl; rewrite (ok d dl).
  move: fit; rewrite (sum_by_cell l (fun b => up (size b))) (sum_by_cell l (fun b => if b then 1 else half)).
  rewrite !big_bool /= mulr1.
  move: (count _ l) (count _ l) => S L fit.
  have third : 3%:R^-1 <= size false.
    by apply: (@ler_from2 _ _ _ _ _ _ _ e6 (lexx 0)); rewrite /size; field.
  have sa := above false; have sb := above true; rewrite {1}/size in sb.
  have a3 : 3%:R^-1 < up (size false) by apply: le_lt_trans sa.
  have a0 : 0 < up (size false) by apply: lt_trans a3; rewrite invr_gt0 ltr0n.
  have b2 : half < up (size true) by apply: lt_trans sb; rewrite ltrDl.
  have b0 : 0 < up (size true) by apply: lt_trans b2; rewrite invr_gt0 ltr0n.
  have ab : 1 < up (size false) + up (size true).
    have := ltrD sa sb; rewrite /size addrA addrAC subrK halves; exact.
  have no (n k : nat) : (n%:R * up (size true) + k%:R * up (size false) > 1 :> F) -> (n <= L)%N -> (k <= S)%N -> False.
    move=> lt nL kS; have : n%:R * up (size true) + k%:R * up (size false) <= 1.
      by apply: le_trans fit; apply: lerD; apply: ler_wpM2r; rewrite ?ler_nat // ltW.
    by rewrite leNgt lt.
  case: L no fit => [|[|L]] no fit.
  - rewrite mulr0n add0r; case: S no fit => [|[|[|S]]] no fit; rewrite ?mulr0n ?mul0r ?mul1r ?ler01 //.
    + by rewrite -[X in _ <= X]halves lerDl invr_ge0 ler0n.
    + by rewrite mulfV // pnatr_eq0.
    + by case: (no 0%N 3%N) => //; rewrite mulr0n mul0r add0r -ltr_pdivrMl ?ltr0n // mulr1.
  - case: S no fit => [|S] no fit; first by rewrite mulr0n mul0r addr0.
    by case: (no 1%N 1%N) => //; rewrite !mul1r addrC.
  - case: (no 2%N 0%N) => //.
    by rewrite mulr0n mul0r addr0 -ltr_pdivrMl ?ltr0n // mulr1.
have {}h : 3%:R / 2%:R * c <= 1 by apply: le_trans h; rewrite le_eqVlt; apply/orP; left; apply/eqP; field.
by rewrite -ler_pdivlMl in h; [rewrite mulr1 invf_div in h | rewrite divr_gt0 ?ltr0n].
Qed.

End TwoThirds.
