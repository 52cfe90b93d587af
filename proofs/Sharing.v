(** * A checker of allocations, proved sound

    Bottlenecks prove PS-DSF, and DRF on one server; prices prove that an allocation is max-min fair in one number. *)

From Coq Require Import ZArith QArith List Bool Lia Lqa.
From packproof Require Import CertificateModel Configurations MaxReward Prices Checker.
Import ListNotations.
Open Scope Q_scope.

(** ** Sums *)

Lemma total_le k f g : (forall i, (i < k)%nat -> f i <= g i) -> total k f <= total k g.
Proof.
  induction k as [|k IH]; simpl; intros H; [lra|].
  pose proof (H k (le_n _)). pose proof (IH (fun i L => H i (le_S _ _ L))). lra.
Qed.

Lemma total_eq k f g : (forall i, (i < k)%nat -> f i == g i) -> total k f == total k g.
Proof. intros H. apply Qle_antisym; apply total_le; intros i L; rewrite (H i L); apply Qle_refl. Qed.

Lemma total_plus k f g : total k (fun i => f i + g i) == total k f + total k g.
Proof. induction k as [|k IH]; simpl; [ring|]. rewrite IH. ring. Qed.

Lemma total_times k a f : total k (fun i => a * f i) == a * total k f.
Proof. induction k as [|k IH]; simpl; [ring|]. rewrite IH. ring. Qed.

Lemma total_swap k l f : total k (fun i => total l (f i)) == total l (fun j => total k (fun i => f i j)).
Proof.
  induction k as [|k IH]; simpl.
  - induction l as [|l IH]; simpl; [reflexivity|]. rewrite <- IH. ring.
  - rewrite IH. symmetry. exact (total_plus l (fun j => total k (fun i => f i j)) (f k)).
Qed.

(** Of two sums with one less than the other, some term is less. *)
Lemma some_less k f g : total k f < total k g -> exists i, (i < k)%nat /\ f i < g i.
Proof.
  induction k as [|k IH]; simpl; intros H; [lra|].
  destruct (Qlt_le_dec (f k) (g k)) as [L|L]; [exists k; auto|].
  destruct IH as [i [I F]]; [lra|]. exists i. auto.
Qed.

(** If one term is more and the sum is not, some other term is less. *)
Lemma other_less k f g n : (n < k)%nat -> g n < f n -> total k f <= total k g -> exists i, (i < k)%nat /\ f i < g i.
Proof.
  induction k as [|k IH]; simpl; intros I F H; [lia|].
  destruct (Qlt_le_dec (f k) (g k)) as [L|L]; [exists k; auto|].
  destruct (Nat.eq_dec n k) as [->|N].
  - destruct (some_less k f g) as [i [J G]]; [lra|]. exists i. auto.
  - destruct IH as [i [J G]]; [lia|exact F|lra|]. exists i. auto.
Qed.

Definition below_b (n : nat) (f : nat -> bool) : bool := forallb f (seq 0 n).

Lemma below_b_true n f i : below_b n f = true -> (i < n)%nat -> f i = true.
Proof. intros E I. unfold below_b in E. rewrite forallb_forall in E. apply E, in_seq. lia. Qed.

Lemma nth_nonneg a i : forallb (Qle_bool 0) a = true -> 0 <= nth i a 0.
Proof.
  intros E. destruct (nth_in_or_default i a 0) as [I| ->]; [|lra]. rewrite forallb_forall in E.
  now apply Qle_bool_iff, E.
Qed.

Lemma nth_rows i a : forallb (forallb (Qle_bool 0)) a = true -> forallb (Qle_bool 0) (nth i a []) = true.
Proof. intros E. destruct (nth_in_or_default i a []) as [I| ->]; [|easy]. rewrite forallb_forall in E. auto. Qed.

Lemma less_b x y : negb (Qle_bool y x) = true -> x < y.
Proof. intros E. apply negb_true_iff in E. apply Qnot_le_lt. intros H. apply Qle_bool_iff in H. congruence. Qed.

(** ** Allocations *)

Definition needs_ok (c : cluster) : bool := forallb (forallb (forallb (Qle_bool 0))) (needs c).

Lemma part_nonneg c n i r : needs_ok c = true -> 0 <= part c n i r.
Proof.
  intros E. unfold part, need. apply nth_nonneg. apply nth_rows. unfold needs_ok in E.
  destruct (nth_in_or_default n (needs c) []) as [I| ->]; [|easy]. rewrite forallb_forall in E. auto.
