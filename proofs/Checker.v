(** * A checker of assignment certificates, proved sound

    A function to booleans, extracted to OCaml. If it accepts a certificate, the claims are true of the instance: what
    the optimum is, that the stages are a greedy run with ties broken by Definition 2.2, what greedy earns, the ratio,
    and that the guarantees hold. *)

From Coq Require Import ZArith QArith List Bool Lia Lqa.
From packproof Require Import CertificateModel Configurations MaxReward Prices.
Import ListNotations.
Open Scope Q_scope.

(** ** The greedy run *)

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

    The stages are computed again, as [global_greedy] does, and compared with those of the certificate. Nothing is
    proved of this computation: [greedy_run_b] decides about its result. *)

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

(** ** The checker *)

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

Definition mixture_b (K : list Z -> bool) (cs : list (list Z * Q)) (share : Q) : bool :=
  forallb (fun c => K (fst c) && negb (Qle_bool (snd c) 0) && existsb (fun s => negb (s =? 0)%Z) (fst c)) cs
  && descending cs && Qle_bool (sum (map snd cs)) share.

Lemma mixture_b_true (K : list Z -> bool) (R : list Z -> Prop) cs share :
  (forall k, K k = true -> R k) -> mixture_b K cs share = true -> mixture R cs share.
Proof.
  intros I E. unfold mixture_b in E. repeat rewrite andb_true_iff in E. destruct E as [[E _] L].
  split; [|now apply Qle_bool_iff]. apply Forall_forall. intros c H. rewrite forallb_forall in E. specialize (E c H).
  repeat rewrite andb_true_iff in E. destruct E as [[E P] _]. split; [now apply I|]. now apply Qlt_le_weak, positive_b.
Qed.

(** Columns for each pool, if there are [z] times as many servers. *)
Definition columns_b (m : instance) (z : Q) (columns : list (list (list Z * Q))) : bool :=
  forall2b (fun p cs => mixture_b (feasible_b (types m) (snd p)) cs (z * fst p)) (pools m) columns.

Lemma columns_b_true m z columns : columns_b m z columns = true ->
  Forall2 (fun p cs => mixture (feasible (types m) (snd p)) cs (z * fst p)) (pools m) columns.
Proof. apply forall2b_true. intros p cs. apply mixture_b_true. intros k. apply feasible_b_true. Qed.

(** The greatest value of a configuration of each pool. *)
Definition dearests (m : instance) (beta : list Q) : list Q := map (fun p => dearest (types m) beta (snd p)) (pools m).

Lemma dearests_prices m beta : Forall (fun x => 0 <= x) beta -> model_ok m = true ->
  Forall2 (server_price (types m) beta) (pools m) (dearests m beta).
Proof.
  intros N M. apply andb_true_iff in M. destruct M as [_ M]. unfold dearests.
  induction (pools m) as [|p ps IH]; simpl in *; constructor; apply andb_true_iff in M; destruct M.
  - destruct p. now apply dearest_price.
  - auto.
Qed.

Definition same_stage (a : stage * list nat) (b : list (list Z) * Q * list nat) : bool :=
  forall2b (forall2b Z.eqb) (confs (fst a)) (fst (fst b)) && Qeq_bool (frac (fst a)) (snd (fst b))
  && forall2b Nat.eqb (snd a) (snd b).

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
      && forall2b same_stage stages (listed c)
      && greedy_run_b m z st
      && Qeq_bool (earned m st) (greedy_reward c)
      && columns_b m 1 (columns c)
      && forall2b (fun y r => Qle_bool 0 y && Qle_bool y r) jobs (workload m)
      && Qeq_bool (value m jobs) (optimal_reward c)
      && forall2b (fun b x => Qle_bool 0 b && Qle_bool b x) (slot_prices c) (rewards m)
      && forall2b (fun b r => negb (Qeq_bool r 0) || Qeq_bool b 0) (slot_prices c) (workload m)
      && forall2b Qeq_bool (server_prices c) (dearests m (slot_prices c))
      && Qeq_bool (inner (minus (rewards m) (slot_prices c)) (workload m)
                   + inner (server_prices c) (map fst (pools m))) (optimal_reward c)
      && (if Qeq_bool (optimal_reward c) 0 then Qeq_bool (ratio c) 1
          else Qeq_bool (ratio c * optimal_reward c) (greedy_reward c))
      && Qeq_bool (guarantee c) product && Qeq_bool (guarantee_stagewise c) stagewise
      && Qle_bool (guarantee c * optimal_reward c) (greedy_reward c)
      && Qle_bool (guarantee_stagewise c * optimal_reward c) (greedy_reward c)
  end.

