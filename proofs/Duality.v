(** * From weights to workloads

    A configuration has a weight for every vector of weights of the types; a list of configurations carries workloads.
    Duality of linear programs says that the first decides the second. It is proved here from Farkas' lemma, without
    limits, by induction on the number of vectors. *)

From mathcomp Require Import all_ssreflect all_algebra ring.
From packproof Require Import Greedy.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(** Lists of numbers are compared with Coq's [In], which needs no decision of equality, and with mathcomp's [mem]. *)
Lemma In_mem (T : eqType) (s : seq T) x : List.In x s <-> x \in s.
Proof.
elim: s => [//|y s IH] /=; rewrite inE; split=> [[->|/IH->]|/orP[/eqP->|/IH]]; 
  rewrite ?eqxx ?orbT //; by [left | right].
Qed.

Section Farkas.
Variables (F : realFieldType) (V : finType).

Definition dot (a x : V -> F) : F := \sum_v a v * x v.

(** Multiples of vectors. *)
Definition total (I : Type) (a : I -> V -> F) (mix : seq (I * F)) v : F := \sum_(e <- mix) e.2 * a e.1 v.

Lemma dot_subl a c t x : dot (fun v => a v - t * c v) x = dot a x - t * dot c x.
Proof. by rewrite /dot mulr_sumr -sumrB; apply: eq_bigr => v _; rewrite mulrBl mulrA. Qed.

Lemma dot_subr a x t y : dot a (fun v => y v - t * x v) = dot a y - t * dot a x.
Proof. by rewrite /dot mulr_sumr -sumrB; apply: eq_bigr => v _; rewrite mulrBr mulrCA. Qed.

(** Farkas' lemma: [b] is a sum of nonnegative multiples of some vectors, or a plane separates it from them. *)
Lemma farkas (I : eqType) (s : seq I) (a : I -> V -> F) (b : V -> F) :
  (exists mix, (forall e, e \in mix -> e.1 \in s /\ 0 <= e.2) /\ forall v, b v = total a mix v) \/
  (exists x, (forall i, i \in s -> dot (a i) x <= 0) /\ 0 < dot b x).
Proof.
elim: s a b => [|i s IH] a b.
  case: (pickP (fun v => b v != 0)) => [v bv|b0]; [right | left].
    exists b; split=> //; rewrite /dot (bigD1 v) //=; apply: ltr_wpDr.
      by apply: sumr_ge0 => w _; rewrite -expr2 sqr_ge0.
    by rewrite -expr2 lt_neqAle sqr_ge0 andbT eq_sym expf_neq0.
  by exists [::]; split=> // v; rewrite /total big_nil; apply/eqP/negbFE/b0.
case: (IH a b) => [[mix [mixP bE]]|[x [xs bx]]].
  by left; exists mix; split=> // e /mixP[es e0]; rewrite inE es orbT.
have [ax|ax] := lerP (dot (a i) x) 0.
  by right; exists x; split=> // l; rewrite inE => /orP[/eqP->|/xs].
set t := dot (a i) x in ax; have t0 : t != 0 by rewrite gt_eqF.
case: (IH (fun l v => a l v - dot (a l) x / t * a i v) (fun v => b v - dot b x / t * a i v))
  => [[mix [mixP bE]]|[y [ys by_]]]; [left | right].
  exists ((i, dot b x / t - \sum_(e <- mix) e.2 * (dot (a e.1) x / t)) :: mix); split.
    move=> e; rewrite inE => /orP[/eqP->|/mixP[es e0]]; last by rewrite es orbT.
    rewrite /= eqxx; split=> //; apply: addr_ge0; first by rewrite divr_ge0 // ltW.
    rewrite -sumrN big_seq; apply: sumr_ge0 => d /mixP[ds d0].
    by rewrite -mulrN mulr_ge0 // -mulNr divr_ge0 ?(ltW ax) // oppr_ge0 xs.
  move=> v; rewrite -[b v](subrK (dot b x / t * a i v)) bE /total big_cons /=.
  under eq_bigr do rewrite mulrBr mulrA.
  by rewrite sumrB -mulr_suml mulrBl addrC addrCA addrC.
exists (fun v => y v - dot (a i) y / t * x v); split=> [l|].
  rewrite inE dot_subr => /orP[/eqP->|/ys]; first by rewrite -/t divfK // subrr.
  by rewrite dot_subl; congr (_ <= _); field.
by move: by_; rewrite dot_subl dot_subr; congr (_ < _); field.
Qed.

(** With inequalities: [b] is at most such a sum, or the plane has nonnegative coefficients. *)
Lemma farkas_le (I : eqType) (s : seq I) (a : I -> V -> F) (b : V -> F) :
  (exists mix, (forall e, e \in mix -> e.1 \in s /\ 0 <= e.2) /\ forall v, b v <= total a mix v) \/
  (exists x, [/\ forall v, 0 <= x v, forall i, i \in s -> dot (a i) x <= 0 & 0 < dot b x]).
Proof.
pose a' (i : I + V) v := match i with inl i => a i v | inr w => - (v == w)%:R end.
case: (farkas ([seq inl i | i <- s] ++ [seq inr w | w <- enum V]) a' b) => [[mix [mixP bE]]|[x [xs bx]]].
  left; exists (pmap (fun e : (I + V) * F => if e.1 is inl i then Some (i, e.2) else None) mix).
  split=> [[i t]|v].
    rewrite mem_pmap => /mapP[[[l|w] r] /mixP[es e0]] //= [-> ->]; split=> //.
    by move: es; rewrite mem_cat => /orP[/mapP[k ks [->]]|/mapP[]].
  rewrite bE; elim: mix mixP {bE} => [|[[i|w] r] mix IH] mixP; rewrite /total ?big_nil // big_cons /=.
  - rewrite big_cons lerD2l; apply: IH => e em; apply: mixP; by rewrite inE em orbT.
  - rewrite -[X in _ <= X]add0r; apply: lerD.
      have [_ r0] := mixP _ (mem_head _ _).
      by rewrite mulrN oppr_le0 mulr_ge0 // ler0n.
    by apply: IH => e em; apply: mixP; rewrite inE em orbT.
right; exists x; split=> // [v|i si].
  have := xs (inr v); rewrite mem_cat (map_f (@inr I V)) ?mem_enum ?orbT // => /(_ isT).
  rewrite /dot (bigD1 v) //= eqxx big1 ?addr0 ?mulN1r ?oppr_le0 // => w /negPf->.
  by rewrite oppr0 mul0r.
by apply: (xs (inl i)); rewrite mem_cat map_f.
Qed.

End Farkas.

Section Workloads.
Variables (F : realFieldType) (J : finType).
Implicit Types (K : (J -> nat) -> Prop) (Q n : J -> F).

(** What no configuration outweighs, no workload does. *)
Lemma carried_weight K n Q (M : F) : carried K n -> (forall j, 0 <= Q j) -> 0 <= M ->
  (forall k, K k -> reward Q k <= M) -> \sum_j Q j * n j <= M.
Proof.
case=> mix [mixP mix1 nE] Q0 M0 KM.
apply: (@le_trans _ _ (\sum_(e <- mix) e.2 * reward Q e.1)).
  have -> : \sum_(e <- mix) e.2 * reward Q e.1 = \sum_j Q j * \sum_(e <- mix) e.2 * (e.1 j)%:R.
    under [RHS]eq_bigr do rewrite mulr_sumr.
    rewrite exchange_big; apply: eq_bigr => e _; rewrite /reward mulr_sumr.
    by apply: eq_bigr => j _; rewrite mulrCA.
  by apply: ler_sum => j _; apply: ler_wpM2l.
apply: (@le_trans _ _ ((\sum_(e <- mix) e.2) * M)); last first.
  by rewrite -[X in _ <= X]mul1r; apply: ler_wpM2r.
elim: (mix) mixP => [|e l IH] mixP; first by rewrite !big_nil mul0r.
rewrite !big_cons mulrDl; have [Ke e0] := mixP e (or_introl erefl).
by apply: lerD; [apply: ler_wpM2l; rewrite ?KM | apply: IH => d dl; apply: mixP; right].
Qed.

Lemma carried_self K k : K k -> carried K (fun j => (k j)%:R : F).
Proof.
move=> Kk; exists [:: (k, 1)]; split=> [e [<-|//]||j].
- by split; [exact: Kk | exact: ler01].
- by rewrite big_seq1.
- by rewrite big_seq1 mul1r.
Qed.

(** Prices: a workload is carried by finitely many configurations unless some weights say that it is not. *)
Lemma carried_finite (R : seq (J -> nat)) n :
  (forall Q (M : F), (forall j, 0 <= Q j) -> 0 <= M -> (forall k, List.In k R -> reward Q k <= M) ->
     \sum_j Q j * n j <= M) -> carried (fun k => List.In k R) n.
Proof.
move=> priced; pose conf := nth (fun=> 0%N) R.
have confP i : (i < size R)%N -> List.In (conf i) R.
  rewrite /conf; elim: (R) i => [//|k l IH] [|i] h; first by left.
  by right; apply: IH.
pose a i (v : J + unit) : F := if v is inl j then (conf i j)%:R else -1.
pose b (v : J + unit) : F := if v is inl j then n j else -1.
have dotE (c : J -> F) x :
    dot (fun v : J + unit => if v is inl j then c j else -1) x = \sum_j x (inl j) * c j - x (inr tt).
  rewrite /dot big_sumType /=; congr (_ + _); first by apply: eq_bigr => j _; rewrite mulrC.
  by rewrite (bigD1 tt) //= big1 ?addr0 ?mulN1r // => -[].
case: (farkas_le (iota 0 (size R)) a b) => [[mix [mixP bE]]|[x [x0 xs bx]]].
  exists [seq (conf e.1, e.2) | e <- mix]; split=> [e||j]; last by rewrite big_map; apply: (bE (inl j)).
    move=> /(@List.in_map_iff (nat * F) ((J -> nat) * F)) [d [<- /In_mem dm]] /=.
    have [ds d0] := mixP _ dm; split=> //; apply: confP.
    by move: ds; rewrite mem_iota.
  have := bE (inr tt); rewrite /total big_map /=; under eq_bigr do rewrite mulrN1.
  by rewrite sumrN lerN2.
exfalso; move: bx; rewrite (dotE n) subr_gt0 ltNge priced // => k kR.
have [i iR <-] : exists2 i, (i < size R)%N & conf i = k.
  rewrite /conf; elim: (R) kR => [//|r l IH] [->|/IH[i il <-]]; first by exists 0%N.
  by exists i.+1.
have := xs i; rewrite mem_iota iR (dotE (fun j => (conf i j)%:R)) subr_le0 => /(_ isT) h.
by apply: le_trans h; rewrite /reward.
Qed.

(** ** Theorem: no configuration weighs more than [c] times the heaviest in a list, for any weights, exactly if all that
    configurations carry is carried by [c] times as many servers with those in the list. *)
Theorem weights_decide_workloads K (R : seq (J -> nat)) (c : F) : 0 < c ->
  (forall Q (M : F), (forall j, 0 <= Q j) -> 0 <= M -> (forall k, List.In k R -> reward Q k <= M) ->
     forall k, K k -> reward Q k <= c * M) <->
  (forall n, carried K n -> carried (fun k => List.In k R) (fun j => n j / c)).
Proof.
move=> c0; split=> [weights n Kn|workloads Q M Q0 M0 RM k Kk].
  apply: carried_finite => Q M Q0 M0 RM.
  under eq_bigr do rewrite mulrA.
  rewrite -mulr_suml ler_pdivrMr // mulrC.
  by apply: (carried_weight Kn) => //; [rewrite mulr_ge0 // ltW | apply: weights].
have := carried_weight (workloads _ (carried_self Kk)) Q0 M0 RM.
by under eq_bigr do rewrite mulrA; rewrite -mulr_suml ler_pdivrMr // mulrC.
Qed.

End Workloads.
