(** * A checker of assignment certificates, proved sound

    A function to booleans on exact numbers (rationals of the standard library), extracted to OCaml. If it accepts a
    certificate, the claims are true of the instance: what the optimum is, that the stages are a greedy run with ties
    broken by Definition 2.2, what greedy earns, the ratio, and that the guarantees hold. *)

From Coq Require Import ZArith QArith List Bool Lia Lqa.
Import ListNotations.
Open Scope Q_scope.

(** ** The model *)

(** Configurations of a server: those whose total demand fits the capacity (one row of demands a type), or those below a
    listed one. *)
Inductive space :=
| Additive (capacity : list Z) (demands : list (list Z))
| Listed (tops : list (list Z)).

(** What is left of the capacities when [s] jobs of demand [row] are placed. *)
Fixpoint less (capacity : list Z) (s : Z) (row : list Z) : list Z :=
  match capacity, row with
  | c :: capacity, d :: row => (c - s * d)%Z :: less capacity s row
  | _, _ => []
  end.

(** [k] has one number of jobs for each row of demands, at least 0, and when all are placed no capacity is negative. *)
Fixpoint fits (demands : list (list Z)) (capacity k : list Z) : Prop :=
  match demands, k with
  | [], [] => Forall (fun c => 0 <= c)%Z capacity
  | row :: demands, s :: k => (0 <= s)%Z /\ fits demands (less capacity s row) k
  | _, _ => False
  end.

(** [J] is the number of types. *)
Definition feasible (J : nat) (room : space) (k : list Z) : Prop :=
  length k = J /\
  match room with
  | Additive capacity demands => fits demands capacity k
  | Listed tops => Forall (fun s => 0 <= s)%Z k /\ Exists (Forall2 Z.le k) tops
  end.

(** Rewards and workload of the types; share of all servers and configurations of each pool. *)
Record instance := Instance { rewards : list Q; workload : list Q; pools : list (Q * space) }.
Definition types (m : instance) : nat := length (rewards m).

(** Sums of products, of numbers and of numbers with slots. *)
Fixpoint inner (a b : list Q) : Q :=
  match a, b with x :: a, y :: b => x * y + inner a b | _, _ => 0 end.
Fixpoint worth (a : list Q) (k : list Z) : Q :=
  match a, k with x :: a, s :: k => x * inject_Z s + worth a k | _, _ => 0 end.
Fixpoint sum (a : list Q) : Q := match a with x :: a => x + sum a | [] => 0 end.
Fixpoint plus (a b : list Q) : list Q :=
  match a, b with x :: a, y :: b => x + y :: plus a b | _, _ => [] end.
Definition times (x : Q) (a : list Q) : list Q := map (Qmult x) a.

(** Slots of each of [J] types of configurations with the shares of servers that have them. *)
Definition slots (J : nat) (columns : list (list Z * Q)) : list Q :=
  fold_right (fun c => plus (times (snd c) (map inject_Z (fst c)))) (repeat 0 J) columns.

(** An assignment: columns for each pool, and jobs in service: no more than there are, no more than slots. *)
Definition is_assignment (m : instance) (columns : list (list (list Z * Q))) (jobs : list Q) : Prop :=
  Forall2 (fun p cs => Forall (fun c => feasible (types m) (snd p) (fst c) /\ 0 <= snd c) cs
                       /\ sum (map snd cs) <= fst p) (pools m) columns
  /\ Forall2 (fun y r => 0 <= y <= r) jobs (workload m)
  /\ Forall2 Qle jobs (slots (types m) (concat columns)).
Definition value (m : instance) (jobs : list Q) : Q := inner (rewards m) jobs.

(** ** Greedy runs *)

(** A stage: which types are left, the configuration of each pool, the fraction of the servers. *)
Record stage := Stage { left_types : list bool; confs : list (list Z); frac : Q }.

(** Slots of only the types that are left. *)
Definition only (left : list bool) (k : list Z) : Prop :=
  Forall2 (fun (l : bool) s => l = false -> s = 0%Z) left k.

