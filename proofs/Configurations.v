(** * A generator of all configurations of additive resources, with proof that it misses none *)

From Coq Require Import ZArith QArith List Bool Lia Lqa.
From packproof Require Import CertificateModel.
Import ListNotations.
Open Scope Q_scope.

(** Coq 8.20 has these two lemmas under these names, Coq 8.16 under others. *)
Lemma length_map A B (f : A -> B) l : length (map f l) = length l.
Proof. induction l as [|x l IH]; simpl; [|rewrite IH]; reflexivity. Qed.

Lemma length_seq n start : length (seq start n) = n.
Proof. revert start; induction n as [|n IH]; intros start; simpl; [|rewrite IH]; reflexivity. Qed.

(** How many jobs of a demand fit the capacities; [None] if the demand is nowhere positive. *)
Fixpoint most (row capacity : list Z) : option Z :=
  match row, capacity with
  | d :: row, c :: capacity =>
      let others := most row capacity in
      if (0 <? d)%Z
      then Some (match others with Some n => Z.min (c / d) n | None => (c / d)%Z end)
      else others
  | _, _ => None
  end.

(** 0, 1, ..., n. *)
Definition up_to (n : Z) : list Z := map Z.of_nat (seq 0 (Z.to_nat (n + 1))).

Fixpoint configurations (demands : list (list Z)) (capacity : list Z) : list (list Z) :=
  match demands with
  | [] => [[]]
  | row :: demands =>
      match most row capacity with
      | None => []
      | Some n => flat_map (fun s => map (cons s) (configurations demands (less capacity s row))) (up_to n)
      end
  end.

Lemma in_up_to s n : (0 <= s <= n)%Z -> In s (up_to n).
Proof.
  intros H. unfold up_to. apply in_map_iff. exists (Z.to_nat s). split.
  - apply Z2Nat.id. lia.
  - apply in_seq. lia.
Qed.

Lemma less_length capacity s row : length row = length capacity -> length (less capacity s row) = length capacity.
Proof.
  revert row; induction capacity as [|c capacity IH]; intros [|d row] H; simpl in *; try easy.
  f_equal. apply IH. lia.
Qed.

Lemma most_spec row capacity s n :
  Forall (fun c => 0 <= c)%Z (less capacity s row) -> most row capacity = Some n -> (s <= n)%Z.
Proof.
  revert capacity n; induction row as [|d row IH]; intros [|c capacity] n; simpl; try easy.
  intros H. inversion H; subst. destruct (Z.ltb_spec 0 d).
  - assert (s <= c / d)%Z by (apply Z.div_le_lower_bound; lia).
    destruct (most row capacity) as [y|] eqn:E; intros E1; inversion E1; subst.
    + specialize (IH _ _ H3 E). lia.
    + lia.
  - intros E. eapply IH; eauto.
Qed.

Lemma most_some row capacity : length row = length capacity -> existsb (fun d => 0 <? d)%Z row = true ->
  exists n, most row capacity = Some n.
Proof.
  revert capacity; induction row as [|d row IH]; intros [|c capacity] H; simpl in *; try easy.
  intros E. destruct (Z.ltb_spec 0 d).
  - destruct (most row capacity); eauto.
  - simpl in E. apply IH; [lia | exact E].
Qed.

(** What is left at the end is at most what is left after the first type. *)
Lemma fits_nonneg n demands capacity k :
  length capacity = n -> forallb (row_ok n) demands = true -> fits demands capacity k ->
  Forall (fun c => 0 <= c)%Z capacity.
Proof.
  revert capacity k; induction demands as [|row demands IH]; intros capacity [|s k] Hn Hd; simpl;
    try easy; try (intros F; exact F).
  intros [Hs Hf]. simpl in Hd. apply andb_true_iff in Hd. destruct Hd as [Hr Hd].
  unfold row_ok in Hr. apply andb_true_iff in Hr. destruct Hr as [Hr _].
  apply andb_true_iff in Hr. destruct Hr as [Hl Hp]. apply Nat.eqb_eq in Hl.
  assert (L : length (less capacity s row) = n) by (rewrite less_length; congruence).
  specialize (IH _ _ L Hd Hf). clear - IH Hp Hs Hl Hn. subst n.
  revert row Hl Hp IH; induction capacity as [|c capacity IHc]; intros [|d row] Hl Hp H; simpl in *;
    try easy; try (now constructor).
  inversion H; subst. apply andb_true_iff in Hp. destruct Hp as [Hd Hp]. apply Z.leb_le in Hd.
  constructor; [nia | apply (IHc row); auto].