Qed.

Definition is_allocation_b (c : cluster) (x : nat -> nat -> Q) : bool :=
  below_b (users c) (fun n => below_b (classes c) (fun i =>
    Qle_bool 0 (x n i) && (may c n i || Qeq_bool (x n i) 0)))
  && below_b (classes c) (fun i => below_b (resources c) (fun r => Qle_bool (load c x i r) 1)).

Lemma is_allocation_b_true c x : is_allocation_b c x = true -> is_allocation c x.
Proof.
  intros E. apply andb_true_iff in E. destruct E as [E L]. split.
  - intros n i N I. pose proof (below_b_true _ _ _ (below_b_true _ _ _ E N) I) as H. apply andb_true_iff in H.
    destruct H as [H M]. split; [now apply Qle_bool_iff|]. intros F. rewrite F in M. now apply Qeq_bool_iff.
  - intros i r I R. apply Qle_bool_iff. exact (below_b_true _ _ _ (below_b_true _ _ _ L I) R).
Qed.

(** ** Bottlenecks *)

(** A resource that the user needs and that is used up, of which nobody with tasks there is at a higher level. *)
Definition bottleneck_b (c : cluster) (x : nat -> nat -> Q) (n i r : nat) : bool :=
  negb (Qle_bool (part c n i r) 0) && Qeq_bool (load c x i r) 1
  && below_b (users c) (fun p => Qeq_bool (x p i) 0 || Qle_bool (part c p i r) 0
                                 || Qle_bool (level c x p i) (level c x n i)).

Definition is_ps_dsf_b (c : cluster) (x : nat -> nat -> Q) : bool :=
  needs_ok c && is_allocation_b c x
  && below_b (users c) (fun n => below_b (classes c) (fun i =>
       negb (may c n i) || existsb (bottleneck_b c x n i) (seq 0 (resources c)))).

(** Theorem 1 of the PS-DSF paper, the half that certificates need. *)
Lemma is_ps_dsf_b_true c x : is_ps_dsf_b c x = true -> is_ps_dsf c x.
Proof.
  intros E. unfold is_ps_dsf_b in E. repeat rewrite andb_true_iff in E. destruct E as [[P X] B].
  apply is_allocation_b_true in X. split; [exact X|]. intros n y N Y T.
  destruct (some_less _ _ _ T) as [i [I L]].
  assert (M : may c n i = true).
  { destruct (may c n i) eqn:M; [reflexivity|]. destruct X as [X _], Y as [Y _].
    destruct (X n i N I) as [X0 _], (Y n i N I) as [_ Y0]. specialize (Y0 M). lra. }
  pose proof (below_b_true _ _ _ (below_b_true _ _ _ B N) I) as H. cbv beta in H.
  rewrite M in H. simpl in H.
  apply existsb_exists in H. destruct H as [r [R H]]. apply in_seq in R. unfold bottleneck_b in H.
  repeat rewrite andb_true_iff in H. destruct H as [[U F] H]. apply positive_b in U. apply Qeq_bool_iff in F.
  destruct (other_less (users c) (fun p => part c p i r * y p i) (fun p => part c p i r * x p i) n) as [p [J G]];
    [exact N|nra| |].
  - destruct Y as [_ Y]. specialize (Y i r I ltac:(lia)). unfold load in Y, F. lra.
  - pose proof (part_nonneg c p i r P) as V. pose proof (proj1 (proj1 Y p i J I)) as Y0.
    assert (D : y p i < x p i) by (destruct (Qlt_le_dec (y p i) (x p i)) as [D|D]; [exact D|exfalso; nra]).
    exists p, i. split; [exact J|]. split; [intros ->; lra|]. split; [exact I|]. split; [exact M|]. split; [exact D|].
    pose proof (below_b_true _ _ _ H J) as K. repeat rewrite orb_true_iff in K. destruct K as [[K|K]|K].
    + apply Qeq_bool_iff in K. lra.
    + apply Qle_bool_iff in K. exfalso. nra.
    + now apply Qle_bool_iff.
Qed.

(** ** Prices *)

Lemma largest_ge a x : In x a -> x <= largest a.
Proof.
  induction a as [|z a IH]; simpl; [easy|]. intros H. destruct (Qle_bool z (largest a)) eqn:E.
  - apply Qle_bool_iff in E. destruct H as [<-|H]; auto.
  - assert (L : largest a < z).
    { apply Qnot_le_lt. intros F. apply Qle_bool_iff in F. congruence. }
    destruct H as [<-|H]; [lra|]. specialize (IH H). lra.
