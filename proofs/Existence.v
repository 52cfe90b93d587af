(** * The greedy assignment exists

    Greedy placement in the limit of many servers, written as a function, as in the proof of Proposition 3.1 of the
    auto-scaling paper and in packproof's [global_greedy]. It is shown to be a greedy run in the sense of Model.v, with
    at most as many stages as there are types. *)

From mathcomp Require Import all_ssreflect all_algebra ring.
From packproof Require Import Greedy.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Existence.
Variable F : realFieldType.
(** The types are numbered 0, ..., J - 1 (ties are broken in this order); the pools are a finite set. *)
Variables (J : nat) (P : finType).
Notation type := 'I_J.
Notation config := (configuration type).
Variables (w : P -> F) (K : P -> config -> Prop) (u rho : type -> F).

(** [mr p S] is MaxReward of the types in [S] for a server of pool [p]. *)
Variable mr : P -> {set type} -> config.

Notation slots_of := (@slots_of F J P w mr).

(** The first element at which [f] is least. *)
Fixpoint first_min (f : type -> F) (j : type) (s : seq type) : type :=
  if s is i :: s' then (if f i < f j then first_min f i s' else first_min f j s') else j.

(** Stages as if servers never ended, for at most [n] types in [S] of which the work [left] is not served yet: the types
    left, the type that ends with the stage, which is the first whose work lasts shortest, and its length. *)
Fixpoint steps (n : nat) (S : {set type}) (left : type -> F) : seq ({set type} * type * F) :=
  if n is m.+1 then
    if [seq j <- enum S | slots_of S j != 0] is j0 :: s then
      let j := first_min (fun i => left i / slots_of S i) j0 s in
      let z := left j / slots_of S j in
      (S, j, z) :: steps m (S :\ j) (fun i => left i - z * slots_of S i)
    else [::]
  else [::].

(** The stages that a positive fraction [room] of the servers takes part in. *)
Fixpoint cut (room : F) (l : seq ({set type} * type * F)) : seq (stage F _ P) :=
  if l is (A, _, z) :: l' then
    if room <= z then [:: Stage A (mr^~ A) room]
    else if z == 0 then cut room l' else Stage A (mr^~ A) z :: cut (room - z) l'
  else [::].

(** The greedy assignment: the construction (53)-(54), cut off where the servers end. *)
Definition greedy : seq (stage F _ P) := cut 1 (steps J setT rho).

Hypothesis K_down : down_closed K.
Hypothesis w_ge0 : forall p, 0 <= w p.
Hypothesis u_gt0 : forall j, 0 < u j.
Hypothesis rho_ge0 : forall j, 0 <= rho j.
(** [mr] is MaxReward, and every type fits some server. *)
Hypothesis mr_max : forall p S, is_max_reward K u p S (mr p S).
Hypothesis all_fit : forall j, exists p k, [/\ 0 < w p, K p k & (0 < k j)%N].

Lemma first_minP f j s : first_min f j s \in j :: s /\ forall i, i \in j :: s -> f (first_min f j s) <= f i.
Proof.
elim: s j => [|i s IH] j /=; first by split; rewrite ?mem_head // => i; rewrite inE => /eqP->.
case: ifP => ij.
  have [h1 h2] := IH i; split; first by rewrite inE h1 orbT.
  move=> k; rewrite inE => /orP[/eqP->|]; last exact: h2.
  by apply: le_trans (ltW ij); apply: h2; apply: mem_head.
