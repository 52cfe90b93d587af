(** * Exactly one permutation: Proposition 3.1 of the auto-scaling paper

    The order in which greedy exhausts the types is the only one that satisfies the two conditions of the proposition,
    the second with the clause that a configuration holds jobs of the later type. Over any number of pools. *)

From mathcomp Require Import all_ssreflect all_algebra ring.
From packproof Require Import Greedy Existence.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Permutation.
Variable F : realFieldType.
Variables (J : nat) (P : finType).
Notation type := 'I_J.
Notation config := (configuration type).
Variables (w : P -> F) (K : P -> config -> Prop) (u rho : type -> F).
Variable mr : P -> {set type} -> config.
Hypothesis K_down : down_closed K.
Hypothesis w_ge0 : forall p, 0 <= w p.
Hypothesis u_gt0 : forall j, 0 < u j.
Hypothesis rho_ge0 : forall j, 0 <= rho j.
Hypothesis mr_max : forall p S, is_max_reward K u p S (mr p S).
Hypothesis all_fit : forall j, exists p k, [/\ 0 < w p, K p k & (0 < k j)%N].

Implicit Types (order : nat -> type) (z : nat -> F).
Notation stage_slots := (@stage_slots F J P w mr).
Notation done_before := (@done_before F J P w mr).
Notation proposition_3_1 := (@proposition_3_1 F J P w rho mr).

Lemma stage_slots_ge0 order i j : 0 <= stage_slots order i j.
Proof. exact: slots_of_ge0. Qed.

Lemma left_of_slots order i j : 0 < stage_slots order i j -> j \in left_before order i.
Proof.
move=> s0; apply: contraTT s0 => jl; rewrite /stage_slots (slots_of_out w mr_max jl).
by rewrite ltxx.
Qed.

Lemma left_mono order i j : (i <= j)%N -> left_before order j \subset left_before order i.
Proof.
move=> ij; apply/subsetP => b; rewrite !inE => /forallP h; apply/forallP => l.
exact: (h (widen_ord ij l)).
Qed.

(** The first J types of the order are distinct. *)
Lemma order_inj order z i j : proposition_3_1 order z -> (i < j)%N -> (j < J)%N -> order i != order j.
Proof.
move=> prop ij jJ; have := left_of_slots (has_slots prop jJ); rewrite inE => /forallP h.
exact: (h (Ordinal ij)).
Qed.

(** Every type that is left and not exhausted now comes later. *)
Lemma comes_later order z i b : proposition_3_1 order z -> (i < J)%N -> b \in left_before order i -> b != order i ->
  exists j, [/\ (i < j)%N, (j < J)%N & order j = b].
