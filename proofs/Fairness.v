(** * Servers that users share: PS-DSF by bottlenecks, as a market, and what it costs *)

From mathcomp Require Import all_ssreflect all_algebra ring.
From packproof Require Import Inequalities Model.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(** ** A lemma for both divisions

    What a task takes of each resource is [need], of which there is [most]. *)

Section Bottlenecks.
Variables (F : realFieldType) (N S R : finType).
Variables (gamma : N -> S -> F) (need : N -> S -> R -> F) (most : S -> R -> F) (height : N -> S -> F).
Hypothesis gamma_ge0 : forall n i, 0 <= gamma n i.
Hypothesis need_ge0 : forall n i r, 0 <= need n i r.
Implicit Types x y : N -> S -> F.

Definition fits x := placed gamma x /\ forall i r, \sum_n x n i * need n i r <= most i r.

(** A positive number below finitely many bounds. *)
Lemma small_step (a b : R -> F) : (forall r, 0 <= a r) -> (forall r, 0 <= b r) -> (forall r, 0 < a r -> 0 < b r) ->
  exists2 e : F, 0 < e & forall r, e * a r <= b r.
Proof.
move=> a0 b0 ab; pose s := 1 + \sum_r a r / b r.
have terms r : 0 <= a r / b r by rewrite divr_ge0.
have s0 : 0 < s by apply: ltr_wpDr; rewrite ?ltr01 ?sumr_ge0.
exists s^-1; rewrite ?invr_gt0 // => r.
have [ar|] := ltP 0 (a r); last first.
  by move=> ar; rewrite (le_anti (_ : a r <= 0 <= a r)%R) ?ar ?mulr0 //= a0.
rewrite ler_pdivrMl // -ler_pdivrMr ?ab // /s (bigD1 r) //= addrCA lerDl.
by rewrite addr_ge0 ?ler01 ?sumr_ge0.
Qed.

Lemma some_more x y n : tasks x n < tasks y n -> exists i, x n i < y n i.
Proof.
move=> lt; apply/existsP; rewrite -[X in is_true X]negbK negb_exists; apply/negP => /forallP le.
by move: lt; rewrite ltNge ler_sum // => i _; rewrite leNgt.
Qed.

(** Nobody can gain exactly if everybody has a bottleneck wherever it can run. *)
Lemma bottlenecks x : fits x ->
  ((forall n y, fits y -> tasks x n < tasks y n ->
      exists m i, [/\ m != n, y m i < x m i, 0 < gamma n i & height m i <= height n i]) <->
   (forall n i, 0 < gamma n i -> exists r, [/\ 0 < need n i r, \sum_m x m i * need m i r = most i r &
      forall m, 0 < x m i -> 0 < need m i r -> height m i <= height n i])).
Proof.
move=> [xp xf]; split=> [fair n i g0|all n y [yp yf] lt]; last first.
  have [i xy] := some_more lt.
  have g0 : 0 < gamma n i.
    rewrite lt_neqAle gamma_ge0 andbT eq_sym; apply/eqP => /(proj2 (yp n i)) y0.
    by move: xy; rewrite y0 ltNge (proj1 (xp n i)).
  have [r [nr full low]] := all n i g0.
  case: (boolP [exists m, [&& m != n, y m i < x m i & 0 < need m i r]]) => [/existsP[m /and3P[mn ym mr]]|none].
    exists m, i; split=> //; apply: low => //.
    by apply: le_lt_trans ym; case: (yp m i).
  have := yf i r; rewrite -full leNgt => /negP[]; rewrite [X in X < _](bigD1 n) //= [X in _ < X](bigD1 n) //=.
  apply: ltr_leD; first by rewrite ltr_pM2r.
  apply: ler_sum => m mn; have [m0|m0] := ltP 0 (need m i r); last first.
    by rewrite (le_anti (_ : need m i r <= 0 <= need m i r)%R) ?mulr0 // m0 need_ge0.
  rewrite ler_pM2r // leNgt; apply/negP => ym; case/negP: none.
  by apply/existsP; exists m; rewrite mn ym m0.
pose taken m := (0 < x m i) && (height n i < height m i).
pose room r := most i r - \sum_(m | ~~ taken m) x m i * need m i r.
have split_sum r : \sum_m x m i * need m i r =
    \sum_(m | taken m) x m i * need m i r + \sum_(m | ~~ taken m) x m i * need m i r by rewrite (bigID taken).
have held_ge0 r : 0 <= \sum_(m | taken m) x m i * need m i r.
  by apply: sumr_ge0 => m _; rewrite mulr_ge0 //; case: (xp m i).
