(** * Shapes of what certificates list: lengths, signs, and sets of configurations that are closed downwards *)

From Coq Require Import ZArith QArith List Bool Lia Lqa.
From packproof Require Import CertificateModel Configurations MaxReward Prices Checker.
Import ListNotations.
Open Scope Q_scope.

Lemma fits_nonneg_numbers demands capacity k : fits demands capacity k -> Forall (fun s => 0 <= s)%Z k.
Proof.
  revert capacity k; induction demands as [|row demands IH]; intros capacity [|s k]; simpl; try easy.
  intros [S F]. constructor; eauto.
Qed.

Lemma feasible_shape J room k : feasible J room k -> length k = J /\ Forall (fun s => 0 <= s)%Z k.
Proof.
  intros [L F]. split; [exact L|]. destruct room as [capacity demands|tops]; [|exact (proj1 F)].
  exact (fits_nonneg_numbers _ _ _ F).
Qed.

Lemma less_mono capacity capacity' s s' row : forallb (fun d => 0 <=? d)%Z row = true -> (s' <= s)%Z ->
  Forall2 Z.le capacity capacity' -> Forall2 Z.le (less capacity s row) (less capacity' s' row).
Proof.
  intros R S H; revert row R; induction H as [|c c' capacity capacity' L H IH]; intros [|d row] R; simpl;
    try constructor.
  - simpl in R. apply andb_true_iff in R. destruct R as [R _]. apply Z.leb_le in R. nia.
  - apply IH. simpl in R. now apply andb_true_iff in R.
Qed.

Lemma fits_down n demands capacity capacity' k k' : forallb (row_ok n) demands = true ->
  Forall2 Z.le capacity capacity' -> Forall2 Z.le k' k -> Forall (fun s => 0 <= s)%Z k' ->
  fits demands capacity k -> fits demands capacity' k'.
Proof.
  revert capacity capacity' k k'; induction demands as [|row demands IH]; intros capacity capacity' k k' D C H N F;
    destruct k as [|s k]; try easy; inversion H as [|s' ? k'' ? S T]; subst; simpl in *.
  - clear - C F. induction C; inversion F; subst; constructor; auto. lia.
  - apply andb_true_iff in D. destruct D as [R D]. inversion N; subst. destruct F as [_ F]. split; [assumption|].
    unfold row_ok in R. repeat rewrite andb_true_iff in R. destruct R as [[_ R] _].
    exact (IH _ _ _ _ D (less_mono _ _ _ _ _ R S C) T H3 F).
Qed.

Lemma feasible_down J room k k' : room_ok J room = true -> Forall2 Z.le k' k -> Forall (fun s => 0 <= s)%Z k' ->
  feasible J room k -> feasible J room k'.
Proof.
  intros R H N [L F]. split; [rewrite <- L; exact (same_length _ _ _ H)|].
  destruct room as [capacity demands|tops]; simpl in *.
  - apply andb_true_iff in R. apply fits_down with (length capacity) capacity k; try easy.
    clear. induction capacity; constructor; auto. lia.
  - split; [exact N|]. destruct F as [_ E]. apply Exists_exists in E. destruct E as [t [I E]]. apply Exists_exists.
    exists t. split; [exact I|]. clear - H E. revert t E; induction H as [|s' s k' k S H IH]; intros t E;
      inversion E; subst; constructor; auto. lia.
Qed.

Lemma check_model_ok c : check c = true -> model_ok (model c) = true.
Proof.
  unfold check. destruct (scale _). intros E. apply andb_true_iff in E. destruct E as [E _].
  now apply andb_true_iff in E.
Qed.

Lemma model_ok_shape m : model_ok m = true ->
  Forall (fun x => 0 < x) (rewards m) /\ length (workload m) = types m
  /\ Forall (fun p => 0 < fst p /\ room_ok (types m) (snd p) = true) (pools m).
Proof.
  unfold model_ok. intros E. repeat rewrite andb_true_iff in E. destruct E as [[[[[U L] _] P] _] R].
  rewrite forallb_forall in U, P, R. split; [|split].
  - apply Forall_forall. intros x I. now apply positive_b, U.
  - now apply Nat.eqb_eq.
  - apply Forall_forall. intros p I. split; [now apply positive_b, P|now apply R].
Qed.

(** *** Whole numbers as differences of natural numbers *)

Lemma Z_parts z a b : z = (Z.of_nat a - Z.of_nat b)%Z -> (Z.to_nat z + b = Z.to_nat (- z) + a)%nat.
Proof. lia. Qed.

Lemma Z_add_parts x y :
  (x + y = Z.of_nat (Z.to_nat x + Z.to_nat y) - Z.of_nat (Z.to_nat (- x) + Z.to_nat (- y)))%Z.
Proof. lia. Qed.

Lemma Z_mul_parts x y :
  (x * y = Z.of_nat (Z.to_nat x * Z.to_nat y + Z.to_nat (- x) * Z.to_nat (- y))
           - Z.of_nat (Z.to_nat x * Z.to_nat (- y) + Z.to_nat (- x) * Z.to_nat y))%Z.
Proof.
  rewrite !Nat2Z.inj_add, !Nat2Z.inj_mul.
  assert (X : x = (Z.of_nat (Z.to_nat x) - Z.of_nat (Z.to_nat (- x)))%Z) by lia.
  assert (Y : y = (Z.of_nat (Z.to_nat y) - Z.of_nat (Z.to_nat (- y)))%Z) by lia.
  rewrite X at 1. rewrite Y at 1. ring.
Qed.

Lemma Z_le_parts x y : (x <= y)%Z -> (y = x + Z.of_nat (Z.to_nat (y - x)))%Z.
Proof. lia. Qed.

Lemma Z_lt_parts x y : (x < y)%Z -> (y = x + Z.of_nat (S (Z.to_nat (y - x - 1))))%Z.
Proof. lia. Qed.

Definition keeps (share : Q) (c : certificate) : Prop := share * optimal_reward c <= greedy_reward c.
Definition share_632 : Q := 79 # 125.
