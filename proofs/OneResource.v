(** * One resource: families of which greedy keeps little

    All of them are chains: a server has L - 1 units, and of type j one job takes 1/d_j of L units, so that d_j - 1 fit.
    Rewards are whole multiples of those of the types before, the reward for each unit does not rise, one job of every
    type fits beside the others, and the last type takes half. Then greedy takes one type after another, each as often
    as it fits alone. *)

From mathcomp Require Import all_ssreflect all_algebra ring.
From packproof Require Import Greedy Determined Tight.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(** ** A chain of types 0, ..., n *)

Section Chain.
Variable F : realFieldType.
Variables (n L : nat) (d a r : 'I_n.+1 -> nat) (u : 'I_n.+1 -> F) (scale : F).
Notation type := 'I_n.+1.
Notation config := (configuration type).
Hypothesis d_gt1 : forall j, (1 < d j)%N.
Hypothesis d_last : d ord_max = 2%N.
Hypothesis unit_of_d : forall j, (d j * a j = L)%N.
Hypothesis r_gt0 : forall j, (0 < r j)%N.
Hypothesis r_dvd : forall i j : type, (i <= j)%N -> (r i %| r j)%N.
Hypothesis density : forall i j : type, (i <= j)%N -> (r j * d j <= r i * d i)%N.
Hypothesis scale_gt0 : 0 < scale.
Hypothesis u_r : forall j, u j = scale * (r j)%:R.
Hypothesis all_fit : (\sum_j a j < L)%N.

Definition length_of (i : type) : F := (d i).-1%:R^-1.
Definition before : F := \sum_(i < n) length_of (widen_ord (leqnSn n) i).
Hypothesis before_lt1 : before < 1.

Notation demand := (fun (j : type) (_ : unit) => a j).
Notation capacity := (fun _ : unit => L.-1).
Notation rho := (fun _ : type => 1 : F).
Notation K := (Model.additive demand capacity).
Notation from := (@Tight.from n).

Definition worth (k : config) : nat := \sum_j k j * r j.

Lemma reward_worth k : reward u k = scale * (worth k)%:R.
Proof.
by rewrite /reward natr_sum mulr_sumr; apply: eq_bigr => j _; rewrite u_r natrM -mulrA [(r j)%:R * _]mulrC.
Qed.

Lemma u_gt0 j : 0 < u j. Proof. by rewrite u_r mulr_gt0 ?ltr0n. Qed.

Lemma d_gt0 j : (0 < d j)%N. Proof. exact: ltnW (d_gt1 j). Qed.
Lemma L_gt0 : (0 < L)%N. Proof. exact: leq_ltn_trans (leq0n _) all_fit. Qed.
Lemma a_gt0 j : (0 < a j)%N.
Proof. by have := L_gt0; rewrite -(unit_of_d j) muln_gt0 => /andP[]. Qed.

Lemma fits_lt k : K k -> (\sum_j k j * a j < L)%N.
Proof. by move/(_ tt); rewrite -ltnS prednK // L_gt0. Qed.

(** A server on which type [i] is the first earns at most what d_i - 1 jobs of it do: what other types earn takes at
    least as much room, and is a multiple of its reward. *)
Lemma worth_max (i : type) k : K k -> uses_only (from i) k -> (worth k <= (d i).-1 * r i)%N.
Proof.
move=> /fits_lt lt ki.
have dvd : (r i %| worth k)%N.
  apply: dvdn_sum => j _; have [ij|ji] := leqP i j; first exact/dvdn_mull/r_dvd.
  by rewrite ki ?mul0n ?dvdn0 // inE -ltnNge.
case/dvdnP: dvd => z ez; rewrite ez leq_mul2r; apply/orP; right.
rewrite -ltnS prednK ?d_gt0 // -(ltn_pmul2r (r_gt0 i)) -ez -(ltn_pmul2r L_gt0).
have le : (worth k * L <= r i * d i * \sum_j k j * a j)%N.
  rewrite /worth big_distrl big_distrr /=; apply: leq_sum => j _.
  have [ij|ji] := leqP i j; last by rewrite ki ?mul0n // inE -ltnNge.
  by rewrite -(unit_of_d j) [(d j * _)%N]mulnC mulnACA mulnC leq_mul2r density ?orbT.