have room_held r : \sum_(m | taken m) x m i * need m i r <= room r.
  by rewrite /room lerBrDr -split_sum.
case: (boolP [exists r, (0 < need n i r) && (room r <= 0)]) => [/existsP[r /andP[nr r0]]|none].
  exists r; split=> //.
    apply/eqP; rewrite eq_le xf /= split_sum -lerBlDr; exact: le_trans r0 (held_ge0 r).
  move=> m xm mr; rewrite leNgt; apply/negP => hm.
  have := le_trans (room_held r) r0; rewrite leNgt => /negP[].
  rewrite (bigD1 m) /=; last by rewrite /taken xm hm.
  apply: ltr_wpDr; last by rewrite mulr_gt0.
  by apply: sumr_ge0 => p _; rewrite mulr_ge0 //; case: (xp p i).
have room_ge0 r : 0 <= room r := le_trans (held_ge0 r) (room_held r).
have [e e0 step] : exists2 e : F, 0 < e & forall r, e * need n i r <= room r.
  apply: small_step => // r nr; rewrite ltNge; apply/negP => r0; case/negP: none.
  by apply/existsP; exists r; rewrite nr.
pose y m j := if j == i then (if taken m then 0 else x m i) + (if m == n then e else 0) else x m j.
have tn : taken n = false by rewrite /taken ltxx andbF.
have y_fits : fits y.
  split=> [m j|j r]; rewrite /y; case: eqP => [->|_] //.
    split=> [|g]; first by rewrite addr_ge0 //; case: ifP => // _; [case: (xp m i) | apply: ltW].
    have mn : (m == n) = false by apply/eqP => mn; move: g0; rewrite -mn g ltxx.
    by rewrite mn addr0; case: ifP => // _; case: (xp m i) => _; apply.
  rewrite (eq_bigr (fun m => (if ~~ taken m then x m i * need m i r else 0) +
      (if m == n then e * need n i r else 0))) => [|m _]; last first.
    by rewrite mulrDl; congr (_ + _); [case: ifP => _ /=; rewrite ?mul0r | case: eqP => [->|]; rewrite ?mul0r].
  rewrite big_split /= -!big_mkcond /= big_pred1_eq.
  by rewrite -lerBrDl; apply: step.
have gain : tasks x n < tasks y n.
  have rest : \sum_(j | j != i) y n j = \sum_(j | j != i) x n j by apply: eq_bigr => j /negPf ji; rewrite /y ji.
  by rewrite /tasks (bigD1 i) //= [X in _ < X](bigD1 i) //= rest ltrD2r /y eqxx tn eqxx ltrDl.
have [m [j [mn lt gn hm]]] := fair n y y_fits gain.
move: lt hm; rewrite /y (negPf mn); case: eqP => [->|_]; last by rewrite ltxx.
rewrite addr0; case: ifP => [/andP[_ hm]|_]; last by rewrite ltxx.
by rewrite leNgt hm.
Qed.

End Bottlenecks.

(** ** Theorems 1 and 2 of the PS-DSF paper *)

Section Fairness.
Variables (F : realFieldType) (N S R : finType).
Variables (c : S -> R -> F) (d : N -> R -> F) (phi : N -> F) (gamma : N -> S -> F).
Implicit Types x y : N -> S -> F.
Hypothesis d_ge0 : forall n r, 0 <= d n r.
Hypothesis alone : runs_alone c d gamma.