Qed.

(** What a task costs at the prices of a stage. *)
Definition cost (c : cluster) (s : price_stage) (n i : nat) : Q :=
  total (resources c) (fun r => entry (class_prices s) i r * part c n i r).

(** Everything costs 1, no task is worth more than it costs, and all tasks are worth 1. *)
Definition stage_b (c : cluster) (x : nat -> nat -> Q) (s : price_stage) : bool :=
  forallb (forallb (Qle_bool 0)) (class_prices s) && forallb (Qle_bool 0) (task_values s)
  && Qeq_bool (total (classes c) (fun i => total (resources c) (entry (class_prices s) i))) 1
  && below_b (users c) (fun n => below_b (classes c) (fun i =>
       negb (may c n i) || Qle_bool (nth n (task_values s) 0) (cost c s n i)))
  && Qeq_bool (total (users c) (fun n => nth n (task_values s) 0 * tasks c x n)) 1.

(** Users on the level of a stage: of those whose tasks are worth something, the highest. *)
Definition valued (s : price_stage) (n : nat) : bool := negb (Qle_bool (nth n (task_values s) 0) 0).
Definition stage_level (c : cluster) (h : nat -> Q) (s : price_stage) : Q :=
  largest (map (fun n => if valued s n then h n else 0) (seq 0 (users c))).
Definition on_level (c : cluster) (h : nat -> Q) (s : price_stage) (n : nat) : bool :=
  valued s n && Qeq_bool (h n) (stage_level c h s).

(** At the prices of a stage no allocation is worth more than 1. *)
Lemma worth_le_one c x s y : stage_b c x s = true -> is_allocation c y ->
  total (users c) (fun n => nth n (task_values s) 0 * tasks c y n) <= 1.
Proof.
  intros E [Y L]. unfold stage_b in E. repeat rewrite andb_true_iff in E. destruct E as [[[[P V] S] C] _].
  apply Qeq_bool_iff in S. rewrite <- S.
  apply Qle_trans with (total (users c) (fun n => total (classes c) (fun i => cost c s n i * y n i))).
  - apply total_le. intros n N. unfold tasks. rewrite <- total_times. apply total_le. intros i I.
    destruct (Y n i N I) as [Y0 Y1]. destruct (may c n i) eqn:M.
    + pose proof (below_b_true _ _ _ (below_b_true _ _ _ C N) I) as H. cbv beta in H.
      rewrite M in H. simpl in H.
      apply Qle_bool_iff in H. now apply Qmult_le_compat_r.
    + rewrite (Y1 eq_refl). lra.
  - rewrite total_swap. apply total_le. intros i I.
    apply Qle_trans with (total (resources c) (fun r => entry (class_prices s) i r * load c y i r)).
    + apply Qle_lteq. right. unfold load.
      rewrite (total_eq _ (fun r => entry (class_prices s) i r * _) (fun r => total (users c)
        (fun n => entry (class_prices s) i r * (part c n i r * y n i)))).
      * rewrite total_swap. apply total_eq. intros n _. unfold cost. rewrite Qmult_comm, <- total_times.
        apply total_eq. intros r _. ring.
      * intros r _. symmetry. apply total_times.
    + apply total_le. intros r R. assert (0 <= entry (class_prices s) i r) by (apply nth_nonneg; now apply nth_rows).
      specialize (L i r I R). nra.
Qed.

Lemma on_level_true c x h s n y : stage_b c x s = true -> on_level c h s n = true -> (n < users c)%nat ->
  is_allocation c y -> tasks c x n < tasks c y n ->
  exists p, (p < users c)%nat /\ tasks c y p < tasks c x p /\ h p <= h n.
