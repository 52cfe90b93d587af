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
  rewrite plus_length; [exact IH|]. unfold times. rewrite !length_map, H. symmetry. exact IH.
Qed.

(** What slots are worth is what their configurations are worth. *)
Lemma inner_slots J a columns : Forall (fun c => length (fst c) = J) columns ->
  inner a (slots J columns) == sum (map (fun c => snd c * worth a (fst c)) columns).
Proof.
  induction 1 as [|c columns H F IH]; simpl; [apply inner_zero|].
  rewrite inner_plus, inner_times, IH; [reflexivity|].
  unfold times. rewrite !length_map, H. symmetry. exact (slots_length _ _ F).
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

(** A mixture is worth at most its share of servers at the greatest value of a configuration. *)
Lemma mixture_le (K : list Z -> Prop) beta gamma columns share :
  0 <= gamma -> (forall k, K k -> worth beta k <= gamma) -> mixture K columns share ->
  sum (map (fun c => snd c * worth beta (fst c)) columns) <= gamma * share.
Proof.
  intros G W [H S].
  assert (E : sum (map (fun c => snd c * worth beta (fst c)) columns) <= gamma * sum (map snd columns)).
  { clear S. induction H as [|c cs [F X] H IH]; simpl; [lra|]. specialize (W _ F).
    assert (0 <= snd c * (gamma - worth beta (fst c))) by (apply Qmult_le_0_compat; lra). nra. }
  assert (0 <= gamma * (share - sum (map snd columns))) by (apply Qmult_le_0_compat; lra). nra.
Qed.

Lemma sum_app a b : sum (a ++ b) == sum a + sum b.
Proof. induction a as [|x a IH]; simpl; [ring|]. rewrite IH. ring. Qed.

(** All pools together, if there are [z] times as many servers. *)
Lemma pools_le m beta gamma z columns :
  Forall2 (server_price (types m) beta) (pools m) gamma ->
  Forall2 (fun p cs => mixture (feasible (types m) (snd p)) cs (z * fst p)) (pools m) columns ->
  inner beta (slots (types m) (concat columns)) <= z * inner gamma (map fst (pools m)).
Proof.
  intros G C. assert (L : Forall (fun c => length (fst c) = types m) (concat columns)).
  { clear G. induction C as [|p cs ps css [H _] _ IH]; simpl; [constructor|].
    apply Forall_app. split; [|exact IH]. eapply Forall_impl; [|exact H]. intros c [[E _] _]. exact E. }
  rewrite (inner_slots _ _ _ L). clear L. revert columns C; induction G as [|p g ps gs [H W] G IH]; intros columns C.
  - inversion C; subst. simpl. lra.
  - inversion C as [|? cs ? css M C']; subst. simpl. rewrite map_app, sum_app.
    specialize (IH _ C'). pose proof (mixture_le _ _ _ _ _ H W M). lra.
Qed.

(** ** Weak duality: prices bound what any assignment earns. *)
Theorem prices_bound m beta gamma columns jobs :
  Forall2 (fun b x => 0 <= b <= x) beta (rewards m) -> Forall2 (server_price (types m) beta) (pools m) gamma ->
  is_assignment m columns jobs ->
  value m jobs <= inner (minus (rewards m) beta) (workload m) + inner gamma (map fst (pools m)).
Proof.
  intros B G [C [Y S]]. unfold value.
  eapply Qle_trans; [apply (price_split _ _ _ _ _ B Y S)|]. apply Qplus_le_r.
  rewrite <- (Qmult_1_l (inner gamma _)). apply pools_le; [exact G|].
  eapply weaker; [|exact C]. intros p cs [H L]. split; [exact H|]. now rewrite Qmult_1_l.
Qed.

(** ** The greatest value of a configuration *)

Definition dearest (J : nat) (beta : list Q) (room : space) : Q :=
  let '(d, z) := scale beta in
  inject_Z (fold_right (fun k => Z.max (zworth z k)) 0%Z (candidates room (repeat true J))) / inject_Z d.

Lemma only_all J k : length k = J -> only (repeat true J) k.
Proof. intros <-. unfold only. induction k; simpl; constructor; auto. easy. Qed.

Lemma max_spec (f : list Z -> Z) ks : (0 <= fold_right (fun k => Z.max (f k)) 0 ks)%Z
  /\ forall k, In k ks -> (f k <= fold_right (fun k => Z.max (f k)) 0 ks)%Z.
Proof.
  induction ks as [|k ks [H IH]]; simpl; split; try easy; try lia. intros k' [<-|I]; [|specialize (IH _ I)]; lia.
Qed.

Lemma dearest_price J beta share room : Forall (fun x => 0 <= x) beta -> room_ok J room = true ->
  server_price J beta (share, room) (dearest J beta room).
Proof.
  intros N R. unfold dearest. pose proof (scale_ok beta) as S. destruct (scale beta) as [d z]. simpl in S.
  assert (P := scaled_pos _ _ _ S).
  destruct (max_spec (zworth z) (candidates room (repeat true J))) as [M0 M].
  split; [apply Qle_shift_div_l; [exact P|]; rewrite Qmult_0_l; change 0 with (inject_Z 0); now rewrite <- Zle_Qle|].
  intros k F. destruct (candidates_complete _ _ _ _ R F (only_all _ _ (proj1 F))) as [c [Hc H]].
  eapply Qle_trans; [exact (worth_mono _ _ _ N H)|].
  apply Qle_shift_div_l; [exact P|]. rewrite (scaled_worth _ _ _ _ S), <- Zle_Qle. now apply M.
Qed.
