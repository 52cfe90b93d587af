(** * Deciding whether a configuration is MaxReward *)

From Coq Require Import ZArith QArith List Bool Lia Lqa.
From packproof Require Import CertificateModel Configurations.
Import ListNotations.
Open Scope Q_scope.

Fixpoint forall2b {A B} (f : A -> B -> bool) (a : list A) (b : list B) : bool :=
  match a, b with
  | [], [] => true
  | x :: a, y :: b => f x y && forall2b f a b
  | _, _ => false
  end.

Lemma forall2b_true {A B} (f : A -> B -> bool) (R : A -> B -> Prop) a b :
  (forall x y, f x y = true -> R x y) -> forall2b f a b = true -> Forall2 R a b.
Proof.
  intros H; revert b; induction a as [|x a IH]; intros [|y b]; simpl; try easy; try (now constructor).
  intros E. apply andb_true_iff in E. destruct E. constructor; auto.
Qed.

Lemma true_forall2b {A B} (f : A -> B -> bool) (R : A -> B -> Prop) a b :
  (forall x y, R x y -> f x y = true) -> Forall2 R a b -> forall2b f a b = true.
Proof. intros H. induction 1; simpl; auto. apply andb_true_iff. auto. Qed.

Lemma weaker {A B} (R R' : A -> B -> Prop) a b : (forall x y, R x y -> R' x y) -> Forall2 R a b -> Forall2 R' a b.
Proof. induction 2; constructor; auto. Qed.

Lemma same_length {A B} (R : A -> B -> Prop) a b : Forall2 R a b -> length a = length b.
Proof. induction 1; simpl; congruence. Qed.

Definition nonneg (a : list Z) : bool := forallb (fun s => 0 <=? s)%Z a.

Lemma nonneg_Forall a : nonneg a = true <-> Forall (fun s => 0 <= s)%Z a.
Proof.
  unfold nonneg. rewrite forallb_forall, Forall_forall.
  split; intros H x Hx; specialize (H x Hx); [now apply Z.leb_le | now apply Z.leb_le].
Qed.

(** Data of the right shape: demands with a positive entry, lists of one number a type. *)
Definition room_ok (J : nat) (room : space) : bool :=
  match room with
  | Additive capacity demands => Nat.eqb (length demands) J && forallb (row_ok (length capacity)) demands
  | Listed tops => forallb (fun top => Nat.eqb (length top) J && nonneg top) tops
  end.

Fixpoint fits_b (demands : list (list Z)) (capacity k : list Z) : bool :=
  match demands, k with
  | [], [] => nonneg capacity
  | row :: demands, s :: k => (0 <=? s)%Z && fits_b demands (less capacity s row) k
  | _, _ => false
  end.

Lemma fits_b_true demands capacity k : fits_b demands capacity k = true -> fits demands capacity k.
Proof.
  revert capacity k; induction demands as [|row demands IH]; intros capacity [|s k]; simpl; try easy.
  - apply nonneg_Forall.
  - intros E. apply andb_true_iff in E. destruct E as [E1 E2]. split; [now apply Z.leb_le | auto].
Qed.

Definition feasible_b (J : nat) (room : space) (k : list Z) : bool :=
  Nat.eqb (length k) J &&
  match room with
  | Additive capacity demands => fits_b demands capacity k
  | Listed tops => nonneg k && existsb (forall2b Z.leb k) tops
  end.

Lemma feasible_b_true J room k : feasible_b J room k = true -> feasible J room k.
Proof.
  unfold feasible_b, feasible. intros E. apply andb_true_iff in E. destruct E as [E1 E2].
  split; [now apply Nat.eqb_eq|]. destruct room; [now apply fits_b_true|].
  apply andb_true_iff in E2. destruct E2 as [E2 E3]. split; [now apply nonneg_Forall|].
  apply existsb_exists in E3. destruct E3 as [t [Ht E3]]. apply Exists_exists. exists t. split; auto.
  eapply forall2b_true; [|exact E3]. intros x y. apply Z.leb_le.
Qed.

Definition only_b (left : list bool) (k : list Z) : bool := forall2b (fun (l : bool) s => l || (s =? 0)%Z) left k.

Lemma only_b_iff left k : only_b left k = true <-> only left k.
Proof.
  unfold only_b, only. split; intros H.
  - eapply forall2b_true; [|exact H]. intros [] s E F; try easy. now apply Z.eqb_eq.
  - eapply true_forall2b; [|exact H]. intros [] s E; simpl; auto. apply Z.eqb_eq. auto.
Qed.

Fixpoint mask (left : list bool) (k : list Z) : list Z :=
  match left, k with l :: others, s :: k => (if l then s else 0%Z) :: mask others k | _, _ => [] end.