(** The order of Definition 2.2 among configurations of equal reward: more slots of the first type that differs. *)
Fixpoint lex_ge (k k' : list Z) : Prop :=
  match k, k' with
  | s :: k, s' :: k' => (s' < s)%Z \/ s = s' /\ lex_ge k k'
  | _, _ => True
  end.

(** MaxReward of the types left, with its tie rule. *)
Definition max_reward (m : instance) (room : space) (left : list bool) (k : list Z) : Prop :=
  feasible (types m) room k /\ only left k /\
  forall k', feasible (types m) room k' -> only left k' ->
    worth (rewards m) k' < worth (rewards m) k \/ worth (rewards m) k' == worth (rewards m) k /\ lex_ge k k'.

(** Slots of an average server in a stage, jobs served and reward of stages, fraction of servers. *)
Definition stage_slots (m : instance) (s : stage) : list Q :=
  slots (types m) (combine (confs s) (map fst (pools m))).
Definition served (m : instance) (st : list stage) : list Q :=
  fold_right (fun s => plus (times (frac s) (stage_slots m s))) (repeat 0 (types m)) st.
Definition earned (m : instance) (st : list stage) : Q := inner (rewards m) (served m st).
Definition used (st : list stage) : Q := sum (map frac st).

(** As [greedy_run] of Greedy.v, for the lists of this file. *)
Definition greedy_run (m : instance) (st : list stage) : Prop :=
  (forall pre s post, st = pre ++ s :: post ->
     0 < frac s
     /\ Forall2 (fun p k => max_reward m (snd p) (left_types s) k) (pools m) (confs s)
     /\ Forall2 (fun (l : bool) yr => l = false -> fst yr == snd yr) (left_types s)
          (combine (served m pre) (workload m)))
  /\ Forall2 Qle (served m st) (workload m)
  /\ used st <= 1
  /\ (used st == 1 \/ Forall2 Qeq (served m st) (workload m)).

(** ** All configurations *)

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

(** Every row has an entry for every capacity, none negative, one positive. *)
Definition row_ok (n : nat) (row : list Z) : bool :=
  Nat.eqb (length row) n && forallb (fun d => 0 <=? d)%Z row && existsb (fun d => 0 <? d)%Z row.

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
  revert capacity k; induction demands as [|row demands IH]; intros capacity [|s k] Hn Hd; simpl; try easy; try (intros F; exact F).
  intros [Hs Hf]. simpl in Hd. apply andb_true_iff in Hd. destruct Hd as [Hr Hd].
  unfold row_ok in Hr. apply andb_true_iff in Hr. destruct Hr as [Hr _].
  apply andb_true_iff in Hr. destruct Hr as [Hl Hp]. apply Nat.eqb_eq in Hl.
  assert (L : length (less capacity s row) = n) by (rewrite less_length; congruence).
  specialize (IH _ _ L Hd Hf). clear - IH Hp Hs Hl Hn. subst n.
  revert row Hl Hp IH; induction capacity as [|c capacity IHc]; intros [|d row] Hl Hp H; simpl in *; try easy; try (now constructor).
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

(** ** Deciding the conditions *)

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

(** *** Prices: no assignment earns more than the dual value *)

Definition alike (J : nat) (a : list Q) : Prop := length a = J.

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

Fixpoint minus (a b : list Q) : list Q :=
  match a, b with x :: a, y :: b => (x - y) :: minus a b | _, _ => [] end.

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

(** A price of a server is right if no configuration is worth more. *)
Definition server_price (J : nat) (beta : list Q) (p : Q * space) (gamma : Q) : Prop :=
  0 <= gamma /\ forall k, feasible J (snd p) k -> worth beta k <= gamma.

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

(** *** The greedy run *)

Fixpoint stages_b (m : instance) (z : list Z) (pre st : list stage) : bool :=
  match st with
  | [] => true
  | s :: st =>
      negb (Qle_bool (frac s) 0)
      && forall2b (fun p k => max_reward_b (types m) z (snd p) (left_types s) k) (pools m) (confs s)
      && forall2b (fun (l : bool) yr => l || Qeq_bool (fst yr) (snd yr)) (left_types s)
           (combine (served m pre) (workload m))
      && stages_b m z (pre ++ [s]) st
  end.

Lemma positive_b x : negb (Qle_bool x 0) = true -> 0 < x.
Proof. intros E. apply negb_true_iff in E. apply Qnot_le_lt. intros H. apply Qle_bool_iff in H. congruence. Qed.

Definition greedy_run_b (m : instance) (z : list Z) (st : list stage) : bool :=
  stages_b m z [] st
  && forall2b Qle_bool (served m st) (workload m) && Qle_bool (used st) 1
  && (Qeq_bool (used st) 1 || forall2b Qeq_bool (served m st) (workload m)).

Lemma forall2_rooms m (f : space -> list Z -> bool) (R : space -> list Z -> Prop) ks :
  forallb (fun p => room_ok (types m) (snd p)) (pools m) = true ->
  (forall room k, room_ok (types m) room = true -> f room k = true -> R room k) ->
  forall2b (fun p k => f (snd p) k) (pools m) ks = true -> Forall2 (fun p k => R (snd p) k) (pools m) ks.
Proof.
  intros H I. revert ks. induction (pools m) as [|p ps IH]; intros [|k ks]; simpl in *; try easy; try (now constructor).
  intros E. apply andb_true_iff in E. destruct E. apply andb_true_iff in H. destruct H. constructor; auto.
Qed.

Lemma stages_b_split m d z pre st a s b :
  scaled_ok d (rewards m) z = true -> Forall (fun x => 0 <= x) (rewards m) ->
  forallb (fun p => room_ok (types m) (snd p)) (pools m) = true ->
  stages_b m z pre st = true -> st = a ++ s :: b ->
  0 < frac s
  /\ Forall2 (fun p k => max_reward m (snd p) (left_types s) k) (pools m) (confs s)
  /\ Forall2 (fun (l : bool) yr => l = false -> fst yr == snd yr) (left_types s)
       (combine (served m (pre ++ a)) (workload m)).
Proof.
  intros S N R. revert pre a; induction st as [|t st IH]; intros pre a E Est; [now destruct a|].
  simpl in E. repeat rewrite andb_true_iff in E. destruct E as [[[E1 E2] E3] E4].
  destruct a as [|c a]; simpl in Est; inversion Est; subst.
  - rewrite app_nil_r. split; [|split].
    + now apply positive_b.
    + apply (forall2_rooms m (fun room k => max_reward_b (types m) z room (left_types s) k)
        (fun room k => max_reward m room (left_types s) k)); [exact R| |exact E2].
      intros room k Rr. now apply max_reward_b_true with d.
    + eapply forall2b_true; [|exact E3]. intros [] yr H F; [easy|]. now apply Qeq_bool_iff.
  - specialize (IH _ a E4 eq_refl). now rewrite <- app_assoc in IH.
Qed.

Lemma greedy_run_b_true m d z st :
  scaled_ok d (rewards m) z = true -> Forall (fun x => 0 <= x) (rewards m) ->
  forallb (fun p => room_ok (types m) (snd p)) (pools m) = true ->
  greedy_run_b m z st = true -> greedy_run m st.
Proof.
  intros S N R E. unfold greedy_run_b in E. repeat rewrite andb_true_iff in E. destruct E as [[[E1 E2] E3] E4].
  split; [|split; [|split]].
  - intros pre s post H. exact (stages_b_split _ _ _ [] _ _ _ _ S N R E1 H).
  - eapply forall2b_true; [|exact E2]. intros x y. apply Qle_bool_iff.
  - now apply Qle_bool_iff.
  - apply orb_true_iff in E4. destruct E4 as [E4|E4]; [left; now apply Qeq_bool_iff|right].
    eapply forall2b_true; [|exact E4]. intros x y. apply Qeq_bool_iff.
Qed.

(** *** Running greedy

    The stages are computed again, as [global_greedy] does, and compared with those of the certificate. Nothing is proved
    of this computation: [greedy_run_b] decides about its result. *)

Definition best (z : list Z) (left : list bool) (room : space) : list Z :=
  fold_left (fun b k => if better_b z b k then b else k) (candidates room left) (map (fun _ => 0%Z) left).

(** The first of the types at which the length is least, and the length. *)
Fixpoint shortest (lengths : list (nat * Q)) : option (nat * Q) :=
  match lengths with
  | [] => None
  | (j, x) :: lengths =>
      match shortest lengths with
      | Some (i, y) => if Qle_bool x y then Some (j, x) else Some (i, y)
      | None => Some (j, x)
      end
  end.

(** Types with slots, with what is left of their work over their slots. *)
Fixpoint lengths_of (j : nat) (work s : list Q) : list (nat * Q) :=
  match work, s with
  | a :: work, x :: s =>
      let others := lengths_of (S j) work s in if Qeq_bool x 0 then others else (j, Qred (a / x)) :: others
  | _, _ => []
  end.

Fixpoint without (j : nat) (left : list bool) : list bool :=
  match left, j with
  | _ :: others, O => false :: others
  | l :: others, S j => l :: without j others
  | [], _ => []
  end.

(** The stages with the types that each exhausts, if types end in the given order. *)
Fixpoint run (m : instance) (z : list Z) (order : list nat) (left : list bool) (work : list Q) (room : Q)
    : option (list (stage * list nat)) :=
  match order with
  | [] => Some []
  | j :: order =>
      let ks := map (fun p => best z left (snd p)) (pools m) in
      let s := map Qred (slots (types m) (combine ks (map fst (pools m)))) in
      let lengths := lengths_of 0 work s in
      match shortest lengths with
      | None => None
      | Some (i, x) =>
          if negb (Nat.eqb i j) then None else
          let fraction := if Qle_bool x room then x else room in
          let ended := if Qle_bool x room then map fst (filter (fun l => Qeq_bool (snd l) x) lengths) else [] in
          match run m z order (without j left) (map Qred (minus work (times x s))) (Qred (room - fraction)) with
          | None => None
          | Some stages =>
              Some (if Qeq_bool fraction 0 then stages else (Stage left ks fraction, ended) :: stages)
          end
      end
  end.

(** Guarantees as packproof states them: 1 - (1 - x_1) ... (1 - x_n), and greedy over the least stage bound; 1 if all
    work is served. *)
Definition missed (st : list stage) : Q := fold_right (fun s x => Qred ((1 - frac s) * x)) 1 st.
Fixpoint least_bound (m : instance) (before : Q) (st : list stage) : option Q :=
  match st with
  | [] => None
  | s :: st =>
      let full := Qred (inner (rewards m) (stage_slots m s)) in
      let bound := Qred (before + full) in
      match least_bound m (Qred (before + frac s * full)) st with
      | Some b => Some (if Qle_bool bound b then bound else b)
      | None => Some bound
      end
  end.

Definition guarantees (m : instance) (st : list stage) : Q * Q :=
  if forall2b Qeq_bool (served m st) (workload m) then (1, 1)
  else match least_bound m 0 st with
       | None => (1, 1)
       | Some b => (1 - missed st, earned m st / b)
       end.

(** ** The certificate and the checker *)

Record certificate := Certificate {
  model : instance;
  order : list nat;                               (* the order in which types are exhausted *)
  listed : list (list (list Z) * Q * list nat);   (* stages: configurations by pool, fraction, types exhausted *)
  every_end : bool;                               (* whether all types that a stage exhausts are listed, or one *)
  columns : list (list (list Z * Q));             (* the optimal assignment, by pool *)
  slot_prices : list Q;
  server_prices : list Q;
  greedy_reward : Q;
  optimal_reward : Q;
  ratio : Q;
  guarantee : Q;
  guarantee_stagewise : Q }.

Definition model_ok (m : instance) : bool :=
  forallb (fun x => negb (Qle_bool x 0)) (rewards m)
  && Nat.eqb (length (workload m)) (types m) && forallb (Qle_bool 0) (workload m)
  && forallb (fun p => negb (Qle_bool (fst p) 0)) (pools m)
  && Qeq_bool (sum (map fst (pools m))) 1
  && forallb (fun p => room_ok (types m) (snd p)) (pools m).

(** Configurations of a pool in decreasing order, none empty. *)
Fixpoint descending (cs : list (list Z * Q)) : bool :=
  match cs with
  | c :: (c' :: _) as cs => negb (lex_ge_b (fst c') (fst c)) && descending cs
  | _ => true
  end.

Definition columns_b (m : instance) (columns : list (list (list Z * Q))) : bool :=
  forall2b (fun p cs => forallb (fun c => feasible_b (types m) (snd p) (fst c) && negb (Qle_bool (snd c) 0)
                                          && existsb (fun s => negb (s =? 0)%Z) (fst c)) cs
                        && descending cs && Qle_bool (sum (map snd cs)) (fst p)) (pools m) columns.

Definition same_stage (every : bool) (a : stage * list nat) (b : list (list Z) * Q * list nat) : bool :=
  forall2b (forall2b Z.eqb) (confs (fst a)) (fst (fst b)) && Qeq_bool (frac (fst a)) (snd (fst b))
  && forall2b Nat.eqb (if every then snd a else firstn 1 (snd a)) (snd b).

Definition check (c : certificate) : bool :=
  let m := model c in
  let '(d, z) := scale (rewards m) in
  model_ok m && scaled_ok d (rewards m) z &&
  match run m z (order c) (repeat true (types m)) (workload m) 1 with
  | None => false
  | Some stages =>
      let st := map fst stages in
      let jobs := slots (types m) (concat (columns c)) in
      let '(product, stagewise) := guarantees m st in
      Nat.eqb (length (order c)) (types m)
      && forall2b (same_stage (every_end c)) stages (listed c)
      && greedy_run_b m z st
      && Qeq_bool (earned m st) (greedy_reward c)
      && columns_b m (columns c)
      && forall2b (fun y r => Qle_bool 0 y && Qle_bool y r) jobs (workload m)
      && Qeq_bool (value m jobs) (optimal_reward c)
      && forall2b (fun b x => Qle_bool 0 b && Qle_bool b x) (slot_prices c) (rewards m)
      && forall2b (fun b r => negb (Qeq_bool r 0) || Qeq_bool b 0) (slot_prices c) (workload m)
      && forall2b (server_price_b (types m) (slot_prices c)) (pools m) (server_prices c)
      && Qeq_bool (inner (minus (rewards m) (slot_prices c)) (workload m)
                   + inner (server_prices c) (map fst (pools m))) (optimal_reward c)
      && (if Qeq_bool (optimal_reward c) 0 then Qeq_bool (ratio c) 1
          else Qeq_bool (ratio c * optimal_reward c) (greedy_reward c))
      && Qeq_bool (guarantee c) product && Qeq_bool (guarantee_stagewise c) stagewise
      && Qle_bool (guarantee c * optimal_reward c) (greedy_reward c)
      && Qle_bool (guarantee_stagewise c * optimal_reward c) (greedy_reward c)
  end.

(** ** Theorem: what the checker accepts is true. *)
Theorem check_sound (c : certificate) : check c = true ->
  let m := model c in
  (* the optimum is attained, and nothing earns more *)
  (exists jobs, is_assignment m (columns c) jobs /\ value m jobs == optimal_reward c)
  /\ (forall columns jobs, is_assignment m columns jobs -> value m jobs <= optimal_reward c)
  (* there is a greedy run with the listed configurations and fractions, and it earns what is claimed *)
  /\ (exists st, greedy_run m st /\ earned m st == greedy_reward c
        /\ Forall2 (fun s l => Forall2 (Forall2 eq) (confs s) (fst (fst l)) /\ frac s == snd (fst l)) st (listed c))
  (* the ratio and the guarantees *)
  /\ (if Qeq_bool (optimal_reward c) 0 then ratio c == 1 else ratio c * optimal_reward c == greedy_reward c)
  /\ guarantee c * optimal_reward c <= greedy_reward c
  /\ guarantee_stagewise c * optimal_reward c <= greedy_reward c.
Proof.
  intros E m. unfold check in E. fold m in E.
  destruct (scale (rewards m)) as [d z] eqn:Sc.
  destruct (run m z (order c) (repeat true (types m)) (workload m) 1) as [stages|]; [|now rewrite andb_false_r in E].
  destruct (guarantees m (map fst stages)) as [product stagewise].
  repeat rewrite andb_true_iff in E.
  destruct E as [[M S] [[[[[[[[[[[[[[[_ Same] Run] Earn] Cols] Jobs] Prim] Beta] _] Gam] Dual] Rat] _] _] G1] G2]].
  unfold model_ok in M. repeat rewrite andb_true_iff in M. destruct M as [[[[[U _] _] _] _] R].
  assert (N : Forall (fun x => 0 <= x) (rewards m)).
  { apply Forall_forall. intros x Hx. rewrite forallb_forall in U. specialize (U x Hx).
    now apply Qlt_le_weak, positive_b. }
  assert (B : Forall2 (fun b x => 0 <= b <= x) (slot_prices c) (rewards m)).
  { eapply forall2b_true; [|exact Beta]. intros b x H. apply andb_true_iff in H.
    destruct H. split; now apply Qle_bool_iff. }
  assert (B0 : Forall (fun x => 0 <= x) (slot_prices c)).
  { clear - B. induction B as [|b x ? ? [H _] _ IH]; constructor; auto. }
  assert (G : Forall2 (server_price (types m) (slot_prices c)) (pools m) (server_prices c)).
  { clear - Gam R B0. revert Gam R. generalize (server_prices c). induction (pools m) as [|p ps IH]; intros [|g gs];
      simpl; try easy; try (now constructor).
    intros H1 H2. apply andb_true_iff in H1. apply andb_true_iff in H2. destruct H1, H2.
    constructor; auto. now apply server_price_b_true. }
  apply Qeq_bool_iff in Earn. apply Qeq_bool_iff in Prim. apply Qeq_bool_iff in Dual.
  apply Qle_bool_iff in G1. apply Qle_bool_iff in G2.
  split; [|split; [|split; [|split; [|split]]]]; auto.
  - exists (slots (types m) (concat (columns c))). split; [|exact Prim]. split; [|split].
    + eapply forall2b_true; [|exact Cols]. intros p cs H. repeat rewrite andb_true_iff in H.
      destruct H as [[H _] H']. split; [|now apply Qle_bool_iff]. apply Forall_forall. intros x Hx.
      rewrite forallb_forall in H. specialize (H x Hx). repeat rewrite andb_true_iff in H.
      destruct H as [[H1 H2] _]. split; [now apply feasible_b_true|].
      now apply Qlt_le_weak, positive_b.
    + eapply forall2b_true; [|exact Jobs]. intros y r H. apply andb_true_iff in H.
      destruct H. split; now apply Qle_bool_iff.
    + clear. induction (slots (types m) (concat (columns c))); constructor; auto. lra.
  - intros columns' jobs A. rewrite <- Dual. now apply prices_bound with columns'.
  - exists (map fst stages). split; [|split; [exact Earn|]].
    + now apply greedy_run_b_true with d z.
    + clear - Same. revert Same. generalize (listed c). induction stages as [|a st IH]; intros [|l ls]; simpl; try easy;
        try (now constructor).
      intros H. apply andb_true_iff in H. destruct H as [H1 H2]. constructor; [|auto].
      unfold same_stage in H1. repeat rewrite andb_true_iff in H1. destruct H1 as [[H1 H3] _].
      split; [|now apply Qeq_bool_iff]. eapply forall2b_true; [|exact H1]. intros x y H.
      eapply forall2b_true; [|exact H]. intros i j. apply Z.eqb_eq.
  - destruct (Qeq_bool (optimal_reward c) 0); now apply Qeq_bool_iff.
Qed.
