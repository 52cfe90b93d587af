(** * One resource: a family of which greedy keeps 1 - (2^-n + 1/3 + 1/7 + ... + 1/(2^n - 1)) / 2

    The J = n + 1 types are numbered 0, ..., n. A server has (2^n + 1) 2^n - 1 units of one resource. A job of type 0
    takes 2^n units and earns 1, a job of type j > 0 takes (2^n + 1) 2^(j-1) and earns 2^(j-1). There is one job of
    every type a server. It is the instance that packproof calls [one_resource_family], with rewards multiplied by
    2^n. As n grows the share falls to (3 - E) / 2 = 0.6966..., E being the sum of all 1/(2^k - 1). *)

From mathcomp Require Import all_ssreflect all_algebra ring.
From packproof Require Import Greedy Tight.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section OneResource.
Variable F : realFieldType.
Variable n : nat.
Hypothesis n_gt0 : (0 < n)%N.
Notation type := 'I_n.+1.
Notation config := (configuration type).

Notation demand := (@one_demand n).
Notation capacity := (@one_capacity n).
Notation u := (@one_reward F n).
Notation rho := (@one_workload F n).
Notation K := (Model.additive demand capacity).

(** The units that a configuration holds: its reward. *)
Definition worth (k : config) : nat := \sum_j k j * unit_of j.

Lemma reward_worth k : reward u k = (worth k)%:R.
Proof. by rewrite /reward natr_sum; apply: eq_bigr => j _; rewrite natrM mulrC. Qed.

Lemma power_gt0 a : (0 < 2 ^ a)%N. Proof. by rewrite expn_gt0. Qed.

Lemma fits_lt k : K k -> (\sum_j k j * demand j tt < 2 ^ n * (2 ^ n).+1)%N.
Proof. by move/(_ tt); rewrite /capacity -ltnS prednK // muln_gt0 power_gt0. Qed.

(** At most 2^n units fit. *)
Lemma worth_le k : K k -> (worth k <= 2 ^ n)%N.
Proof.
move=> /fits_lt h; rewrite -ltnS -(ltn_pmul2l (power_gt0 n)); apply: leq_ltn_trans h.
rewrite /worth big_distrr /=; apply: leq_sum => j _.
by rewrite /demand mulnCA leq_mul2l mulnC leq_mul2l leq_addr !orbT.
Qed.

(** Fewer than 2^n without a job of type 0. *)
Lemma worth_lt k : K k -> k ord0 = 0%N -> (worth k < 2 ^ n)%N.
Proof.
move=> /fits_lt h k0; rewrite -(ltn_pmul2r (ltn0Sn (2 ^ n))); apply: leq_ltn_trans h.
rewrite /worth big_distrl /=; apply: leq_sum => j _; rewrite /demand.
have [j0|j0] := posnP j; first by rewrite (_ : j = ord0) ?k0 //; apply: val_inj.
by rewrite addn1 mulnA.
Qed.

Definition from := @Tight.from n.

(** Without types before i > 0 units come in multiples of 2^(i-1): at most 2^n - 2^(i-1) fit. *)
Lemma worth_from k (i : type) : K k -> uses_only (from i) k -> (0 < i)%N -> (worth k <= 2 ^ n - unit_of i)%N.
Proof.
move=> Kk ki i0.
have lt : (worth k < 2 ^ n)%N by apply: worth_lt => //; rewrite ki // inE -ltnNge.
have d1 : (unit_of i %| worth k)%N.
  apply: dvdn_sum => j _; have [ij|ji] := leqP i j; last by rewrite ki ?mul0n ?dvdn0 // inE -ltnNge.
  by apply: dvdn_mull; apply: dvdn_exp2l; rewrite -ltnS !prednK // (leq_trans i0).
have d2 : (unit_of i %| 2 ^ n)%N.
  by apply: dvdn_exp2l; apply: leq_trans (leq_pred _) _; rewrite -ltnS.
case/dvdnP: d1 lt => a ->; case/dvdnP: d2 => b ->.
rewrite ltn_pmul2r ?power_gt0 // => ab; rewrite -[X in (_ - X)%N]mul1n -mulnBl leq_mul2r subn1.
by rewrite -ltnS prednK ?ab ?orbT // (leq_ltn_trans _ ab).
Qed.

(** *** MaxReward of the types i, ..., n: as many jobs of type i as fit *)