apply: leq_ltn_trans le _; rewrite [(r i * d i)%N]mulnC ltn_pmul2l //.
by rewrite muln_gt0 d_gt0 r_gt0.
Qed.

Definition alone (i : type) : config := fun j => if j == i then (d i).-1 else 0%N.

Lemma sum_alone (i : type) (f : type -> nat) : (\sum_j alone i j * f j = (d i).-1 * f i)%N.
Proof.
rewrite (bigD1 i) //= big1 ?addn0 => [|j /negPf ji]; first by rewrite /alone eqxx.
by rewrite /alone ji.
Qed.

Lemma worth_alone i : worth (alone i) = ((d i).-1 * r i)%N.
Proof. exact: sum_alone. Qed.

Lemma alone_K (i : type) : K (alone i).
Proof.
move=> []; rewrite sum_alone -ltnS prednK ?L_gt0 // -(unit_of_d i).
by rewrite ltn_pmul2r ?a_gt0 // prednK ?d_gt0.
Qed.

Lemma alone_uses i : uses_only (from i) (alone i).
Proof. by move=> j; rewrite inE /alone; case: eqP => // ->; rewrite leqnn. Qed.

Lemma alone_first (i : type) k : K k -> uses_only (from i) k -> lexicographically_ge (alone i) k.
Proof.
move=> Kk ki; have := worth_max Kk ki; rewrite /worth (bigD1 i) //= => le.
have [lt|ge] := ltnP (k i) (d i).-1.
  right; exists i; rewrite {1}/alone eqxx; split=> // j ji; rewrite ki ?inE -?ltnNge // /alone.
  by case: eqP => // e; rewrite e ltnn in ji.
left=> j; rewrite /alone; case: eqP => [->|/eqP ji].
  apply/eqP; rewrite eqn_leq ge /= -(leq_pmul2r (r_gt0 i)).
  by apply: leq_trans le; apply: leq_addr.