Lemma gamma_ge0 n i : 0 <= gamma n i.
Proof. by case: (alone n i) => [->//|[/ltW]]. Qed.

(** *** Theorem: under resource division PS-DSF is a bottleneck for everybody wherever it can run *)
Theorem bottleneck_test x : divided c d gamma x ->
  ps_dsf phi gamma (divided c d gamma) x <->
  forall n i, 0 < gamma n i -> exists r, bottleneck c d phi gamma x n i r.
Proof.
move=> xd; have h := bottlenecks (level phi gamma x) gamma_ge0 (fun n i r => d_ge0 n r) xd.
by split=> [[_ fair]|all]; [apply/h|split=> //; apply/h].
Qed.

Lemma timed_fits x : timed gamma x <-> fits gamma (fun n i (_ : unit) => (gamma n i)^-1) (fun _ _ => 1) x.
Proof. by split=> [[xp xt]|[xp xt]]; split=> // i; apply: (xt i tt). Qed.

(** *** Theorem: under time division all time is used where somebody can run, and nobody is served above others *)
Theorem time_test x : timed gamma x ->
  ps_dsf phi gamma (timed gamma) x <->
  (forall i, usable gamma i -> \sum_n x n i / gamma n i = 1) /\
  forall n m i, 0 < gamma n i -> 0 < x m i -> level phi gamma x m i <= level phi gamma x n i.
Proof.
move=> xt; have inv_ge0 n i (_ : unit) : 0 <= (gamma n i)^-1 by rewrite invr_ge0 gamma_ge0.
have h := bottlenecks (level phi gamma x) gamma_ge0 inv_ge0 (proj1 (timed_fits x) xt).
split=> [[_ fair]|[full low]].
  have {}h := proj1 h (fun n y yt => fair n y (proj2 (timed_fits y) yt)).
  split=> [i /existsP[n g0]|n m i g0 xm]; have [[] [_ full low]] := h n i g0 => //.
  apply: low => //; rewrite invr_gt0 lt_neqAle gamma_ge0 andbT eq_sym; apply/eqP.
  by case: xt => xp _ /(proj2 (xp m i)) x0; rewrite x0 ltxx in xm.
split=> // n y yt; apply: (proj2 h) => [{n y yt} n i g0|]; last exact/timed_fits.
exists tt; split; first by rewrite invr_gt0.
  by apply: full; apply/existsP; exists n.
by move=> m xm _; apply: low.
Qed.


(** *** Theorem: what time allows, resources do, and not the other way round *)
Theorem time_fits x : (forall i r, 0 <= c i r) -> timed gamma x -> divided c d gamma x.
Proof.
move=> c0 [xp xt]; split=> // i r; apply: le_trans (_ : (\sum_n x n i / gamma n i) * c i r <= _).
  rewrite mulr_suml; apply: ler_sum => n _; case: (alone n i) => [g0|[g0 [most _]]].
    by rewrite (proj2 (xp n i) g0) !mul0r.
  rewrite -mulrA; apply: ler_wpM2l; first by case: (xp n i).
  by rewrite ler_pdivlMl.
by rewrite -[X in _ <= X]mul1r; apply: ler_wpM2r.
Qed.

Hypothesis phi_gt0 : forall n, 0 < phi n.

(** Shares of time, whose sum over servers is what a user buys. *)
Lemma tasks_gt0 x n i : placed gamma x -> 0 < x n i -> 0 < tasks x n.
Proof.
move=> xp x0; rewrite /tasks (bigD1 i) //=; apply: ltr_wpDr => //.
by apply: sumr_ge0 => j _; case: (xp n j).
Qed.

Lemma served_gamma x n i : placed gamma x -> 0 < x n i -> 0 < gamma n i.
Proof.
move=> xp x0; rewrite lt_neqAle gamma_ge0 andbT eq_sym; apply/eqP => /(proj2 (xp n i)) e.
by rewrite e ltxx in x0.
Qed.

(** *** Theorem: users who exchange time on two servers do not both gain

    [n] gives [a] of its time on [i] for [b] of that of [m] on [j]. *)
Theorem exchange_of_time x (n m : N) (i j : S) (a b : F)
    (gain_n := b * gamma n j - a * gamma n i) (gain_m := a * gamma m i - b * gamma m j)
    (A := level phi gamma x m i - level phi gamma x n i) (B := level phi gamma x n j - level phi gamma x m j)
    (rate := tasks x n * phi m / (tasks x m * phi n)) :
  timed gamma x -> ps_dsf phi gamma (timed gamma) x -> 0 < x n i -> 0 < x m j -> 0 <= a -> 0 <= b ->
  [/\ 0 < gain_n -> gain_m < 0, 0 < gain_m -> gain_n < 0 &
      0 < gamma m i -> 0 < gamma n j -> [/\ 0 <= A, 0 <= B, 0 < rate &
        gain_n + rate * gain_m
          = - (a * A * (gamma n i * gamma m i) + b * B * (gamma n j * gamma m j)) * (phi m / tasks x m)]].
Proof.
move=> xt fair x0 y0 a0 b0; have [_ low] := proj1 (time_test xt) fair; have [xp _] := xt.
have gi := served_gamma xp x0; have gj := served_gamma xp y0.
have X0 := tasks_gt0 xp x0; have Y0 := tasks_gt0 xp y0.
have both : 0 < gamma m i -> 0 < gamma n j -> [/\ 0 <= A, 0 <= B, 0 < rate &
    gain_n + rate * gain_m
      = - (a * A * (gamma n i * gamma m i) + b * B * (gamma n j * gamma m j)) * (phi m / tasks x m)].
  move=> hi hj; split; [by rewrite subr_ge0 low|by rewrite subr_ge0 low|by rewrite divr_gt0 ?mulr_gt0|].
  rewrite /gain_n /gain_m /rate /A /B /level; field.
  by rewrite !gt_eqF ?phi_gt0.
split=> //; rewrite /gain_n /gain_m.
- rewrite subr_gt0 subr_lt0 => lt; have [hi|hi] := ltP 0 (gamma m i); last first.
    have b1 : 0 < b by rewrite lt_neqAle b0 andbT; apply/eqP => e; move: lt; rewrite -e mul0r ltNge mulr_ge0 // ltW.
    by apply: le_lt_trans (_ : 0 < _); rewrite ?mulr_gt0 // mulr_ge0_le0.
  have [hj|hj] := ltP 0 (gamma n j); last first.
    by have := lt_le_trans lt (mulr_ge0_le0 b0 hj); rewrite ltNge mulr_ge0 // ltW.
  have [A0 B0 r0 e] := both hi hj.
  have : gain_n + rate * gain_m <= 0.
    by rewrite e mulNr oppr_le0 mulr_ge0 ?addr_ge0 ?mulr_ge0 ?gamma_ge0 ?invr_ge0 ?(ltW (phi_gt0 _)) ?(ltW Y0).
  rewrite -subr_lt0 -/gain_m -(pmulr_rlt0 _ r0) => h.
  by rewrite -(ltrD2l gain_n) addr0 (le_lt_trans h) // subr_gt0.
- rewrite subr_gt0 subr_lt0 => lt; have [hj|hj] := ltP 0 (gamma n j); last first.
    have a1 : 0 < a by rewrite lt_neqAle a0 andbT; apply/eqP => e; move: lt; rewrite -e mul0r ltNge mulr_ge0 // ltW.
    by apply: le_lt_trans (_ : 0 < _); rewrite ?mulr_gt0 // mulr_ge0_le0.
  have [hi|hi] := ltP 0 (gamma m i); last first.
    by have := lt_le_trans lt (mulr_ge0_le0 a0 hi); rewrite ltNge mulr_ge0 // ltW.
  have [A0 B0 r0 e] := both hi hj.
  have : gain_n + rate * gain_m <= 0.
    by rewrite e mulNr oppr_le0 mulr_ge0 ?addr_ge0 ?mulr_ge0 ?gamma_ge0 ?invr_ge0 ?(ltW (phi_gt0 _)) ?(ltW Y0).
  move=> h; rewrite -subr_lt0 -/gain_n.
  by rewrite -(ltrD2r (rate * gain_m)) add0r (le_lt_trans h) // mulr_gt0 // subr_gt0.
Qed.

(** *** Theorem: under time division PS-DSF is the equilibrium of a market *)

Section Market.
Variable x : N -> S -> F.
Hypothesis somewhere : forall n, exists i, 0 < gamma n i.
Hypothesis xt : timed gamma x.
Notation worth := (fun n i => phi n * gamma n i / tasks x n).

Lemma level_worth n i : 0 < tasks x n -> 0 < gamma n i -> level phi gamma x n i = (worth n i)^-1.
Proof. by move=> X0 g0; rewrite /level; field; rewrite !gt_eqF ?phi_gt0. Qed.

Theorem fisher_market : ps_dsf phi gamma (timed gamma) x <->
  (forall n, 0 < tasks x n) /\ exists price, market_equilibrium phi gamma x price.
Proof.
have [xp _] := xt; have inv := @invr_gt0 F.
have time0 n i : 0 <= x n i / gamma n i by rewrite divr_ge0 ?gamma_ge0 //; case: (xp n i).
split=> [fair|[X0 [price [below served sold _]]]]; last first.
  apply/(time_test xt); split=> [i /existsP[n g0]|n m i g0 x0]; first exact: sold g0.
  have gm := served_gamma xp x0.
  have w0 p : 0 < gamma p i -> 0 < worth p i by move=> gp; rewrite divr_gt0 ?mulr_gt0.
  rewrite !level_worth // lef_pV2 ?posrE ?w0 //.
  by rewrite [worth m i](served m i x0) below.
have [full low] := proj1 (time_test xt) fair.
have X0 n : 0 < tasks x n.
  rewrite lt_neqAle eq_sym sumr_ge0 ?andbT => [|i _]; last by case: (xp n i).
  apply/eqP => X; have [i g0] := somewhere n.
  have [/existsP[m x0]|none] := boolP [exists m, 0 < x m i].
    have := low n m i g0 x0; rewrite {2}/level X !mul0r leNgt => /negP[].
    by rewrite !divr_gt0 ?(tasks_gt0 xp x0) ?(served_gamma xp x0) ?phi_gt0.
  have := full i (introT existsP (ex_intro _ n g0)); rewrite big1 => [/eqP|m _].
    by rewrite eq_sym oner_eq0.
  suff -> : x m i = 0 by rewrite mul0r.
  by apply: le_anti; rewrite (proj1 (xp m i)) andbT leNgt; apply: contra none => ?; apply/existsP; exists m.
split=> //; exists (fun i => \sum_m x m i / gamma m i * worth m i).
have worth_le n m i : 0 < gamma n i -> 0 < x m i -> worth n i <= worth m i.
  move=> g0 x0; have gm := served_gamma xp x0; have := low n m i g0 x0; rewrite !level_worth //.
  by rewrite lef_pV2 // ?posrE divr_gt0 ?mulr_gt0.
have spread n i : 0 < gamma n i -> worth n i = \sum_m x m i / gamma m i * worth n i.
  by move=> g0; rewrite -mulr_suml full ?mul1r //; apply/existsP; exists n.
have pay n i : 0 < x n i -> worth n i = \sum_m x m i / gamma m i * worth m i.
  move=> x0; have g0 := served_gamma xp x0; rewrite {1}spread //; apply: eq_bigr => m _.
  have [xm|xm] := ltP 0 (x m i).
    by congr (_ * _); apply: le_anti; rewrite !worth_le // (served_gamma xp xm).
  suff -> : x m i = 0 by rewrite !mul0r.
  by apply: le_anti; rewrite xm; case: (xp m i).
split=> //.
- move=> n i; have [g0|g0] := ltP 0 (gamma n i).
    rewrite {1}spread //; apply: ler_sum => m _; have [xm|xm] := ltP 0 (x m i).
      by apply: ler_wpM2l; rewrite ?time0 ?worth_le.
    suff -> : x m i = 0 by rewrite !mul0r.
    by apply: le_anti; rewrite xm; case: (xp m i).
  apply: le_trans (_ : 0 <= _).
    by rewrite mulr_le0_ge0 ?invr_ge0 ?(ltW (X0 n)) // mulr_ge0_le0 ?(ltW (phi_gt0 n)).
  by apply: sumr_ge0 => m _; rewrite mulr_ge0 // divr_ge0 ?mulr_ge0 ?gamma_ge0 ?(ltW (X0 m)) ?(ltW (phi_gt0 m)).
- by move=> n i g0; apply: full; apply/existsP; exists n.
move=> n; rewrite (eq_bigr (fun i => phi n / tasks x n * x n i)) => [|i _].
  by rewrite -mulr_sumr -/(tasks x n) divfK // gt_eqF.
have [x0|x0] := ltP 0 (x n i); last first.
  suff -> : x n i = 0 by rewrite !(mul0r, mulr0).
  by apply: le_anti; rewrite x0; case: (xp n i).
by rewrite -(pay n i x0); field; rewrite !gt_eqF ?(served_gamma xp x0).
Qed.

End Market.

End Fairness.

(** *** Theorem: two users of one resource each can run as if alone beside each other, but not in time *)
Theorem time_is_stricter (F : realFieldType) :
  exists (c : unit -> bool -> F) (d : bool -> bool -> F) (gamma x : bool -> unit -> F),
  [/\ runs_alone c d gamma, forall n, tasks x n = gamma n tt, divided c d gamma x & ~ timed gamma x].
Proof.
pose d (n r : bool) : F := if n == r then 1 else 0.
exists (fun _ _ => 1), d, (fun _ _ => 1), (fun _ _ => 1); split.
- move=> n i; right; split; first exact: ltr01.
  split=> [r|]; last by exists n; rewrite /d eqxx mul1r ltr01.
  by rewrite mul1r /d; case: ifP; rewrite ?ler01.
- by move=> n; rewrite /tasks big_const cardT enumT unlock /= addr0.
- split=> [n i|i r]; first by rewrite ler01; split=> // /eqP; rewrite oner_eq0.
  rewrite (eq_bigr (fun n : bool => if n == r then 1 else 0)) => [|n _]; last by rewrite mul1r.
  by rewrite -big_mkcond big_pred1_eq.
- case=> _ /(_ tt); rewrite (eq_bigr (fun=> 1)) => [|n _]; last by rewrite divr1.
  by rewrite sumr_const card_bool leNgt ltr1n.
Qed.