Proof.
move=> prop iJ bl bi; pose f (l : type) := order l.
have f_inj : injective f.
  move=> l l' e; apply/val_inj/eqP; rewrite /=; case: ltngtP => // h.
    by have := order_inj prop h (ltn_ord _); rewrite -/(f l) -/(f l') e eqxx.
  by have := order_inj prop h (ltn_ord _); rewrite -/(f l) -/(f l') e eqxx.
have /codomP[j e] : b \in codom f by apply: injF_onto.
exists j; split; [|exact: ltn_ord|by []].
rewrite ltn_neqAle; apply/andP; split.
  by apply: contraNneq bi => ij; rewrite e /f -ij.
rewrite leqNgt; apply/negP => ji; move: bl; rewrite inE => /forallP/(_ (Ordinal ji)).
by rewrite /= e eqxx.
Qed.

Lemma done_mono order z i j b : (forall l, (l < j)%N -> 0 <= z l) -> (i <= j)%N ->
  done_before order z i b <= done_before order z j b.
Proof.
move=> z0 /subnK e; rewrite -e in z0 *; elim: (j - i)%N z0 => [|n IH] z0 //.
rewrite addSn /done_before big_ord_recr /=; apply: ler_wpDr.
  by rewrite mulr_ge0 ?stage_slots_ge0 // z0 // addSn.
by apply: IH => l h; apply: z0; apply: leq_trans h _; rewrite addSn.
Qed.

(** ** Theorem: at most one order, with its lengths, satisfies the conditions. *)
Theorem permutation_unique order z order' z' : proposition_3_1 order z -> proposition_3_1 order' z' ->
  forall i, (i < J)%N -> order i = order' i /\ z i = z' i.
Proof.
move=> p p' i; elim/ltn_ind: i => i IH iJ.
have same l : (l <= i)%N -> left_before order l = left_before order' l.
  move=> li; apply/setP => j; rewrite !inE; apply: eq_forallb => k.
  have ki : (k < i)%N := leq_trans (ltn_ord k) li.
  by have [-> _] := IH k ki (ltn_trans ki iJ).
have same_done j : done_before order z i j = done_before order' z' i j.
  apply: eq_bigr => l _; have [_ ->] := IH l (ltn_ord l) (ltn_trans (ltn_ord l) iJ).
  by rewrite /stage_slots same // ltnW.
have same_slots j : stage_slots order i j = stage_slots order' i j by rewrite /stage_slots same.
have doneS o y j : done_before o y i.+1 j = done_before o y i j + y i * stage_slots o i j.
  by rewrite /done_before big_ord_recr.
(* the type that the other order exhausts is not exhausted earlier in this one *)
have le o y o' y' : proposition_3_1 o y -> proposition_3_1 o' y' ->
    (forall j, done_before o y i j = done_before o' y' i j) ->
    (forall j, stage_slots o i j = stage_slots o' i j) -> left_before o i = left_before o' i ->
    y i <= y' i.
  move=> q q' sd ss sl; have s0 := has_slots q' iJ.
  have bl : o' i \in left_before o i by rewrite sl; apply: left_of_slots.
  have h : done_before o y i.+1 (o' i) <= rho (o' i).
    have [e|ne] := eqVneq (o' i) (o i); first by rewrite e (exhausts q iJ).
    have [j [ij jJ e]] := comes_later q iJ bl ne.
    rewrite -e (exhausts q jJ); apply: done_mono => [l lj|]; last by rewrite ltnS ltnW.
    by apply: (lasts q); apply: leq_trans lj jJ.
  by move: h; rewrite (exhausts q' iJ) !doneS sd ss lerD2l ler_pM2r.
have zz : z i = z' i.
  by apply/le_anti; rewrite (le _ _ _ _ p p') // ?same // (le _ _ _ _ p' p) // same.
split=> //; apply/eqP/negPn/negP => ne.
(* otherwise each exhausts the type of the other too, and the lower index would be below itself *)
have lt o y o' y' : proposition_3_1 o y -> proposition_3_1 o' y' ->
    (forall j, done_before o y i j = done_before o' y' i j) ->
    (forall j, stage_slots o i j = stage_slots o' i j) -> left_before o i = left_before o' i ->
    y i = y' i -> o' i != o i -> (o i < o' i)%N.
  move=> q q' sd ss sl yy nb; have s0 := has_slots q' iJ.
  have bl : o' i \in left_before o i by rewrite sl; apply: left_of_slots.
  have [j [ij jJ e]] := comes_later q iJ bl nb.
  rewrite -e; apply: (ties q) => //; rewrite e ?ss //.
  by rewrite (exhausts q' iJ) !doneS sd ss yy.
have a : (order i < order' i)%N by apply: (lt _ _ _ _ p p'); rewrite ?same // eq_sym.
have b : (order' i < order i)%N by apply: (lt _ _ _ _ p' p); rewrite ?same.
by move: (ltn_trans a b); rewrite ltnn.
Qed.

(** ** There is such an order *)

(** The conditions for the first [n] stages. *)
Record beginning n order z : Prop := Beginning {
  b_slots : forall i, (i < n)%N -> 0 < stage_slots order i (order i);
  b_lasts : forall i, (i < n)%N -> 0 <= z i;
  b_exhausts : forall i, (i < n)%N -> rho (order i) = done_before order z i.+1 (order i);
  b_ties : forall i b, (i < n)%N -> b \in left_before order i.+1 -> 0 < stage_slots order i b ->
    rho b = done_before order z i.+1 b -> (order i < b)%N;
  b_rest : forall b, b \in left_before order n -> done_before order z n b <= rho b }.

(** Another element at place [n]. *)
Definition put T n (a : T) (f : nat -> T) : nat -> T := fun i => if i == n then a else f i.

Lemma put_lt T n a (f : nat -> T) i : (i < n)%N -> put n a f i = f i.
Proof. by rewrite /put; case: eqP => // ->; rewrite ltnn. Qed.

Lemma put_at T n a (f : nat -> T) : put n a f n = a.
Proof. by rewrite /put eqxx. Qed.

Lemma left_put order n a i : (i <= n)%N -> left_before (put n a order) i = left_before order i.
Proof.
move=> iN; apply/setP => j; rewrite !inE; apply: eq_forallb => l.
by rewrite put_lt // (leq_trans (ltn_ord l) iN).
Qed.

Lemma slots_put order n a i j : (i <= n)%N -> stage_slots (put n a order) i j = stage_slots order i j.
Proof. by move=> iN; rewrite /stage_slots left_put. Qed.

Lemma done_put order z n a x i j : (i <= n)%N ->
  done_before (put n a order) (put n x z) i j = done_before order z i j.
Proof.
move=> iN; apply: eq_bigr => l _; have lN := leq_trans (ltn_ord l) iN.
by rewrite put_lt // slots_put // ltnW.
Qed.

Lemma done_next order z n j : done_before order z n.+1 j = done_before order z n j + z n * stage_slots order n j.
Proof. by rewrite /done_before big_ord_recr. Qed.

Lemma left_nonempty order n : (n < J)%N -> left_before order n != set0.
Proof.
move=> nJ; apply/negP => /eqP e.
have full : [set: type] \subset [set order (l : nat) | l : 'I_n].
  apply/subsetP => b _; have : b \notin left_before order n by rewrite e inE.
  rewrite inE negb_forall => /existsP[l]; rewrite negbK => /eqP <-.
  exact: imset_f.
have := subset_leq_card full; rewrite cardsT card_ord leqNgt => /negP; apply.
by apply: leq_ltn_trans nJ; rewrite -[X in (_ <= X)%N]card_ord; apply: leq_imset_card.
Qed.

Lemma left_next order n b : (b \in left_before order n.+1) = (b \in left_before order n) && (order n != b).
Proof.
rewrite !inE; apply/forallP/andP => [h|[/forallP h hn] l].
  split; last exact: (h ord_max).
  by apply/forallP => l; apply: (h (widen_ord (leqnSn n) l)).
have [ln|nl] := ltnP l n; first exact: (h (Ordinal ln)).
by have -> : l = n :> nat by apply/eqP; rewrite eqn_leq nl -ltnS ltn_ord.
Qed.

Lemma beginning_next n order z : (n < J)%N -> beginning n order z -> exists order' z', beginning n.+1 order' z'.
Proof.
move=> nJ b; pose S := left_before order n.
pose left_of j := rho j - done_before order z n j.
pose s j := stage_slots order n j.
have s_ge0 j : 0 <= s j by apply: stage_slots_ge0.
have s_left j : 0 < s j -> j \in S by apply: left_of_slots.
have ss := some_slots K_down w_ge0 u_gt0 mr_max all_fit (left_nonempty order nJ).
have [a0 [a0s a0min]] : exists a, 0 < s a /\ forall i, 0 < s i -> left_of a / s a <= left_of i / s i.
  have mem i : (i \in [seq j <- enum S | slots_of w mr S j != 0]) = (0 < s i).
    rewrite mem_filter mem_enum; apply/andP/idP => [[si _]|si]; first by rewrite lt_def si s_ge0.
    by split; [rewrite gt_eqF | apply: s_left].
  case E : [seq j <- enum S | slots_of w mr S j != 0] ss => [|j0 l] // ss.
  have [h1 h2] := first_minP (fun j => left_of j / s j) j0 l.
  exists (first_min (fun j => left_of j / s j) j0 l); split; first by rewrite -mem E.
  by move=> i si; apply: h2; rewrite -E mem.
pose least (a : type) := (0 < s a) && [forall i, (0 < s i) ==> (left_of a / s a <= left_of i / s i)].
have l0 : least a0 by rewrite /least a0s; apply/forallP => i; apply/implyP/a0min.
case: (arg_minnP (fun a : type => nat_of_ord a) l0) => a /andP[sa /forallP amin] afirst.
pose x := left_of a / s a.
have left_ge0 j : j \in S -> 0 <= left_of j by move=> jS; rewrite subr_ge0 (b_rest b).
have x0 : 0 <= x by rewrite divr_ge0 ?left_ge0 ?s_left.
have nn := leqnn n.
have doneN j : done_before (put n a order) (put n x z) n.+1 j = done_before order z n j + x * s j.
  by rewrite done_next done_put // slots_put // put_at.
exists (put n a order), (put n x z); split.
- move=> i; rewrite ltnS leq_eqVlt => /orP[/eqP->|iN]; first by rewrite slots_put // put_at.
  by rewrite slots_put ?(ltnW iN) // put_lt // (b_slots b).
- move=> i; rewrite ltnS leq_eqVlt => /orP[/eqP->|iN]; first by rewrite put_at.
  by rewrite put_lt // (b_lasts b).
- move=> i; rewrite ltnS leq_eqVlt => /orP[/eqP->|iN].
    by rewrite put_at doneN /x divfK ?gt_eqF // /left_of addrC subrK.
  by rewrite put_lt // done_put // (b_exhausts b).
- move=> i c; rewrite ltnS leq_eqVlt => /orP[/eqP->|iN].
    rewrite left_next left_put // put_at => /andP[cS ac]; rewrite slots_put // doneN => sc e.
    have xc : left_of c / s c = x by rewrite /left_of e addrC addKr mulfK // gt_eqF.
    rewrite ltn_neqAle ac /=; apply: afirst; rewrite /least sc /=.
    by apply/forallP => i'; rewrite xc; apply: amin.
  by rewrite left_put // slots_put ?(ltnW iN) // done_put // put_lt //; apply: (b_ties b).
- move=> c; rewrite left_next left_put // put_at => /andP[cS _]; rewrite doneN.
  have := s_ge0 c; rewrite le_eqVlt => /orP[/eqP<-|sc].
    by rewrite mulr0 addr0 -subr_ge0 left_ge0.
  by rewrite -lerBrDl -ler_pdivlMr //; have := amin c; rewrite sc.
Qed.

(** ** Theorem: some order satisfies the conditions. *)
Theorem permutation_exists : (0 < J)%N -> exists order z, proposition_3_1 order z.
Proof.
move=> J0; have begin n : (n <= J)%N -> exists order z, beginning n order z.
  elim: n => [|n IH] nJ; last by have [o [z b]] := IH (ltnW nJ); apply: beginning_next nJ b.
  exists (fun=> Ordinal J0), (fun=> 0); split=> // b _.
  by rewrite /done_before big_ord0.
have [order [z b]] := begin J (leqnn J); exists order, z; split.
- exact: (b_slots b).
- exact: (b_lasts b).
- exact: (b_exhausts b).
move=> i j ij jJ sj e; apply: (b_ties b (ltn_trans ij jJ)) sj e.
by apply: (subsetP (left_mono _ ij)); apply/left_of_slots/(b_slots b).
Qed.

End Permutation.

(** ** Theorem: where servers hold finitely many configurations, exactly one order, with its lengths, satisfies the
    conditions. No hypothesis on MaxReward is left. *)
Theorem exactly_one_permutation (F : realFieldType) (J N : nat) (P : finType) (w : P -> F)
    (K : P -> configuration 'I_J -> bool) (u rho : 'I_J -> F) :
  down_closed (K : P -> configuration _ -> Prop) -> (forall p k j, K p k -> (k j <= N)%N) ->
  (forall p, K p (fun=> 0%N)) ->
  (forall p, 0 <= w p) -> (forall j, 0 < u j) -> (forall j, 0 <= rho j) ->
  (forall j, exists p k, [/\ 0 < w p, K p k & (0 < k j)%N]) -> (0 < J)%N ->
  exists mr order z,
  [/\ forall p S, is_MaxReward (K : P -> configuration _ -> Prop) u p S (mr p S), proposition_3_1 w rho mr order z &
      forall order' z', proposition_3_1 w rho mr order' z' -> forall i, (i < J)%N -> order' i = order i /\ z' i = z i].
Proof.
move=> Kd Kb K0 w0 u0 r0 fit J0; have [mr mrP] := MaxReward_exists u Kd Kb K0.
have mr_max p S : is_max_reward (K : P -> configuration _ -> Prop) u p S (mr p S) by case: (mrP p S).
have [order [z prop]] := permutation_exists Kd w0 u0 r0 mr_max fit J0.
exists mr, order, z; split=> // order' z' prop' i iJ.
exact: (permutation_unique w0 mr_max prop' prop iJ).
Qed.