have := leq_trans (leq_add (leq_mul ge (leqnn (r i))) (leqnn _)) le.
rewrite -[X in (_ <= X)%N]addn0 leq_add2l leqn0 (bigD1 j) //= addn_eq0 muln_eq0.
case/andP=> /orP[/eqP -> //|/eqP p0] _; by have := r_gt0 j; rewrite p0.
Qed.

Notation K1 := (fun _ : unit => K).
Notation whole := (whole F).

Lemma alone_MaxReward (i : type) : is_MaxReward K1 u tt (from i) (alone i).
Proof.
split; last by move=> k Kk ki _; apply: alone_first.
split; [exact: alone_K | exact: alone_uses | move=> k Kk ki].
by rewrite !reward_worth ler_pM2l // ler_nat worth_alone worth_max.
Qed.

(** *** The greedy run *)

(** The part of the servers that a stage takes: it serves one job a server, but for the last, which takes the rest. *)
Definition part (i : type) : F := if (i < n)%N then length_of i else 1 - before.
Definition stage_of (i : type) : stage F _ _ := Stage (from i) (fun _ : unit => alone i) (part i).
Definition run := [seq stage_of i | i <- enum 'I_n.+1].

(** All servers hold one job of every type. *)
Definition mixed : config := fun=> 1%N.
Definition best : assignment F type unit := Assignment (fun=> [:: (mixed, 1)]) rho.

Lemma most_gt0 i : (0 < (d i).-1)%N. Proof. by rewrite -subn1 subn_gt0 d_gt1. Qed.
Lemma length_gt0 i : 0 < length_of i. Proof. by rewrite invr_gt0 ltr0n most_gt0. Qed.

Lemma part_gt0 (i : type) : 0 < part i.
Proof. by rewrite /part; case: ifP => _; rewrite ?length_gt0 ?subr_gt0. Qed.

Lemma served_run (s : seq type) j : uniq s ->
  served whole [seq stage_of i | i <- s] j = if j \in s then part j * (d j).-1%:R else 0.
Proof.
move=> us; rewrite -(sum_equal j _ us) /served big_map; apply: eq_bigr => i _.
rewrite /slots sum_one /= /whole mul1r /alone; case: eqP => [->|]; first by [].
by rewrite mulr0.
Qed.

Lemma run_split pre s post : run = pre ++ s :: post ->
  exists i : type, s = stage_of i /\ pre = [seq stage_of l | l <- take i (enum 'I_n.+1)].
Proof.
move=> e; have sz : (size pre < n.+1)%N.
  have sJ : size run = n.+1 by rewrite size_map size_enum_ord.
  by apply: leq_trans (eq_leq sJ); rewrite e size_cat /= -addSnnS leq_addr.
have i_at := nth_enum_ord ord0 sz.
exists (nth ord0 (enum 'I_n.+1) (size pre)); rewrite i_at; split.
  have := congr1 (fun l => nth s l (size pre)) e; rewrite nth_cat ltnn subnn /= => <-.
  by rewrite (nth_map ord0) ?size_enum_ord.
by have := congr1 (take (size pre)) e; rewrite take_size_cat // -map_take => ->.
Qed.

Lemma part_most (i : type) : (i < n)%N -> part i * (d i).-1%:R = 1.
Proof. by move=> iN; rewrite /part iN mulVf // pnatr_eq0 -lt0n most_gt0. Qed.

Lemma before_ge0 : 0 <= before.
Proof. by apply: sumr_ge0 => i _; apply/ltW/length_gt0. Qed.

Lemma run_is_greedy : greedy_run whole K1 u rho run.
Proof.
have used1 : used run = 1.
  rewrite /used big_map big_enum /= big_ord_recr /= {2}/part ltnn.
  by under eq_bigr do rewrite /part /= ltn_ord; rewrite addrC subrK.
split.
- by move=> pre s post /run_split[i [-> _]] /=; apply: part_gt0.
- by move=> pre s post /run_split[i [-> _]] []; case: (alone_MaxReward i).
- move=> pre s post /run_split[i [-> ->]] j; rewrite inE -ltnNge => ji.
  rewrite served_run ?take_uniq ?enum_uniq // in_before ji part_most // (leq_trans ji) //.
  by rewrite -ltnS.
- move=> j; rewrite served_run ?enum_uniq // mem_enum inE.
  have [jn|nj] := ltnP j n; first by rewrite part_most.
  have -> : j = ord_max by apply/val_inj/eqP; rewrite eqn_leq nj -ltnS ltn_ord.
  by rewrite d_last mulr1 /part ltnn lerBlDr lerDl before_ge0.
- by rewrite used1.
- by left.
Qed.

Lemma best_feasible : feasible whole K1 rho best.
Proof.
split.
- move=> p c [<-|//] [] /=; rewrite -ltnS prednK ?L_gt0 //.
  by under eq_bigr do rewrite /mixed mul1n.
- by move=> p c [<-|//]; apply: ler01.
- by move=> p; rewrite big_seq1.
- by move=> j; rewrite lexx ler01.
- by move=> j; rewrite sum_one big_seq1 /= mul1r.
Qed.

Lemma best_optimal b : feasible whole K1 rho b -> value u b <= value u best.
Proof.
move=> fb; apply: ler_sum => j _; apply: ler_wpM2l; first exact/ltW/u_gt0.
by case/andP: (feasible_jobs fb j).
Qed.

Lemma value_best : value u best = \sum_j u j.
Proof. by apply: eq_bigr => j _; rewrite mulr1. Qed.

(** Each stage but the last earns what its type does, the last the reward of its type on what is left. *)
Lemma chain_keeps : greedy_earns_exactly whole K1 u rho (1 - before * u ord_max / \sum_j u j).
Proof.
have V0 : 0 < \sum_j u j.
  by rewrite (bigD1 ord0) //=; apply: ltr_wpDr; rewrite ?u_gt0 // sumr_ge0 // => j _; apply/ltW/u_gt0.
apply: every_run => [p|]; first exact: ler01.
exists run, best; split;
  [split; first exact: run_is_greedy | exact: best_feasible | exact: best_optimal | |]; last 2 first.
- by rewrite value_best.
- rewrite value_best mulrBl mul1r divfK ?gt_eqF //.
  rewrite /earned big_map big_enum /=.
  rewrite (eq_bigr (fun i : type => part i * (d i).-1%:R * u i)) => [|i _]; last first.
    by rewrite /rate sum_one mul1r reward_worth worth_alone natrM u_r [scale * (_ * _)]mulrCA !mulrA.
  rewrite big_ord_recr /= [in RHS]big_ord_recr /=.
  rewrite d_last /part ltnn mulr1 mulrBl mul1r addrA; congr (_ + _ - _).
  by apply: eq_bigr => i _; rewrite -/(part _) part_most ?mul1r //= ltn_ord.
- by move=> s /(@List.in_map_iff type) [i [<- _]] []; apply: alone_MaxReward.
Qed.

End Chain.

(** ** Halves, quarters, ..., 2^-p, and m + 1 smaller types *)

Section Member.
Variable F : realFieldType.
Variables p m : nat.
Hypothesis p_gt0 : (0 < p)%N.
Notation type := 'I_(m + p).+1.
Notation t := (small_number p).
Notation T := (small_product p).
Notation d := (@member_part p m).
Notation u := (@member_reward F p m).
Notation L := (t m.+1).

Lemma t_gt0 i : (0 < t i)%N.
Proof. by elim: i => [|i IH] /=; rewrite ?expn_gt0 // muln_gt0 IH. Qed.

Lemma t_dvd i j : (i <= j)%N -> (t i %| t j)%N.
Proof. by move/subnK <-; elim: (j - i)%N => [//|k IH]; rewrite addSn /=; apply: dvdn_mulr. Qed.

Lemma small_dvd i j : (i < j)%N -> ((t i).+1 %| t j)%N.
Proof. by move=> ij; apply: dvdn_trans (t_dvd ij) => /=; apply: dvdn_mull. Qed.

Lemma d_dvd j : (d j %| L)%N.
Proof.
rewrite /member_part; case: ifP => [_|/negbT]; first by rewrite small_dvd // ltnS leq_subr.
rewrite -ltnNge => mj; apply: dvdn_trans (t_dvd (leq0n _)); apply: dvdn_exp2l.
by rewrite leq_subLR (addnS m); apply: (leq_add mj (leqnn p)).
Qed.

Lemma d_gt1 j : (1 < d j)%N.
Proof.
rewrite /member_part; case: ifP => _; first by rewrite ltnS t_gt0.
by rewrite -{1}(expn0 2) ltn_exp2l // subn_gt0 addnS ltn_ord.
Qed.

Lemma last_power : (m + p <= m)%N = false.
Proof. by apply/negbTE; rewrite -ltnNge -{1}[m]addn0 ltn_add2l. Qed.

Lemma d_last : d ord_max = 2%N.
Proof.
by rewrite /member_part /= last_power addnS subSn // subnn.
Qed.

(** Sums over all types are sums over small types and powers. *)
Lemma sum_types (g h : nat -> F) :
  \sum_(j < (m + p).+1) (if (j <= m)%N then g (m - j)%N else h (m + p.+1 - j)%N) =
  \sum_(i < m.+1) g i + \sum_(k < p) h k.+1.
Proof.
rewrite (@big_split_ord _ _ _ m.+1 p) /=; congr (_ + _).
  rewrite (reindex_inj rev_ord_inj) /=; apply: eq_bigr => i _.
  by rewrite subSS leq_subr subKn // -ltnS.
rewrite (reindex_inj rev_ord_inj) /=; apply: eq_bigr => i _.
rewrite leqNgt addSn ltnS leq_addr /= addnS subSS subnDl subKn ?ltn_ord //.
Qed.

(** *** Small types *)

Lemma t_ge i : (2 ^ p <= t i)%N.
Proof. by apply: dvdn_leq; rewrite ?t_gt0 // -[(2 ^ p)%N]/(t 0) t_dvd. Qed.

Lemma small_recip i : (t i).+1%:R^-1 = (t i)%:R^-1 - (t i.+1)%:R^-1 :> F.
Proof.
rewrite /= natrM; have : (t i)%:R != 0 :> F by rewrite pnatr_eq0 -lt0n t_gt0.
have : (t i).+1%:R != 0 :> F by rewrite pnatr_eq0.
by rewrite mulrS; set x := (t i)%:R => x1 x0; field; rewrite x1 x0.
Qed.

Lemma sum_small k : \sum_(i < k) (t i).+1%:R^-1 = (2 ^ p)%:R^-1 - (t k)%:R^-1 :> F.
Proof.
elim: k => [|k IH]; first by rewrite big_ord0 subrr.
by rewrite big_ord_recr /= IH small_recip addrA subrK.
Qed.

Lemma sum_powers q : \sum_(k < q) (2 ^ k.+1)%:R^-1 = 1 - (2 ^ q)%:R^-1 :> F.
Proof.
elim: q => [|q IH]; first by rewrite big_ord0 expn0 invr1 subrr.
by rewrite big_ord_recr /= IH expnS natrM; field; rewrite pnatr_eq0 -lt0n expn_gt0.
Qed.

(** One job of every type leaves one unit. *)
Lemma sum_parts : \sum_j (d j)%:R^-1 = 1 - L%:R^-1 :> F.
Proof.
rewrite (eq_bigr (fun j : type => if (j <= m)%N then (t (m - j)).+1%:R^-1 else (2 ^ (m + p.+1 - j))%:R^-1)).
  by rewrite (sum_types (fun i => (t i).+1%:R^-1) (fun k => (2 ^ k)%:R^-1)) sum_small sum_powers; ring.
by move=> j _; rewrite /member_part; case: ifP.
Qed.

Lemma demand_all : (\sum_j L %/ d j < L)%N.
Proof.
rewrite -(ltr_nat F) natr_sum (eq_bigr (fun j => L%:R * (d j)%:R^-1 : F)) => [|j _]; last first.
  rewrite -[in RHS](divnK (d_dvd j)) natrM mulfK // pnatr_eq0 -lt0n.
  exact: ltnW (d_gt1 j).
have L0 : L%:R != 0 :> F by rewrite pnatr_eq0 -lt0n t_gt0.
by rewrite -mulr_sumr sum_parts mulrBr mulr1 divff // ltrBlDr ltrDl ltr01.
Qed.

(** *** Rewards: multiples of those of types before, less for each unit than theirs *)

Definition r (j : nat) : nat := (2 ^ (j - m.+1) * \prod_(m - j <= l < m) t l)%N.

Lemma prod_t_gt0 a b : (0 < \prod_(a <= l < b) t l)%N.
Proof. by elim/big_ind: _ => // [x y x0 y0|i _]; rewrite ?muln_gt0 ?x0 ?y0 ?t_gt0. Qed.

Lemma r_gt0 j : (0 < r j)%N.
Proof. by rewrite muln_gt0 expn_gt0 prod_t_gt0. Qed.

Lemma r_dvd i j : (i <= j)%N -> (r i %| r j)%N.
Proof.
move=> ij; apply: dvdn_mul; first by apply: dvdn_exp2l; apply: leq_sub2r.
by rewrite (@big_cat_nat _ _ _ (m - i) (m - j)) ?leq_sub2l ?leq_subr //= dvdn_mull.
Qed.

Lemma powers_before (j : type) : (j - m.+1 <= p)%N.
Proof. by rewrite leq_subLR addSn ltnW. Qed.

Lemma powers_left j : (m < j)%N -> (m + p.+1 - j = p - (j - m.+1))%N.
Proof. by move=> mj; rewrite subnBA // [(p + _)%N]addnC addSnnS. Qed.

(** A reward is so many parts of 1/T_m. *)
Lemma T_r (j : type) :
  T m = ((if j <= m then small_product p (m - j) else 2 ^ (m + p.+1 - j)) * r j)%N.
Proof.
rewrite /r; case: ifP => [jm|/negbT].
  have /eqP -> : (j - m.+1 == 0)%N by rewrite subn_eq0 leqW.
  by rewrite expn0 mul1n /small_product (@big_cat_nat _ _ _ (m - j) 0 m) ?leq_subr //= mulnA.
rewrite -ltnNge => mj; have /eqP -> : (m - j == 0)%N by rewrite subn_eq0 ltnW.
rewrite mulnA -expnD /small_product; congr (2 ^ _ * _)%N.
by rewrite powers_left // subnK // powers_before.
Qed.

Lemma T_gt0 i : (0 < T i)%N.
Proof. by rewrite muln_gt0 expn_gt0 prod_t_gt0. Qed.

Lemma u_r j : u j = (T m)%:R^-1 * (r j)%:R.
Proof.
by rewrite (T_r j) /member_reward natrM invfM -mulrA mulVf ?mulr1 // pnatr_eq0 -lt0n r_gt0.
Qed.

(** The reward for each unit, in parts of 1/T_m. *)
Lemma density_small i : (i < m)%N ->
  (\prod_(i <= l < m) t l * (t i).+1 <= \prod_(i.+1 <= l < m) t l * (t i.+1).+1)%N.
Proof. by move=> im; rewrite big_ltn // mulnAC mulnC leq_mul2l mulnC ltnW ?orbT // /= mulnC. Qed.

Definition unit_reward (j : nat) : nat :=
  (if j <= m then \prod_(m - j <= l < m) t l * (t (m - j)).+1 else \prod_(0 <= l < m) t l * 2 ^ p)%N.

Lemma unit_reward_eq (j : type) : (r j * d j = unit_reward j)%N.
Proof.
rewrite /r /member_part /unit_reward; case: ifP => [jm|/negbT].
  have /eqP -> : (j - m.+1 == 0)%N by rewrite subn_eq0 leqW.
  by rewrite expn0 mul1n.
rewrite -ltnNge => mj; have /eqP -> : (m - j == 0)%N by rewrite subn_eq0 ltnW.
rewrite mulnAC mulnC -expnD; congr (_ * 2 ^ _)%N.
by rewrite powers_left // subnKC // powers_before.
Qed.

Lemma unit_reward_falls j : (unit_reward j.+1 <= unit_reward j)%N.
Proof.
rewrite /unit_reward; case: (ltnP j m) => [jm|mj].
  rewrite (ltnW jm) -(subnSK jm) density_small //.
  by rewrite subnSK // leq_subr.
case: ifP => jm //; have /eqP -> : (m - j == 0)%N by rewrite subn_eq0.
by rewrite leq_mul2l leqnSn orbT.
Qed.

Lemma density (i j : type) : (i <= j)%N -> (r j * d j <= r i * d i)%N.
Proof.
rewrite !unit_reward_eq; elim: (nat_of_ord j) => [|k IH]; first by rewrite leqn0 => /eqP ->.
rewrite leq_eqVlt => /orP[/eqP -> //|/IH]; exact: leq_trans (unit_reward_falls k).
Qed.

(** *** What the stages before the last take *)

Definition series : F := \sum_(2 <= k < p.+1) (2 ^ k - 1)%:R^-1 + \sum_(i < m.+1) (t i)%:R^-1.

Lemma before_series : before F (fun j : type => d j) = series.
Proof.
have all : \sum_(j < (m + p).+1) length_of F (fun j : type => d j) j =
    \sum_(i < m.+1) (t i)%:R^-1 + \sum_(k < p) (2 ^ k.+1 - 1)%:R^-1.
  rewrite -(sum_types (fun i => (t i)%:R^-1) (fun k => (2 ^ k - 1)%:R^-1)); apply: eq_bigr => j _.
  by rewrite /length_of /member_part; case: ifP => _ //; rewrite subn1.
have := all; rewrite big_ord_recr /= {2}/length_of d_last invr1 => e.
have {e} -> : before F (fun j : type => d j) = \sum_(i < m.+1) (t i)%:R^-1 + \sum_(k < p) (2 ^ k.+1 - 1)%:R^-1 - 1.
  by rewrite -e addrK.
rewrite /series [RHS]addrC -addrA; congr (_ + _); rewrite [RHS]big_add1 /=.
by rewrite -(big_mkord predT (fun k => (2 ^ k.+1 - 1)%:R^-1)) (big_ltn p_gt0) expn1 subn1 invr1 addrC addKr.
Qed.

Lemma sum_halves q : (0 < q)%N ->
  \sum_(2 <= k < q.+1) (2 ^ k - 1)%:R^-1 <= 2%:R / 3%:R - 4%:R / 3%:R / (2 ^ q)%:R :> F.
Proof.
have step (x : F) : 2%:R <= x -> (x * 2%:R - 1)^-1 <= 4%:R / 3%:R / x - 4%:R / 3%:R / (x * 2%:R).
  move=> x2; have x0 : 0 < x by apply: lt_le_trans x2; rewrite ltr0n.
  have y0 : 0 < x * 2%:R - 1 by rewrite subr_gt0 (lt_le_trans _ (ler_wpM2r (ler0n _ 2) x2)) // -natrM ltr1n.
  have -> : 4%:R / 3%:R / x - 4%:R / 3%:R / (x * 2%:R) = 2%:R / (3%:R * x) :> F.
    by field; rewrite gt_eqF.
  rewrite ler_pdivlMr ?mulr_gt0 ?ltr0n // mulrC ler_pdivrMr //.
  rewrite -subr_ge0 (_ : _ - _ = x - 2%:R) ?subr_ge0 //; by ring.
case: q => // q _; elim: q => [|q IH].
  by rewrite big_geq // expn1 (_ : 4%:R / 3%:R / 2%:R = 2%:R / 3%:R :> F) ?subrr //; field.
rewrite big_nat_recr //=; have x2 : 2%:R <= (2 ^ q.+1)%:R :> F by rewrite ler_nat -{1}(expn1 2) leq_exp2l.
rewrite (expnSr 2 q.+1) natrB ?muln_gt0 ?expn_gt0 // natrM.
by apply: le_trans (lerD IH (step _ x2)) _; rewrite addrA subrK.
Qed.

Lemma sum_recip k : \sum_(i < k.+1) (t i)%:R^-1 <= 3%:R / 2%:R / (2 ^ p)%:R - (2%:R * (t k)%:R)^-1 :> F.
Proof.
have neq0 a : (0 < a)%N -> a%:R != 0 :> F by rewrite pnatr_eq0 -lt0n.
elim: k => [|k IH].
  rewrite big_ord1 /= le_eqVlt; apply/orP; left; apply/eqP.
  by field; rewrite neq0 ?expn_gt0.
rewrite big_ord_recr /=; apply: le_trans (lerD IH (lexx _)) _; rewrite -subr_ge0 natrM.
have t2 : 2%:R <= (t k)%:R :> F by rewrite ler_nat (leq_trans _ (t_ge k)) // -{1}(expn1 2) leq_exp2l.
have t0 := neq0 _ (t_gt0 k); have t1 := neq0 _ (ltn0Sn (t k)); rewrite [(t k).+1%:R]mulrS in t1 *.
rewrite (_ : _ - _ = ((t k)%:R - 2%:R) / (2%:R * (t k)%:R * (1 + (t k)%:R))); last first.
  by field; rewrite t0 t1 neq0 ?expn_gt0.
apply: divr_ge0; first by rewrite subr_ge0.
by rewrite !mulr_ge0 ?addr_ge0 ?ler0n ?ler01.
Qed.

Lemma series_lt1 : series < 1.
Proof.
have h := lerD (sum_halves p_gt0) (sum_recip m); apply: le_lt_trans h _.
have N0 : 0 < (2 ^ p)%:R :> F by rewrite ltr0n expn_gt0.
have N2 : 2%:R <= (2 ^ p)%:R :> F by rewrite ler_nat -{1}(expn1 2) leq_exp2l.
have t0 : 0 < (2%:R * (t m)%:R)^-1 :> F by rewrite invr_gt0 -natrM ltr0n muln_gt0 t_gt0.
rewrite -subr_gt0; set x := (2 ^ p)%:R in N0 N2 *; set y := _^-1 in t0 *.
rewrite (_ : _ - _ = (2%:R * x - 1) / (6%:R * x) + y); last by field; rewrite gt_eqF.
apply: addr_gt0 => //; apply: divr_gt0; last by rewrite pmulr_lgt0 // ltr0n.
rewrite subr_gt0; apply: lt_le_trans (ler_wpM2l (ler0n _ 2) N2); by rewrite -natrM ltr1n.
Qed.

Lemma sum_rewards : \sum_j u j = 1 + \sum_(1 <= i < m.+1) (T i)%:R^-1.
Proof.
rewrite (eq_bigr (fun j : type => if (j <= m)%N then (T (m - j))%:R^-1 else (2 ^ (m + p.+1 - j))%:R^-1)).
  rewrite (sum_types (fun i => (T i)%:R^-1) (fun k => (2 ^ k)%:R^-1)) sum_powers.
  rewrite -(big_mkord predT (fun i => (T i)%:R^-1)) (big_ltn (ltn0Sn m)) (_ : T 0 = 2 ^ p)%N; last first.
    by rewrite /small_product big_nil muln1.
  by rewrite addrC addrA addrNK.
by move=> j _; rewrite /member_reward; case: ifP.
Qed.

(** ** Theorem: of these instances greedy keeps the share of the title *)
Theorem one_resource_member : greedy_earns_exactly (whole F)
    (fun _ : unit => Model.additive (@member_demand p m) (@member_capacity p m)) u (@member_workload F p m)
    (1 - (\sum_(2 <= k < p.+1) (2 ^ k - 1)%:R^-1 + \sum_(i < m.+1) (t i)%:R^-1)
         / (2%:R * (1 + \sum_(1 <= i < m.+1) (T i)%:R^-1))).
Proof.
have unit_d (j : type) : (d j * (L %/ d j) = L)%N by rewrite mulnC divnK ?d_dvd.
have lt1 : before F (fun j : type => d j) < 1 by rewrite before_series series_lt1.
have scale0 : 0 < (T m)%:R^-1 :> F by rewrite invr_gt0 ltr0n T_gt0.
have := chain_keeps d_gt1 d_last unit_d (fun j => r_gt0 j) (fun i j => @r_dvd i j) density scale0 u_r demand_all lt1.
rewrite before_series sum_rewards -/series (_ : u ord_max = 2%:R^-1); last first.
  have -> : u ord_max = (d ord_max)%:R^-1 by rewrite /member_reward /member_part /= last_power.
  by rewrite d_last.
by rewrite -mulrA -invfM.
Qed.

End Member.

(** ** Theorem: of the family without a second small type, of n + 1 types *)
Theorem one_resource_keeps (F : realFieldType) (n : nat) : (0 < n)%N ->
  greedy_earns_exactly (whole F) (fun _ : unit => Model.additive (@member_demand n 0) (@member_capacity n 0))
    (@member_reward F n 0) (@member_workload F n 0)
    (1 - ((2 ^ n)%:R^-1 + \sum_(2 <= k < n.+1) (2 ^ k - 1)%:R^-1) / 2%:R).
Proof.
move=> n0; have := one_resource_member F 0 n0.
by rewrite big_ord1 /= (big_geq (leqnn 1)) addr0 mulr1 [\sum_(2 <= k < _) _ + _]addrC.
Qed.

(** ** Theorem: of the family with a second small type, of p + 2 types *)
Theorem one_resource_inserted (F : realFieldType) (p : nat) (N : F := (2 ^ p)%:R) : (0 < p)%N ->
  greedy_earns_exactly (whole F) (fun _ : unit => Model.additive (@member_demand p 1) (@member_capacity p 1))
    (@member_reward F p 1) (@member_workload F p 1)
    (1 - N ^+ 2 / (N ^+ 2 + 1) * ((N * (N + 1))^-1 + N^-1 + \sum_(2 <= k < p.+1) (2 ^ k - 1)%:R^-1) / 2%:R).
Proof.
move=> p0; have := one_resource_member F 1 p0.
rewrite big_ord_recr big_ord1 big_nat1 /small_product big_nat1 /= !natrM [(2 ^ p).+1%:R]mulrS -/N.
have N0 : N != 0 by rewrite /N pnatr_eq0 -lt0n expn_gt0.
have N1 : N + 1 != 0 by rewrite addrC /N -mulrS pnatr_eq0.
have N2 : N ^+ 2 + 1 != 0 by rewrite /N -natrX addrC -mulrS pnatr_eq0.
set S := \sum_(2 <= k < _) _; congr (greedy_earns_exactly _ _ _ _ _).
by field; rewrite N0 N1 N2.
Qed.