Definition most (i : nat) : nat := if i is 0 then (2 ^ n)%N else (2 ^ (n.+1 - i)).-1.
Definition alone (i : type) : config := fun j => if j == i then most i else 0%N.

Lemma sum_alone (i : type) (f : type -> nat) : (\sum_j alone i j * f j = most i * f i)%N.
Proof.
rewrite (bigD1 i) //= big1 ?addn0 => [|j /negPf ji]; first by rewrite /alone eqxx.
by rewrite /alone ji.
Qed.

Lemma most_units (i : type) : (most i * unit_of i = 2 ^ n - (if i == 0 :> nat then 0 else unit_of i))%N.
Proof.
rewrite /most /unit_of; case: i => [[|i] iN] /=; first by rewrite expn0 muln1 subn0.
by rewrite -subn1 mulnBl mul1n -expnD subSS subnK // -ltnS ltnW.
Qed.

Lemma alone_K (i : type) : K (alone i).
Proof.
move=> []; rewrite sum_alone /capacity -ltnS prednK ?muln_gt0 ?power_gt0 // /demand mulnA most_units.
case: posnP => i0; first by rewrite subn0 addn0 ltn_pmul2l ?power_gt0.
by rewrite addn1 ltn_pmul2r // ltn_subrL !power_gt0.
Qed.

Lemma alone_uses i : uses_only (from i) (alone i).
Proof. by move=> j; rewrite inE /alone; case: eqP => // ->; rewrite leqnn. Qed.

Lemma worth_alone (i : type) : worth (alone i) = (2 ^ n - (if i == 0 :> nat then 0 else unit_of i))%N.
Proof. by rewrite /worth sum_alone most_units. Qed.

Lemma worth_max (i : type) k : K k -> uses_only (from i) k -> (worth k <= worth (alone i))%N.
Proof.
move=> Kk ki; rewrite worth_alone; case: posnP => i0; first by rewrite subn0 worth_le.
exact: worth_from.
Qed.

Lemma alone_first (i : type) k : K k -> uses_only (from i) k -> lexicographically_ge (alone i) k.
Proof.
move=> Kk ki; have := worth_max Kk ki; rewrite worth_alone -most_units /worth (bigD1 i) //= => le.
have [lt|ge] := ltnP (k i) (most i).
  right; exists i; rewrite {1}/alone eqxx; split=> // j ji; rewrite ki ?inE -?ltnNge // /alone.
  by case: eqP => // e; rewrite e ltnn in ji.
left=> j; rewrite /alone; case: eqP => [->|/eqP ji].
  apply/eqP; rewrite eqn_leq ge /= -(leq_pmul2r (power_gt0 i.-1)).
  by apply: leq_trans le; apply: leq_addr.
