(** * What the checker accepts, as runs and assignments of the model *)

From mathcomp Require Import all_ssreflect all_algebra ring.
From Coq Require ZArith QArith List.
From packproof Require Model Greedy Constant Shapes Checker MaxReward Prices.
From packproof Require Import Inequalities CertificateModel BridgeModel.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Numbers.
Variable F : realFieldType.
Notation of_Z := (@of_Z F).
Notation of_Q := (@of_Q F).

(** ** The numbers of the checker in a field *)

Lemma of_Z_diff z a b : z = BinInt.Z.sub (BinInt.Z.of_nat a) (BinInt.Z.of_nat b) -> of_Z z = a%:R - b%:R.
Proof.
move=> E; have := Shapes.Z_parts _ _ _ E; rewrite !plusE => H.
apply/eqP; rewrite /BridgeModel.of_Z subr_eq addrAC eq_sym subr_eq -!natrD; apply/eqP; congr (_%:R).
by rewrite H addnC.
Qed.

Lemma of_ZD x y : of_Z (BinInt.Z.add x y) = of_Z x + of_Z y.
Proof. by rewrite (of_Z_diff (Shapes.Z_add_parts x y)) !plusE !natrD opprD addrACA. Qed.

Lemma of_ZM x y : of_Z (BinInt.Z.mul x y) = of_Z x * of_Z y.
Proof.
rewrite (of_Z_diff (Shapes.Z_mul_parts x y)) !plusE !multE !natrD !natrM /BridgeModel.of_Z.
by rewrite mulrBl !mulrBr !opprB !opprD; ring.
Qed.

Lemma of_Z_nat n : of_Z (BinInt.Z.of_nat n) = n%:R.
Proof. by rewrite (@of_Z_diff _ n 0) ?subr0 // BinInt.Z.sub_0_r. Qed.

Lemma of_Z_to_nat z : BinInt.Z.le BinNums.Z0 z -> of_Z z = (BinInt.Z.to_nat z)%:R.
Proof. by move=> H; rewrite -of_Z_nat Znat.Z2Nat.id. Qed.

Lemma of_Z_le x y : BinInt.Z.le x y -> of_Z x <= of_Z y.
Proof. by move=> /Shapes.Z_le_parts ->; rewrite of_ZD of_Z_nat lerDl ler0n. Qed.

Lemma of_Z_lt x y : BinInt.Z.lt x y -> of_Z x < of_Z y.
Proof. by move=> /Shapes.Z_lt_parts ->; rewrite of_ZD of_Z_nat ltrDl ltr0n. Qed.

Lemma of_Z0 : of_Z BinNums.Z0 = 0. Proof. exact: (of_Z_nat 0). Qed.
Lemma of_Z1 : of_Z (BinNums.Zpos BinNums.xH) = 1. Proof. exact: (of_Z_nat 1). Qed.

Lemma den_gt0 p : 0 < of_Z (BinNums.Zpos p).
Proof. by rewrite -of_Z0; apply: of_Z_lt. Qed.

Lemma den_neq0 p : of_Z (BinNums.Zpos p) != 0.
Proof. exact: lt0r_neq0 (den_gt0 p). Qed.

Lemma of_Q_eq a b : QArith_base.Qeq a b -> of_Q a = of_Q b.
Proof.
rewrite /QArith_base.Qeq => E; apply/eqP.
by rewrite /BridgeModel.of_Q eqr_div ?den_neq0 // -!of_ZM E.
Qed.

Lemma of_Q_le a b : QArith_base.Qle a b -> of_Q a <= of_Q b.
Proof.
move=> H; rewrite /BridgeModel.of_Q ler_pdivrMr ?den_gt0 // mulrAC ler_pdivlMr ?den_gt0 // -!of_ZM.
exact: of_Z_le.
Qed.

Lemma of_Q_lt a b : QArith_base.Qlt a b -> of_Q a < of_Q b.
Proof.
move=> H; rewrite /BridgeModel.of_Q ltr_pdivrMr ?den_gt0 // mulrAC ltr_pdivlMr ?den_gt0 // -!of_ZM.
exact: of_Z_lt.
Qed.

Lemma of_QD a b : of_Q (QArith_base.Qplus a b) = of_Q a + of_Q b.
Proof. by rewrite {1}/BridgeModel.of_Q /= BinInt.Pos2Z.inj_mul !of_ZM of_ZD !of_ZM addf_div ?den_neq0. Qed.

Lemma of_QM a b : of_Q (QArith_base.Qmult a b) = of_Q a * of_Q b.
Proof. by rewrite {1}/BridgeModel.of_Q /= BinInt.Pos2Z.inj_mul !of_ZM mulf_div. Qed.