(** Configurations of types that are left such that every other such configuration is below one of them. *)
Definition candidates (room : space) (left : list bool) : list (list Z) :=
  match room with
  | Additive capacity demands => filter (only_b left) (configurations demands capacity)
  | Listed tops => map (mask left) tops
  end.

Lemma candidates_complete J room left k : room_ok J room = true -> feasible J room k -> only left k ->
  exists k', In k' (candidates room left) /\ Forall2 Z.le k k'.
Proof.
  intros R [L F] O. destruct room as [capacity demands|tops]; simpl in *.
  - exists k. apply andb_true_iff in R. destruct R as [_ R]. split.
    + apply filter_In. split; [|now apply only_b_iff]. now apply configurations_complete with (length capacity).
    + clear. induction k; constructor; auto. lia.
  - destruct F as [N E]. apply Exists_exists in E. destruct E as [t [Ht E]]. exists (mask left t). split.
    + now apply in_map.
    + rewrite forallb_forall in R. clear - E O N R Ht.
      assert (Nt : Forall (fun s => 0 <= s)%Z t).
      { specialize (R t Ht). apply andb_true_iff in R. now apply nonneg_Forall. }
      clear R Ht. unfold only in O. revert t E Nt.
      induction O as [|l s left k H O IH]; intros t E Nt; inversion E; subst; simpl; [constructor|].
      inversion N; inversion Nt; subst. constructor; [destruct l; [assumption | now rewrite H by reflexivity] | auto].
Qed.

(** *** Whole weights *)

Fixpoint zworth (a k : list Z) : Z :=
  match a, k with x :: a, s :: k => (x * s + zworth a k)%Z | _, _ => 0%Z end.

(** A common denominator and the numerators over it. *)
Definition scale (a : list Q) : Z * list Z :=
  let d := fold_right (fun q d => Z.lcm d (Zpos (Qden q))) 1%Z a in
  (d, map (fun q => (Qnum q * (d / Zpos (Qden q)))%Z) a).

Definition scaled_ok (d : Z) (a : list Q) (z : list Z) : bool :=
  (0 <? d)%Z && forall2b (fun q x => Qeq_bool (q * inject_Z d) (inject_Z x)) a z.

(** It is one. *)
Lemma scale_ok a : scaled_ok (fst (scale a)) a (snd (scale a)) = true.
Proof.
  unfold scale, scaled_ok. simpl. apply andb_true_iff. split.
  - apply Z.ltb_lt. induction a as [|q a IH]; simpl; [lia|]. pose proof (Z.lcm_nonneg
      (fold_right (fun q d => Z.lcm d (Zpos (Qden q))) 1%Z a) (Zpos (Qden q))) as L.
    pose proof (Z.lcm_eq_0 (fold_right (fun q d => Z.lcm d (Zpos (Qden q))) 1%Z a) (Zpos (Qden q))). lia.
  - assert (D : forall q, In q a -> Z.divide (Zpos (Qden q)) (fold_right (fun q d => Z.lcm d (Zpos (Qden q))) 1%Z a)).
    { induction a as [|q a IH]; simpl; [easy|]. intros p [<-|H]; [apply Z.divide_lcm_r|].
      eapply Z.divide_trans; [exact (IH _ H)|apply Z.divide_lcm_l]. }
    revert D. generalize (fold_right (fun q d => Z.lcm d (Zpos (Qden q))) 1%Z a) as d. intros d.
    induction a as [|q a IH]; simpl; [easy|]. intros D. apply andb_true_iff. split; [|auto].
    destruct (D q (or_introl eq_refl)) as [x ->]. rewrite Z.div_mul by easy. apply Qeq_bool_iff.
    unfold Qeq, Qmult, inject_Z. simpl. rewrite Pos.mul_1_r. ring.
Qed.

Lemma scaled_worth d a z k : scaled_ok d a z = true -> worth a k * inject_Z d == inject_Z (zworth z k).
Proof.
  unfold scaled_ok. intros E. apply andb_true_iff in E. destruct E as [_ E].
  revert z k E; induction a as [|x a IH]; intros [|y z] k E; simpl in *; try easy; try (destruct k; reflexivity).
  apply andb_true_iff in E. destruct E as [E1 E2]. apply Qeq_bool_iff in E1.
  destruct k as [|s k]; [reflexivity|]. rewrite inject_Z_plus, inject_Z_mult, <- E1, <- IH by exact E2. ring.
Qed.

Lemma scaled_pos d a z : scaled_ok d a z = true -> 0 < inject_Z d.
Proof.
  unfold scaled_ok. intros E. apply andb_true_iff in E. destruct E as [E _]. apply Z.ltb_lt in E.
  change 0 with (inject_Z 0). now rewrite <- Zlt_Qlt.
Qed.

