(** * A checker of traffic intensities, proved sound

    The least number of servers, relative to those that there are, whose slots can carry the whole workload. Columns
    attain it, and prices prove that no fewer servers do. *)

From Coq Require Import ZArith QArith List Bool Lia Lqa.
From packproof Require Import CertificateModel Configurations MaxReward Prices Checker.
Import ListNotations.
Open Scope Q_scope.

Lemma inner_mono beta a b : Forall (fun x => 0 <= x) beta -> Forall2 Qle a b -> inner beta a <= inner beta b.
Proof.
  intros N H; revert beta N; induction H as [|x y a b L H IH]; intros [|p beta] N; simpl; try lra.
  inversion N; subst. specialize (IH _ H3). assert (0 <= p * (y - x)) by (apply Qmult_le_0_compat; lra). lra.
Qed.

(** Slots for the workload are worth at least as much as the workload, and at most what their servers are worth. *)
Lemma carries_le m beta gamma z columns : Forall (fun x => 0 <= x) beta ->
  Forall2 (server_price (types m) beta) (pools m) gamma -> carries m z columns ->
  inner beta (workload m) <= z * inner gamma (map fst (pools m)).
Proof.
  intros N G [C S]. eapply Qle_trans; [exact (inner_mono _ _ _ N S)|]. now apply pools_le.
Qed.

(** Whole numbers without a common divisor; then not all are zero. *)
Definition coprime (a : list Q) : bool :=
  forallb (fun x => Pos.eqb (Qden x) 1) a && (fold_right (fun x => Z.gcd (Qnum x)) 0 a =? 1)%Z.

Definition check_intensity (c : intensity_certificate) : bool :=
  let m := traffic c in
  let work := inner (prices c) (workload m) in
  model_ok m && columns_b m (intensity c) (carriers c)
  && forall2b Qeq_bool (slots (types m) (concat (carriers c))) (workload m)
  && forallb (Qle_bool 0) (prices c)
  && forall2b (fun b r => negb (Qeq_bool r 0) || Qeq_bool b 0) (prices c) (workload m)
  && (if existsb (fun r => negb (Qle_bool r 0)) (workload m) then coprime (prices c) && negb (Qle_bool work 0)
      else Qeq_bool (intensity c) 0)
  && Qeq_bool work (intensity c * inner (dearests m (prices c)) (map fst (pools m)))
  && Bool.eqb (supportable c) (negb (Qle_bool 1 (intensity c))).

(** ** Theorem: what the checker accepts is true. *)
Theorem check_intensity_sound c : check_intensity c = true ->
  carries (traffic c) (intensity c) (carriers c)
  /\ (forall z columns, 0 <= z -> carries (traffic c) z columns -> intensity c <= z)
  /\ (supportable c = true <-> intensity c < 1).
Proof.
  intros E. unfold check_intensity in E. set (m := traffic c) in *. set (beta := prices c) in *.
  repeat rewrite andb_true_iff in E. destruct E as [[[[[[[M C] S] N] _] P] W] B].
  assert (N' : Forall (fun x => 0 <= x) beta).
  { apply Forall_forall. intros x I. rewrite forallb_forall in N. now apply Qle_bool_iff, N. }
  split; [|split].
  - split; [exact (columns_b_true _ _ _ C)|].
    apply forall2b_true with (R := Qeq) in S; [|intros x y; apply Qeq_bool_iff].
    clear - S. induction S; constructor; auto. lra.
  - intros z columns Z H. pose proof (carries_le _ _ _ _ _ N' (dearests_prices _ _ N' M) H) as L.
    apply Qeq_bool_iff in W. revert L W.
    generalize (inner beta (workload m)) (inner (dearests m beta) (map fst (pools m))) P. intros w g Q L W.
    destruct (existsb _ _); [|apply Qeq_bool_iff in Q; lra].
    apply andb_true_iff in Q. destruct Q as [_ Q]. apply positive_b in Q.
    destruct (Qlt_le_dec z (intensity c)) as [lt|]; [|assumption].
    exfalso. destruct (Qlt_le_dec 0 g) as [G|G]; nra.
  - apply eqb_prop in B. rewrite B. split.
    + intros F. apply negb_true_iff in F. apply Qnot_le_lt. intros H. apply Qle_bool_iff in H. congruence.
    + intros F. apply negb_true_iff, not_true_is_false. intros H. apply Qle_bool_iff in H. lra.
Qed.
