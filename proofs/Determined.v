(** * The tie rule determines what a greedy run earns *)

From mathcomp Require Import all_ssreflect all_algebra.
From packproof Require Import Greedy.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Determined.
Variables (F : realFieldType) (J : nat) (P : finType).
Notation config := (configuration 'I_J).
Variables (w : P -> F) (K : P -> config -> Prop) (u rho : 'I_J -> F).
Hypothesis w_ge0 : forall p, 0 <= w p.
Notation stage := (stage F _ P).
Implicit Types (v : 'I_J -> F) (t : F).

Lemma lexicographic_anti (k k' : config) :
  lexicographically_ge k k' -> lexicographically_ge k' k -> forall j, k j = k' j.
Proof.
case=> // [[j [lt same]]] [e|[i [lt' same']]]; first by rewrite e ltnn in lt.
have [ij|ji|/val_inj e] := ltngtP i j; first by rewrite same ?ltnn in lt'.
  by rewrite same' ?ltnn in lt.
by rewrite e ltnNge ltnW in lt'.
Qed.

(** The rest of a run: [v] jobs are served already, and the share [t] of the servers is used. *)
Fixpoint rest v t (st : seq stage) : Prop :=
  if st is s :: st' then
    [/\ 0 < frac s, forall p, is_MaxReward K u p (left_types s) (conf s p),
        forall j, j \notin left_types s -> v j = rho j &
        rest (fun j => v j + frac s * slots w s j) (t + frac s) st']
  else [/\ forall j, v j <= rho j, t <= 1 & t = 1 \/ forall j, v j = rho j].

Lemma rest_ext v v' t st : (forall j, v j = v' j) -> rest v t st -> rest v' t st.
Proof.
elim: st v v' t => [|s st IH] v v' t e /= => [[le t1 last]|[f0 best gone r]].
  by split=> // [j|]; [rewrite -e|case: last => [->|all]; [left|right=> j; rewrite -e]].
by split=> // [j jl|]; [rewrite -e gone|apply: IH r => j; rewrite e].
Qed.

Lemma run_rest (st : seq stage) : greedy_run_with_ties w K u rho st -> rest (fun=> 0) 0 st.
Proof.
case=> run ties.
suff h pre post : st = pre ++ post -> rest (served w pre) (used pre) post.
  apply: (@rest_ext (served w [::])) => [j|]; first by rewrite /served big_nil.
  by have := h [::] st erefl; rewrite /used big_nil.
elim: post pre => [|s post IH] pre e.
  rewrite cats0 in e; rewrite -e; split; [exact: run_fits run|exact: run_servers run|].
  by case: (run_end run) => ?; [left|right].
split; first exact: (run_frac run e).
- by move=> p; apply: ties; rewrite e; apply: List.in_or_app; right; left.
- exact: (run_gone run e).
have -> : used pre + frac s = used (rcons pre s) by rewrite /used -cats1 big_cat big_seq1.
apply: (@rest_ext (served w (rcons pre s))) => [j|]; first by rewrite /served -cats1 big_cat big_seq1.
by apply: IH; rewrite cat_rcons.
Qed.

Lemma slots_ge0 (s : stage) (j : 'I_J) : 0 <= slots w s j.
Proof. by apply: sumr_ge0 => p _; rewrite mulr_ge0 ?ler0n. Qed.

Lemma rest_le v t st j : rest v t st -> v j <= rho j.
Proof.
elim: st v t => [|s st IH] v t /= [f0 // _ _ /IH]; apply: le_trans.
by rewrite lerDl mulr_ge0 ?slots_ge0 ?ltW.
Qed.

Lemma no_slots v t (s : stage) st p j : rest v t (s :: st) -> v j = rho j -> 0 < w p -> conf s p j = 0%N.
Proof.
case=> f0 _ _ /(rest_le j) le e wp; move: le; rewrite e gerDl pmulr_rle0 // => le.
have : w p * (conf s p j)%:R <= 0.
  apply: le_trans le; rewrite /slots (bigD1 p) //= lerDl.
  by apply: sumr_ge0 => q _; rewrite mulr_ge0 ?ler0n.
by rewrite pmulr_rle0 // lern0 => /eqP.
Qed.

(** MaxReward of the types that are not served completely. *)
Lemma best_of_open v t (s : stage) st p : rest v t (s :: st) -> 0 < w p ->
  is_MaxReward K u p [set j | v j != rho j] (conf s p).
Proof.
move=> r wp; have [_ best gone _] := r; have [[Ks _ most] tie] := best p.
have open k : uses_only [set j | v j != rho j] k -> uses_only (left_types s) k.
  by move=> ko j jl; apply: ko; rewrite inE gone // eqxx.
split; last by move=> k Kk ko; apply: tie => //; apply: open.
split=> // [j|k Kk ko]; last by apply: most => //; apply: open.
by rewrite inE negbK => /eqP e; apply: no_slots r e wp.
Qed.

Lemma same_conf v t (s : stage) st (s' : stage) st' p : rest v t (s :: st) -> rest v t (s' :: st') -> 0 < w p ->
  forall j, conf s p j = conf s' p j.
Proof.
move=> r r' wp; have [[Ks us ms] ts] := best_of_open r wp; have [[Ks' us' ms'] ts'] := best_of_open r' wp.
have e : reward u (conf s p) = reward u (conf s' p) by apply: le_anti; rewrite ms' // ms.
by apply: lexicographic_anti; [apply: ts|apply: ts'].
Qed.

Lemma same_stage v t (s : stage) st (s' : stage) st' : rest v t (s :: st) -> rest v t (s' :: st') ->
  (forall j, slots w s j = slots w s' j) /\ rate w u s = rate w u s'.
Proof.
move=> r r'; have same p j : w p * (conf s p j)%:R = w p * (conf s' p j)%:R.
  have [wp|] := ltP 0 (w p); first by rewrite (same_conf r r' wp).
  by move=> wp; rewrite (_ : w p = 0) ?mul0r //; apply: le_anti; rewrite wp w_ge0.
split=> [j|]; first by apply: eq_bigr => p _; apply: same.
apply: eq_bigr => p _; rewrite !mulr_sumr; apply: eq_bigr => j _.
by rewrite mulrCA same mulrCA.
Qed.

Lemma rest_used v t st : rest v t st -> t <= 1.
Proof.
elim: st v t => [|s st IH] v t /= [] // f0 _ _ /IH; apply: le_trans.
by rewrite lerDl ltW.
Qed.

(** Where all is served, or all servers are used, nothing more is earned. *)
Lemma nothing_left v t st : rest v t st -> t = 1 \/ (forall j, v j = rho j) -> earned w u st = 0.
Proof.
elim: st v t => [|s st IH] v t r last; first by rewrite /earned big_nil.
have [f0 _ _ r'] := r.
have total_le := rest_used r'.
case: last => [t1|all]; first by move: total_le; rewrite t1 gerDl leNgt f0.
rewrite /earned big_cons -/(earned w u st) (IH _ _ r').
  rewrite addr0 /rate big1 ?mulr0 // => p _; have [wp|] := ltP 0 (w p).
    by rewrite /reward big1 ?mulr0 // => j _; rewrite (no_slots r (all j) wp) mulr0.
  by move=> wp; rewrite (_ : w p = 0) ?mul0r //; apply: le_anti; rewrite wp w_ge0.
right=> j; rewrite /slots big1 ?mulr0 ?addr0 // => p _; have [wp|] := ltP 0 (w p).
  by rewrite (no_slots r (all j) wp) mulr0.
by move=> wp; rewrite (_ : w p = 0) ?mul0r //; apply: le_anti; rewrite wp w_ge0.
Qed.

(** A stage can be cut in two. *)
Lemma cut v t (s : stage) st (f : F) : rest v t (s :: st) -> 0 < f -> f < frac s ->
  rest (fun j => v j + f * slots w s j) (t + f) (Stage (left_types s) (conf s) (frac s - f) :: st).
Proof.
move=> r f0 lt; have [_ best gone r'] := r; split=> //=; first by rewrite subr_gt0.
  move=> j jl; have e := gone j jl; rewrite /slots big1 ?mulr0 ?addr0 // => p _.
  have [[_ uses _] _] := best p; by rewrite uses ?mulr0.
rewrite -addrA [f + _]addrC subrK; apply: rest_ext r' => j.
by rewrite -[slots w (Stage _ _ _) j]/(slots w s j) -addrA -mulrDl [f + _]addrC subrK.
Qed.

Lemma same_earned n : forall v t st st', (size st + size st' <= n)%N ->
  rest v t st -> rest v t st' -> earned w u st = earned w u st'.
Proof.
have nil0 : earned w u [::] = 0 by rewrite /earned big_nil.
elim: n => [|n IH] v t [|s st] [|s' st'] // le r r'; rewrite ?nil0.
- by rewrite (nothing_left r') //; case: r.
- by rewrite (nothing_left r) //; case: r'.
rewrite /= in le.
have [slots_eq rate_eq] := same_stage r r'.
have [f0 _ _ rs] := r; have [f0' _ _ rs'] := r'.
have small : (size st + size st' <= n)%N by rewrite -ltnS (leq_trans _ le) // addSn addnS ltnS leqW.
have shift : rest (fun j => v j + frac s * slots w s' j) (t + frac s) st by apply: rest_ext rs => j; rewrite slots_eq.
have shift' : rest (fun j => v j + frac s' * slots w s j) (t + frac s') st' by apply: rest_ext rs' => j; rewrite slots_eq.
have cons a l : earned w u (a :: l) = frac a * rate w u a + earned w u l by rewrite /earned big_cons.
have [lt|gt|e] := ltgtP (frac s) (frac s').
- have size_le : (size st + (size st').+1 <= n)%N by rewrite addnS -addSn -ltnS -addnS.
  have h := IH _ _ _ (_ :: _) size_le shift (cut r' f0 lt).
  rewrite !cons h cons /= -[rate w u (Stage _ _ _)]/(rate w u s') rate_eq.
  by rewrite addrA -mulrDl [frac s + _]addrC subrK.
- have size_le : ((size st).+1 + size st' <= n)%N by rewrite -ltnS -addnS.
  have h := IH _ _ (_ :: _) _ size_le (cut r f0' gt) shift'.
  rewrite !cons -h cons /= -[rate w u (Stage _ _ _)]/(rate w u s) -rate_eq.
  by rewrite addrA -mulrDl [frac s' + _]addrC subrK.
rewrite !cons rate_eq e; congr (_ + _); rewrite -e in shift'.
by apply: IH small _ shift'; apply: rest_ext rs.
Qed.

(** ** Theorem: all greedy runs with the tie rule of Definition 2.2 earn the same. *)
Theorem ties_determine (st st' : seq stage) : greedy_run_with_ties w K u rho st -> greedy_run_with_ties w K u rho st' ->
  earned w u st = earned w u st'.
Proof. by move=> /run_rest r /run_rest r'; apply: same_earned (leqnn _) r r'. Qed.

(** What one run earns, all do. *)
Lemma every_run (c : F) :
  (exists (st : seq stage) a,
    [/\ greedy_run_with_ties w K u rho st, feasible w K rho a, forall b, feasible w K rho b -> value u b <= value u a,
        0 < value u a & earned w u st = c * value u a]) -> greedy_earns_exactly w K u rho c.
Proof.
case=> st [a [run fa best pos e]]; exists a; split=> //; first by exists st.
by move=> st' run'; rewrite (ties_determine run' run).
Qed.

End Determined.