Lemma worth_lt_scaled d a z k k' : scaled_ok d a z = true ->
  (zworth z k < zworth z k')%Z -> worth a k < worth a k'.
Proof.
  intros S H. pose proof (scaled_pos _ _ _ S) as P.
  apply Qmult_lt_r with (inject_Z d); [exact P|]. rewrite !(scaled_worth _ _ _ _ S). now rewrite <- Zlt_Qlt.
Qed.

Lemma worth_eq_scaled d a z k k' : scaled_ok d a z = true ->
  (zworth z k = zworth z k')%Z -> worth a k == worth a k'.
Proof.
  intros S H. pose proof (scaled_pos _ _ _ S) as P.
  apply Qmult_inj_r with (inject_Z d); [lra|]. rewrite !(scaled_worth _ _ _ _ S). now rewrite H.
Qed.

Lemma worth_mono a k k' : Forall (fun x => 0 <= x) a -> Forall2 Z.le k k' -> worth a k <= worth a k'.
Proof.
  intros Ha H; revert a Ha; induction H as [|s s' k k' Hs H IH]; intros [|x a] Ha; simpl; try lra.
  inversion Ha; subst. specialize (IH a H3). assert (inject_Z s <= inject_Z s') by (now rewrite <- Zle_Qle).
  assert (x * inject_Z s <= x * inject_Z s') by (rewrite !(Qmult_comm x); apply Qmult_le_compat_r; auto).
  lra.
Qed.

Lemma lex_ge_mono k k' : Forall2 Z.le k k' -> lex_ge k' k.
Proof.
  induction 1 as [|s s' k k' Hs H IH]; simpl; auto.
  destruct (Z.eq_dec s s') as [->|]; [right; auto | left; lia].
Qed.

Lemma lex_ge_trans a b c : length a = length b -> length b = length c -> lex_ge a b -> lex_ge b c -> lex_ge a c.
Proof.
  revert b c; induction a as [|x a IH]; intros [|y b] [|z c] H1 H2; simpl in *; try easy; try (intros; exact I).
  intros [A|[A A']] [B|[B B']]; subst; auto; try (left; lia).
  right. split; auto. apply (IH b c); auto.
Qed.

Fixpoint lex_ge_b (k k' : list Z) : bool :=
  match k, k' with
  | s :: k, s' :: k' => (s' <? s)%Z || ((s =? s')%Z && lex_ge_b k k')
  | _, _ => true
  end.

Lemma lex_ge_b_true k k' : lex_ge_b k k' = true -> lex_ge k k'.
Proof.
  revert k'; induction k as [|s k IH]; intros [|s' k']; simpl; auto.
  intros E. apply orb_true_iff in E. destruct E as [E|E]; [left; now apply Z.ltb_lt|].
  apply andb_true_iff in E. destruct E as [E1 E2]. right. split; [now apply Z.eqb_eq | auto].
Qed.

Definition better_b (z k k' : list Z) : bool :=
  let a := zworth z k in let b := zworth z k' in (b <? a)%Z || ((b =? a)%Z && lex_ge_b k k').

Definition max_reward_b (J : nat) (z : list Z) (room : space) (left : list bool) (k : list Z) : bool :=
  feasible_b J room k && only_b left k && forallb (better_b z k) (candidates room left).

Lemma max_reward_b_true m d z room left k :
  scaled_ok d (rewards m) z = true -> Forall (fun x => 0 <= x) (rewards m) -> room_ok (types m) room = true ->
  max_reward_b (types m) z room left k = true -> max_reward m room left k.
Proof.
  intros S N R E. unfold max_reward_b in E. apply andb_true_iff in E. destruct E as [E E3].
  apply andb_true_iff in E. destruct E as [E1 E2]. apply feasible_b_true in E1. apply only_b_iff in E2.
  split; [exact E1|]. split; [exact E2|]. intros k' F O.
  destruct (candidates_complete _ _ _ _ R F O) as [c [Hc H]].
  rewrite forallb_forall in E3. specialize (E3 c Hc). unfold better_b in E3.
  assert (M := worth_mono _ _ _ N H).
  apply orb_true_iff in E3. destruct E3 as [E3|E3].
  - apply Z.ltb_lt in E3. left. apply (worth_lt_scaled _ _ _ _ _ S) in E3. lra.
  - apply andb_true_iff in E3. destruct E3 as [E3 E4]. apply Z.eqb_eq in E3.
    apply (worth_eq_scaled _ _ _ _ _ S) in E3. apply lex_ge_b_true in E4.
    destruct (Qlt_le_dec (worth (rewards m) k') (worth (rewards m) k)) as [lt|le]; [now left|].
    right. split; [lra|]. destruct E1 as [L1 _]. destruct F as [LF _].
    assert (Lc : length c = types m) by (apply same_length in H; congruence).
    eapply lex_ge_trans; [| |exact E4|now apply lex_ge_mono]; congruence.
Qed.