have := leq_trans (leq_add (leq_mul ge (leqnn (unit_of i))) (leqnn _)) le.
rewrite -[X in (_ <= X)%N]addn0 leq_add2l leqn0 (bigD1 j) //= addn_eq0 muln_eq0.
case/andP=> /orP[/eqP -> //|/eqP p0] _; by have := power_gt0 j.-1; rewrite -/(unit_of j) p0.
Qed.

Notation K1 := (fun _ : unit => K).

Lemma alone_MaxReward (i : type) : is_MaxReward K1 u tt (from i) (alone i).
Proof.
split; last by move=> k Kk ki _; apply: alone_first.
split; [exact: alone_K | exact: alone_uses | move=> k Kk ki].
by rewrite !reward_worth ler_nat worth_max.
Qed.

(** *** The greedy run *)

(** The part of the servers that a stage takes: it serves one job a server, but for the last, which takes the rest. *)
Definition length_of (i : nat) : F := (most i)%:R^-1.
Definition before : F := \sum_(i < n) length_of i.
Definition part (i : type) : F := if (i < n)%N then length_of i else 1 - before.

Definition stage_of (i : type) : stage F _ _ := Stage (from i) (fun _ : unit => alone i) (part i).
Definition run := [seq stage_of i | i <- enum 'I_n.+1].

(** All servers hold one job of every type. *)
Definition mixed : config := fun=> 1%N.
Definition best : assignment F type unit := Assignment (fun=> [:: (mixed, 1)]) rho.

Notation whole := (whole F).

Lemma most_gt0 (i : nat) : (i <= n)%N -> (0 < most i)%N.
Proof.
case: i => [|i] iN; first exact: power_gt0.
by rewrite /most -subn1 subn_gt0 -{1}(expn0 2) ltn_exp2l // subn_gt0.
Qed.

(** The stages before the last take 2^-n + 1/3 + 1/7 + ... + 1/(2^n - 1) of the servers. *)
Definition series : F := \sum_(2 <= k < n.+1) (2 ^ k).-1%:R^-1.

Lemma before_series : before = (2 ^ n)%:R^-1 + series.
Proof.
rewrite /before -(big_mkord predT length_of) big_ltn //; congr (_ + _).
rewrite /series [RHS]big_add1 [LHS]big_nat_rev /=; apply: eq_big_nat => i /andP[i0 iN].
rewrite /length_of add1n subSS; have : (0 < n - i)%N by rewrite subn_gt0.
by case d: (n - i)%N => [|l] // _; rewrite /most -d subSn ?leq_subr // subKn // ltnW.
Qed.

(** That is less than one: the sum is at most 2/3 - 4/3 2^-n. *)
Lemma before_lt1 : before < 1.
Proof.
have step (x : F) : 2%:R <= x -> (x * 2%:R - 1)^-1 <= 4%:R / 3%:R / x - 4%:R / 3%:R / (x * 2%:R).
  move=> x2; have x0 : 0 < x by apply: lt_le_trans x2; rewrite ltr0n.
  have y0 : 0 < x * 2%:R - 1 by rewrite subr_gt0 (lt_le_trans _ (ler_wpM2r (ler0n _ 2) x2)) // -natrM ltr1n.
  have -> : 4%:R / 3%:R / x - 4%:R / 3%:R / (x * 2%:R) = 2%:R / (3%:R * x) :> F.
    by field; rewrite gt_eqF.
  rewrite ler_pdivlMr ?mulr_gt0 ?ltr0n // mulrC ler_pdivrMr //.
  rewrite -subr_ge0 (_ : _ - _ = x - 2%:R) ?subr_ge0 //; by ring.
have h m : (0 < m)%N -> \sum_(2 <= k < m.+1) (2 ^ k).-1%:R^-1 <= 2%:R / 3%:R - 4%:R / 3%:R / (2 ^ m)%:R :> F.
  case: m => // m _; elim: m => [|m IH].
    rewrite big_geq // expn1 (_ : 4%:R / 3%:R / 2%:R = 2%:R / 3%:R :> F) ?subrr //.
    by field.
  rewrite big_nat_recr //=; have x2 : 2%:R <= (2 ^ m.+1)%:R :> F by rewrite ler_nat -{1}(expn1 2) leq_exp2l.
  rewrite (expnSr 2 m.+1) -subn1 natrB ?muln_gt0 ?power_gt0 // natrM.
  by apply: le_trans (lerD IH (step _ x2)) _; rewrite addrA subrK.
rewrite before_series; apply: le_lt_trans (lerD (lexx _) (h _ n_gt0)) _.
have p0 : 0 < (2 ^ n)%:R^-1 :> F by rewrite invr_gt0 ltr0n power_gt0.
have pos : 0 < 3%:R^-1 + (2 ^ n)%:R^-1 / 3%:R :> F.
  by apply: addr_gt0; [rewrite invr_gt0 ltr0n | apply: divr_gt0; rewrite ?ltr0n].
rewrite -subr_gt0; move: pos; congr (0 < _).
by field; rewrite pnatr_eq0 -lt0n power_gt0.
Qed.

Lemma length_gt0 (i : nat) : (i <= n)%N -> 0 < length_of i.
Proof. by move=> iN; rewrite invr_gt0 ltr0n most_gt0. Qed.

Lemma part_gt0 (i : type) : 0 < part i.
Proof.
rewrite /part; case: ifP => iN; first by rewrite length_gt0 // ltnW.
by rewrite subr_gt0 before_lt1.
Qed.

Lemma served_run (s : seq type) j : uniq s ->
  served whole [seq stage_of i | i <- s] j = if j \in s then part j * (most j)%:R else 0.
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

Lemma part_most (i : type) : (i < n)%N -> part i * (most i)%:R = 1.
Proof. by move=> iN; rewrite /part iN mulVf // pnatr_eq0 -lt0n most_gt0 // ltnW. Qed.

Lemma most_last : most n = 1%N.
Proof.
have mostS i : (0 < i)%N -> most i = (2 ^ (n.+1 - i)).-1 by case: i.
by rewrite mostS // subSnn expn1.
Qed.

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
- move=> j; rewrite served_run ?enum_uniq // mem_enum inE /rho.
  have [jn|nj] := ltnP j n; first by rewrite part_most.
  have -> : nat_of_ord j = n by apply/eqP; rewrite eqn_leq nj -ltnS ltn_ord.
  rewrite most_last mulr1 /part ltnNge nj /= lerBlDr lerDl.
  by apply: sumr_ge0 => i _; apply/ltW/length_gt0/ltnW.
- by rewrite used1.
- by left.
Qed.

Lemma sum_powers : ((\sum_(i < n) 2 ^ i).+1 = 2 ^ n)%N.
Proof. by have := predn_exp 2 n; rewrite mul1n => <-; rewrite prednK ?power_gt0. Qed.

Lemma best_feasible : feasible whole K1 rho best.
Proof.
split.
- move=> p c [<-|//] []; rewrite /capacity -ltnS prednK ?muln_gt0 ?power_gt0 //.
  rewrite big_ord_recl /demand /unit_of /= expn0 !mul1n addn0.
  rewrite (eq_bigr (fun i : 'I_n => 2 ^ i * (2 ^ n).+1)%N) => [|i _]; last by rewrite mul1n addn1.
  by rewrite -big_distrl /= -sum_powers [X in (_ < X)%N]mulSn ltn_add2r.
- by move=> p c [<-|//]; apply: ler01.
- by move=> p; rewrite big_seq1.
- by move=> j; rewrite lexx ler01.
- by move=> j; rewrite sum_one big_seq1 /= mul1r.
Qed.

Lemma value_best : value u best = (2 ^ n)%:R.
Proof.
rewrite /value big_ord_recl /u /rho /unit_of /= expn0 mulr1.
rewrite (eq_bigr (fun i : 'I_n => (2 ^ i)%:R)) => [|i _]; last by rewrite mulr1.
by rewrite -natr_sum -sum_powers [RHS]mulrS.
Qed.

(** A stage but the last earns what its type does, the last earns 2^(n-1) on what is left. *)
Lemma earned_part (i : type) : (i < n)%N -> part i * (worth (alone i))%:R = u i.
Proof. by move=> iN; rewrite /worth sum_alone natrM mulrA part_most // mul1r. Qed.

Lemma best_optimal b : feasible whole K1 rho b -> value u b <= value u best.
Proof.
move=> fb; apply: ler_sum => j _; apply: ler_wpM2l; first exact: ler0n.
by case/andP: (feasible_jobs fb j).
Qed.

(** ** Theorem: on this family greedy keeps exactly the share of the title. *)
Theorem one_resource_keeps : greedy_earns_exactly whole K1 u rho
  (1 - ((2 ^ n)%:R^-1 + \sum_(2 <= k < n.+1) (2 ^ k - 1)%:R^-1) / 2%:R).
Proof.
rewrite (eq_bigr (fun k => (2 ^ k).-1%:R^-1)) => [|k _]; last by rewrite subn1.
exists run, best; split;
  [split; first exact: run_is_greedy | exact: best_feasible | exact: best_optimal | |]; last 2 first.
- by rewrite value_best ltr0n power_gt0.
- rewrite value_best /earned big_map big_enum /=.
rewrite (eq_bigr (fun i : type => part i * (worth (alone i))%:R)) => [|i _]; last first.
  by rewrite /rate sum_one mul1r reward_worth.
rewrite big_ord_recr /= -/series -before_series.
rewrite (eq_bigr (fun i : 'I_n => (2 ^ i.-1)%:R)) => [|i _]; last by rewrite earned_part //= ltn_ord.
have -> : part ord_max * (worth (alone ord_max))%:R = (1 - before) * (2 ^ n.-1)%:R.
  by rewrite /worth sum_alone /= most_last mul1n /part ltnn.
have sum_units m : (\sum_(i < m.+1) 2 ^ i.-1 = 2 ^ m)%N.
  by elim: m => [|m IH]; rewrite big_ord_recr /= ?big_ord0 // IH expnS mul2n addnn.
rewrite -natr_sum; have := sum_units n.-1; rewrite prednK // => ->.
have -> : (2 ^ n)%:R = 2%:R * (2 ^ n.-1)%:R :> F by rewrite -natrM -expnS prednK.
by field.
- by move=> s /(@List.in_map_iff type) [i [<- _]] []; apply: alone_MaxReward.
Qed.

End OneResource.
