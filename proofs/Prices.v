(** * Prices prove an upper bound on every assignment *)

From Coq Require Import ZArith QArith List Bool Lia Lqa.
From packproof Require Import CertificateModel Configurations MaxReward.
Import ListNotations.
Open Scope Q_scope.

Lemma inner_zero a n : inner a (repeat 0 n) == 0.
Proof. revert n; induction a as [|x a IH]; intros [|n]; simpl; try reflexivity. rewrite IH. ring. Qed.

Lemma inner_plus a b c : length b = length c -> inner a (plus b c) == inner a b + inner a c.
Proof.
  revert b c; induction a as [|x a IH]; intros [|y b] [|z c] H; simpl in *; try easy; try ring.
  rewrite IH by lia. ring.
Qed.

Lemma inner_times a x k : inner a (times x (map inject_Z k)) == x * worth a k.
Proof.
  unfold times. revert k; induction a as [|y a IH]; intros [|s k]; simpl; try ring.
  specialize (IH k). rewrite IH. ring.
Qed.

Lemma plus_length a b : length a = length b -> length (plus a b) = length b.
Proof. revert b; induction a as [|x a IH]; intros [|y b] H; simpl in *; try easy. f_equal. apply IH. lia. Qed.

Lemma slots_length J columns : Forall (fun c => length (fst c) = J) columns -> length (slots J columns) = J.
Proof.
  induction 1 as [|c columns H _ IH]; simpl; [apply repeat_length|].
  rewrite plus_length; [exact IH|]. unfold times. rewrite !map_length, H. symmetry. exact IH.
Qed.

(** What slots are worth is what their configurations are worth. *)
Lemma inner_slots J a columns : Forall (fun c => length (fst c) = J) columns ->
  inner a (slots J columns) == sum (map (fun c => snd c * worth a (fst c)) columns).
Proof.
  induction 1 as [|c columns H F IH]; simpl; [apply inner_zero|].
  rewrite inner_plus, inner_times, IH; [reflexivity|].
  unfold times. rewrite !map_length, H. symmetry. exact (slots_length _ _ F).
Qed.

(** Jobs earn at most the part of the reward beyond the slot price on all work, and the slot price on all slots. *)
Lemma price_split u beta y rho s :
  Forall2 (fun b x => 0 <= b <= x) beta u -> Forall2 (fun a r => 0 <= a <= r) y rho -> Forall2 Qle y s ->
  inner u y <= inner (minus u beta) rho + inner beta s.
Proof.
  intros H; revert y rho s; induction H as [|b x beta u [B0 B1] H IH]; intros y rho s Hy Hs; simpl; [lra|].
  inversion Hy as [|a r y' rho' [A0 A1] Hy']; subst; inversion Hs as [|? t ? s' T Hs']; subst; simpl; [lra|].
  specialize (IH _ _ _ Hy' Hs').
  assert (0 <= (x - b) * (r - a)) by (apply Qmult_le_0_compat; lra).
  assert (0 <= b * (t - a)) by (apply Qmult_le_0_compat; lra). nra.
Qed.

Lemma columns_le J beta p cs gamma : server_price J beta p gamma ->
  Forall (fun c => feasible J (snd p) (fst c) /\ 0 <= snd c) cs -> sum (map snd cs) <= fst p ->
  sum (map (fun c => snd c * worth beta (fst c)) cs) <= gamma * fst p.
Proof.
  intros [G W] H S.
  assert (E : sum (map (fun c => snd c * worth beta (fst c)) cs) <= gamma * sum (map snd cs)).
  { clear S. induction H as [|c cs [F X] H IH]; simpl; [lra|]. specialize (W _ F).
    assert (0 <= snd c * (gamma - worth beta (fst c))) by (apply Qmult_le_0_compat; lra). nra. }
  assert (0 <= gamma * (fst p - sum (map snd cs))) by (apply Qmult_le_0_compat; lra). nra.
Qed.

Lemma sum_app a b : sum (a ++ b) == sum a + sum b.
Proof. induction a as [|x a IH]; simpl; [ring|]. rewrite IH. ring. Qed.

(** ** Weak duality: prices bound what any assignment earns. *)
Theorem prices_bound m beta gamma columns jobs :
  Forall2 (fun b x => 0 <= b <= x) beta (rewards m) -> Forall2 (server_price (types m) beta) (pools m) gamma ->
  is_assignment m columns jobs ->
  value m jobs <= inner (minus (rewards m) beta) (workload m) + inner gamma (map fst (pools m)).
Proof.
  intros B G [C [Y S]]. unfold value.
  eapply Qle_trans; [apply (price_split _ _ _ _ _ B Y S)|]. apply Qplus_le_r.
  assert (L : Forall (fun c => length (fst c) = types m) (concat columns)).
  { clear - C. induction C as [|p cs ps css [H _] _ IH]; simpl; [constructor|].
    apply Forall_app. split; [|exact IH]. eapply Forall_impl; [|exact H]. intros c [[E _] _]. exact E. }
  rewrite (inner_slots _ _ _ L). clear - C G. revert columns C; induction G as [|p g ps gs H G IH]; intros columns C.
  - inversion C; subst. simpl. lra.
  - inversion C as [|? cs ? css [F T] C']; subst. simpl. rewrite map_app, sum_app.
    specialize (IH _ C'). pose proof (columns_le _ _ _ _ _ H F T). lra.
Qed.

(** The greatest value of a configuration is the given server price. *)
Definition server_price_b (J : nat) (beta : list Q) (p : Q * space) (gamma : Q) : bool :=
  let '(d, z) := scale (gamma :: beta) in
  match z with
  | g :: b =>
      let all := candidates (snd p) (repeat true J) in
      scaled_ok d (gamma :: beta) z && Qle_bool 0 gamma
      && forallb (fun k => zworth b k <=? g)%Z all && existsb (fun k => zworth b k =? g)%Z all
  | [] => false
  end.

Lemma only_all J k : length k = J -> only (repeat true J) k.
Proof. intros <-. unfold only. induction k; simpl; constructor; auto. easy. Qed.

Lemma server_price_b_true J beta p gamma : Forall (fun x => 0 <= x) beta -> room_ok J (snd p) = true ->
  server_price_b J beta p gamma = true -> server_price J beta p gamma.
Proof.
  intros N R E. unfold server_price_b in E. destruct (scale (gamma :: beta)) as [d [|g b]]; [easy|].
  repeat rewrite andb_true_iff in E. destruct E as [[[S G] E] _]. split; [now apply Qle_bool_iff|].
  intros k F. destruct (candidates_complete _ _ _ _ R F (only_all _ _ (proj1 F))) as [c [Hc H]].
  rewrite forallb_forall in E. specialize (E c Hc). apply Z.leb_le in E.
  assert (M := worth_mono _ _ _ N H).
  assert (P := scaled_pos _ _ _ S).
  assert (S' : scaled_ok d beta b = true).
  { unfold scaled_ok in *. simpl in S. repeat rewrite andb_true_iff in *. tauto. }
  assert (Eg : gamma * inject_Z d == inject_Z g).
  { unfold scaled_ok in S. simpl in S. repeat rewrite andb_true_iff in S. apply Qeq_bool_iff. tauto. }
  eapply Qle_trans; [exact M|]. apply Qmult_le_r with (inject_Z d); [exact P|].
  rewrite (scaled_worth _ _ _ _ S'), Eg. now rewrite <- Zle_Qle.
Qed.