Qed.

(** ** Theorem: the generator misses no configuration. *)
Theorem configurations_complete n demands capacity k :
  length capacity = n -> forallb (row_ok n) demands = true -> fits demands capacity k ->
  In k (configurations demands capacity).
Proof.
  revert capacity k; induction demands as [|row demands IH]; intros capacity [|s k] Hn Hd; simpl; try easy; [now left|].
  intros [Hs Hf]. simpl in Hd. apply andb_true_iff in Hd. destruct Hd as [Hr Hd].
  unfold row_ok in Hr. apply andb_true_iff in Hr. destruct Hr as [Hr Hx].
  apply andb_true_iff in Hr. destruct Hr as [Hl _]. apply Nat.eqb_eq in Hl.
  assert (L : length (less capacity s row) = n) by (rewrite less_length; congruence).
  destruct (most_some row capacity ltac:(congruence) Hx) as [y Hy]. rewrite Hy.
  apply in_flat_map. exists s. split.
  - apply in_up_to. split; [exact Hs|]. eapply most_spec; [|exact Hy]. eapply fits_nonneg; eauto.
  - apply in_map. now apply IH.
Qed.

(** Everything that it lists is feasible, if the capacities are not negative. *)
Lemma less_nonneg row capacity s :
  length row = length capacity -> Forall (fun c => 0 <= c)%Z capacity -> forallb (fun d => 0 <=? d)%Z row = true ->
  (0 <= s)%Z -> (forall n, most row capacity = Some n -> s <= n)%Z ->
  Forall (fun c => 0 <= c)%Z (less capacity s row).
Proof.
  revert capacity; induction row as [|d row IH]; intros [|c capacity] Hl Hc Hd Hs Hm; simpl in *;
    try easy; try (now constructor).
  inversion Hc; subst. apply andb_true_iff in Hd. destruct Hd as [Hd0 Hd]. apply Z.leb_le in Hd0.
  assert (R : Forall (fun c => 0 <= c)%Z (less capacity s row)).
  { apply IH; auto. intros y Hy. rewrite Hy in Hm. destruct (0 <? d)%Z; specialize (Hm _ eq_refl); lia. }
  constructor; [|exact R].
  destruct (Z.ltb_spec 0 d) as [P|P].
  - assert (s <= c / d)%Z.
    { destruct (most row capacity); specialize (Hm _ eq_refl); lia. }
    assert (d * (c / d) <= c)%Z by (apply Z.mul_div_le; lia). nia.
  - replace d with 0%Z by lia. lia.
Qed.

Theorem configurations_sound n demands capacity k :
  length capacity = n -> forallb (row_ok n) demands = true -> Forall (fun c => 0 <= c)%Z capacity ->
  In k (configurations demands capacity) -> fits demands capacity k.
Proof.
  revert capacity k; induction demands as [|row demands IH]; intros capacity k Hn Hd Hc; simpl.
  - intros [<-|[]]. exact Hc.
  - simpl in Hd. apply andb_true_iff in Hd. destruct Hd as [Hr Hd].
    unfold row_ok in Hr. apply andb_true_iff in Hr. destruct Hr as [Hr Hx].
    apply andb_true_iff in Hr. destruct Hr as [Hl Hp]. apply Nat.eqb_eq in Hl.
    destruct (most row capacity) as [y|] eqn:Hy; [|easy].
    intros H. apply in_flat_map in H. destruct H as [s [Hs H]].
    apply in_map_iff in H. destruct H as [k' [<- H]].
    unfold up_to in Hs. apply in_map_iff in Hs. destruct Hs as [i [Hi Hs]]. apply in_seq in Hs.
    split; [lia|]. apply IH; [rewrite less_length; congruence | exact Hd | | exact H].
    apply less_nonneg; auto; try congruence; try lia.
    intros z Hz. rewrite Hy in Hz. inversion Hz; subst. lia.
Qed.