Lemma of_QB a b : of_Q (QArith_base.Qminus a b) = of_Q a - of_Q b.
Proof.
rewrite of_QD; congr (_ + _); rewrite /BridgeModel.of_Q /= -mulNr; congr (_ / _).
by rewrite /BridgeModel.of_Z BinInt.Z.opp_involutive opprB.
Qed.

Lemma of_Q_int z : of_Q (QArith_base.inject_Z z) = of_Z z.
Proof. by rewrite /BridgeModel.of_Q /= of_Z1 divr1. Qed.

Lemma of_Q0 : of_Q Q0 = 0. Proof. by rewrite /BridgeModel.of_Q /= of_Z0 mul0r. Qed.

Lemma of_Q1 : of_Q (QArith_base.Qmake (BinNums.Zpos BinNums.xH) BinNums.xH) = 1.
Proof. by rewrite /BridgeModel.of_Q /= of_Z1 divr1. Qed.

(** ** Sums over lists *)

Notation at_Q a j := (of_Q (nth Q0 a j)).
Notation at_Z k j := (of_Z (nth BinNums.Z0 k j)).

Lemma of_sum a : of_Q (CertificateModel.sum a) = \sum_(x <- a) of_Q x.
Proof. by elim: a => [|x a IH] /=; rewrite ?big_nil ?big_cons ?of_Q0 // of_QD IH. Qed.

Lemma of_inner J a b : size a = J -> size b = J -> of_Q (inner a b) = \sum_(j < J) at_Q a j * at_Q b j.
Proof.
elim: J a b => [|J IH] [|x a] [|y b] //= => [_ _|[Ha] [Hb]]; first by rewrite big_ord0 of_Q0.
by rewrite big_ord_recl of_QD of_QM (IH _ _ Ha Hb).
Qed.

Lemma of_worth J a k : size a = J -> size k = J -> of_Q (worth a k) = \sum_(j < J) at_Q a j * at_Z k j.
Proof.
elim: J a k => [|J IH] [|x a] [|s k] //= => [_ _|[Ha] [Hk]]; first by rewrite big_ord0 of_Q0.
by rewrite big_ord_recl of_QD of_QM of_Q_int (IH _ _ Ha Hk).
Qed.

Lemma at_plus a b j : size a = size b -> at_Q (CertificateModel.plus a b) j = at_Q a j + at_Q b j.
Proof.
elim: a b j => [|x a IH] [|y b] j //= => [_|[H]]; first by rewrite nth_nil of_Q0 addr0.
by case: j => [|j] /=; rewrite ?of_QD ?IH.
Qed.

Lemma at_minus a b j : size a = size b -> at_Q (minus a b) j = at_Q a j - at_Q b j.
Proof.
elim: a b j => [|x a IH] [|y b] j //= => [_|[H]]; first by rewrite nth_nil of_Q0 subr0.
by case: j => [|j] /=; rewrite ?of_QB ?IH.
Qed.

Lemma at_times x a j : at_Q (times x a) j = of_Q x * at_Q a j.
Proof.
rewrite /times; elim: a j => [|y a IH] [|j] /=; rewrite ?nth_nil ?of_Q0 ?mulr0 ?of_QM //.
Qed.

Lemma at_inject k j : at_Q (List.map QArith_base.inject_Z k) j = at_Z k j.
Proof. by elim: k j => [|s k IH] [|j] /=; rewrite ?nth_nil ?of_Q0 ?of_Z0 ?of_Q_int ?IH. Qed.

Lemma at_repeat n j : at_Q (List.repeat Q0 n) j = 0.
Proof. by elim: n j => [|n IH] [|j] /=; rewrite ?of_Q0. Qed.

Lemma size_minus a b : size a = size b -> size (minus a b) = size b.
Proof. by elim: a b => [|x a IH] [|y b] //= [/IH ->]. Qed.

Lemma size_plus a b : size a = size b -> size (CertificateModel.plus a b) = size b.
Proof. by elim: a b => [|x a IH] [|y b] //= [/IH ->]. Qed.

(** Slots of columns of [J] types. *)
Lemma slots_of J (columns : seq (seq Z * Q)) : (forall c, List.In c columns -> size c.1 = J) ->
  size (slots J columns) = J /\ forall j, at_Q (slots J columns) j = \sum_(c <- columns) of_Q c.2 * at_Z c.1 j.
