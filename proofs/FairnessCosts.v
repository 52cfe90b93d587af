(** * What PS-DSF keeps of the greatest sum of parts and of the greatest utilisation, and what TSF and C-DRFH keep of it *)

From mathcomp Require Import all_ssreflect all_algebra ring.
From packproof Require Import Inequalities Model Fairness.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(** ** The price of fairness under time division *)

Section Price.
Variables (F : realFieldType) (N S R : finType).
Variables (c : S -> R -> F) (d : N -> R -> F) (phi : N -> F) (gamma : N -> S -> F).
Implicit Types x y : N -> S -> F.
Hypothesis alone : runs_alone c d gamma.
Hypothesis phi_gt0 : forall n, 0 < phi n.
Hypothesis somewhere : forall n, exists i, 0 < gamma n i.
Notation ps_dsf_in_time := (ps_dsf phi gamma (timed gamma)).
Let g0 := gamma_ge0 alone.

(** At the prices of the market no allocation is worth more than all money. *)
Lemma worth_at_most x y : ps_dsf_in_time x -> timed gamma y ->
  \sum_n phi n * (tasks y n / tasks x n) <= \sum_n phi n.
Proof.
move=> fair [yp yt]; have xt := proj1 fair; have [xp _] := xt.
have [X0 [price [below _ sold spent]]] := proj1 (fisher_market alone phi_gt0 somewhere xt) fair.
apply: le_trans (_ : \sum_n \sum_i price i * (y n i / gamma n i) <= _).
  apply: ler_sum => n _; rewrite /tasks mulr_suml mulr_sumr; apply: ler_sum => i _.
  have [gn|gn] := ltP 0 (gamma n i); last first.
    have e : gamma n i = 0 by apply: le_anti; rewrite gn g0.
    by rewrite (proj2 (yp n i) e) !(mul0r, mulr0).
  rewrite (_ : phi n * (y n i / tasks x n) = phi n * gamma n i / tasks x n * (y n i / gamma n i)).
    by apply: ler_wpM2r; rewrite // divr_ge0 ?g0 //; case: (yp n i).
  by field; rewrite !gt_eqF.
rewrite -(eq_bigr _ (fun n _ => spent n)) [X in X <= _]exchange_big [X in _ <= X]exchange_big /=.
apply: ler_sum => i _; rewrite -!mulr_sumr.
have [/existsP[n gn]|none] := boolP (usable gamma i).
  rewrite (sold n i gn) mulr1 -[X in _ <= X]mulr1; apply: ler_wpM2l (yt i).
  apply: le_trans (below n i); rewrite divr_ge0 ?mulr_ge0 ?g0 ?(ltW (phi_gt0 n)) ?(ltW (X0 n)) //.
have z n : gamma n i = 0.
  by apply: le_anti; rewrite g0 andbT leNgt; apply: contra none => ?; apply/existsP; exists n.
by rewrite !big1 // => n _; rewrite z invr0 mulr0.
Qed.

Hypothesis equal : forall n m, phi n = phi m.

Lemma shares_at_most x y : ps_dsf_in_time x -> timed gamma y -> \sum_n tasks y n / tasks x n <= #|N|%:R.
Proof.
move=> fair yt; have := worth_at_most fair yt.
have [/existsP[m _]|none] := boolP [exists m : N, true]; last first.
  by rewrite !big1 ?ler0n // => n _; case/negP: none; apply/existsP; exists n.
rewrite (eq_bigr (fun n => phi m * (tasks y n / tasks x n))) => [|n _]; last by rewrite (equal n m).
have -> : \sum_n phi n = \sum_(n : N) phi m by apply: eq_bigr => n _; apply: equal.
by rewrite -mulr_sumr sumr_const -[X in _ <= X]mulr_natr ler_pM2l.
Qed.

(** All servers for one user. *)
Lemma one_user x n : ps_dsf_in_time x -> \sum_i gamma n i <= #|N|%:R * tasks x n.
Proof.
move=> fair; pose y m i := if m == n then gamma m i else 0.
have yt : timed gamma y.
  split=> [m i|i]; rewrite /y; first by split=> [|->]; case: ifP; rewrite ?g0.
  rewrite (eq_bigr (fun m => if m == n then gamma m i / gamma m i else 0)) => [|m _]; last first.
    by case: ifP; rewrite ?mul0r.
  rewrite -big_mkcond big_pred1_eq; have [->|gn] := eqVneq (gamma n i) 0; first by rewrite mul0r ler01.
  by rewrite divff.
