(** * The constant 1 - (1 - 1/J)^J is attained for every number J of types

    The family of Proposition 3.10 of the auto-scaling paper with exact numbers, one pool. It is the instance that
    packproof calls [tight_family] (configurations listed) and [tight_family_additive] (with additive resources); here
    with an arbitrary m >= 1 in place of m = J. The J = n + 1 types are numbered 0, ..., n. *)

From mathcomp Require Import all_ssreflect all_algebra ring.
From packproof Require Import Greedy Determined.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(** That of Model.v, not that of mathcomp 2, which means functions that preserve sums. *)
Local Notation additive := Model.additive.

Lemma additive_down (P J R : finType) (d : J -> R -> nat) (c : R -> nat) :
  down_closed (fun _ : P => additive d c).
Proof.
move=> p k k' Kk le r; apply: leq_trans (Kk r); apply: leq_sum => j _.
by rewrite leq_mul2r le orbT.
Qed.

(** ** A lemma of Abel: decreasing weights *)

Section Abel.
Variable F : realFieldType.

(** If all sums from the start are at least 0, so are the sums with weights 1, q, q^2, ... *)
Lemma abel (q : F) (d : nat -> F) L : 0 <= q <= 1 ->
  (forall p, (p < L)%N -> 0 <= \sum_(j < p.+1) d j) -> 0 <= \sum_(j < L) q ^+ j * d j.
Proof.
case/andP=> q0 q1; case: L => [|L] dp; first by rewrite big_ord0.
suff h : q ^+ L * (\sum_(j < L.+1) d j) <= \sum_(j < L.+1) q ^+ j * d j.
  by apply: le_trans h; rewrite mulr_ge0 ?exprn_ge0 ?dp.
elim: L dp => [|L IH] dp; first by rewrite !big_ord_recr !big_ord0 /= !add0r.
have {}IH := IH (fun p pL => dp p (ltn_trans pL (ltnSn _))).
rewrite big_ord_recr /= [X in _ <= X]big_ord_recr /= mulrDr lerD2r.
apply: le_trans IH; apply: ler_wpM2r; first by apply: dp; apply: ltnW.
by rewrite exprS -[X in _ <= X]mul1r ler_wpM2r // exprn_ge0.
Qed.

(** The geometric sum for q = 1 - 1/J. *)
Lemma geometric (J : F) L : J != 0 -> \sum_(j < L) (1 - J^-1) ^+ j = J * (1 - (1 - J^-1) ^+ L).
Proof.
move=> J0; elim: L => [|L IH]; first by rewrite big_ord0 expr0 subrr mulr0.
by rewrite big_ord_recr /= IH exprS; set x := _ ^+ L; field.
Qed.

End Abel.

Section Family.
Variable F : realFieldType.
Variables (n m : nat).
Hypothesis m_gt0 : (0 < m)%N.
Notation J := (n.+1).
Notation type := 'I_n.+1.
Notation config := (configuration type).

Notation q := (@tight_q F n).
Notation u := (@tight_reward F n m).
Notation rho := (@tight_workload F n m).
Notation mixed := (@mixed n m).
Notation alone := (@alone n m).
Notation listed := (@listed n m).
Notation capacity := (@tight_capacity n m).
Notation demand := (@tight_demand n m).

(** The slots of the first n types as a function of natural numbers. *)
Definition at_ (k : config) (j : nat) : nat := k (inord j).