Proof.
elim: columns => [|c columns IH] H /=.
  by split=> [|j]; [elim: J {H} => //= J -> | rewrite big_nil at_repeat].
have [|S E] := IH; first by move=> d Hd; apply: H; right.
have Sc : size (times c.2 (List.map QArith_base.inject_Z c.1)) = size (slots J columns).
  by rewrite /times !size_map S; apply: H; left.
by split=> [|j]; rewrite ?size_plus // big_cons at_plus // at_times at_inject E.
Qed.

(** Configurations of the pools beside the shares of the pools. *)
Lemma of_combine (ks : seq (seq Z)) (ws : seq Q) j n : size ks = n -> size ws = n ->
  \sum_(c <- List.combine ks ws) of_Q c.2 * at_Z c.1 j
  = \sum_(p < n) at_Q ws p * at_Z (nth [::] ks p) j.
Proof.
elim: n ks ws => [|n IH] [|k ks] [|w ws] //= => [_ _|[Hk] [Hw]]; first by rewrite big_nil big_ord0.
by rewrite big_cons big_ord_recl IH.
Qed.

Lemma forall2_nth A B (R : A -> B -> Prop) a b da db : List.Forall2 R a b ->
  size a = size b /\ forall i, (i < size a)%N -> R (nth da a i) (nth db b i).
Proof. by elim=> {a b} [|x y a b Rxy _ [S IH]] /=; split; rewrite ?S // => -[|i] //= H; apply: IH; rewrite S. Qed.

Lemma nth_forall2 A B (R : A -> B -> Prop) da db a b : size a = size b ->
  (forall i, (i < size a)%N -> R (nth da a i) (nth db b i)) -> List.Forall2 R a b.
Proof.
elim: a b => [|x a IH] [|y b] //= [S] H.
exact: List.Forall2_cons _ _ (H 0%N isT) (IH _ S (fun i iS => H i.+1 iS)).
Qed.

End Numbers.

(** ** The instance *)

Section Instance.
Variables (F : realFieldType) (m : instance).
Hypothesis ok : Checker.model_ok m = true.
Notation J := (types m).
Notation P := (size (pools m)).
Notation of_Z := (@of_Z F).
Notation of_Q := (@of_Q F).
Notation at_Q a j := (of_Q (nth Q0 a j)).
Notation at_Z k j := (of_Z (nth BinNums.Z0 k j)).
Notation share := (@share F m).
Notation reward_of := (@reward_of F m).
Notation work_of := (@work_of F m).
Notation can_hold := (@can_hold m).

Lemma size_rewards : size (rewards m) = J. Proof. by []. Qed.
Lemma size_workload : size (workload m) = J.
Proof. by have [_ [H _]] := Shapes.model_ok_shape m ok. Qed.

Lemma forall_nth A (R : A -> Prop) a d i : List.Forall R a -> (i < size a)%N -> R (nth d a i).
Proof. by move=> H; elim: H i => {a} [|x a Rx _ IH] [|i] //=; apply: IH. Qed.

Lemma pool_ok (p : 'I_P) : QArith_base.Qlt Q0 (pool_of p).1 /\ MaxReward.room_ok J (pool_of p).2 = true.
Proof. by have [_ [_ H]] := Shapes.model_ok_shape m ok; apply: (forall_nth _ H). Qed.

Lemma share_gt0 (p : 'I_P) : 0 < share p.
Proof. by rewrite -(of_Q0 F); apply: of_Q_lt; have [] := pool_ok p. Qed.

Lemma reward_of_gt0 (j : 'I_J) : 0 < reward_of j.
Proof. by have [H _] := Shapes.model_ok_shape m ok; rewrite -(of_Q0 F); apply: of_Q_lt; apply: (forall_nth _ H). Qed.

Lemma nth_numbers (k : 'I_J -> nat) (j : 'I_J) : nth BinNums.Z0 (numbers k) j = BinInt.Z.of_nat (k j).
Proof. by rewrite (nth_map j) ?size_enum_ord // nth_ord_enum. Qed.

Lemma size_numbers (k : 'I_J -> nat) : size (numbers k) = J.
Proof. by rewrite size_map size_enum_ord. Qed.

(** Configurations as lists and as functions. *)
Definition counts (k : seq Z) (j : 'I_J) : nat := BinInt.Z.to_nat (nth BinNums.Z0 k j).

Lemma nonneg_nth k j : List.Forall (fun s => BinInt.Z.le BinNums.Z0 s) k -> BinInt.Z.le BinNums.Z0 (nth BinNums.Z0 k j).
Proof. by move=> H; elim: H j => [|s {}k Hs _ IH] [|j] //=; apply: BinInt.Z.le_refl. Qed.

Lemma counts_numbers room (k : seq Z) : feasible J room k ->
  numbers (counts k) = k /\ forall j : 'I_J, at_Z k j = (counts k j)%:R.
Proof.
move=> /Shapes.feasible_shape [S N]; split=> [|j]; last by apply: of_Z_to_nat; apply: nonneg_nth.
apply: (@eq_from_nth _ BinNums.Z0) => [|i]; rewrite size_numbers // => iJ.
by rewrite (nth_numbers _ (Ordinal iJ)) /counts Znat.Z2Nat.id //; apply: nonneg_nth.
Qed.

Lemma can_hold_down : Model.down_closed can_hold.
Proof.
move=> p k k' H le; have [_ R] := pool_ok p; apply: (Shapes.feasible_down _ _ _ _ R _ _ H).
- rewrite /numbers; elim: (enum _) => [|j s IH] /=; first exact: List.Forall2_nil.
  by apply: List.Forall2_cons => //; apply: (proj1 (Znat.Nat2Z.inj_le (k' j) (k j))); apply/ssrnat.leP; apply: le.
- rewrite /numbers; elim: (enum _) => [|j s IH] /=; first exact: List.Forall_nil.
  by apply: List.Forall_cons => //; apply: Znat.Nat2Z.is_nonneg.
Qed.

Lemma worth_numbers a (k : 'I_J -> nat) : size a = J ->
  Model.reward (@entry_of F m a) k = of_Q (worth a (numbers k)).
Proof.
move=> S; rewrite (of_worth F S (size_numbers k)) /Model.reward; apply: eq_bigr => j _.
by rewrite nth_numbers of_Z_nat.
Qed.

Lemma reward_numbers (k : 'I_J -> nat) : Model.reward reward_of k = of_Q (worth (rewards m) (numbers k)).
Proof. exact: worth_numbers. Qed.

(** ** Greedy runs *)

Definition stage_of (s : stage) : Model.stage F _ _ :=
  Model.Stage [set j : 'I_J | nth false (left_types s) j] (fun p : 'I_P => counts (nth [::] (confs s) p))
    (of_Q (frac s)).

Definition good (s : stage) : Prop :=
  List.Forall2 (fun p k => max_reward m p.2 (left_types s) k) (pools m) (confs s).

Lemma good_conf s (p : 'I_P) : good s -> max_reward m (pool_of p).2 (left_types s) (nth [::] (confs s) p).
Proof. by case/(forall2_nth (Q0, Listed [::]) [::]) => _; apply. Qed.

Lemma good_other s (p : 'I_P) (k : 'I_J -> nat) : good s -> can_hold p k ->
  Model.uses_only (Model.left_types (stage_of s)) k ->
  let k' := nth [::] (confs s) p in
  QArith_base.Qlt (worth (rewards m) (numbers k)) (worth (rewards m) k') \/
  QArith_base.Qeq (worth (rewards m) (numbers k)) (worth (rewards m) k') /\ lex_ge k' (numbers k).
Proof.
move=> G K U; have [K' [O M]] := good_conf p G; apply: (M _ K).
have [Sl _] := forall2_nth false BinNums.Z0 O; have [Sk _] := Shapes.feasible_shape _ _ _ K'.
have {Sk}Sl : size (left_types s) = J by rewrite Sl; exact: Sk.
apply: (@nth_forall2 _ _ _ false BinNums.Z0) => [|i]; rewrite Sl ?size_numbers // => iJ Li.
by rewrite (nth_numbers _ (Ordinal iJ)) U // inE Li.
Qed.

(** The order of Definition 2.2, of lists and of functions. *)
Lemma lex_ge_nth k k' : size k = size k' -> lex_ge k k' -> (forall j, nth BinNums.Z0 k j = nth BinNums.Z0 k' j) \/
  exists2 j, (j < size k)%N & BinInt.Z.lt (nth BinNums.Z0 k' j) (nth BinNums.Z0 k j)
    /\ forall i, (i < j)%N -> nth BinNums.Z0 k' i = nth BinNums.Z0 k i.
Proof.
elim: k k' => [|s k IH] [|s' k'] //= => [_ _|[S]]; first by left.
case=> [lt|[<- /(IH _ S) [E|[j jS [lt E]]]]]; first by right; exists 0%N.
  by left=> -[|j] //=.
by right; exists j.+1 => //; split=> // -[|i] //=; apply: E.
Qed.

Lemma lexicographic (k k' : 'I_J -> nat) : lex_ge (numbers k) (numbers k') -> Model.lexicographically_ge k k'.
Proof.
case/lex_ge_nth=> [|E|[j]]; rewrite ?size_numbers //.
  by left=> j; apply: Znat.Nat2Z.inj; rewrite -!nth_numbers.
move=> jJ [lt E]; right; exists (Ordinal jJ).
have at_j q : nth BinNums.Z0 (numbers q) j = BinInt.Z.of_nat (q (Ordinal jJ)) := nth_numbers q (Ordinal jJ).
rewrite !at_j in lt; split=> [|i ij]; last by apply: Znat.Nat2Z.inj; rewrite -!nth_numbers; apply: E.
exact/ssrnat.ltP/(proj2 (Znat.Nat2Z.inj_lt _ _) lt).
Qed.

Lemma good_size s : good s -> size (confs s) = P.
Proof. by case/(forall2_nth (Q0, Listed [::]) [::]) => ->. Qed.

Lemma good_slots s : good s -> size (stage_slots m s) = J
  /\ forall j : 'I_J, at_Q (stage_slots m s) j = Model.slots share (stage_of s) j.
Proof.
move=> G; have [|S E] := @slots_of F J (List.combine (confs s) (List.map fst (pools m))).
  move=> c Hc; have : List.In c.1 (confs s) by move: Hc; rewrite {1}(surjective_pairing c); apply: List.in_combine_l.
  elim: G => //= p k ps ks [[Hk _] _] _ IH [<- //|]; exact: IH.
split=> // j; rewrite E (@of_combine F _ _ j P) ?good_size ?size_map //.
apply: eq_bigr => p _; rewrite (nth_map (Q0, Listed [::])) //.
by have [H _] := good_conf p G; have [_ ->] := counts_numbers H.
Qed.

Lemma good_served st : (forall s, List.In s st -> good s) -> size (served m st) = J
  /\ forall j : 'I_J, at_Q (served m st) j = Model.served share (map stage_of st) j.
Proof.
elim: st => [|s st IH] H /=.
  by split=> [|j]; [elim: J => //= n -> | rewrite at_repeat /Model.served big_nil].
have [|S E] := IH; first by move=> t Ht; apply: H; right.
have [Ss Es] := good_slots (H s (or_introl erefl)).
have St : size (times (frac s) (stage_slots m s)) = size (served m st) by rewrite /times size_map Ss S.
split=> [|j]; first by rewrite size_plus.
by rewrite at_plus // at_times Es E /Model.served big_cons.
Qed.

Lemma in_map A B (f : A -> B) l y : List.In y (map f l) -> exists2 x, List.In x l & y = f x.
Proof. by elim: l => //= x l IH [<-|/IH [z Hz ->]]; [exists x; first left | exists z; first right]. Qed.

Lemma split_map A B (f : A -> B) l pre s post : map f l = pre ++ s :: post ->
  exists a x b, [/\ l = a ++ x :: b, pre = map f a & s = f x].
Proof.
elim: pre l => [|y pre IH] [|x l] //= [E1 E2]; first by exists [::], x, l.
by have [a [z [b [-> -> ->]]]] := IH _ E2; exists (x :: a), z, b; rewrite /= E1.
Qed.

Lemma nth_combine A B (a : seq A) (b : seq B) da db i : size a = size b ->
  nth (da, db) (List.combine a b) i = (nth da a i, nth db b i).
Proof. by elim: a b i => [|x a IH] [|y b] [|i] //= [/IH]. Qed.

Lemma size_combine A B (a : seq A) (b : seq B) : size a = size b -> size (List.combine a b) = size a.
Proof. by elim: a b => [|x a IH] [|y b] //= [/IH ->]. Qed.

Lemma of_used st : Model.used (map stage_of st) = of_Q (used st).
Proof.
rewrite /Model.used big_map /used; elim: st => [|s st IH] /=; first by rewrite big_nil of_Q0.
by rewrite big_cons of_QD IH.
Qed.

Section Run.
Variable st : seq stage.
Hypothesis st_run : greedy_run m st.

Lemma run_good s : List.In s st -> good s.
Proof.
move=> Hs; have [pre [post E]] := List.in_split _ _ Hs.
by have [H _] := st_run; have [_ []] := H _ _ _ E.
Qed.

Lemma run_earned : Model.earned share reward_of (map stage_of st) = of_Q (earned m st).
Proof.
have [S E] := good_served run_good; rewrite /earned (of_inner F size_rewards S) Greedy.earned_served.
by apply: eq_bigr => j _; rewrite E.
Qed.

(** A greedy run of the lists is one of the model. *)
Lemma run_of : Model.greedy_run share can_hold reward_of work_of (map stage_of st).
Proof.
have [H [fits [servers ends]]] := st_run; have [S E] := good_served run_good.
have le1 := of_Q_le F servers; rewrite of_Q1 -of_used in le1.
split=> // [pre s post|pre s post|pre s post|j|].
- move=> E0; have [a [x [b [/H [x0 _] _ ->]]]] := split_map E0.
  by rewrite -(of_Q0 F); apply: of_Q_lt.
- move=> E0 p; have [a [x [b [Est _ ->]]]] := split_map E0.
  have G : good x by apply: run_good; rewrite Est; apply: List.in_elt.
  have [K [O M]] := good_conf p G; have [N _] := counts_numbers K.
  have L : forall j : 'I_J, j \notin Model.left_types (stage_of x) -> nth false (left_types x) j = false.
    by move=> j; rewrite inE => /negbTE.
  split=> [|j /L Lj|k' K' U'].
  + by rewrite /BridgeModel.can_hold /= N.
  + have [Sl El] := forall2_nth false BinNums.Z0 O; rewrite /= /counts El ?Sl //.
    have [Sk _] := Shapes.feasible_shape _ _ _ K; have {}Sk : size (nth [::] (confs x) p) = J := Sk.
    by rewrite Sk.
  + by rewrite !reward_numbers /= N; case: (good_other G K' U') => [/(of_Q_lt F)/ltW|[/(of_Q_eq F) ->]].
- move=> E0 j; have [a [x [b [Est -> ->]]]] := split_map E0; rewrite inE => /negbTE Lj.
  have [_ [_ G]] := H _ _ _ Est.
  have [|Sa Ea] := @good_served a; first by move=> t Ht; apply: run_good; rewrite Est; apply/List.in_or_app; left.
  have [Sl /(_ j)] := forall2_nth false (Q0, Q0) G.
  rewrite Sl size_combine Sa ?size_workload // nth_combine ?Sa ?size_workload //= => /(_ (ltn_ord j) Lj) /(of_Q_eq F).
  by rewrite Ea.
- have [_ /(_ j)] := forall2_nth Q0 Q0 fits; rewrite S => /(_ (ltn_ord j)) /(of_Q_le F).
  by rewrite E.
- case: ends => [/(of_Q_eq F) U|G]; [by left; rewrite of_used U of_Q1|right=> j].
  have [_ /(_ j)] := forall2_nth Q0 Q0 G; rewrite S => /(_ (ltn_ord j)) /(of_Q_eq F).
  by rewrite E.
Qed.

Lemma run_with_ties : Model.greedy_run_with_ties share can_hold reward_of work_of (map stage_of st).
Proof.
split=> [|s Hs p]; first exact: run_of.
have [x Hx Es] := in_map Hs; rewrite Es in Hs *.
have G := run_good Hx; have [K _] := good_conf p G; have [N _] := counts_numbers K.
split=> [|k' K' U'].
  by have [pre [post E]] := List.in_split _ _ Hs; apply: (Model.run_max run_of E).
rewrite !reward_numbers /= N => E; case: (good_other G K' U') => [/(of_Q_lt F)|[_]]; first by rewrite E ltxx.
by rewrite -{1}N; apply: lexicographic.
Qed.
End Run.

(** ** Assignments *)

Lemma in_nth A (d : A) l x : List.In x l -> exists2 i, (i < size l)%N & nth d l i = x.
Proof. by elim: l => //= y l IH [->|/IH [i iS E]]; [exists 0%N | exists i.+1]. Qed.

Lemma sum_eq A (f g : A -> F) l : (forall x, List.In x l -> f x = g x) -> \sum_(x <- l) f x = \sum_(x <- l) g x.
Proof.
elim: l => [|x l IH] H; first by rewrite !big_nil.
by rewrite !big_cons H ?IH //=; [move=> y Hy; apply: H; right | left].
Qed.

Lemma of_sum_map A (f : A -> Q) l : of_Q (CertificateModel.sum (List.map f l)) = \sum_(x <- l) of_Q (f x).
Proof. by elim: l => [|x l IH] /=; rewrite ?big_nil ?big_cons ?of_Q0 // of_QD IH. Qed.

Lemma sum_concat A n (f : A -> F) (l : seq (seq A)) : size l = n ->
  \sum_(x <- List.concat l) f x = \sum_(i < n) \sum_(x <- nth [::] l i) f x.
Proof.
elim: n l => [|n IH] [|a l] //= => [_|[S]]; first by rewrite big_nil big_ord0.
rewrite big_ord_recl -(IH _ S); elim: a => [|x a IHa] /=; first by rewrite big_nil add0r.
by rewrite !big_cons IHa addrA.
Qed.

Definition assignment_of (columns : seq (seq (seq Z * Q))) (jobs : seq Q) :
    Model.assignment F 'I_J 'I_P :=
  Model.Assignment (fun p : 'I_P => [seq (counts c.1, of_Q c.2) | c <- nth [::] columns p])
    (fun j : 'I_J => at_Q jobs j).

Section Assigned.
Variables (columns : seq (seq (seq Z * Q))) (jobs : seq Q).
Hypothesis assigned : is_assignment m columns jobs.

Lemma assigned_pool (p : 'I_P) : mixture (feasible J (pool_of p).2) (nth [::] columns p) (pool_of p).1.
Proof. by have [C _] := assigned; have [_ /(_ p (ltn_ord p))] := forall2_nth (Q0, Listed [::]) [::] C. Qed.

Lemma assigned_column (p : 'I_P) c : List.In c (nth [::] columns p) ->
  feasible J (pool_of p).2 c.1 /\ QArith_base.Qle Q0 c.2.
Proof. by have [H _] := assigned_pool p; move: H => /List.Forall_forall; apply. Qed.

Lemma assigned_size : size jobs = J.
Proof. by have [_ [Y _]] := assigned; have [-> _] := forall2_nth Q0 Q0 Y; apply: size_workload. Qed.

(** An assignment of the lists is one of the model, with the same value. *)
Lemma assignment_feasible : Model.feasible share can_hold work_of (assignment_of columns jobs).
Proof.
have [C [Y S]] := assigned; have SJ := assigned_size.
split=> [p c|p c|p|j|j].
- move=> Hc; have [d Hd ->] := in_map Hc; have [K _] := assigned_column Hd.
  by rewrite /BridgeModel.can_hold /=; have [-> _] := counts_numbers K.
- move=> Hc; have [d Hd ->] := in_map Hc; have [_ H] := assigned_column Hd.
  by rewrite -(of_Q0 F); apply: of_Q_le.
- by have [_ H] := assigned_pool p; rewrite big_map -(of_sum_map snd); apply: of_Q_le.
- have [_ /(_ j)] := forall2_nth Q0 Q0 Y; rewrite SJ => /(_ (ltn_ord j)) [/(of_Q_le F) H0 /(of_Q_le F) H1].
  by rewrite of_Q0 in H0; rewrite H0.
- have [_ /(_ j)] := forall2_nth Q0 Q0 S; rewrite SJ => /(_ (ltn_ord j)) /(of_Q_le F).
  have [SP _] := forall2_nth (Q0, Listed [::]) [::] C.
  have [c Hc|_ ->] := @slots_of F J (List.concat columns).
    have [cs [Hcs {}Hc]] := proj1 (List.in_concat _ _) Hc; have [p pP Ep] := in_nth [::] Hcs.
    rewrite -SP in pP; have [|K _] := @assigned_column (Ordinal pP) c; first by rewrite Ep.
    exact: (proj1 (Shapes.feasible_shape _ _ _ K)).
  rewrite (sum_concat _ (esym SP)) => /le_trans; apply; apply: ler_sum => p _; rewrite big_map /=.
  rewrite (@sum_eq _ _ (fun c => of_Q c.2 * (counts c.1 j)%:R)) // => c /assigned_column [K _].
  by have [_ ->] := counts_numbers K.
Qed.

Lemma assignment_value : Model.value reward_of (assignment_of columns jobs) = of_Q (value m jobs).
Proof. by rewrite /value (of_inner F size_rewards assigned_size). Qed.

End Assigned.

(** ** Prices *)

(** Weak duality in the model: prices of slots and servers bound every assignment. *)
Lemma model_bound (beta : 'I_J -> F) (gamma : 'I_P -> F) a :
  (forall j, 0 <= beta j <= reward_of j) -> (forall p, 0 <= gamma p) ->
  (forall p k, can_hold p k -> Model.reward beta k <= gamma p) -> Model.feasible share can_hold work_of a ->
  Model.value reward_of a <= \sum_j (reward_of j - beta j) * work_of j + \sum_p share p * gamma p.
Proof.
move=> B G0 G A; apply: le_trans (_ : _ <= \sum_j (reward_of j - beta j) * work_of j
  + \sum_p \sum_(c <- Model.columns a p) c.2 * Model.reward beta c.1) _; last first.
  by rewrite lerD2l; apply: ler_sum => p _; apply: (Greedy.sum_columns_le A (G0 p) (G p)).
have -> : \sum_p \sum_(c <- Model.columns a p) c.2 * Model.reward beta c.1
    = \sum_j beta j * \sum_p \sum_(c <- Model.columns a p) c.2 * (c.1 j)%:R.
  under [RHS]eq_bigr do rewrite mulr_sumr.
  rewrite exchange_big /=; apply: eq_bigr => p _; under [RHS]eq_bigr do rewrite mulr_sumr.
  rewrite exchange_big /=; apply: eq_bigr => c _; rewrite /Model.reward mulr_sumr.
  by apply: eq_bigr => j _; rewrite mulrCA.
rewrite /Model.value -big_split /=; apply: ler_sum => j _; have /andP [b0 b1] := B j.
rewrite -{1}(subrK (beta j) (reward_of j)) mulrDl; apply: lerD; apply: ler_wpM2l; rewrite ?subr_ge0 //.
  by have /andP [] := Model.feasible_jobs A j.
exact: (Model.feasible_slots A).
Qed.

Lemma prices_model beta gamma a :
  List.Forall2 (fun b x => QArith_base.Qle Q0 b /\ QArith_base.Qle b x) beta (rewards m) ->
  List.Forall2 (server_price J beta) (pools m) gamma -> Model.feasible share can_hold work_of a ->
  Model.value reward_of a
  <= of_Q (QArith_base.Qplus (inner (minus (rewards m) beta) (workload m)) (inner gamma (List.map fst (pools m)))).
Proof.
move=> B G A; have [Sb Eb] := forall2_nth Q0 Q0 B; have [Sg Eg] := forall2_nth (Q0, Listed [::]) Q0 G.
have {}Sb : size beta = J by rewrite Sb.
rewrite of_QD (@of_inner F J) ?size_minus ?Sb ?size_workload // (@of_inner F P) ?size_map -?Sg //.
apply: le_trans (@model_bound (@entry_of F m beta) (fun p => at_Q gamma p) a _ _ _ A) _ => [j|p|p k K|].
- have [|b0 b1] := Eb j; first by rewrite Sb.
  by rewrite -(of_Q0 F) !of_Q_le.
- by have [b0 _] := Eg p (ltn_ord p); rewrite -(of_Q0 F); apply: of_Q_le.
- by have [_ W] := Eg p (ltn_ord p); rewrite worth_numbers //; apply/of_Q_le/W.
- apply: lerD; apply: ler_sum => i _; first by rewrite at_minus ?Sb.
  by rewrite mulrC (nth_map (Q0, Listed [::])).
Qed.
End Instance.

(** ** Theorem: what the checker accepts is a greedy run and an optimal assignment of the model. *)
Theorem accepted_run (F : realFieldType) c : Checker.check c = true -> let m := model c in exists st a,
  [/\ Model.greedy_run_with_ties (@share F m) (@can_hold m) (@reward_of F m) (@work_of F m) st,
      Model.earned (@share F m) (@reward_of F m) st = of_Q F (greedy_reward c),
      Model.feasible (@share F m) (@can_hold m) (@work_of F m) a,
      Model.value (@reward_of F m) a = of_Q F (optimal_reward c) &
      forall b, Model.feasible (@share F m) (@can_hold m) (@work_of F m) b ->
        Model.value (@reward_of F m) b <= of_Q F (optimal_reward c)].
Proof.
move=> C m; have ok := Shapes.check_model_ok _ C.
have [[jobs [A V]] [_ [[st [R [E _]]] _]]] := Checker.check_sound _ C.
exists (map (@stage_of F m) st), (assignment_of F m (columns c) jobs); split.
- exact: run_with_ties.
- by rewrite (run_earned F R); apply: of_Q_eq.
- exact: assignment_feasible.
- by rewrite (assignment_value F ok A); apply: of_Q_eq.
- move=> b Fb; have [B [G D]] := Checker.check_prices _ C.
  by rewrite -(of_Q_eq F D); apply: prices_model.
Qed.

(** So the theorems on greedy runs hold of it: greedy earns at least 0.632 of the optimum. *)
Theorem accepted_keeps_632 c : Checker.check c = true -> Shapes.keeps Shapes.share_632 c.
Proof.
move=> C; have ok := Shapes.check_model_ok _ C.
suff over (F : realFieldType) (x : F) : Shapes.keeps Shapes.share_632 c by exact: (over _ (0 : rat)).
case: (QArith_base.Qlt_le_dec (greedy_reward c) (QArith_base.Qmult Shapes.share_632 (optimal_reward c))) => //.
move=> /(of_Q_lt F); rewrite of_QM ltNge => /negP [].
have [st [a [[R _] E A V _]]] := accepted_run F C; rewrite -E -V.
have w0 p : 0 <= @share F (model c) p := ltW (share_gt0 F ok p).
have u0 j : 0 <= @reward_of F (model c) j := ltW (reward_of_gt0 F ok j).
suff -> : of_Q F Shapes.share_632 = 79%:R / 125%:R.
  exact: Constant.greedy_keeps_632 (can_hold_down ok) w0 u0 R A.
by rewrite /BridgeModel.of_Q !of_Z_to_nat.
Qed.
