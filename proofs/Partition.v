(** * The guarantee of any partition of sizes, and that of the universal partition with its reduced configurations

    Section V of the high-throughput paper. Sizes above 1/N are sorted into finitely many cells; as in Cells.v a law of
    sizes enters only by the mean numbers of jobs by cell. *)

From mathcomp Require Import all_ssreflect all_algebra ring.
From packproof Require Import Greedy Universal Cells Duality.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Carried.
Variables (F : realFieldType) (J : finType).
Implicit Types K : (J -> nat) -> Prop.

Lemma carried_sub K K' (n : J -> F) : (forall k, K k -> K' k) -> carried K n -> carried K' n.
Proof. by move=> KK' [mix [mixP mix1 nE]]; exists mix; split=> // e /mixP[/KK']. Qed.

(** A workload in service on servers is carried by the numbers of jobs by cell on these servers. *)
Lemma supported_carried (ok : J -> F -> Prop) K (n : J -> F) :
  (forall l : seq (J * F), (forall c, c \in l -> ok c.1 c.2) -> \sum_(c <- l) c.2 <= 1 ->
     K (fun c => count (fun d => d.1 == c) l)) -> supported ok n -> carried K n.
Proof.
move=> okK [lists s]; exists [seq (fun c => count (fun d => d.1 == c) e.1, e.2) | e <- lists]; split.
- move=> e /(@List.in_map_iff (seq (J * F) * F) ((J -> nat) * F)) [d [<- /In_mem dl]] /=.
  split; last by apply: (list_share s).
  by apply: okK; [apply: (list_allowed s dl) | apply: (list_fits s dl)].
- by rewrite big_map (list_shares s).
- by move=> c; rewrite big_map (list_serves s).
Qed.

End Carried.

Section Guarantee.
Variables (F : realFieldType) (C : finType) (low top : C -> F) (N : nat).
Hypothesis low_top : forall c, low c < top c.
Hypothesis low_gt : forall c, 1 < N%:R * low c.
Notation content := (content low).
Notation rounded := (rounded top).
Notation cell := (in_cell low top).

Lemma low_gt0 c : 0 < low c.
Proof.
by have := lt_trans ltr01 (low_gt c); case: (N) => [|n]; rewrite ?mul0r ?ltxx // pmulr_rgt0 ?ltr0n.
Qed.

Lemma top_gt0 c : 0 < top c. Proof. exact: lt_trans (low_gt0 c) (low_top c). Qed.

(** The rounded configurations, each once; they have less than N jobs of a cell. *)
Definition rounded_list : seq (C -> nat) :=
  [seq (fun c => nat_of_ord (f c)) | f : {ffun C -> 'I_N} <- enum {ffun C -> 'I_N} &
     \sum_c (f c)%:R * top c <= 1].