have X0 : 0 < tasks x n by have [X0 _] := proj1 (fisher_market alone phi_gt0 somewhere (proj1 fair)) fair.
rewrite -ler_pdivrMr //; apply: le_trans (shares_at_most fair yt).
have yn : tasks y n = \sum_i gamma n i by rewrite /tasks /y eqxx.
rewrite [X in _ <= X](bigD1 n) //= yn lerDl; apply: sumr_ge0 => m /negPf mn.
by rewrite {1}/tasks big1 ?mul0r // => i _; rewrite /y mn.
Qed.

(** *** Theorem: (2 s - 1)/N with s the root of the number N of users *)
Theorem price_of_fairness x y (s : F) : ps_dsf_in_time x -> timed gamma y -> 0 <= s -> s ^+ 2 = #|N|%:R ->
  (2%:R * s - 1) / #|N|%:R * (\sum_n part gamma y n) <= \sum_n part gamma x n.
Proof.
move=> fair yt s0 sN; have [yp yt1] := yt.
have [X0 _] := proj1 (fisher_market alone phi_gt0 somewhere (proj1 fair)) fair.
have G0 n : 0 < \sum_i gamma n i.
  have [i gi] := somewhere n; rewrite (bigD1 i) //=; apply: ltr_wpDr => //.
  by apply: sumr_ge0 => j _; apply: g0.
have a0 n : 0 < part gamma x n by rewrite divr_gt0.
have Na n : 1 <= #|N|%:R * part gamma x n.
  by rewrite mulrA ler_pdivlMr // mul1r one_user.
have v01 n : 0 <= part gamma y n <= 1.
  rewrite divr_ge0 ?(ltW (G0 n)) /= ?ler_pdivrMr ?mul1r //; last by apply: sumr_ge0 => i _; case: (yp n i).
  apply: ler_sum => i _; have [gn|gn] := ltP 0 (gamma n i); last first.
    have e : gamma n i = 0 by apply: le_anti; rewrite gn g0.
    by rewrite e (proj2 (yp n i) e).
  rewrite -[gamma n i]mul1r -ler_pdivrMr //; apply: le_trans (yt1 i).
  by rewrite (bigD1 n) //= lerDl sumr_ge0 // => m _; rewrite divr_ge0 ?g0 //; case: (yp m i).
have quot n : part gamma y n / part gamma x n = tasks y n / tasks x n.
  by rewrite /part; field; rewrite !gt_eqF.