Lemma at_ord (k : config) (j : 'I_n) : k (widen_ord (leqnSn n) j) = at_ k j.
Proof. by congr (k _); apply: val_inj; rewrite /= inordK // ltnS ltnW. Qed.

(** What the resource of an interval allows. *)
Lemma additive_interval k (a p : nat) : additive demand capacity k -> (a <= p)%N -> (p < n)%N ->
  (m * (\sum_(a <= j < p.+1) at_ k j) + (J - (p.+1 - a)) * k ord_max <= J * m)%N.
Proof.
move=> Kk ap pn; have an := leq_ltn_trans ap pn.
have := Kk (Some (exist (fun e : 'I_n * 'I_n => e.1 <= e.2)%N (Ordinal an, Ordinal pn) ap)).
rewrite big_ord_recr /= ltnn /capacity.
rewrite [(k ord_max * _)%N]mulnC; apply: leq_trans; rewrite leq_add2r.
rewrite big_distrr /= big_geq_mkord /= (big_ord_widen_cond n (fun j => (a <= j)%N) (fun j => (m * at_ k j)%N)) //.
rewrite big_mkcond /=; apply: leq_sum => j _; rewrite ltn_ord at_ord ltnS.
by case: ifP => // _; rewrite mulnC.
Qed.

Lemma additive_last k : additive demand capacity k -> (k ord_max <= m)%N.
Proof.
move=> /(_ None); rewrite big_ord_recr /= ltnn /capacity big1 ?add0n.
  by rewrite mulnC leq_pmul2l.
by move=> j _; rewrite ltn_ord muln0.
Qed.

Lemma listed_additive k : listed k -> additive demand capacity k.
Proof.
have down := @additive_down _ _ _ demand capacity tt.
case=> [le|[i iN le]]; apply: (down _ _ _ le) => -[[[a p] /= ap]|]; rewrite /tight_capacity.
- rewrite big_ord_recr /= /mixed ltnn.
  under eq_bigr do rewrite ltn_ord mul1n.
  rewrite -big_mkcond /= sum_nat_const.
  have -> : #|[pred j : 'I_n | (a <= j <= p)%N]| = (p.+1 - a)%N.
    have -> : (p.+1 - a = \sum_(a <= j < p.+1) 1)%N by rewrite sum_nat_const_nat muln1.
    rewrite -sum1_card big_geq_mkord /=.
    by rewrite (big_ord_widen_cond n (fun j => (a <= j)%N) (fun=> 1%N)).
  rewrite [(m * _)%N]mulnC -mulnDl subnKC //.
  by apply: leq_trans (leq_subr _ _) _; apply: leqW.
- rewrite big_ord_recr /= /mixed ltnn big1 ?add0n ?[(m * _)%N]mulnC // => j _.
  by rewrite ltn_ord muln0.
- rewrite (bigD1 i) //= big1 => [|j /negPf ji]; last by rewrite /alone ji.
  by rewrite addn0 /alone eqxx iN leq_mul2l; case: ifP => // _; rewrite leqnn orbT.
- rewrite (bigD1 i) //= big1 => [|j /negPf ji]; last by rewrite /alone ji.
  by rewrite iN muln0.
Qed.

(** *** MaxReward of the types i, ..., n is [alone i] *)

Variable K : config -> Prop.
(** Any set of configurations between the two. *)
Hypothesis K_listed : forall k, listed k -> K k.
Hypothesis K_additive : forall k, K k -> additive demand capacity k.

Definition from (i : type) : {set type} := [set j : type | (i <= j)%N].

Lemma J_neq0 : J%:R != 0 :> F. Proof. by rewrite pnatr_eq0. Qed.
Lemma m_neq0 : m%:R != 0 :> F. Proof. by rewrite pnatr_eq0 -lt0n. Qed.

Lemma q_in01 : 0 <= q <= 1.
Proof.
rewrite /q subr_ge0 invf_le1 ?ltr0n // ler1n /=.
by rewrite gerDl oppr_le0 invr_ge0 ler0n.
Qed.

Lemma u_ge0 j : 0 <= u j.
Proof.
have /andP[q0 _] := q_in01; rewrite /u; case: ifP => _; first exact: exprn_ge0.
by rewrite divr_ge0 ?mulr_ge0 ?exprn_ge0 ?ler0n.
Qed.

Lemma reward_alone (i : type) : reward u (alone i) = J%:R * q ^+ i.
Proof.
rewrite /reward (bigD1 i) //= big1 ?addr0 => [|j /negPf ji]; last by rewrite /alone ji mulr0.
rewrite /alone eqxx /u; case: ifP => iN; first by rewrite mulrC.
have -> : i = n :> nat by apply/eqP; rewrite eqn_leq -ltnS ltn_ord leqNgt iN.
by rewrite mulfVK // m_neq0.
Qed.

Lemma alone_uses i : uses_only (from i) (alone i).
Proof. by move=> j; rewrite inE /alone; case: eqP => // ->; rewrite leqnn. Qed.

Lemma alone_K i : K (alone i).
Proof.
apply: K_listed; case: (ltnP i n) => iN; [right; exists i => // | left] => j.
rewrite /alone /mixed; case: eqP => // ->; by rewrite ltnNge iN.
Qed.

(** The greatest reward, by the prices of the resources that begin at [i] (in the form of Abel's lemma). *)
Lemma reward_le (i : type) k : K k -> uses_only (from i) k -> reward u k <= J%:R * q ^+ i.
Proof.
move=> /K_additive Kk ki; have q01 := q_in01; have /andP[q0 _] := q01.
pose t : F := (k ord_max)%:R / m%:R.
have tm : t <= 1 by rewrite ler_pdivrMr ?ltr0n // mul1r ler_nat additive_last.
have t0 : 0 <= t by rewrite divr_ge0 ?ler0n.
have iN : (i <= n)%N by rewrite -ltnS.
have -> : reward u k = q ^+ i * (\sum_(l < n - i) q ^+ l * (at_ k (i + l))%:R) + J%:R * q ^+ n * t.
  rewrite /reward big_ord_recr /= {2}/u ltnn; congr (_ + _); last by rewrite /t mulrA mulrAC.
  rewrite mulr_sumr; under eq_bigr do rewrite /u /= ltn_ord at_ord.
  rewrite -(big_mkord predT (fun j => q ^+ j * (at_ k j)%:R)) (big_cat_nat _ _ _ (leq0n i) iN) /=.
  rewrite big_nat_cond big1 ?add0r => [|j /andP[/andP[_ ji] _]].
    by rewrite -{1}[nat_of_ord i]add0n big_addn big_mkord; apply: eq_bigr => l _; rewrite addnC exprD mulrA.
  by rewrite /at_ ki ?mulr0 // inE inordK -?ltnNge // ltnS ltnW // (leq_trans ji).
have [iN'|Ni] := ltnP i n; last first.
  have -> : (n - i = 0)%N by apply/eqP.
  have -> : i = n :> nat by apply/eqP; rewrite eqn_leq iN.
  by rewrite big_ord0 mulr0 add0r -[X in _ <= X]mulr1 ler_wpM2l // mulr_ge0 ?ler0n ?exprn_ge0.
pose e l : F := if l == 0%N then J%:R * (1 - t) + t else t.
have eS l : \sum_(j < l.+1) e j = J%:R * (1 - t) + l.+1%:R * t.
  rewrite big_ord_recl /= {1}/e /=; under eq_bigr do rewrite /e /=.
  by rewrite sumr_const card_ord -addrA -[t *+ l]mulr_natl -[l.+1]addn1 natrD; ring.
have sumq : \sum_(l < n - i) q ^+ l * e l = J%:R * (1 - t) + t * (J%:R * (1 - q ^+ (n - i))).
  rewrite -(geometric _ J_neq0) -/q; move: iN'; rewrite -subn_gt0; case: (n - i)%N => // L _.
  rewrite !big_ord_recl /= {1}/e /= expr0; under eq_bigr do rewrite /e /= mulrC.
  by rewrite -mulr_sumr; set S := \sum_(i0 < L) _; ring.
have dp p : (p < n - i)%N -> 0 <= \sum_(l < p.+1) (e l - (at_ k (i + l))%:R).
  move=> pL; rewrite sumrB eS subr_ge0.
  have := @additive_interval k i (i + p) Kk (leq_addr _ _); rewrite -ltn_subRL => /(_ pL).
  rewrite -addnS addKn -{1}[nat_of_ord i]add0n big_addn addKn big_mkord.
  under eq_bigr do rewrite addnC.
  rewrite -(ler_nat F) natrD !natrM natr_sum natrB; last first.
    by apply: leq_trans (leqW pL) _; rewrite ltnS leq_subr.
  set S := \sum_(l < _) _ => h.
  have mF : 0 < m%:R :> F by rewrite ltr0n.
  rewrite -(ler_pM2l mF) -subr_ge0.
  move: h; rewrite -subr_ge0; congr (0 <= _).
  by rewrite /t; move: m_neq0 => ?; field.
have := @abel _ _ (fun l => e l - (at_ k (i + l))%:R) _ q01 dp; under eq_bigr do rewrite mulrBr.
rewrite sumrB sumq => h.
have -> : q ^+ n = q ^+ i * q ^+ (n - i) by rewrite -exprD subnKC.
set A := \sum_(l < _) _ in h *; set Q := q ^+ (n - i) in h *.
rewrite -subr_ge0; have q0i : 0 <= q ^+ i by apply: exprn_ge0.
by have := mulr_ge0 q0i h; congr (0 <= _); ring.
Qed.

(** Among the configurations of types i, ..., n, [alone i] has most slots of type i, and no other has as many. *)
Lemma alone_first (i : type) k : K k -> uses_only (from i) k -> lexicographically_ge (alone i) k.
Proof.
move=> /K_additive Kk ki.
have before (j : type) : (j < i)%N -> k j = alone i j.
  move=> ji; rewrite ki; last by rewrite inE -ltnNge.
  by rewrite /alone; case: eqP => // e; rewrite e ltnn in ji.
have [iN|Ni] := ltnP i n; last first.
  have im : i = ord_max by apply: val_inj; apply/eqP; rewrite eqn_leq Ni -ltnS ltn_ord.
  have := additive_last Kk; rewrite leq_eqVlt => /orP[/eqP km|km]; [left | right].
    move=> j; rewrite /alone; case: eqP => [->|/eqP ji]; first by rewrite ltnNge Ni im km.
    rewrite ki // inE -ltnNge im; rewrite im in ji.
    by rewrite ltn_neqAle -ltnS ltn_ord andbT; apply: contraNneq ji => h; apply/eqP/val_inj.
  have iF : (i < n)%N = false by rewrite ltnNge Ni.
  by exists i; rewrite {1}/alone eqxx iF {1}im; split.
have ii := @additive_interval k i i Kk (leqnn i) iN.
rewrite big_nat1 subSnn subn1 /= in ii.
have ki_at : at_ k i = k i by rewrite /at_ inord_val.
rewrite ki_at in ii.
have kJ : (k i <= J)%N.
  by rewrite -(leq_pmul2l m_gt0) [(m * J)%N]mulnC; apply: leq_trans ii; apply: leq_addr.
move: kJ; rewrite leq_eqVlt => /orP[/eqP kJ|kJ]; last first.
  by right; exists i; rewrite {1}/alone eqxx iN; split.
left=> j; rewrite /alone; case: eqP => [->|/eqP ji]; first by rewrite iN.
have kn : k ord_max = 0%N.
  move: ii; rewrite kJ mulnC -[X in (_ <= X)%N]addn0 leq_add2l leqn0 muln_eq0.
  by case/orP=> /eqP // n0; have := leq_ltn_trans (leq0n i) iN; rewrite lt0n => /eqP.
have [jN|Nj] := ltnP j n; last first.
  suff -> : j = ord_max by rewrite kn.
  by apply: val_inj; apply/eqP; rewrite eqn_leq Nj -ltnS ltn_ord.
have [lt|le] := ltnP j i; first by rewrite before // /alone (negPf ji).
have ij : (i < j)%N by rewrite ltn_neqAle eq_sym le andbT; apply: contraNneq ji => h; apply/eqP/val_inj.
have := @additive_interval k i j Kk le jN.
rewrite kn muln0 addn0 [(J * m)%N]mulnC leq_pmul2l // (big_ltn (le : (i < j.+1)%N)) ki_at kJ.
have sum0 a b : (a + b <= a)%N -> b = 0%N by rewrite -{2}[a]addn0 leq_add2l leqn0 => /eqP.
move=> /sum0; rewrite (big_cat_nat _ _ _ ij (leqnSn j)) /= big_nat1 => /eqP; rewrite addn_eq0.
by case/andP=> _ /eqP; rewrite /at_ inord_val.
Qed.

(** [alone i] is MaxReward of the types i, ..., n, with the tie rule. *)
Lemma alone_MaxReward (i : type) : is_MaxReward (fun _ : unit => K) u tt (from i) (alone i).
Proof.
split; last by move=> k Kk ki _; apply: alone_first.
split; [exact: alone_K | exact: alone_uses | move=> k Kk ki].
by rewrite reward_alone; apply: reward_le.
Qed.

(** *** The greedy run and the best assignment *)

Definition tight_stage (i : type) : stage F _ _ := Stage (from i) (fun _ : unit => alone i) J%:R^-1.
Definition tight_run := [seq tight_stage i | i <- enum 'I_J].

(** All servers hold one job of every type and m of the last. *)
Definition tight_best : assignment F type unit := Assignment (fun=> [:: (mixed, 1)]) rho.

Notation whole := (whole F).

Lemma sum_one (f : unit -> F) : \sum_p f p = f tt.
Proof. by apply: big_pred1 => -[]. Qed.

Lemma sum_equal (s : seq type) (j : type) (c : F) : uniq s ->
  \sum_(i <- s) (if j == i then c else 0) = if j \in s then c else 0.
Proof.
elim: s => [|i s IH] /=; first by rewrite big_nil.
case/andP=> ni us; rewrite big_cons IH // inE; case: eqP => [->|_]; last by rewrite add0r.
by rewrite (negPf ni) addr0.
Qed.

Lemma served_tight (s : seq type) j : uniq s ->
  served whole [seq tight_stage i | i <- s] j = if j \in s then J%:R^-1 * (alone j j)%:R else 0.
Proof.
move=> us; rewrite -sum_equal // /served big_map; apply: eq_bigr => i _.
rewrite /slots sum_one /= /whole mul1r /alone; case: ifP => [/eqP->|]; first by rewrite eqxx.
by rewrite mulr0.
Qed.

Lemma in_before (a : nat) (j : type) : (j \in take a (enum 'I_J)) = (j < a)%N.
Proof. by rewrite in_take ?mem_enum // index_enum_ord. Qed.

Lemma tight_split pre s post : tight_run = pre ++ s :: post ->
  exists i : type, s = tight_stage i /\ pre = [seq tight_stage l | l <- take i (enum 'I_J)].
Proof.
move=> e; have sz : (size pre < J)%N.
  have sJ : size tight_run = J by rewrite size_map size_enum_ord.
  by apply: leq_trans (eq_leq sJ); rewrite e size_cat /= -addSnnS leq_addr.
have i_at := nth_enum_ord ord0 sz.
exists (nth ord0 (enum 'I_J) (size pre)); rewrite i_at; split.
  have := congr1 (fun l => nth s l (size pre)) e; rewrite nth_cat ltnn subnn /= => <-.
  by rewrite (nth_map ord0) ?size_enum_ord.
by have := congr1 (take (size pre)) e; rewrite take_size_cat // -map_take => ->.
Qed.

Lemma alone_self (j : type) : (j < n)%N -> alone j j = J.
Proof. by move=> jn; rewrite /alone eqxx jn. Qed.

Lemma tight_is_run : greedy_run whole (fun _ : unit => K) u rho tight_run.
Proof.
have JF : 0 < J%:R :> F by rewrite ltr0n.
have used1 : used tight_run = 1.
  rewrite /used big_map big_const_seq count_predT size_enum_ord iter_addr addr0 /=.
  by rewrite -[LHS]mulr_natr mulVf // J_neq0.
split.
- by move=> pre s post /tight_split[i [-> _]] /=; rewrite invr_gt0.
- by move=> pre s post /tight_split[i [-> _]] []; case: (alone_MaxReward i).
- move=> pre s post /tight_split[i [-> ->]] j; rewrite inE -ltnNge => ji.
  rewrite served_tight ?take_uniq ?enum_uniq // in_before ji /rho.
  have jn : (j < n)%N by apply: leq_trans ji _; rewrite -ltnS.
  by rewrite jn alone_self // mulVf // J_neq0.
- move=> j; rewrite served_tight ?enum_uniq // mem_enum /rho /alone eqxx inE.
  case: ifP => jn; first by rewrite mulVf // J_neq0.
  by rewrite ler_pdivrMl // ler_pMl ?ltr0n // ler1n.
- by rewrite used1.
- by left.
Qed.

Lemma value_best : value u tight_best = J%:R.
Proof.
rewrite /value big_ord_recr /= {2}/u /rho ltnn divfK ?m_neq0 //.
under eq_bigr do rewrite /u /rho /= ltn_ord mulr1.
by rewrite (geometric _ J_neq0) -/q; set x := q ^+ n; rewrite mulrBr mulr1 subrK.
Qed.

Lemma best_feasible : feasible whole (fun _ : unit => K) rho tight_best.
Proof.
split.
- by move=> p c [<-|//]; apply: K_listed; left.
- by move=> p c [<-|//]; apply: ler01.
- by move=> p; rewrite big_seq1.
- by move=> j; rewrite lexx andbT /= /rho; case: ifP => _; rewrite ?ler01 ?ler0n.
- move=> j; rewrite sum_one big_seq1 /= mul1r /rho /mixed.
  by case: ifP.
Qed.

Lemma best_optimal b : feasible whole (fun _ : unit => K) rho b -> value u b <= value u tight_best.
Proof.
move=> fb; apply: ler_sum => j _; apply: ler_wpM2l; first exact: u_ge0.
by case/andP: (feasible_jobs fb j).
Qed.

(** ** Theorem (B2): the greedy run above keeps exactly 1 - (1 - 1/J)^J of the optimum. *)
Theorem tight : greedy_earns_exactly whole (fun _ : unit => K) u rho (1 - (1 - J%:R^-1) ^+ J).
Proof.
apply: every_run => [p|]; first exact: ler01.
exists tight_run, tight_best.
split; [split; first exact: tight_is_run | exact: best_feasible | exact: best_optimal | by rewrite value_best ltr0n |].
  by move=> s /(@List.in_map_iff type) [i [<- _]] []; apply: alone_MaxReward.
rewrite value_best /earned big_map.
rewrite (eq_bigr (fun i : type => q ^+ i)); last first.
  by move=> i _; rewrite /rate sum_one mul1r reward_alone mulrA mulVf ?mul1r // J_neq0.
by rewrite big_enum /= (geometric _ J_neq0) mulrC.
Qed.

End Family.

(** ** Theorem: the constant is attained where configurations are listed. *)
Theorem tight_listed (F : realFieldType) (n m : nat) : (0 < m)%N ->
  greedy_earns_exactly (whole F) (fun _ : unit => @listed n m) (@tight_reward F n m) (@tight_workload F n m)
    (1 - (1 - n.+1%:R^-1) ^+ n.+1).
Proof. by move=> m0; apply: tight => // k; apply: listed_additive. Qed.

(** ** Theorem: it is attained with additive resources. *)
Theorem tight_additive (F : realFieldType) (n m : nat) : (0 < m)%N ->
  greedy_earns_exactly (whole F) (fun _ : unit => additive (@tight_demand n m) (@tight_capacity n m))
    (@tight_reward F n m) (@tight_workload F n m) (1 - (1 - n.+1%:R^-1) ^+ n.+1).
Proof. by move=> m0; apply: tight => // k; apply: listed_additive. Qed.

(** ** Theorem: there are J (J - 1)/2 + 1 of them. *)
Theorem tight_resources (n : nat) : #|{: resource n}| = (n.+1 * n)%N./2.+1.
Proof.
rewrite card_option card_sig -sum1_card mulnC; congr _.+1.
rewrite big_mkcond -(pair_bigA _ (fun a p : 'I_n => if (a <= p)%N then 1%N else 0%N)) exchange_big /=.
rewrite (eq_bigr (fun p : 'I_n => p.+1)) => [|p _]; last first.
  by rewrite -big_mkcond /= -(big_ord_widen n (fun=> 1%N) (ltn_ord p)) sum1_card card_ord.
elim: n => [|n IH]; first by rewrite big_ord0.
rewrite big_ord_recr IH (_ : n.+1 * n.+2 = n * n.+1 + n.+1.*2)%N; last first.
  by rewrite -muln2 [(n * _)%N]mulnC -mulnDr addn2.
by rewrite halfD odd_double andbF doubleK.
Qed.