Proof.
  intros E O N Y T. pose proof (worth_le_one _ _ _ _ E Y) as W. unfold stage_b in E.
  repeat rewrite andb_true_iff in E. destruct E as [[[[_ V] _] _] One]. apply Qeq_bool_iff in One.
  apply andb_true_iff in O. destruct O as [O H]. apply Qeq_bool_iff in H. apply positive_b in O.
  destruct (other_less (users c) (fun p => nth p (task_values s) 0 * tasks c y p)
    (fun p => nth p (task_values s) 0 * tasks c x p) n) as [p [J G]]; [exact N| | |].
  { apply Qmult_lt_l; assumption. }
  { eapply Qle_trans; [exact W|]. rewrite <- One. apply Qle_refl. }
  assert (Q : 0 <= nth p (task_values s) 0) by now apply nth_nonneg.
  assert (D : tasks c y p < tasks c x p).
  { destruct (Qlt_le_dec (tasks c y p) (tasks c x p)) as [D|D]; [exact D|exfalso; nra]. }
  exists p. split; [exact J|]. split; [exact D|]. rewrite H. unfold stage_level. apply largest_ge, in_map_iff.
  exists p. split; [|apply in_seq; lia]. unfold valued.
  destruct (Qle_bool (nth p (task_values s) 0) 0) eqn:Z; [|reflexivity].
  apply Qle_bool_iff in Z. exfalso. assert (nth p (task_values s) 0 == 0) as Z0 by lra. rewrite Z0 in G. lra.
Qed.

(** The stages in order, each with a further user on its level; [done] are those before. *)
Fixpoint stages_b (c : cluster) (x : nat -> nat -> Q) (h : nat -> Q) (reached : Q) (done : nat -> bool)
    (stages : list price_stage) : bool :=
  match stages with
  | [] => below_b (users c) done
  | s :: stages =>
      stage_b c x s && Qle_bool reached (stage_level c h s)
      && negb (below_b (users c) (fun n => negb (on_level c h s n) || done n))
      && stages_b c x h (stage_level c h s) (fun n => done n || on_level c h s n) stages
  end.

Lemma stages_b_true c x h reached done stages n : stages_b c x h reached done stages = true -> (n < users c)%nat ->
  done n = true \/ exists s, stage_b c x s = true /\ on_level c h s n = true.
Proof.
  revert reached done; induction stages as [|s stages IH]; simpl; intros reached done E N.
  - left. exact (below_b_true _ _ _ E N).
  - repeat rewrite andb_true_iff in E. destruct E as [[[S _] _] E]. destruct (IH _ _ E N) as [H|H]; [|now right].
    apply orb_true_iff in H. destruct H as [H|H]; [now left|]. right. now exists s.
Qed.

Definition is_max_min_fair_b (c : cluster) (h : nat -> Q) (x : nat -> nat -> Q) (stages : list price_stage) : bool :=
  is_allocation_b c x && stages_b c x h 0 (fun _ => false) stages.

Lemma is_max_min_fair_b_true c h x stages : is_max_min_fair_b c h x stages = true -> is_max_min_fair c h x.
Proof.
  intros E. apply andb_true_iff in E. destruct E as [X E]. split; [now apply is_allocation_b_true|].
  intros n y N Y T. destruct (stages_b_true _ _ _ _ _ _ n E N) as [F|[s [S O]]]; [easy|].
  exact (on_level_true _ _ _ _ _ _ S O N Y T).
Qed.

(** ** The checker *)

Definition check_allocation (a : allocation_certificate) : bool :=
  let c := shared a in
  let x := entry (placed a) in
  below_b (users c) (fun n => Qeq_bool (nth n (claimed a) 0) (tasks c x n))
  && match mech a, price_stages a with
     | DRF, [] => Nat.eqb (classes c) 1 && is_ps_dsf_b c x
     | PS_DSF, [] => is_ps_dsf_b c x
     | PS_DSF_TDM, [] => is_ps_dsf_b (timed c) x
     | C_DRFH, stages | CDRF, stages | TSF, stages => is_max_min_fair_b c (height (mech a) c x) x stages
     | _, _ => false
     end.

(** ** Theorem: what the checker accepts is true. *)
Theorem check_allocation_sound a : check_allocation a = true ->
  is_fair (mech a) (shared a) (entry (placed a))
  /\ forall n, (n < users (shared a))%nat -> nth n (claimed a) 0 == tasks (shared a) (entry (placed a)) n.
Proof.
  intros E. apply andb_true_iff in E. destruct E as [C E]. split.
  - unfold is_fair. destruct (mech a) eqn:M; try (destruct (price_stages a); [|easy]).
    2-3: now apply is_ps_dsf_b_true.
    2-4: now apply is_max_min_fair_b_true with (price_stages a).
    apply andb_true_iff in E. destruct E as [E P]. split; [now apply Nat.eqb_eq|now apply is_ps_dsf_b_true].
  - intros n N. apply Qeq_bool_iff. exact (below_b_true _ _ _ C N).
Qed.
