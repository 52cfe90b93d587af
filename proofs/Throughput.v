(** * A checker of the throughput of a law of sizes, proved sound

    For laws of finitely many sizes. Columns support the lower bound, prices of sizes prove the upper one, and both
    prove what the queues of the universal partition support. *)

From Coq Require Import ZArith QArith List Bool Lia Lqa.
From packproof Require Import CertificateModel Configurations MaxReward Prices Checker Intensity.
Import ListNotations.
Open Scope Q_scope.

Lemma inner_of_times beta w a : inner beta (times w a) == w * inner beta a.
Proof.
  unfold times. revert a; induction beta as [|b beta IH]; intros [|x a]; simpl; try ring. rewrite IH. ring.
Qed.

(** Where no configuration is worth more than 1, the jobs of an average server are not. *)
Lemma supports_le (K : list Z -> Prop) beta shares w columns : Forall (fun x => 0 <= x) beta ->
  (forall k, K k -> length k = length shares /\ worth beta k <= 1) -> supports K shares w columns ->
  w * inner beta shares <= 1.
Proof.
  intros N H [M S]. rewrite <- inner_of_times. eapply Qle_trans; [exact (inner_mono _ _ _ N S)|].
  rewrite inner_slots.
  - rewrite <- (Qmult_1_l 1). apply mixture_le with K; [easy| |exact M]. intros k F. now apply H.
  - destruct M as [M _]. eapply Forall_impl; [|exact M]. intros c [F _]. now apply H.
Qed.

Definition prices_b (c servers : Q) (shares prices : list Q) : bool :=
  forallb (Qle_bool 0) prices && negb (Qle_bool (inner prices shares) 0)
  && Qeq_bool (c * inner prices shares) servers.

Lemma prices_b_true (K : list Z -> Prop) c servers shares prices w columns :
  0 < servers -> prices_b c servers shares prices = true ->
  (Forall (fun x => 0 <= x) prices -> forall k, K k -> length k = length shares /\ worth prices k <= 1) ->
  supports K shares w columns -> servers * w <= c.
Proof.
  intros P E H S. unfold prices_b in E. repeat rewrite andb_true_iff in E. destruct E as [[N A] E].
  assert (N' : Forall (fun x => 0 <= x) prices).
  { apply Forall_forall. intros x I. rewrite forallb_forall in N. now apply Qle_bool_iff, N. }
  apply positive_b in A. apply Qeq_bool_iff in E. pose proof (supports_le _ _ _ _ _ N' (H N') S) as L.
  revert A E L. generalize (inner prices shares). intros a A E L.
  destruct (Qlt_le_dec c (servers * w)) as [lt|]; [|assumption]. exfalso.
  assert (servers * (w * a) <= servers * 1) by (apply Qmult_le_l; assumption). nra.
Qed.

(** A server of as many units as make all sizes whole. *)
Definition in_units (law : size_law) : space :=
  let '(d, z) := scale (sizes law) in Additive [d] (map (fun x => [x]) z).

Lemma fits_units z d k : length k = length z -> Forall (fun s => 0 <= s)%Z k -> (zworth z k <= d)%Z ->
  fits (map (fun x => [x]) z) [d] k.
Proof.
  revert d k; induction z as [|x z IH]; intros d [|s k] L N H; simpl in *; try easy.
  - now constructor.
  - inversion N; subst. split; [assumption|]. apply IH; auto; lia.
Qed.

Lemma fits_server_units law k : fits_server law k -> feasible (length (sizes law)) (in_units law) k.
Proof.
  intros [L [N W]]. split; [exact L|]. unfold in_units. pose proof (scale_ok (sizes law)) as S.
  assert (Z : length (snd (scale (sizes law))) = length (sizes law)) by apply length_map.
  destruct (scale (sizes law)) as [d z]. simpl in S, Z. apply fits_units; [congruence|exact N|].
  rewrite Zle_Qle, <- (scaled_worth _ _ _ _ S).
  pose proof (Qmult_le_compat_r _ _ _ W (Qlt_le_weak _ _ (scaled_pos _ _ _ S))). lra.
Qed.

Definition fits_server_b (law : size_law) (k : list Z) : bool :=
  Nat.eqb (length k) (length (sizes law)) && nonneg k && Qle_bool (worth (sizes law) k) 1.

Lemma fits_server_b_true law k : fits_server_b law k = true -> fits_server law k.
Proof.
  intros E. unfold fits_server_b in E. repeat rewrite andb_true_iff in E. destruct E as [[L N] W].
  split; [now apply Nat.eqb_eq|]. split; [now apply nonneg_Forall|now apply Qle_bool_iff].
Qed.

Definition reduced_b (J : nat) (k : list Z) : bool := existsb (forall2b Z.eqb k) (reduced J).