Lemma rounded_listP k : List.In k rounded_list -> rounded k.
Proof.
rewrite /rounded_list => /(@List.in_map_iff {ffun C -> 'I_N} (C -> nat)) [f [<- fl]].
by elim: (enum _) fl => [//|g l IH] /=; case: ifP => [ok [<-|/IH]|_ /IH].
Qed.

Lemma in_rounded_list k : rounded k -> exists2 r, List.In r rounded_list & forall c, k c = r c.
Proof.
move=> kR; have kN c : (k c < N)%N.
  rewrite ltnNge; apply: contraTN kR => Nk; rewrite -ltNge; apply: lt_le_trans (low_gt c) _.
  apply: (@le_trans _ _ ((k c)%:R * top c)).
    by apply: ler_pM; rewrite ?ler0n ?ler_nat ?ltW ?low_gt0.
  rewrite (bigD1 c) //= lerDl; apply: sumr_ge0 => d _.
  by rewrite mulr_ge0 ?ler0n // ltW ?top_gt0.
pose f := [ffun c => Ordinal (kN c)]; exists (fun c => nat_of_ord (f c)); last by move=> c; rewrite ffunE.
apply/(@List.in_map_iff {ffun C -> 'I_N} (C -> nat)); exists f; split=> //.
have : f \in enum {ffun C -> 'I_N} by rewrite mem_enum.
have fR : \sum_c (f c)%:R * top c <= 1 by under eq_bigr do rewrite ffunE.
elim: (enum _) => [//|g l IH]; rewrite inE /= => /orP[/eqP<-|/IH]; first by rewrite fR; left.
by case: ifP => // _ ?; right.
Qed.

(** ** Theorem: the jobs of a server that sizes just above the lower ends allow have real sizes, one for each cell. *)
Theorem content_law m : content m ->
  exists size : C -> F, (forall c, cell c (size c)) /\ supported (fun c x => x = size c) (fun c => (m c)%:R).
Proof.
rewrite /content -subr_gt0; set d := 1 - _ => d0; pose n := (\sum_c m c)%N.
have n0 : 0 < n.+1%:R :> F by rewrite ltr0n.
pose size c := low c + Num.min (top c - low c) (d / n.+1%:R).
exists size; split=> [c|].
  rewrite /in_cell /size ltrDl lt_min subr_gt0 low_top divr_gt0 //=.
  by rewrite -lerBrDl ge_min lexx.
pose l := flatten [seq nseq (m c) (c, size c) | c <- enum C].
have lS c : c \in l -> c.2 = size c.1 by move=> /flattenP[_ /mapP[b _ ->] /nseqP[-> _]].
have lC c : count (fun e => e.1 == c) l = m c.
  rewrite /l count_flatten -map_comp sumnE big_map big_enum /= (bigD1 c) //= big1 ?addn0 => [|b /negPf bc].
    by rewrite count_nseq /= eqxx mul1n.
  by rewrite count_nseq /= bc mul0n.
exists [:: (l, 1)]; split=> [e|e|e||c]; rewrite ?big_seq1 ?mul1r ?lC //.
- by rewrite inE => /eqP->; apply: lS.
- rewrite inE => /eqP-> /=; rewrite big_seq (eq_bigr (fun c => size c.1)) => [|c /lS->//].
  rewrite -big_seq sum_by_cell; under eq_bigr do rewrite lC /size mulrDr.
  rewrite big_split /= -lerBrDl -/d.
  apply: (@le_trans _ _ (n%:R * (d / n.+1%:R))).
    rewrite /n natr_sum mulr_suml; apply: ler_sum => c _; apply: ler_wpM2l; first exact: ler0n.
    by rewrite ge_min lexx orbT.
  by rewrite mulrCA -[X in _ <= X]mulr1; apply: ler_wpM2l; [exact: ltW | rewrite ler_pdivrMr // mul1r ler_nat].
- by rewrite inE => /eqP->; apply: ler01.
Qed.

Lemma content_of_list (l : seq (C * F)) : (forall c, c \in l -> cell c.1 c.2) -> \sum_(c <- l) c.2 <= 1 ->
  content (fun c => count (fun d => d.1 == c) l).
Proof.
move=> ok fit; rewrite /content -sum_by_cell.
case: l ok fit => [|c l] ok fit; first by rewrite big_nil ltr01.
apply: lt_le_trans fit; rewrite !big_cons; apply: ltr_leD; first by case/andP: (ok c (mem_head _ _)).
rewrite !big_seq; apply: ler_sum => d dl; apply/ltW.
by have /andP[] : cell d.1 d.2 by apply: ok; rewrite inE dl orbT.
Qed.

Variable G : F.
Hypothesis G_gt0 : 0 < G.
Notation kept := (forall n, supported cell n -> carried rounded (fun c => n c / G)).

Lemma weights_of_kept : kept -> (forall m, content m -> carried rounded (fun c => (m c)%:R / G)).
Proof.
move=> keeps m /content_law[size [sizeP [lists s]]]; apply: keeps.
exists lists; split; try by case: s.
by move=> e el c cl; rewrite (list_allowed s el cl).
Qed.

Lemma kept_of_weights : (forall Q M, (forall c, 0 <= Q c) -> 0 <= M -> (forall k, rounded k -> reward Q k <= M) ->
    forall m, content m -> reward Q m <= G * M) -> kept.
Proof.
move=> weights n /(supported_carried (K := content) content_of_list) nC.
apply: (@carried_sub _ _ (fun k => List.In k rounded_list)) => [k /rounded_listP//|].
apply: (proj1 (weights_decide_workloads content rounded_list G_gt0)) => // Q M Q0 M0 RM.
apply: weights => // k /in_rounded_list[r /RM rM kr].
apply: le_trans rM; rewrite /reward (eq_bigr (fun c => Q c * (r c)%:R)) // => c _; by rewrite kr.
Qed.

Lemma weights_of_jobs : (forall m, content m -> carried rounded (fun c => (m c)%:R / G)) ->
  (forall Q M, (forall c, 0 <= Q c) -> 0 <= M -> (forall k, rounded k -> reward Q k <= M) ->
    forall m, content m -> reward Q m <= G * M).
Proof.
move=> jobs Q M Q0 M0 RM m mC; have := carried_weight (jobs m mC) Q0 M0 RM.
by under eq_bigr do rewrite mulrA; rewrite -mulr_suml ler_pdivrMr // mulrC.
Qed.

(** ** Theorem: whatever real sizes support is carried by [G] times as many servers if sizes are rounded up, exactly if
    the jobs of each single server are; ... *)
Theorem partition_guarantee : kept <-> forall m, content m -> carried rounded (fun c => (m c)%:R / G).
Proof. by split=> [/weights_of_kept//|/weights_of_jobs/kept_of_weights]. Qed.

(** ** Theorem: ... and exactly if, for any weights, no such jobs weigh more than [G] times the heaviest rounded
    ones. *)
Theorem partition_weights : kept <->
  forall Q M, (forall c, 0 <= Q c) -> 0 <= M -> (forall k, rounded k -> reward Q k <= M) ->
    forall m, content m -> reward Q m <= G * M.
Proof. by split=> [/weights_of_kept/weights_of_jobs|/kept_of_weights]. Qed.

End Guarantee.

(** ** The universal partition *)

Section UniversalPartition.
Variables (F : realFieldType) (J : nat).
Hypothesis J_ge2 : (1 < J)%N.

(** The reduced configurations in a list. *)
Definition reduced_list : seq (nat -> nat) :=
  [seq single m.*2 (2 ^ m) | m <- iota 0 J] ++
  [seq single m.+1.*2.+1 (3 * 2 ^ m) | m <- iota 0 J.-1] ++
  [seq (fun j => single 1 1 j + single m.+2.*2 (2 ^ m.+2 %/ 3) j)%N | m <- iota 0 J.-2] ++
  [seq (fun j => single 1 1 j + single m.+1.*2.+1 (2 ^ m) j)%N | m <- iota 0 J.-1].

Lemma in_reduced_list r : List.In r reduced_list <-> reduced J r.
Proof.
have In_iota m n : List.In m (iota 0 n) <-> (m < n)%N by rewrite In_mem mem_iota.
have map_iota (f : nat -> nat -> nat) n : List.In r [seq f m | m <- iota 0 n] <-> exists2 m, (m < n)%N & f m = r.
  rewrite List.in_map_iff; split=> [[m [e /In_iota mn]]|[m /In_iota mn e]]; by exists m.
rewrite !List.in_app_iff !map_iota -!subn1 -!subnDA.
split=> [[|[|[|]]] [m h <-]|]; try by constructor; move: h; rewrite ?ltn_subRL.
by case=> m h; [left | right; left | right; right; left | right; right; right]; exists m => //; rewrite ltn_subRL.
Qed.

Notation low := (fun j : 'I_J.*2 => inf_size F j).
Notation top := (fun j : 'I_J.*2 => max_size F j).
Notation is_reduced := (fun k : 'I_J.*2 -> nat => exists2 r, reduced J r & forall j, k j = r j).

(** ** Theorem: what real sizes support, reduced configurations carry but for the factor 2/3. *)
Theorem universal_workloads n :
  supported (in_cell low top) n -> carried is_reduced (fun j => 2%:R / 3%:R * n j).
Proof.
have c0 : 0 < 3%:R / 2%:R :> F by rewrite divr_gt0 ?ltr0n.
move=> /(supported_carried (K := content low) (@content_of_list _ _ low top)) nC.
pose R := [seq (fun j : 'I_J.*2 => r j) | r : nat -> nat <- reduced_list].
have [] := proj1 (weights_decide_workloads (content low) R c0) _ n nC.
  move=> Q M Q0 M0 RM k kC.
  pose ext (T : Type) (z : T) (f : 'I_J.*2 -> T) j := if insub j is Some i then f i else z.
  have extE (T : Type) (z : T) f (j : 'I_J.*2) : ext T z f j = f j.
    by rewrite /ext insubT // => jJ; congr f; apply: val_inj.
  have extW r : weight J (ext F 0 Q) r = reward Q (fun j => r j) by apply: eq_bigr => j _; rewrite extE.
  have := @universal_two_thirds F J (ext F 0 Q) M J_ge2 _ _ (ext nat 0%N k) _.
  rewrite extW /reward (eq_bigr (fun j => Q j * (k j)%:R)) => [|j _]; last by rewrite extE.
  apply=> [j|r /in_reduced_list rR|].
  - by rewrite /ext; case: insubP.
  - by rewrite extW; apply/RM/(@List.in_map_iff (nat -> nat) ('I_J.*2 -> nat)); exists r.
  - by move: kC; congr (_ < _); apply: eq_bigr => j _; rewrite extE mulrC.
move=> mix [mixP mix1 nE]; exists mix; split=> // [e /mixP[eR e0]|j].
  by move: eR => /(@List.in_map_iff (nat -> nat) ('I_J.*2 -> nat)) [r [<- /in_reduced_list rR]]; split=> //; exists r.
by apply: le_trans (nE j); rewrite invf_div mulrC.
Qed.

(** The reduced configurations fit a server once sizes are rounded up. *)
Lemma reduced_rounded r : reduced J r -> weight J (max_size F) r <= 1.
Proof.
have even m : max_size F m.*2 = (2%:R ^+ m)^-1 by rewrite /max_size odd_double doubleK div1r.
have odd m : max_size F m.*2.+1 = 2%:R / 3%:R / 2%:R ^+ m by rewrite /max_size half_double_S /= odd_double.
have one : max_size F 1 = 2%:R / 3%:R by rewrite /max_size /= expr0 divr1.
have two_gt0 m : 0 < 2%:R ^+ m :> F by rewrite exprn_gt0 // ltr0n.
case=> m mJ.
- by rewrite weight_single ?even_lt // even natrX mulVf // gt_eqF.
- rewrite weight_single ?odd_lt // odd natrM natrX exprS; have := two_gt0 m; move: (_ ^+ m) => x x0.
  by rewrite le_eqVlt; apply/orP; left; apply/eqP; field; rewrite gt_eqF.
- rewrite weight_two ?one_lt ?even_lt // one even [_^-1 * _]mulrC.
  have y0 := two_gt0 m.+2.
  have h : (2 ^ m.+2 %/ 3)%:R <= 2%:R ^+ m.+2 / 3%:R :> F.
    by rewrite ler_pdivlMr ?ltr0n // -natrM -natrX ler_nat leq_trunc_div.
  apply: (@le_trans _ _ (2%:R / 3%:R + 2%:R ^+ m.+2 / 3%:R / 2%:R ^+ m.+2)).
    by rewrite lerD2l; apply: ler_wpM2r => //; rewrite invr_ge0 ltW.
  move: (_ ^+ m.+2) y0 => y y0.
  by rewrite le_eqVlt; apply/orP; left; apply/eqP; field; rewrite gt_eqF.
- rewrite weight_two ?one_lt ?odd_lt // one odd natrX exprS; have := two_gt0 m; move: (_ ^+ m) => x x0.
  by rewrite le_eqVlt; apply/orP; left; apply/eqP; field; rewrite gt_eqF.
Qed.

(** ** Theorem: so the cells of the universal partition keep 2/3 if their sizes are rounded up. *)
Theorem universal_keeps n : supported (in_cell low top) n -> carried (rounded top) (fun j => 2%:R / 3%:R * n j).
Proof.
move=> /universal_workloads; apply: carried_sub => k [r rR kr].
apply: le_trans (reduced_rounded rR); rewrite le_eqVlt; apply/orP; left; apply/eqP.
by apply: eq_bigr => j _; rewrite kr mulrC.
Qed.

End UniversalPartition.