have [h1 h2] := IH j; split.
  by move: h1; rewrite !inE => /orP[->//|->]; rewrite !orbT.
move=> k; rewrite !inE => /or3P[/eqP->|/eqP->|ks].
- by apply: h2; apply: mem_head.
- by apply: le_trans (h2 j (mem_head _ _)) _; rewrite leNgt ij.
- by apply: h2; rewrite inE ks orbT.
Qed.

Lemma slots_of_ge0 (S : {set type}) (j : type) : 0 <= slots_of S j.
Proof. by apply: sumr_ge0 => p _; rewrite mulr_ge0 ?ler0n. Qed.

Lemma slots_of_out (S : {set type}) (j : type) : j \notin S -> slots_of S j = 0.
Proof.
move=> jS; apply: big1 => p _; case: (mr_max p S) => _ /(_ j jS) -> _.
by rewrite mulr0.
Qed.

(** While types are left, MaxReward has slots for one of them. *)
Lemma some_slots (S : {set type}) : S != set0 -> [seq j <- enum S | slots_of S j != 0] != [::].
Proof.
case/set0Pn => j jS; case: (all_fit j) => p [k [wp Kk kj]].
have [Km um mx] := mr_max p S.
pose k1 : config := fun i => if i == j then k i else 0%N.
have r0 : 0 < reward u (mr p S).
  apply: (@lt_le_trans _ _ (reward u k1)); last first.
    apply: mx; first by apply: (K_down Kk) => i; rewrite /k1; case: ifP.
    by move=> i iS; rewrite /k1; case: eqP iS => // ->; rewrite jS.
  rewrite /reward (bigD1 j) //= big1 ?addr0 => [|i /negPf ij]; last by rewrite /k1 ij mulr0.
  by rewrite /k1 eqxx mulr_gt0 ?ltr0n.
have [i ri] : exists i, mr p S i != 0%N.
  apply/existsP; rewrite -negb_forall; apply/negP => /forallP h.
  by move: r0; rewrite /reward big1 ?ltxx // => i _; rewrite (eqP (h i)) mulr0.
have iS : i \in S by apply: contraNT ri => /um ->.
have si : slots_of S i != 0.
  rewrite gt_eqF // /slots_of (bigD1 p) //= ltr_wpDr //.
    by apply: sumr_ge0 => q _; rewrite mulr_ge0 ?ler0n.
  by rewrite mulr_gt0 ?ltr0n ?lt0n.
apply/eqP => e; have : i \in [seq j <- enum S | slots_of S j != 0] by rewrite mem_filter si mem_enum.
by rewrite e.
Qed.

(** The stages [st] satisfy the conditions of a greedy run if they come after [pre]. *)
Fixpoint good (pre st : seq (stage F _ P)) : Prop :=
  if st is s :: st' then
    [/\ 0 < frac s, forall p, is_max_reward K u p (left_types s) (conf s p),
        forall j, j \notin left_types s -> served w pre j = rho j & good (rcons pre s) st']
  else True.

Lemma good_split pre st : good pre st -> forall a s b, st = a ++ s :: b ->
  [/\ 0 < frac s, forall p, is_max_reward K u p (left_types s) (conf s p) &
      forall j, j \notin left_types s -> served w (pre ++ a) j = rho j].
Proof.
elim: st pre => [|t st IH] pre; first by move=> _ [].
case=> h1 h2 h3 h4 [|c a] s b [<- e].
  by rewrite cats0.
by rewrite -cat_rcons; apply: (IH _ h4 _ _ _ e).
Qed.

Lemma served_rcons pre (s : stage F _ P) (j : type) :
  served w (rcons pre s) j = served w pre j + frac s * slots w s j.
Proof. by rewrite /served -cats1 big_cat big_seq1. Qed.

(** What is to be shown of the stages [c] that follow [pre] and may use the fraction [room] of the servers. *)
Definition good_end pre c room :=
  [/\ good pre c, forall j, served w pre j + served w c j <= rho j, used c <= room &
      used c = room \/ forall j, served w pre j + served w c j = rho j].

Lemma empty_good (left : type -> F) room pre :
  0 < room -> (forall j, left j = rho j - served w pre j) -> (forall j, left j = 0) -> good_end pre [::] room.
Proof.
move=> room0 leftE left0; have all j : served w pre j + served w [::] j = rho j.
  by rewrite [served w [::] j]big_nil addr0; apply/esym/eqP; rewrite -subr_eq0 -leftE left0.
by split=> // [j||]; [rewrite all | rewrite /used big_nil ltW | right].
Qed.

Lemma cut_good n (S : {set type}) (left : type -> F) room pre :
  (#|S| <= n)%N -> 0 < room -> (forall j, left j = rho j - served w pre j) -> (forall j, 0 <= left j) ->
  (forall j, j \notin S -> left j = 0) -> good_end pre (cut room (steps n S left)) room.
Proof.
elim: n S left room pre => [|n IH] S left room pre Sn room0 leftE left0 leftS.
  apply: (empty_good room0 leftE) => j; apply: leftS.
  by move: Sn; rewrite leqn0 cards_eq0 => /eqP->; rewrite inE.
have [S0|Sne] := eqVneq S set0.
  rewrite /= S0 enum_set0 /=; apply: (empty_good room0 leftE) => j.
  by apply: leftS; rewrite S0 inE.
rewrite /=; have := some_slots Sne.
have mem_l j : j \in [seq j <- enum S | slots_of S j != 0] -> j \in S /\ 0 < slots_of S j.
  by rewrite mem_filter mem_enum => /andP[s0 ->]; rewrite lt_neqAle eq_sym s0 slots_of_ge0.
have l_mem j : j \in S -> 0 < slots_of S j -> j \in [seq j <- enum S | slots_of S j != 0].
  by move=> jS s0; rewrite mem_filter mem_enum jS gt_eqF.
move: mem_l l_mem; case: [seq j <- enum S | slots_of S j != 0] => [//|j0 l] mem_l l_mem _ /=.
have [] := first_minP (fun i => left i / slots_of S i) j0 l.
set j := first_min _ j0 l => jl jmin; have [jS sj] := mem_l _ jl.
set z := left j / slots_of S j.
have z0 : 0 <= z by rewrite divr_ge0 // ltW.
have fits_z i : z * slots_of S i <= left i.
  have := slots_of_ge0 S i; rewrite le_eqVlt => /orP[/eqP<-|si]; first by rewrite mulr0.
  have iS : i \in S by apply: contraTT si => /slots_of_out ->; rewrite ltxx.
  by rewrite -ler_pdivlMr //; apply/jmin/l_mem.
have max_s p : is_max_reward K u p S (mr p S) by apply: mr_max.
have gone i : i \notin S -> served w pre i = rho i.
  by move=> /leftS l0; apply/esym/eqP; rewrite -subr_eq0 -leftE l0.
case: ifP => [roomz|/negbT].
  pose s := Stage S (mr^~ S) room.
  have E i : served w [:: s] i = room * slots_of S i by rewrite /served big_seq1.
  split=> [//|i||]; last 2 first.
  - by rewrite /used big_seq1.
  - by left; rewrite /used big_seq1.
  rewrite E -lerBrDl -leftE; apply: le_trans (fits_z i).
  by apply: ler_wpM2r => //; apply: slots_of_ge0.
rewrite -ltNge => zroom.
have cardS : (#|S :\ j| <= n)%N by move: Sn; rewrite (cardsD1 j) jS add1n ltnS.
pose left' i := left i - z * slots_of S i.
have left'0 i : 0 <= left' i by rewrite /left' subr_ge0.
have left'S i : i \notin S :\ j -> left' i = 0.
  rewrite in_setD1 negb_and negbK => /orP[/eqP->|iS].
    by rewrite /left' /z divfK ?gt_eqF // subrr.
  by rewrite /left' slots_of_out // mulr0 subr0 leftS.
have step := IH (S :\ j) left'.
case: ifP => [/eqP z0'|/negbT zn0].
  apply: step => // i.
  by rewrite /left' z0' mul0r subr0.
have zpos : 0 < z by rewrite lt_neqAle eq_sym zn0.
pose s := Stage S (mr^~ S) z.
have left'E i : left' i = rho i - served w (rcons pre s) i.
  by rewrite /left' leftE served_rcons /= opprD addrA.
have [|g f us e] := step (room - z) (rcons pre s) cardS _ left'E left'0 left'S.
  by rewrite subr_gt0.
have E c i : served w pre i + served w (s :: c) i = served w (rcons pre s) i + served w c i.
  by rewrite served_rcons {2}/served big_cons addrA.
have U c : used (s :: c) = z + used c by rewrite /used big_cons.
split=> [//|i||]; first by rewrite E.
  by rewrite U -lerBrDl.
case: e => e; [left | right=> i; rewrite E //].
by rewrite U e addrC subrK.
Qed.

Lemma size_steps n S left : (size (steps n S left) <= n)%N.
Proof.
elim: n S left => [|n IH] S left //=.
by case: [seq j <- enum S | slots_of S j != 0] => [//|j0 l] /=; rewrite ltnS IH.
Qed.

Lemma size_cut room l : (size (cut room l) <= size l)%N.
Proof.
elim: l room => [|[[S0 j] z] l IH] room //=.
by case: ifP => _ //; case: ifP => _ /=; [apply: leqW; apply: IH | rewrite ltnS IH].
Qed.

(** ** Theorem: the function [greedy] computes a greedy run. *)
Theorem greedy_is_run : greedy_run w K u rho greedy.
Proof.
have pre0 j : served w [::] j = 0 by rewrite /served big_nil.
have [] := @cut_good J setT rho 1 [::].
- by rewrite cardsT card_ord.
- exact: ltr01.
- by move=> j; rewrite pre0 subr0.
- by [].
- by move=> j; rewrite inE.
rewrite -/greedy => g f us e; split.
- by move=> pre s post /(good_split g)[].
- by move=> pre s post /(good_split g)[].
- by move=> pre s post /(good_split g)[].
- by move=> j; have := f j; rewrite pre0 add0r.
- by [].
- by case: e => e; [left | right=> j; have := e j; rewrite pre0 add0r].
Qed.

(** It has at most as many stages as there are types. *)
Theorem greedy_stages : (size greedy <= J)%N.
Proof. exact: leq_trans (size_cut _ _) (size_steps _ _ _). Qed.

(** ** Theorem: greedy placement keeps 1 - (1 - 1/J)^J of every assignment, J being the number of types. *)
Theorem greedy_guarantee (a : assignment F type P) : (0 < J)%N -> feasible w K rho a ->
  (1 - (1 - J%:R^-1) ^+ J) * value u a <= earned w u greedy.
Proof.
move=> J0 fa; apply: (greedy_keeps K_down w_ge0 _ greedy_is_run fa J0 greedy_stages).
by move=> j; apply: ltW.
Qed.

(** ** Theorem: if greedy placement serves all work, no assignment earns more. *)
Theorem greedy_optimal (a : assignment F type P) :
  (forall j, served w greedy j = rho j) -> feasible w K rho a -> value u a <= earned w u greedy.
Proof. by move=> all fa; apply: serves_all_optimal all fa => j; apply: ltW. Qed.

End Existence.

(** ** MaxReward exists where a server can hold finitely many configurations *)

Section Finite.
Variable F : realFieldType.
Variables (J N : nat) (P : finType).
Notation type := 'I_J.
Notation config := (configuration type).
Variables (w : P -> F) (K : P -> config -> bool) (u rho : type -> F).
(** Feasible configurations are decided by [K] and hold at most [N] jobs of a type. *)
Hypothesis K_down : down_closed (K : P -> config -> Prop).
Hypothesis K_bound : forall p k j, K p k -> (k j <= N)%N.
Hypothesis K_zero : forall p, K p (fun=> 0%N).
Notation KP := (K : P -> config -> Prop).

Definition of_finite (f : {ffun type -> 'I_N.+1}) : config := fun j => f j.
Definition to_finite (k : config) : {ffun type -> 'I_N.+1} := [ffun j => inord (k j)].

Lemma to_finiteK p k j : K p k -> of_finite (to_finite k) j = k j.
Proof. by move=> Kk; rewrite /of_finite ffunE inordK // ltnS (K_bound _ Kk). Qed.

(** Among the vectors with a property one is lexicographically first as far as the first [n] types go. *)
Lemma first_exists (C : pred {ffun type -> 'I_N.+1}) f n : C f -> exists2 f, C f & forall g, C g ->
  (forall i : type, (i < n)%N -> f i = g i)
  \/ exists j : type, (g j < f j)%N /\ forall i : type, (i < j)%N -> g i = f i.
Proof.
move=> Cf; elim: n => [|n [f0 Cf0 first]]; first by exists f => // g _; left.
have [Jn|nJ] := leqP J n.
  exists f0 => // g /first[e|]; [left=> i _; apply: e | by right].
  exact: leq_trans (ltn_ord i) Jn.
pose jn := Ordinal nJ; pose D g := C g && [forall i : type, (i < n)%N ==> (g i == f0 i)].
have D0 : D f0 by rewrite /D Cf0; apply/forallP => i; rewrite eqxx implybT.
have [f1 /andP[Cf1 /forallP same] most] := @arg_maxnP _ f0 D (fun g => g jn) D0.
have {}same (i : type) : (i < n)%N -> f1 i = f0 i by move=> h; apply/eqP; have := same i; rewrite h.
exists f1 => // g Cg; case: (first g Cg) => [e|[j [lt e]]].
  have Dg : D g by rewrite /D Cg; apply/forallP => i; apply/implyP => /e ->.
  have : (g jn <= f1 jn)%N := most g Dg; rewrite leq_eqVlt => /orP[/eqP eq|lt]; [left | right].
    move=> i; rewrite ltnS leq_eqVlt => /orP[/eqP ein|h]; last by rewrite same // e.
    by rewrite (_ : i = jn); [apply/val_inj | apply: val_inj].
  by exists jn; split=> // i h; rewrite same // e.
have [nj|jn'] := leqP n j; last first.
  by right; exists j; rewrite same //; split=> // i ij; rewrite same ?e // (ltn_trans ij).
have Dg : D g.
  by rewrite /D Cg; apply/forallP => i; apply/implyP => h; rewrite e // (leq_trans h).
have : (g jn <= f1 jn)%N := most g Dg; rewrite leq_eqVlt => /orP[/eqP eq|lt']; [left | right].
  move=> i; rewrite ltnS leq_eqVlt => /orP[/eqP ein|h]; last by rewrite same // e // (leq_trans h).
  by rewrite (_ : i = jn); [apply/val_inj | apply: val_inj].
by exists jn; split=> // i h; rewrite same // e // (leq_trans h).
Qed.

(** ** Theorem: MaxReward exists, with the tie rule. *)
Theorem MaxReward_exists : exists mr, forall p S, is_MaxReward KP u p S (mr p S).
Proof.
suff one (c : P * {set type}) : exists k, is_MaxReward KP u c.1 c.2 k.
  have [mr mrP] := fin_all_exists one; exists (fun p S => mr (p, S)) => p S.
  exact: (mrP (p, S)).
case: c => p S /=; pose C f := K p (of_finite f) && [forall j, (j \notin S) ==> (of_finite f j == 0%N)].
have C0 : C [ffun=> ord0].
  apply/andP; split; first by apply: (K_down (K_zero p)) => j; rewrite /of_finite ffunE.
  by apply/forallP => j; rewrite /of_finite ffunE eqxx implybT.
have to_C k : K p k -> uses_only S k -> C (to_finite k).
  move=> Kk kS; have e j := to_finiteK j Kk.
  apply/andP; split; first by apply: (K_down Kk) => j; rewrite e.
  by apply/forallP => j; apply/implyP => jS; rewrite e kS.
have rewardE k : K p k -> reward u (of_finite (to_finite k)) = reward u k.
  by move=> Kk; apply: eq_bigr => j _; rewrite (to_finiteK j Kk).
have [f0 Cf0 most] := @arg_maxP _ F _ _ C (fun f => reward u (of_finite f)) C0.
pose D f := C f && (reward u (of_finite f) == reward u (of_finite f0)).
have D0 : D f0 by rewrite /D Cf0 eqxx.
have [f /andP[Cf /eqP rf] first] := first_exists J D0.
have /andP[Kf /forallP fS] := Cf; exists (of_finite f); split.
  split=> // [j jS|k Kk kS]; first by have := fS j; rewrite jS => /eqP.
  by rewrite rf -(rewardE _ Kk); apply/most/to_C.
move=> k Kk kS; rewrite rf => rk; have kE j := to_finiteK j Kk.
case: (first (to_finite k)).
- by rewrite /D to_C // rewardE // rk eqxx.
- by move=> e; left=> j; rewrite -kE /of_finite e.
- case=> j [lt e]; right; exists j; rewrite -kE; split=> // i ij.
  by rewrite -kE /of_finite e.
Qed.

Lemma cut_conf (mr : P -> {set type} -> config) room l (s : stage F _ P) : List.In s (cut mr room l) ->
  forall p, conf s p = mr p (left_types s).
Proof.
elim: l room => [//|[[A j] z] l IH] room /=; case: ifP => _ /=; first by case=> // <-.
by case: ifP => _ /=; [apply: IH | case=> [<-|] //; apply: IH].
Qed.

Hypothesis w_ge0 : forall p, 0 <= w p.
Hypothesis u_gt0 : forall j, 0 < u j.
Hypothesis rho_ge0 : forall j, 0 <= rho j.
Hypothesis all_fit : forall j, exists p k, [/\ 0 < w p, K p k & (0 < k j)%N].

(** ** Theorem: there is a greedy run of at most J stages, with the tie rule, and it keeps 1 - (1 - 1/J)^J of every
    assignment. No hypothesis on MaxReward is left. *)
Theorem greedy_run_exists : (0 < J)%N -> exists st,
  [/\ greedy_run_with_ties w KP u rho st, (size st <= J)%N &
      forall a, feasible w KP rho a -> (1 - (1 - J%:R^-1) ^+ J) * value u a <= earned w u st].
Proof.
move=> J0; have [mr mrP] := MaxReward_exists; have mr_max p S : is_max_reward KP u p S (mr p S) by case: (mrP p S).
exists (greedy w rho mr); split; first split.
- by apply: greedy_is_run => // p S; apply: mr_max.
- by move=> s /cut_conf conf_s p; rewrite conf_s; apply: mrP.
- exact: greedy_stages.
- by move=> a fa; apply: (greedy_guarantee K_down w_ge0 u_gt0 rho_ge0 mr_max all_fit).
Qed.

End Finite.