Lemma reduced_b_true J k : reduced_b J k = true -> In k (reduced J).
Proof.
  intros E. apply existsb_exists in E. destruct E as [k' [H E]].
  apply forall2b_true with (R := eq) in E; [|intros x y; apply Z.eqb_eq].
  replace k with k'; [exact H|]. clear - E. induction E; congruence.
Qed.

Lemma reduced_length J k : In k (reduced J) -> length k = (2 * J)%nat.
Proof.
  intros H. apply in_map_iff in H. destruct H as [jobs [<- _]]. unfold queues. now rewrite length_map, length_seq.
Qed.

Definition check_throughput (c : throughput_certificate) : bool :=
  let n := length (chances (law c)) in
  let shares := queue_shares (law c) (vqs_J c) in
  let tail j := share_up_to (law c) (1 / inject_Z (power j)) in
  negb (Qle_bool (servers c) 0) && Nat.eqb (length (sizes (law c))) n && room_ok n (in_units (law c))
  (* the bounds *)
  && mixture_b (fits_server_b (law c)) (below c) 1
  && forall2b Qeq_bool (times (lower c / servers c) (chances (law c))) (slots n (below c))
  && Qle_bool (dearest n (size_prices c) (in_units (law c))) 1
  && Nat.eqb (length (size_prices c)) n && prices_b (upper c) (servers c) (chances (law c)) (size_prices c)
  (* the queues *)
  && Nat.leb 2 (vqs_J c) && Nat.leb (vqs_J c) 30
  && Qeq_bool (vqs_lost c) (tail (vqs_J c))
  && forallb (fun j => negb (Qle_bool (tail j) 0)) (seq 2 (vqs_J c - 2))
  && (Qeq_bool (vqs_lost c) 0 || negb (Qle_bool (tail 30%nat) 0))
  && mixture_b (reduced_b (vqs_J c)) (vqs_columns c) 1 && Qeq_bool (sum (map snd (vqs_columns c))) 1
  && forall2b Qle_bool (times (vqs c / servers c) shares) (slots (length shares) (vqs_columns c))
  && forall2b (fun b p => negb (Qeq_bool p 0) || Qeq_bool b 0) (queue_prices c) shares
  && forallb (fun k => Qle_bool (worth (queue_prices c) k) 1) (reduced (vqs_J c))
  && prices_b (vqs c) (servers c) shares (queue_prices c).

(** ** Theorem: what the checker accepts is true. *)
Theorem check_throughput_sound c : check_throughput c = true ->
  let fitting := fits_server (law c) in
  let queued k := In k (reduced (vqs_J c)) in
  let shares := queue_shares (law c) (vqs_J c) in
  let tail j := share_up_to (law c) (1 / inject_Z (power j)) in
  0 < servers c
  (* as many jobs as the lower bound says can be in service on all servers, and no more than the upper bound *)
  /\ supports fitting (chances (law c)) (lower c / servers c) (below c)
  /\ (forall w columns, supports fitting (chances (law c)) w columns -> servers c * w <= upper c)
  (* the queues of the universal partition support just what is claimed *)
  /\ supports queued shares (vqs c / servers c) (vqs_columns c)
  /\ (forall w columns, supports queued shares w columns -> servers c * w <= vqs c)
  (* the share of sizes up to 2^-J, which is 0 for no smaller J, and for no J up to 30 if not for this one *)
  /\ vqs_lost c == tail (vqs_J c)
  /\ (forall j, (2 <= j)%nat -> (j < vqs_J c)%nat -> 0 < tail j)
  /\ (vqs_lost c == 0 \/ 0 < tail 30%nat).
Proof.
  intros E fitting queued shares tail. unfold check_throughput in E. cbv zeta in E. fold shares tail in E.
  repeat rewrite andb_true_iff in E.
  destruct E as [[[[[[[[[[[[[[[[[[P L] R] B] S] D] L'] U] _] _] Lost] Least] None] V] _] VS] _] VW] VP].
  apply positive_b in P. apply Nat.eqb_eq in L. apply Nat.eqb_eq in L'. apply Qle_bool_iff in D.
  split; [exact P|]. split; [|split; [|split; [|split; [|split; [|split]]]]].
  - split; [exact (mixture_b_true _ fitting _ _ (fits_server_b_true _) B)|].
    eapply forall2b_true; [|exact S]. intros x y H. apply Qeq_bool_iff in H. lra.
  - intros w columns H. apply (fun W => prices_b_true fitting _ _ _ _ _ _ P U W H). intros N k F.
    assert (F' := fits_server_units _ _ F). rewrite L in F'. split; [exact (proj1 F')|].
    eapply Qle_trans; [|exact D]. exact (proj2 (dearest_price _ _ 1 _ N R) k F').
  - split; [exact (mixture_b_true _ queued _ _ (reduced_b_true _) V)|].
    eapply forall2b_true; [|exact VS]. intros x y. apply Qle_bool_iff.
  - intros w columns H. apply (fun W => prices_b_true queued _ _ _ _ _ _ P VP W H). intros N k F. split.
    + unfold shares, queue_shares. rewrite length_map, length_seq. now apply reduced_length.
    + rewrite forallb_forall in VW. now apply Qle_bool_iff, VW.
  - now apply Qeq_bool_iff.
  - intros j H1 H2. rewrite forallb_forall in Least. apply positive_b, Least, in_seq. lia.
  - apply orb_true_iff in None. destruct None as [H|H]; [left; now apply Qeq_bool_iff|right; now apply positive_b].
Qed.