have term n : (2%:R * s - 1) * part gamma y n - part gamma y n / part gamma x n + 1 <= #|N|%:R * part gamma x n.
  have := v01 n; have := Na n; have := a0 n; set a := part _ x n; set v := part _ y n => ap Nap /andP[v0 v1].
  rewrite -subr_ge0 (_ : _ * a - _ = v * ((s * a - 1) ^+ 2 / a) + (1 - v) * (#|N|%:R * a - 1)).
    apply: addr_ge0; apply: mulr_ge0; rewrite ?subr_ge0 //.
    by rewrite divr_ge0 ?sqr_ge0 ?ltW.
  by rewrite -sN; field; rewrite gt_eqF.
have [/eqP e|N0] := boolP (#|N| == 0)%N.
  by rewrite e invr0 mulr0 mul0r; apply: sumr_ge0 => n _; apply: ltW.
have N1 : 0 < #|N|%:R :> F by rewrite ltr0n lt0n.
rewrite mulrAC ler_pdivrMr // [X in _ <= X]mulrC mulr_sumr [X in _ <= X]mulr_sumr.
apply: le_trans (_ : \sum_n ((2%:R * s - 1) * part gamma y n - part gamma y n / part gamma x n + 1) <= _).
  rewrite big_split sumrB /= sumr_const -addrA lerDl addrC subr_ge0.
  by rewrite (eq_bigr _ (fun n _ => quot n)) shares_at_most.
by apply: ler_sum => n _; apply: term.
Qed.

End Price.

(** *** Theorem: this is attained by k^2 users on k servers

    User (i, 0) may run on server i only, the others everywhere; each server serves one task. *)
Definition price_gamma (F : realFieldType) (k : nat) (n : 'I_k * 'I_k) (i : 'I_k) : F :=
  ((val n.2 == 0%N) ==> (n.1 == i))%:R.

Section PriceFamily.
Variables (F : realFieldType) (k : nat).
Hypothesis k_gt0 : (0 < k)%N.
Notation user := ('I_k * 'I_k)%type.
Notation gamma := (@price_gamma F k).
Notation tied := (fun n : user => val n.2 == 0%N).
Let first : 'I_k := Ordinal k_gt0.
Let k0 : k%:R != 0 :> F. Proof. by rewrite pnatr_eq0 -lt0n. Qed.
Let kn (a : F) : a *+ k = k%:R * a. Proof. by rewrite mulr_natl. Qed.

(** Sums over users: the one who is tied to each server, and the others. *)
Lemma sum_users (f g : 'I_k -> F) :
  \sum_(n : user) (if tied n then f n.1 else g n.1) = \sum_i (f i + (k%:R - 1) * g i).
Proof.
rewrite -(pair_bigA _ (fun i l : 'I_k => if val l == 0%N then f i else g i)) /=; apply: eq_bigr => i _.
rewrite (bigD1 first) //=; congr (_ + _).
rewrite (eq_bigr (fun=> g i)) => [|l l0]; last by rewrite -[0%N]/(val first) val_eqE (negPf l0).
rewrite sumr_const cardC1 card_ord -[LHS]mulr_natl; congr (_ * _).
by rewrite -subn1 natrB.
Qed.

Let at_server (i : 'I_k) (a : F) : \sum_j (if j == i then a else 0) = a.
Proof. by rewrite -big_mkcond big_pred1_eq. Qed.

Definition price_x (n : user) (i : 'I_k) : F := if tied n then (n.1 == i)%:R / k%:R else (k%:R ^+ 2)^-1.
Definition price_y (n : user) (i : 'I_k) : F := if tied n then (n.1 == i)%:R else 0.

Lemma gamma_tied n i : gamma n i = if tied n then (n.1 == i)%:R else 1.
Proof. by rewrite /price_gamma; case: ifP. Qed.

Lemma sum_server (j : 'I_k) : \sum_i (j == i)%:R = 1 :> F.
Proof. by rewrite -[RHS](at_server j); apply: eq_bigr => i _; rewrite eq_sym; case: eqP. Qed.

Lemma sum_gamma n : \sum_i gamma n i = if tied n then 1 else k%:R.
Proof.
under eq_bigr do rewrite gamma_tied.
by case: ifP => _; rewrite ?sum_server // sumr_const card_ord.
Qed.

Lemma tasks_x n : tasks price_x n = k%:R^-1.
Proof.
rewrite /tasks /price_x; case: (val n.2 == 0%N); last by rewrite sumr_const card_ord kn; field.
by have := congr1 (fun z => z / k%:R) (sum_server n.1); rewrite mulr_suml mul1r.
Qed.

Lemma tasks_y n : tasks price_y n = if tied n then 1 else 0.
Proof.
rewrite /tasks /price_y; case: (val n.2 == 0%N); first by rewrite sum_server.
by rewrite big1.
Qed.

Lemma price_alone : runs_alone (fun _ (_ : unit) => 1 : F) (fun _ _ => 1) gamma.
Proof.
move=> n i; rewrite /price_gamma; case: (_ ==> _); [right|by left].
by split; [apply: ltr01|split=> [r|]; [rewrite mul1r|exists tt; rewrite mul1r ltr01]].
Qed.

Lemma full_x i : \sum_n price_x n i / gamma n i = 1.
Proof.
rewrite (eq_bigr (fun n : user => if tied n then (if n.1 == i then k%:R^-1 else 0) else (k%:R ^+ 2)^-1)) => [|n _].
  rewrite (sum_users (fun j => if j == i then k%:R^-1 else 0) (fun=> (k%:R ^+ 2)^-1)) big_split /= at_server.
  by rewrite sumr_const card_ord kn; field.
by rewrite /price_x gamma_tied; case: ifP => _; rewrite ?divr1 //; case: eqP => _; rewrite ?mul0r // mul1r divr1.
Qed.

Lemma price_x_timed : timed gamma price_x.
Proof.
split=> [n i|i]; last by rewrite full_x.
rewrite /price_x; split=> [|]; first by case: ifP => _; rewrite ?divr_ge0 ?invr_ge0 ?exprn_ge0 ?ler0n.
by rewrite gamma_tied; case: ifP => _ => [->|/eqP]; rewrite ?mul0r // oner_eq0.
Qed.

Lemma price_y_timed : timed gamma price_y.
Proof.
split=> [n i|i]; rewrite /price_y.
  by rewrite gamma_tied; case: ifP => _; rewrite ?ler0n ?lexx.
rewrite (eq_bigr (fun n : user => if tied n then (if n.1 == i then 1 else 0) else 0)) => [|n _].
  rewrite (sum_users (fun j => if j == i then 1 else 0) (fun=> 0)) big_split /= at_server.
  by rewrite big1 ?addr0 // => j _; rewrite mulr0.
by rewrite gamma_tied; case: ifP => _; rewrite ?mul0r //; case: eqP => _; rewrite ?mul0r // divr1.
Qed.

Theorem price_of_fairness_attained : exists (gamma : user -> 'I_k -> F) x y,
  [/\ runs_alone (fun _ (_ : unit) => 1) (fun _ _ => 1) gamma /\ (forall n, exists i, 0 < gamma n i),
      ps_dsf (fun=> 1) gamma (timed gamma) x, timed gamma y, 0 < \sum_n part gamma y n &
      \sum_n part gamma x n = (2%:R * k%:R - 1) / (k ^ 2)%:R * (\sum_n part gamma y n)].
Proof.
have sum_y : \sum_n part gamma price_y n = k%:R.
  rewrite (eq_bigr (fun n : user => if tied n then 1 else 0)) => [|n _].
    rewrite (sum_users (fun=> 1) (fun=> 0)) (eq_bigr (fun=> 1)) => [|i _]; last by rewrite mulr0 addr0.
    by rewrite sumr_const card_ord.
  by rewrite /part tasks_y sum_gamma; case: ifP => _; rewrite ?divr1 ?mul0r.
exists gamma, price_x, price_y; split.
- split=> [|n]; first exact: price_alone.
  by exists n.1; rewrite /price_gamma eqxx implybT ltr01.
- apply/(time_test (fun=> 1) price_alone price_x_timed).
  split=> [i _|n m i gn xm]; first exact: full_x.
  rewrite /level !tasks_x !divr1; move: gn (served_gamma price_alone (proj1 price_x_timed) xm).
  by rewrite /price_gamma; case: (_ ==> _); rewrite ?ltxx //; case: (_ ==> _); rewrite ?ltxx.
- exact: price_y_timed.
- by rewrite sum_y ltr0n.
rewrite sum_y (eq_bigr (fun n : user => if tied n then k%:R^-1 else (k%:R ^+ 2)^-1)) => [|n _].
  rewrite (sum_users (fun=> k%:R^-1) (fun=> (k%:R ^+ 2)^-1)) sumr_const card_ord kn natrX.
  by field.
by rewrite /part tasks_x sum_gamma; case: ifP => _; rewrite ?divr1 // -invfM expr2.
Qed.

End PriceFamily.

(** ** Utilisation under resource division *)

Section Idle.
Variables (F : realFieldType) (N S R : finType).
Variables (c : S -> R -> F) (d : N -> R -> F) (phi : N -> F) (gamma : N -> S -> F).
Implicit Types x y : N -> S -> F.
Hypothesis d_ge0 : forall n r, 0 <= d n r.
Hypothesis alone : runs_alone c d gamma.
Hypothesis c_gt0 : forall i r, 0 < c i r.

(** *** Theorem: the mean utilisation is at least 1/R of the greatest *)
Theorem idle_resources x y : ps_dsf phi gamma (divided c d gamma) x -> divided c d gamma y ->
  mean_utilisation c d gamma y / #|R|%:R <= mean_utilisation c d gamma x.
Proof.
move=> fair [yp yd]; have [xp xd] := proj1 fair.
have all := proj1 (bottleneck_test _ d_ge0 alone (conj xp xd)) fair.
rewrite /mean_utilisation mulrAC; apply: ler_wpM2r; first by rewrite invr_ge0 ler0n.
apply: le_trans (_ : \sum_(i | usable gamma i) 1 <= _); last first.
  apply: ler_sum => i /existsP[n g0]; have [r [_ full _]] := all n i g0.
  rewrite (bigD1 r) //= full divff ?gt_eqF // lerDl sumr_ge0 // => r' _.
  by rewrite divr_ge0 ?(ltW (c_gt0 _ _)) ?sumr_ge0 // => p _; rewrite mulr_ge0 //; case: (xp p i).
have [R0|R0] := eqVneq #|R| 0%N; first by rewrite R0 invr0 mulr0 sumr_ge0 // => i _; apply: ler01.
rewrite ler_pdivrMr ?ltr0n ?lt0n // mulr_suml; apply: ler_sum => i _; rewrite mul1r.
rewrite -sumr_const; apply: ler_sum => r _; by rewrite ler_pdivrMr // mul1r.
Qed.

End Idle.

(** *** Theorem: and no more in general, on one server with n + 1 users and q + 1 resources

    The first user demands all resources, the others the first alone. *)
Theorem idle_resources_family (F : realFieldType) (n q : nat)
    (c := fun (_ : unit) (_ : 'I_q.+1) => 1 : F) (d := @idle_demand F n q)
    (gamma := fun (_ : 'I_n.+1) (_ : unit) => 1 : F) :
  exists x y, [/\ runs_alone c d gamma, ps_dsf (fun=> 1) gamma (divided c d gamma) x, divided c d gamma y,
    mean_utilisation c d gamma y = 1 &
    mean_utilisation c d gamma x = q.+1%:R^-1 + (1 - q.+1%:R^-1) / n.+1%:R].
Proof.
have n0 : n.+1%:R != 0 :> F by rewrite pnatr_eq0.
have q0 : q.+1%:R != 0 :> F by rewrite pnatr_eq0.
have alone : runs_alone c d gamma.
  move=> k i; right; split; [exact: ltr01|split=> [r|]].
    by rewrite mul1r /d /idle_demand; case: (_ || _); rewrite ?ler01.
  by exists ord0; rewrite /d /idle_demand eqxx orbT mul1r ltr01.
have d_ge0 k r : 0 <= d k r by rewrite ler0n.
have used (a : 'I_n.+1 -> F) (r : 'I_q.+1) : \sum_k a k * d k r = if r == ord0 then \sum_k a k else a ord0.
  rewrite /d /idle_demand; case: ifP => r0.
    by apply: eq_bigr => k _; rewrite orbT mulr1.
  rewrite (bigD1 ord0) //= big1 ?addr0 ?mulr1 // => k /negPf ->; by rewrite mulr0.
have usable1 : usable gamma tt by apply/existsP; exists ord0; apply: ltr01.
have one : #|usable gamma| = 1%N by apply: (@eq_card1 _ tt) => -[]; rewrite [RHS]eqxx; exact: usable1.
have sum_unit (f : unit -> F) : \sum_(i | usable gamma i) f i = f tt.
  by rewrite (bigD1 tt) //= big1 ?addr0 // => -[] /andP[].
have mean x : mean_utilisation c d gamma x = (\sum_k x k tt + q%:R * x ord0 tt) / q.+1%:R.
  rewrite /mean_utilisation one card_ord mul1n sum_unit.
  congr (_ / _); rewrite (bigD1 ord0) //= used eqxx divr1; congr (_ + _).
  rewrite (eq_bigr (fun=> x ord0 tt)) => [|r /negPf r0]; last by rewrite used r0 divr1.
  by rewrite sumr_const cardC1 card_ord mulr_natl.
pose x (k : 'I_n.+1) (i : unit) : F := n.+1%:R^-1.
pose y (k : 'I_n.+1) (i : unit) : F := (k == ord0)%:R.
have sum_x : \sum_k x k tt = 1 by rewrite /x sumr_const card_ord -[RHS](mulVf n0) mulr_natr.
have sum_y : \sum_k y k tt = 1 by rewrite /y (bigD1 ord0) //= big1 ?addr0 // => k /negPf ->.
have xd : divided c d gamma x.
  split=> [k i|[] r]; first by rewrite invr_ge0 ler0n; split=> // /eqP; rewrite oner_eq0.
  rewrite used sum_x; case: ifP => _ //; by rewrite invf_le1 ?ltr0n // ler1n.
exists x, y; split=> //.
- apply/(bottleneck_test _ d_ge0 alone xd) => k [] _; exists ord0; split.
  + by rewrite /d /idle_demand eqxx orbT ltr01.
  + by rewrite used eqxx sum_x.
  + by move=> m _ _; rewrite /level /tasks.
- split=> [k i|[] r]; first by rewrite ler0n; split=> // /eqP; rewrite oner_eq0.
  by rewrite used sum_y; case: ifP => _ //; rewrite /y eqxx.
- by rewrite mean sum_y /y eqxx mulr1 -mulrS divff.
- rewrite mean sum_x /x (_ : q%:R = q.+1%:R - 1); last by rewrite mulrS addrC addKr.
  move: q0 n0; set Q := q.+1%:R; set M := n.+1%:R => q0 n0; field.
  by rewrite q0 n0.
Qed.

(** ** No constant bounds how unfair TSF and C-DRFH are *)

Section Unfair.
Variables (F : realFieldType) (m : F).
Hypothesis m_gt0 : 0 < m.
Notation c := (unfair_capacity m).
Notation d := (@unfair_demand F).
Notation gamma := (@unfair_gamma F).
Implicit Types x y : bool -> bool -> F.

Let sum_bool (f : bool -> F) : \sum_b f b = f true + f false.
Proof. by rewrite (bigD1 true) //= (bigD1 false) //= big1 ?addr0 // => -[]. Qed.

Lemma unfair_alone : runs_alone c d gamma.
Proof.
move=> n []; [by left|right]; split; [exact: ltr01|split=> [r|]].
  by rewrite mul1r /unfair_demand; case: (_ && _); rewrite ?ler01.
by exists false; rewrite /unfair_demand andbF mul1r ltr01.
Qed.

(** Both can have tasks on the first server alone, which fit if their sum is at most one. *)
Definition unfair_x (a b : F) (n i : bool) : F := if i then 0 else if n then b else a.

Lemma unfair_tasks x n : divided c d gamma x -> tasks x n = x n false.
Proof. by case=> xp _; rewrite /tasks sum_bool (proj2 (xp n true)) ?add0r. Qed.

Lemma unfair_fits x : divided c d gamma x -> [/\ 0 <= x false false, 0 <= x true false & x false false + x true false <= 1].
Proof.
case=> xp xd; have [x0 _] := xp false false; have [x1 _] := xp true false.
by split=> //; have := xd false false; rewrite sum_bool /unfair_demand /unfair_capacity !mulr1 addrC.
Qed.

Lemma unfair_divided a b : 0 <= a -> 0 <= b -> a + b <= 1 -> divided c d gamma (unfair_x a b).
Proof.
move=> a0 b0 ab; split=> [n i|i r].
  rewrite /unfair_x /unfair_gamma; case: i => //; split; first by case: n.
  by move/eqP; rewrite oner_eq0.
rewrite sum_bool /unfair_x /unfair_demand /unfair_capacity; case: i; case: r; rewrite /= ?mulr0 ?mulr1 ?mul0r ?add0r //.
- exact: ltW.
- by apply: le_trans ab; rewrite lerDl.
by rewrite addrC.
Qed.

(** Max-min fair in numbers of which the second counts [v] times. *)
Lemma unfair_half (unit : bool -> F) v x : unit false = 1 -> unit true = v -> 0 < v ->
  max_min_fair c d (fun=> 1) gamma unit x <->
  divided c d gamma x /\ tasks x false = (1 + v)^-1 /\ tasks x true = v / (1 + v).
Proof.
move=> u0 u1 v0; have v1 : 0 < 1 + v by rewrite addr_gt0 ?ltr01.
have sum1 : (1 + v)^-1 + v / (1 + v) = 1 by rewrite -[X in X + _]mul1r -mulrDl divff ?gt_eqF.
split=> [[xd fair]|[xd [a b]]]; last first.
  have sx : tasks x false + tasks x true = 1 by rewrite a b.
  split=> // n y yd; have [_ _ ysum] := unfair_fits yd; rewrite -!(unfair_tasks _ yd) in ysum.
  case: n => lt; [exists false|exists true]; rewrite ?u0 ?u1 !divr1; split.
  - rewrite ltNge; apply/negP => ge; have := ltr_leD lt ge.
    by rewrite addrC [X in _ < X]addrC sx ltNge ysum.
  - by rewrite a b mulrAC divff ?gt_eqF // mul1r.
  - by rewrite ltNge; apply/negP => ge; have := ltr_leD lt ge; rewrite sx ltNge ysum.
  - by rewrite a b mulrAC divff ?gt_eqF // mul1r.
split=> //; have [x0 x1 xsum] := unfair_fits xd; rewrite -!(unfair_tasks _ xd) in x0 x1 xsum.
have gain n y : divided c d gamma y -> tasks x n < tasks y n ->
    exists p, tasks y p < tasks x p /\ tasks x p / unit p <= tasks x n / unit n.
  by move=> yd lt; have [p [less low]] := fair n y yd lt; exists p; move: low; rewrite !divr1.
have both : tasks x false + tasks x true = 1.
  apply/eqP; rewrite eq_le xsum leNgt; apply/negP => lt.
  have yd : divided c d gamma (unfair_x (1 - tasks x true) (tasks x true)).
    by apply: unfair_divided; rewrite ?subrK // subr_ge0 (le_trans _ xsum) // lerDr.
  have [] := gain false _ yd; first by rewrite (unfair_tasks _ yd) ltrBrDl addrC.
  case; rewrite (unfair_tasks _ yd) /= => -[]; first by rewrite ltxx.
  by rewrite ltrBlDr ltNge ltW.
have one_zero : divided c d gamma (unfair_x 1 0) by apply: unfair_divided; rewrite ?ler01 ?addr0.
have zero_one : divided c d gamma (unfair_x 0 1) by apply: unfair_divided; rewrite ?ler01 ?add0r.
have le1 : tasks x true / v <= tasks x false.
  have [lt|ge] := ltP (tasks x false) 1; last first.
    have -> : tasks x true = 0 by apply: le_anti; rewrite x1 andbT -(lerD2l (tasks x false)) both addr0 ge.
    by rewrite mul0r.
  have [|p [less low]] := gain false _ one_zero; first by rewrite (unfair_tasks _ one_zero).
  move: less low; rewrite (unfair_tasks _ one_zero); case: p => /=; rewrite ?u0 ?u1 ?divr1 //.
  by move=> lt1; have := lt_trans lt lt1; rewrite ltxx.
have le2 : tasks x false <= tasks x true / v.
  have [lt|ge] := ltP (tasks x true) 1; last first.
    have -> : tasks x false = 0 by apply: le_anti; rewrite x0 andbT -(lerD2r (tasks x true)) both add0r ge.
    by rewrite divr_ge0 // ltW.
  have [|p [less low]] := gain true _ zero_one; first by rewrite (unfair_tasks _ zero_one).
  move: less low; rewrite (unfair_tasks _ zero_one); case: p => /=; rewrite ?u0 ?u1 ?divr1 //.
  by move=> lt1; have := lt_trans lt lt1; rewrite ltxx.
have e : tasks x true = v * tasks x false.
  by rewrite (le_anti (introT andP (conj le2 le1))) mulrC divfK ?gt_eqF.
have e0 : tasks x false = (1 + v)^-1.
  by apply: (mulfI (lt0r_neq0 v1)); rewrite divff ?gt_eqF // mulrDl mul1r -e.
by rewrite e e0.
Qed.

Lemma unfair_exists (unit : bool -> F) v : unit false = 1 -> unit true = v -> 0 < v ->
  exists x, max_min_fair c d (fun=> 1) gamma unit x.
Proof.
move=> u0 u1 v0; have v1 : 0 < 1 + v by rewrite addr_gt0 ?ltr01.
have xd : divided c d gamma (unfair_x (1 + v)^-1 (v / (1 + v))).
  apply: unfair_divided; rewrite ?invr_ge0 ?divr_ge0 ?(ltW v0) ?(ltW v1) //.
  by rewrite -[X in X + _]mul1r -mulrDl divff ?gt_eqF.
by exists (unfair_x (1 + v)^-1 (v / (1 + v))); apply/(unfair_half _ u0 u1 v0); rewrite !(unfair_tasks _ xd).
Qed.

(** Alone everywhere the second could run 1 + m tasks, and each of its tasks takes 1/(1 + m) of all memory. *)
Lemma unfair_anywhere most : runs_anywhere c d most -> most false = 1 /\ most true = 1 + m.
Proof.
case=> g [ga sums]; rewrite !sums !sum_bool.
have unit n : g n false = 1.
  by case: (ga n false) => _ [r [_]]; rewrite /unfair_demand /unfair_capacity; case: (_ && _); rewrite ?mulr0 ?mulr1 // => /eqP; rewrite eq_sym oner_eq0.
have memory : g true true = m.
  by case: (ga true true) => _ [[] []]; rewrite /unfair_demand /unfair_capacity /= ?ltxx // mulr1.
have none : g false true = 0.
  case: (ga false true) => le [r [_]]; rewrite /unfair_demand /unfair_capacity /= mulr1; case: r => // e.
  by have := le true; rewrite /unfair_demand /unfair_capacity /= mulr1 e leNgt m_gt0.
by rewrite !unit memory none add0r addrC.
Qed.

Lemma unfair_anywhere_exists : exists most, runs_anywhere c d most.
Proof.
pose g (n i : bool) : F := if i then (if n then m else 0) else 1.
exists (fun n => \sum_i g n i), g; split=> // n i; split=> [r|].
  rewrite /g /unfair_demand /unfair_capacity; case: i; case: r; case: n; rewrite /= ?mulr0 ?mulr1 ?mul0r ?ler01 //.
  exact: ltW.
exists (i && ~~ n); rewrite /g /unfair_demand /unfair_capacity.
by case: i; case: n; rewrite /= ?ltr01 ?mulr1.
Qed.

Lemma unfair_totals r : \sum_i c i r = if r then 1 else 1 + m.
Proof. by rewrite sum_bool /unfair_capacity; case: r; rewrite ?add0r // addrC. Qed.

Lemma unfair_dominant share : dominant_share c d share -> (share false)^-1 = 1 /\ (share true)^-1 = 1 + m.
Proof.
have m1 : 1 < 1 + m by rewrite ltrDl.
have p1 : 0 < 1 + m by apply: lt_trans m1; apply: ltr01.
move=> dom; split.
  case: (dom false) => le [r e]; suff -> : share false = 1 by rewrite invr1.
  have := le true; rewrite unfair_totals /unfair_demand /= divr1 => ge.
  apply: le_anti; rewrite ge andbT e unfair_totals /unfair_demand /=; case: r {e}; rewrite ?divr1 //.
  by rewrite div1r invf_le1 // ltW.
case: (dom true) => le [r e]; suff -> : share true = (1 + m)^-1 by rewrite invrK.
have := le false; rewrite unfair_totals /unfair_demand /= div1r => ge.
apply: le_anti; rewrite ge andbT e unfair_totals /unfair_demand /=; case: r {e}; rewrite ?mul0r ?div1r //.
by rewrite invr_ge0 ltW.
Qed.

Lemma unfair_dominant_exists : exists share, dominant_share c d share.
Proof.
have m1 : 1 < 1 + m by rewrite ltrDl.
have p1 : 0 < 1 + m by apply: lt_trans m1; apply: ltr01.
exists (fun n : bool => if n then (1 + m)^-1 else 1) => n; split=> [r|].
  rewrite unfair_totals /unfair_demand; case: n; case: r; rewrite /= ?div1r ?divr1 ?mul0r ?invr_ge0 ?invr1 //.
  - exact: ltW.
  - by rewrite invf_le1 // ltW.
exists (~~ n); rewrite unfair_totals /unfair_demand; by case: n; rewrite /= ?divr1 ?div1r.
Qed.

(** *** Theorem: the first user has 2/(2 + m) of one half, which is its share under PS-DSF *)
Theorem unfairness_without_bound :
  [/\ runs_alone c d gamma,
      (exists x, tsf c d (fun=> 1) gamma x) /\ (exists x, c_drfh c d (fun=> 1) gamma x),
      forall x, ps_dsf (fun=> 1) gamma (divided c d gamma) x -> tasks x false = 2%:R^-1,
      forall x, tsf c d (fun=> 1) gamma x \/ c_drfh c d (fun=> 1) gamma x ->
        tasks x false = 2%:R / (2%:R + m) * 2%:R^-1 &
      forall e, 0 < e -> 2%:R / e <= m -> 2%:R / (2%:R + m) < e].
Proof.
have p1 : 0 < 1 + m by rewrite addr_gt0 ?ltr01.
have p2 : 0 < 2%:R + m by rewrite addr_gt0 ?ltr0n.
have share : (1 + (1 + m))^-1 = 2%:R / (2%:R + m) * 2%:R^-1.
  by rewrite addrA -[1 + 1]/(2%:R) mulrAC divff ?mul1r // pnatr_eq0.
split.
- exact: unfair_alone.
- split.
    have [most am] := unfair_anywhere_exists; have [u0 u1] := unfair_anywhere am.
    by have [x fair] := unfair_exists u0 u1 p1; exists x, most.
  have [sh ds] := unfair_dominant_exists; have [u0 u1] := unfair_dominant ds.
  have [x fair] := @unfair_exists (fun n => (sh n)^-1) _ u0 u1 p1; by exists x, sh.
- move=> x [xd fair]; have h : max_min_fair c d (fun=> 1) gamma (fun=> 1) x.
    split=> // n y yd lt; have [p [i [_ less gi low]]] := fair n y yd lt; exists p.
    case: i gi less low => [|_]; first by rewrite ltxx.
    by rewrite /level /unfair_gamma -!(unfair_tasks _ xd) -(unfair_tasks _ yd).
  by have [_ [-> _]] := proj1 (@unfair_half (fun=> 1) 1 x erefl erefl ltr01) h.
- move=> x [[most [am fair]]|[sh [ds fair]]].
    have [u0 u1] := unfair_anywhere am.
    by have [_ [-> _]] := proj1 (unfair_half x u0 u1 p1) fair.
  have [u0 u1] := unfair_dominant ds.
  by have [_ [-> _]] := proj1 (@unfair_half (fun n => (sh n)^-1) _ x u0 u1 p1) fair.
move=> e e0; rewrite ler_pdivrMr // => le; rewrite ltr_pdivrMr // mulrDr addrC (mulrC e m).
by apply: le_lt_trans le _; rewrite ltrDl mulr_gt0 ?ltr0n.
Qed.

End Unfair.