(** The prices prove the optimum. *)
Lemma check_prices c : check c = true -> let m := model c in
  Forall2 (fun b x => 0 <= b <= x) (slot_prices c) (rewards m)
  /\ Forall2 (server_price (types m) (slot_prices c)) (pools m) (server_prices c)
  /\ inner (minus (rewards m) (slot_prices c)) (workload m) + inner (server_prices c) (map fst (pools m))
     == optimal_reward c.
Proof.
  intros E m. unfold check in E. fold m in E. destruct (scale (rewards m)).
  destruct (run m l (order c) (repeat true (types m)) (workload m) 1) as [stages|]; [|now rewrite andb_false_r in E].
  destruct (guarantees m (map fst stages)). repeat rewrite andb_true_iff in E.
  destruct E as [[M' _] [[[[[[[[[_ Beta] _] Gam] Dual] _] _] _] _] _]].
  apply Qeq_bool_iff in Dual.
  assert (B : Forall2 (fun b x => 0 <= b <= x) (slot_prices c) (rewards m)).
  { eapply forall2b_true; [|exact Beta]. intros b x H. apply andb_true_iff in H.
    destruct H. split; now apply Qle_bool_iff. }
  assert (B0 : Forall (fun x => 0 <= x) (slot_prices c)).
  { clear - B. induction B as [|b x ? ? [H _] _ IH]; constructor; auto. }
  assert (G : Forall2 (server_price (types m) (slot_prices c)) (pools m) (server_prices c)).
  { pose proof (dearests_prices m (slot_prices c) B0 M') as D. clear - D Gam. revert D Gam.
    generalize (dearests m (slot_prices c)). generalize (server_prices c). intros gs ds D. revert gs.
    induction D as [|p d ps ds [D0 D] _ IH]; intros [|g gs] E; simpl in E; try easy; constructor;
      apply andb_true_iff in E; destruct E as [E E']; auto.
    apply Qeq_bool_iff in E. split; [now rewrite E|]. intros k F. rewrite E. auto. }
  now split.
Qed.

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
  intros E m. destruct (check_prices c E) as [B [G Dual]]. fold m in B, G, Dual.
  unfold check in E. fold m in E. destruct (scale (rewards m)) as [d z] eqn:Sc.
  destruct (run m z (order c) (repeat true (types m)) (workload m) 1) as [stages|]; [|now rewrite andb_false_r in E].
  destruct (guarantees m (map fst stages)) as [product stagewise].
  repeat rewrite andb_true_iff in E.
  destruct E as [[M S] [[[[[[[[[[[[[[[_ Same] Run] Earn] Cols] Jobs] Prim] _] _] _] _] Rat] _] _] G1] G2]].
  unfold model_ok in M. repeat rewrite andb_true_iff in M. destruct M as [[[[[U _] _] _] _] R].
  assert (N : Forall (fun x => 0 <= x) (rewards m)).
  { apply Forall_forall. intros x Hx. rewrite forallb_forall in U. specialize (U x Hx).
    now apply Qlt_le_weak, positive_b. }
  apply Qeq_bool_iff in Earn. apply Qeq_bool_iff in Prim.
  apply Qle_bool_iff in G1. apply Qle_bool_iff in G2.
  split; [|split; [|split; [|split; [|split]]]]; auto.
  - exists (slots (types m) (concat (columns c))). split; [|exact Prim]. split; [|split].
    + eapply weaker; [|exact (columns_b_true _ _ _ Cols)]. intros p cs [H L]. split; [exact H|].
      now rewrite Qmult_1_l in L.
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
