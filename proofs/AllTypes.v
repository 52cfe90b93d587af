(** * One resource: a bound for every number of types

    What greedy loses is at most an average, over the servers of an assignment, of a loss of single contents. A content is
    a chain: types follow in the order in which greedy exhausts them, the last first here. The loss of a chain in which
    the last type has more than half of the server is bounded by a potential, a function of the room that is left. No
    potential is given here; PotentialCheck.v has one, and `bounds/results/packproof/potential.py` a finer one. *)

From mathcomp Require Import all_ssreflect all_algebra ring.
From packproof Require Import Greedy.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(** Decides that a sum of products is at least 0. *)
Ltac pos := solve [repeat first [assumption | apply: ltW; assumption | exact: ler01 | exact: ler0n | exact: sqr_ge0 | apply: addr_ge0
  | apply: mulr_ge0 | apply: divr_ge0 | apply: exprn_ge0 | rewrite invr_ge0]].

(** ** A power in place of the exponential function *)

Section Power.
Variable F : realFieldType.
Implicit Types a b s t w x y : F.

Lemma le_by_diff x y : 0 <= y - x -> x <= y.
Proof. by rewrite subr_ge0. Qed.

Lemma bernoulli n t : 0 <= 1 + t -> 1 + n%:R * t <= (1 + t) ^+ n.
Proof.
move=> t0; elim: n => [|n IH]; first by rewrite mul0r addr0 expr0.
rewrite exprS; apply: (le_trans _ (ler_wpM2l t0 IH)); apply: le_by_diff.
have -> : (1 + t) * (1 + n%:R * t) - (1 + n.+1%:R * t) = n%:R * t ^+ 2 by rewrite mulrS; ring.
by pos.
Qed.

Lemma power_complement n t : 0 <= 1 + t -> (1 + t) ^+ n * (1 - n%:R * t) <= 1.
Proof.
move=> t0; elim: n => [|n IH]; first by rewrite mul0r subr0 expr0 mulr1.
apply: le_trans IH; rewrite exprSr -mulrA; apply: ler_wpM2l; first exact: exprn_ge0.
apply: le_by_diff.
have -> : 1 - n%:R * t - (1 + t) * (1 - n.+1%:R * t) = n.+1%:R * t ^+ 2 by rewrite mulrS; ring.
by pos.
Qed.

Lemma power_le1 n t w : 0 <= 1 + t -> w <= 1 - n%:R * t -> (1 + t) ^+ n * w <= 1.
Proof.
move=> t0 h; apply: le_trans (power_complement n t0).
by apply: ler_wpM2l => //; pos.
Qed.

Lemma pow_le n x y : 0 <= x -> x <= y -> x ^+ n <= y ^+ n.
Proof.
move=> x0 xy; elim: n => [|n IH]; first by rewrite !expr0.
by rewrite !exprS ler_pM // exprn_ge0.
Qed.

Variables (S : F) (M : nat).
Hypothesis S_gt0 : 0 < S.
Hypothesis M_gt0 : (0 < M)%N.

(** (1 + a/(S M))^M, a little less than the exponential function of a/S. *)
Definition power a : F := (1 + a / (S * M%:R)) ^+ M.

Let MF : 0 < M%:R :> F. Proof. by rewrite ltr0n. Qed.
Let SM : 0 < S * M%:R. Proof. exact: mulr_gt0. Qed.

Lemma power_ge1 a : 0 <= a -> 1 <= power a.
Proof.
move=> a0; have h : 0 <= a / (S * M%:R) by rewrite divr_ge0 // ltW.
apply: le_trans (bernoulli M (addr_ge0 ler01 h)).
by rewrite lerDl; pos.
Qed.

Lemma power_ge0 a : 0 <= a -> 0 <= power a.
Proof. by move=> a0; apply: le_trans (power_ge1 a0); apply: ler01. Qed.

Lemma power0 : power 0 = 1.
Proof. by rewrite /power mul0r addr0 expr1n. Qed.

Lemma powerD a b : 0 <= a -> 0 <= b -> power (a + b) <= power a * power b.
Proof.
move=> a0 b0; have ha : 0 <= a / (S * M%:R) by rewrite divr_ge0 // ltW.
have hb : 0 <= b / (S * M%:R) by rewrite divr_ge0 // ltW.
rewrite /power -exprMn mulrDl; set x := a / _ in ha *; set y := b / _ in hb *.
apply: pow_le; first by pos.
apply: le_by_diff; have -> : (1 + x) * (1 + y) - (1 + (x + y)) = x * y by ring.
exact: mulr_ge0.
Qed.

(** Sums are bounded by products. *)
Definition tangent : F := S * (1 + M%:R^-1) / (1 + M%:R^-1) ^+ M.

Lemma tangent_ge0 : 0 <= tangent.
Proof. by rewrite /tangent; pos. Qed.

Lemma power_tangent s : 0 <= s -> s <= tangent * power s.
Proof.
move=> s0; have h : 0 <= s / (S * M%:R) by rewrite divr_ge0 // ltW.
have i0 : 0 <= M%:R^-1 :> F by rewrite invr_ge0 ler0n.
have q0 : 0 < 1 + M%:R^-1 :> F by apply: lt_le_trans ltr01 _; rewrite lerDl.
have es : s = S * M%:R * (s / (S * M%:R)) by rewrite mulrC divfK // gt_eqF.
rewrite /tangent /power {1}es; set y := s / _ in h *; set q := 1 + _ in q0 *.
have MM : M%:R * M%:R^-1 = 1 :> F by rewrite divff // gt_eqF.
have e : 1 + ((1 + y) / q - 1) = (1 + y) / q by rewrite [LHS]addrC subrK.
have t0 : 0 <= 1 + ((1 + y) / q - 1) by rewrite e; pos.
have := bernoulli M t0; rewrite e => hb.
have -> : S * q / q ^+ M * (1 + y) ^+ M = S * (q * ((1 + y) / q) ^+ M).
  by rewrite expr_div_n -!mulrA [(1 + y) ^+ M / _]mulrC.
rewrite -[S * _ * y]mulrA; apply: ler_wpM2l; first exact: ltW.
apply: le_trans (ler_wpM2l (ltW q0) hb); apply: le_by_diff.
have -> : q * (1 + M%:R * ((1 + y) / q - 1)) - M%:R * y = M%:R^-1.
  have -> : q * (1 + M%:R * ((1 + y) / q - 1)) = q + M%:R * (1 + y) - M%:R * q by field; rewrite gt_eqF.
  by rewrite /q mulrDr [M%:R * (1 + _)]mulrDr MM; ring.
exact: i0.
Qed.

End Power.

(** ** Chains *)

Section Chains.
Variable F : realFieldType.
Variable c : nat.
Implicit Types (W : nat -> nat) (V U : nat -> F) (k : nat).

(** Types 0, ..., i of a content take [W i] of the [c] units and earn [V i]; a server with types 0, ..., i only earns at
    most [U i]. So it does not earn more with p jobs of each of the types 0, ..., i - 1 and q of type i, if they fit. *)
Record chain W V U : Prop := Chain {
  chain_U0 : 0 < U 0%N;
  chain_U : forall i, U i <= U i.+1;
  chain_V0 : 0 <= V 0%N;
  chain_V : forall i, V i <= V i.+1;
  chain_W : forall i, (W i <= W i.+1)%N;
  chain_c : forall i, (W i <= c)%N;
  chain_nothing : forall i, W i.+1 = W i -> V i.+1 = V i;
  chain_fits0 : forall p, (p * W 0 <= c)%N -> p%:R * V 0%N <= U 0%N;
  chain_fits : forall i p q, (p * W i + q * (W i.+1 - W i) <= c)%N ->
    p%:R * V i + q%:R * (V i.+1 - V i) <= U i.+1 }.

Definition part V U i : F := (V i.+1 - V i) / U i.+1.
Definition parts V U k : F := \sum_(i < k) part V U i.
Definition loss V U k : F := V 0%N - U 0%N * (1 - parts V U k).

Notation later f := (fun i => f i.+1).

(** The first two types as one. *)
Lemma chain_later W V U : chain W V U -> chain (later W) (later V) (later U).
Proof.
case=> U0 Um V0 Vm Wm Wc no f0 f; split=> //.
- exact: lt_le_trans U0 (Um _).
- exact: le_trans V0 (Vm _).
- by move=> i; apply: no.
- move=> p h; have h' : (p * W 0 + p * (W 1 - W 0) <= c)%N by rewrite -mulnDr subnKC ?Wm.
  by have := f _ _ _ h'; rewrite -mulrDr [V 0%N + _]addrC subrK.
- by move=> i p q; apply: f.
Qed.

Lemma chain_from W V U j : chain W V U -> chain (fun i => W (j + i)%N) (fun i => V (j + i)%N) (fun i => U (j + i)%N).
Proof. by elim: j W V U => [|j IH] W V U h //; apply: (IH _ _ _ (chain_later h)). Qed.

Lemma partsS V U k : parts V U k.+1 = part V U 0 + parts (later V) (later U) k.
Proof. by rewrite /parts big_ord_recl. Qed.

Lemma parts_split V U j k : parts V U (j + k.+1) =
  parts V U j + part V U j + parts (fun i => V (j.+1 + i)%N) (fun i => U (j.+1 + i)%N) k.
Proof.
elim: j V U => [|j IH] V U; first by rewrite add0n partsS /parts big_ord0 add0r.
by rewrite addSn partsS IH partsS !addrA.
Qed.

Section One.
Variables (W : nat -> nat) (V U : nat -> F).
Hypothesis ch : chain W V U.

Lemma U_gt0 i : 0 < U i.
Proof. by elim: i => [|i IH]; [exact: chain_U0 ch | exact: lt_le_trans IH (chain_U ch i)]. Qed.

Lemma V_ge0 i : 0 <= V i.
Proof. by elim: i => [|i IH]; [exact: chain_V0 ch | exact: le_trans IH (chain_V ch i)]. Qed.

Lemma part_ge0 i : 0 <= part V U i.
Proof. by rewrite divr_ge0 ?subr_ge0 ?(chain_V ch) // ltW // U_gt0. Qed.

Lemma parts_ge0 k : 0 <= parts V U k.
Proof. by apply: sumr_ge0 => i _; apply: part_ge0. Qed.

Lemma part_eq i : V i.+1 = V i + part V U i * U i.+1.
Proof. by rewrite /part divfK ?gt_eqF ?U_gt0 // addrC subrK. Qed.

(** With p jobs of each type the chain loses p times its part. *)
Lemma part_copies i p : (p * W i.+1 <= c)%N -> V i <= V i.+1 * (1 - p%:R * part V U i).
Proof.
move=> h; have h' : (p * W i + p * (W i.+1 - W i) <= c)%N by rewrite -mulnDr subnKC ?(chain_W ch).
have := chain_fits ch h'; rewrite -mulrDr [V i + _]addrC subrK => {h'}h'.
have {}h' := ler_wpM2l (part_ge0 i) h'; apply: le_by_diff.
have -> : V i.+1 * (1 - p%:R * part V U i) - V i = part V U i * U i.+1 - part V U i * (p%:R * V i.+1).
  by rewrite part_eq; ring.
by rewrite subr_ge0.
Qed.

Lemma part_le1 i : part V U i <= 1.
Proof.
have h : (1 * W i + 1 * (W i.+1 - W i) <= c)%N by rewrite !mul1n subnKC ?(chain_W ch) ?(chain_c ch).
have := chain_fits ch h; rewrite !mul1r [V i + _]addrC subrK => hu; rewrite /part ler_pdivrMr ?U_gt0 // mul1r.
by apply: le_trans hu; rewrite gerDl oppr_le0 V_ge0.
Qed.

End One.

(** *** Products without the exponential function *)

Definition exp4 (x : F) : F := 1 + x + x ^+ 2 / 2%:R + x ^+ 3 / 6%:R + x ^+ 4 / 24%:R.

Lemma exp4_step (a t : F) : 0 <= a -> 0 <= t -> (1 - a) * exp4 (a + t) <= exp4 t.
Proof.
move=> a0 t0; apply: le_by_diff.
have -> : exp4 t - (1 - a) * exp4 (a + t) =
  a * (t ^+ 4 / 24%:R) + a ^+ 2 * (1 / 2%:R + t / 2%:R + t ^+ 2 / 4%:R + t ^+ 3 / 6%:R) +
  a ^+ 3 * (1 / 3%:R + t / 3%:R + t ^+ 2 / 4%:R) + a ^+ 4 * (1 / 8%:R + t / 6%:R) + a ^+ 5 / 24%:R.
  by rewrite /exp4; field.
by pos.
Qed.

Lemma exp4_bound (x : F) : 0 <= x -> x <= 2%:R^-1 -> 211%:R / 256%:R <= (1 - x) * exp4 x.
Proof.
move=> x0 x1; apply: le_by_diff; set h := 2%:R^-1 in x1.
have p n : 0 <= h ^+ n - x ^+ n by rewrite subr_ge0 pow_le.
have -> : (1 - x) * exp4 x - 211%:R / 256%:R = (h ^+ 2 - x ^+ 2) / 2%:R + (h ^+ 3 - x ^+ 3) / 3%:R +
  (h ^+ 4 - x ^+ 4) / 8%:R + (h ^+ 5 - x ^+ 5) / 24%:R by rewrite /exp4 /h; field.
by rewrite !addr_ge0 // divr_ge0 ?ler0n ?p.
Qed.

Lemma square_step (a y : F) : 0 <= a -> 1 <= y -> (1 - 2%:R * a) * (y + a) ^+ 2 <= y ^+ 2.
Proof.
move=> a0 y1; apply: le_by_diff; have y0 := le_trans ler01 y1; rewrite -subr_ge0 in y1.
have -> : y ^+ 2 - (1 - 2%:R * a) * (y + a) ^+ 2 =
  2%:R * a * y * (y - 1) + a ^+ 2 * (3%:R * y + (y - 1)) + 2%:R * a ^+ 3 by ring.
by pos.
Qed.

(** All types: what a later type earns is less by the parts of those before. *)
Lemma chain_exp4 W V U k : chain W V U -> V 0%N * exp4 (parts V U k) <= V k.
Proof.
elim: k W V U => [|k IH] W V U ch; first by rewrite /parts big_ord0 /exp4 !expr0n /= !mul0r !addr0 mulr1.
have ch' := chain_later ch; apply: le_trans (IH _ _ _ ch'); rewrite partsS.
have a0 := part_ge0 ch 0; have t0 := parts_ge0 ch' k.
have e0 : 0 <= exp4 (part V U 0 + parts (later V) (later U) k).
  by pos.
apply: (le_trans (ler_wpM2r e0 (@part_copies _ _ _ ch 0%N 1 _))); first by rewrite mul1n (chain_c ch).
by rewrite mul1r -mulrA ler_wpM2l ?(V_ge0 ch) // exp4_step.
Qed.

(** Types that take half of the server together. *)
Lemma chain_half W V U k : chain W V U -> (forall i, (i < k)%N -> (2 * W i.+1 <= c)%N) ->
  V 0%N * (1 + 2%:R * parts V U k) <= V k /\ V 0%N * (1 + parts V U k) ^+ 2 <= V k.
Proof.
elim: k W V U => [|k IH] W V U ch half.
  by rewrite /parts big_ord0 mulr0 !addr0 expr1n mulr1.
have ch' := chain_later ch; have [] := IH _ _ _ ch' (fun i h => half i.+1 h); rewrite partsS.
have a0 := part_ge0 ch 0; have t0 := parts_ge0 ch' k.
have step := @part_copies _ _ _ ch 0%N 2 (half 0%N (ltn0Sn k)).
move: step a0 t0; set a := part _ _ _; set t := parts _ _ _ => step a0 t0 h1 h2; split.
  apply: le_trans h1; apply: (le_trans (ler_wpM2r _ step)); first by pos.
  rewrite -mulrA ler_wpM2l ?(V_ge0 ch) //; apply: le_by_diff.
  have -> : 1 + 2%:R * t - (1 - 2%:R * a) * (1 + 2%:R * (a + t)) = 4%:R * a ^+ 2 + 4%:R * a * t by ring.
  by pos.
apply: le_trans h2; apply: (le_trans (ler_wpM2r _ step)); first by pos.
rewrite -mulrA ler_wpM2l ?(V_ge0 ch) // [a + t]addrC addrA square_step //.
by rewrite lerDl.
Qed.

(** *** A potential *)

Variables (S : F) (M : nat) (P : nat -> F) (L : F).
Hypothesis S_gt0 : 0 < S.
Hypothesis M_gt0 : (0 < M)%N.

(** [P g] bounds what types in the room g add, as a factor: a type whose jobs have z units adds at most P g / P (g - z). *)
Record potential : Prop := Potential {
  potential_ge1 : forall g, 1 <= P g;
  potential_step : forall z g a, (0 < z)%N -> (z <= g)%N -> (2 * g < c)%N -> 0 <= a -> a * (c %/ z)%:R <= 1 ->
    (1 - (g %/ z)%:R * a) * power S M a * P (g - z) <= (1 - (g %/ z).-1%:R * a) * P g;
  potential_lost : forall g, (2 * g < c)%N -> tangent S M * P g <= L }.

Hypothesis pot : potential.

Lemma twice_parts r n (a : F) : (2 * r <= n)%N -> 0 <= a -> a * n%:R <= 1 -> 2%:R * (r%:R * a) <= 1.
Proof.
move=> rn a0; apply: le_trans; rewrite mulrA -natrM mulrC; apply: ler_wpM2l => //.
by rewrite ler_nat.
Qed.

Lemma room_lt w : (w <= c)%N -> (c < 2 * w)%N -> (2 * (c - w) < c)%N.
Proof. by move=> wc h; rewrite -(ltn_add2r (2 * w)) -mulnDr subnK // mul2n -addnn ltn_add2l. Qed.

Lemma chain_power W V U k : chain W V U -> (c < 2 * W 0)%N ->
  V 0%N * power S M (parts V U k) <= P (c - W 0%N)%N * V k.
Proof.
elim: k W V U => [|k IH] W V U ch steep.
  by rewrite /parts big_ord0 power0 mulr1 -[X in X <= _]mul1r ler_wpM2r ?(V_ge0 ch) // (potential_ge1 pot).
have ch' := chain_later ch; have W1 := chain_W ch 0.
have {IH}IH := IH _ _ _ ch' (leq_trans steep (leq_mul (leqnn 2) W1)); rewrite partsS.
have a0 := part_ge0 ch 0; have t0 := parts_ge0 ch' k; have V0 := V_ge0 ch 0; have Vk := V_ge0 ch k.+1.
have pa := power_ge0 S_gt0 M_gt0 a0; have pt := power_ge0 S_gt0 M_gt0 t0.
have eV := part_eq ch 0; have U1 := U_gt0 ch 1; have Wc := chain_c ch 1.
move: a0 t0 pa pt IH eV; set a := part V U 0; set t := parts _ _ _ => a0 t0 pa pt IH eV.
apply: (le_trans (ler_wpM2l V0 (powerD S_gt0 M_gt0 a0 t0))).
case: (posnP (W 1 - W 0)%N) => [z0|z0].
  have WW : W 1%N = W 0%N by apply/eqP; rewrite eqn_leq W1 andbT -subn_eq0 z0.
  have VV := chain_nothing ch WW.
  have -> : a = 0 by rewrite /a /part VV subrr mul0r.
  by rewrite power0 mul1r -VV -WW.
set z := (W 1%N - W 0%N)%N in z0; set g := (c - W 0%N)%N.
have zg : (z <= g)%N by apply: leq_sub2r.
have gc : (2 * g < c)%N by apply: room_lt => //; apply: (chain_c ch).
have an : a * (c %/ z)%:R <= 1.
  have h : (0 * W 0 + (c %/ z) * (W 1 - W 0) <= c)%N by rewrite mul0n add0n leq_trunc_div.
  have := chain_fits ch h; rewrite mul0r add0r => {}h.
  by rewrite /a /part mulrAC ler_pdivrMr // mul1r mulrC.
have step := potential_step pot z0 zg gc a0 an.
have gz : (g - z = c - W 1%N)%N by rewrite /g /z subnBA // subnK // (chain_c ch).
rewrite gz in step; set r := (g %/ z)%N in step.
have r0 : (0 < r)%N by rewrite divn_gt0.
have rF : r%:R = r.-1%:R + 1 :> F by rewrite -{1}(prednK r0) mulrSr.
have rU : V 0%N <= U 1%N * (1 - r%:R * a).
  have h : (1 * W 0 + r * (W 1 - W 0) <= c)%N.
    rewrite mul1n; apply: leq_trans (leq_add (leqnn _) (leq_trunc_div g z)) _.
    by rewrite /g subnKC // (chain_c ch).
  have := chain_fits ch h; rewrite mul1r eV [V 0%N + _ - _]addrAC subrr add0r => {}h.
  apply: (ler_from2 h (lexx 0)); ring.
have r2 : (2 * r <= c %/ z)%N.
  rewrite leq_divRL // -mulnA; apply: leq_trans (ltnW gc).
  by rewrite leq_mul2l /= leq_trunc_div.
have ra := twice_parts r2 a0 an.
have rb : 0 < 1 - r.-1%:R * a.
  rewrite subr_gt0; apply: le_lt_trans (_ : r%:R * a < 1); first by rewrite ler_wpM2r // ler_nat leq_pred.
  rewrite -(@ltr_pM2l _ 2%:R) ?ltr0n // mulr1; apply: le_lt_trans ra _.
  by rewrite -[1]/(1%:R) ltr_nat.
have rab : 0 <= 1 - r%:R * a.
  have x0 : 0 <= r%:R * a by pos.
  by apply: (ler_from2 x0 ra); ring.
have b : V 0%N * (1 - r.-1%:R * a) <= V 1%N * (1 - r%:R * a).
  apply: le_by_diff; rewrite eV.
  have -> : (V 0%N + a * U 1%N) * (1 - r%:R * a) - V 0%N * (1 - r.-1%:R * a) = a * (U 1%N * (1 - r%:R * a) - V 0%N).
    by rewrite rF; ring.
  by rewrite mulr_ge0 // subr_ge0.
rewrite -(ler_pM2l rb).
have h1 : V 0%N * (1 - r.-1%:R * a) * (power S M a * power S M t) <= V 1%N * (1 - r%:R * a) * (power S M a * power S M t).
  by rewrite ler_wpM2r //; pos.
have h2 : (1 - r%:R * a) * power S M a * (V 1%N * power S M t) <= (1 - r%:R * a) * power S M a * (P (c - W 1%N)%N * V k.+1).
  by rewrite ler_wpM2l //; pos.
have h3 := ler_wpM2r Vk step.
have -> : (1 - r.-1%:R * a) * (V 0%N * (power S M a * power S M t)) =
  V 0%N * (1 - r.-1%:R * a) * (power S M a * power S M t) by ring.
apply: (le_trans h1); apply: le_trans (_ : (1 - r%:R * a) * power S M a * (V 1%N * power S M t) <= _).
  by apply: le_by_diff; rewrite (_ : _ - _ = 0) //; ring.
apply: (le_trans h2); apply: le_trans (_ : (1 - r%:R * a) * power S M a * P (c - W 1%N)%N * V k.+1 <= _).
  by apply: le_by_diff; rewrite (_ : _ - _ = 0) //; ring.
by apply: (le_trans h3); apply: le_by_diff; rewrite (_ : _ - _ = 0) //; ring.
Qed.

(** If the last type has more than half of the server, its reward times the parts of the others is little. *)
Lemma chain_steep W V U k : chain W V U -> (c < 2 * W 0)%N -> V 0%N * parts V U k <= L * V k.
Proof.
move=> ch steep; have V0 := V_ge0 ch 0; have Vk := V_ge0 ch k; have t0 := parts_ge0 ch k.
have gc : (2 * (c - W 0%N) < c)%N by apply: room_lt => //; apply: (chain_c ch).
have k0 : 0 <= tangent S M by apply: tangent_ge0.
apply: (le_trans (ler_wpM2l V0 (power_tangent S_gt0 M_gt0 t0))).
rewrite mulrCA; apply: (le_trans (ler_wpM2l k0 (chain_power k ch steep))).
by rewrite mulrA ler_wpM2r // (potential_lost pot).
Qed.

Hypothesis L_ge : 64%:R / 211%:R <= L.

Lemma L_ge0 : 0 <= L.
Proof. by apply: le_trans L_ge; pos. Qed.

(** Where the last type has at most half of the server. *)
Lemma flat_bound (A a t x y v : F) : 0 <= A -> 0 <= a -> 0 <= t -> A + a + t <= 1 -> 0 <= x -> 0 <= y -> 0 <= v ->
  x * (1 + 2%:R * A) <= y * (1 - a) -> x * (1 + A) ^+ 2 <= y * (1 - a) -> y * exp4 t <= v -> y * t <= L * v ->
  x * (2%:R * (A + a + t) - 1) <= L * v.
Proof.
move=> A0 a0 t0 s1 x0 y0 v0 h1 h2 h3 h4; have L0 := L_ge0.
pose d := 1 - (A + a + t); have d0 : 0 <= d by rewrite subr_ge0.
have ea : a = 1 - t - A - d by rewrite /d; ring.
have es : 2%:R * (A + a + t) - 1 = 1 - 2%:R * d by rewrite /d; ring.
rewrite es; rewrite {s1 es}ea in a0 h1 h2 *; move: d d0 a0 h1 h2 => d d0 a0 h1 h2.
have [p0|p1] := leP (1 - 2%:R * d) 0.
  by apply: le_trans (mulr_ge0 L0 v0); rewrite mulr_ge0_le0.
have {}p1 := ltW p1; set p := 1 - 2%:R * d in p1 *.
have [tl|tg] := leP (2%:R^-1) t.
  apply: le_trans h4; have A1 : 0 < 1 + 2%:R * A by apply: lt_le_trans ltr01 _; rewrite lerDl; pos.
  rewrite -(ler_pM2r A1); have := ler_wpM2r p1 h1; rewrite mulrAC => /le_trans; apply.
  rewrite -!mulrA ler_wpM2l //; apply: le_by_diff.
  have e0 : 0 <= 2%:R * t - 1 by rewrite subr_ge0 -ler_pdivrMl ?ltr0n // mulr1.
  have -> : t * (1 + 2%:R * A) - (1 - (1 - t - A - d)) * p =
    A * (2%:R * t - 1) + d * (2%:R * t - 1) + 2%:R * d * A + 2%:R * d ^+ 2 by rewrite /p; ring.
  by pos.
have tg1 := ltW tg; have t1 : 0 <= 1 - t.
  by rewrite subr_ge0; apply: le_trans tg1 _; rewrite invf_le1 ?ltr0n // ler1n.
set q := 1 + A + d; have q1 : 1 <= 1 + A by rewrite lerDl.
have g1 : x * p * q ^+ 2 <= y * (1 - (1 - t - A - d)).
  apply: le_trans h2; rewrite -mulrA ler_wpM2l //.
  by rewrite /p /q; apply: square_step.
have q0 : 0 < q ^+ 2 by rewrite exprn_gt0 //; apply: lt_le_trans ltr01 (le_trans q1 _); rewrite /q lerDl.
have g2 : 4%:R * (1 - t) * (x * p) <= y.
  rewrite -(ler_pM2r q0) -[_ * (x * p) * _]mulrA.
  apply: (le_trans (ler_wpM2l _ g1)); first by pos.
  rewrite mulrCA ler_wpM2l //; apply: le_by_diff.
  have -> : q ^+ 2 - 4%:R * (1 - t) * (1 - (1 - t - A - d)) = (1 - t - (t + A + d)) ^+ 2 by rewrite /q; ring.
  exact: sqr_ge0.
have e0 : 0 <= exp4 t by rewrite /exp4; pos.
have xp : 0 <= x * p by apply: mulr_ge0.
have g3 := le_trans (ler_wpM2r e0 g2) h3.
have g4 := ler_wpM2l xp (exp4_bound t0 tg1).
have g5 : 211%:R / 64%:R * (x * p) <= v.
  apply: le_trans g3; have f4 := ler0n F 4; have := ler_wpM2l f4 g4 => {}g4.
  by apply: (ler_from2 g4 (lexx 0)); field.
have g6 : x * p <= 64%:R / 211%:R * v.
  have c0 : 0 <= 64%:R / 211%:R :> F by pos.
  have := ler_wpM2l c0 g5; apply: le_trans; apply: le_by_diff.
  by rewrite (_ : _ - _ = 0) //; field.
by apply: (le_trans g6); rewrite ler_wpM2r.
Qed.

Lemma chain_flat W V U k : chain W V U -> (2 * W 0%N <= c)%N -> parts V U k <= 1 -> loss V U k <= L * V k.
Proof.
move=> ch flat s1; have V0 := V_ge0 ch 0; have Vk := V_ge0 ch k.
have f : loss V U k <= V 0%N * (2%:R * parts V U k - 1).
  have h := chain_fits0 ch flat; rewrite -subr_ge0 in s1; have := ler_wpM2r s1 h => {}h.
  by apply: (ler_from2 h (lexx 0)); rewrite /loss; ring.
apply: (le_trans f) => {f}.
have [/existsP ex|/existsPn no] := boolP [exists j : 'I_k, (c < 2 * W j.+1)%N]; last first.
  have half i : (i < k)%N -> (2 * W i.+1 <= c)%N by move=> ik; have := no (Ordinal ik); rewrite -leqNgt.
  have [_ h] := chain_half ch half; set s := parts V U k in s1 h *.
  have s0 : 0 <= s by apply: (parts_ge0 ch).
  have d0 : 0 <= 1 - s by rewrite subr_ge0.
  have h1 : V 0%N * (2%:R * s - 1) <= V k / 4%:R.
    rewrite ler_pdivlMr ?ltr0n //; apply: le_trans h; rewrite -mulrA ler_wpM2l //; apply: le_by_diff.
    have -> : (1 + s) ^+ 2 - (2%:R * s - 1) * 4%:R = (1 - s) * (4%:R + (1 - s)) by ring.
    by pos.
  apply: (le_trans h1); rewrite mulrC ler_wpM2r //; apply: le_trans L_ge; apply: le_by_diff.
  have -> : 64%:R / 211%:R - 4%:R^-1 = 45%:R / 844%:R :> F by field.
  by pos.
have ex' : exists j, (j < k)%N && (c < 2 * W j.+1)%N by case: ex => j h; exists j; rewrite ltn_ord.
case: (ex_minnP ex') => j /andP[jk steep] least.
have half i : (i < j)%N -> (2 * W i.+1 <= c)%N.
  move=> ij; rewrite leqNgt; apply/negP => h; have := least i; rewrite h (ltn_trans ij jk) => /(_ isT).
  by rewrite leqNgt ij.
have ek : k = (j + (k - j.+1).+1)%N by rewrite -addSnnS subnKC.
move: (k - j.+1)%N ek => l ek; rewrite {}ek in s1 Vk *.
rewrite parts_split in s1 *; have ch' := chain_from j.+1 ch.
have [h1 h2] := chain_half ch half.
have c1 : (1 * W j.+1 <= c)%N by rewrite mul1n (chain_c ch).
have h3 := part_copies ch c1; rewrite mul1r in h3.
have h4 := chain_exp4 l ch'; have st : (c < 2 * W (j.+1 + 0))%N by rewrite addn0.
have h5 := chain_steep l ch' st; rewrite addn0 addSnnS in h4 h5.
have p1 := parts_ge0 ch j; have p2 := part_ge0 ch j; have p3 := parts_ge0 ch' l.
by apply: (@flat_bound _ _ _ _ (V j.+1)) => //; rewrite ?(V_ge0 ch) //; [apply: le_trans h1 h3 | apply: le_trans h2 h3].
Qed.

(** *** No chain loses more than L of what it earns. *)
Lemma chain_loss W V U k : chain W V U -> loss V U k <= L * V k.
Proof.
elim: k W V U => [|k IH] W V U ch; have V0 := V_ge0 ch 0.
  apply: le_trans (mulr_ge0 L_ge0 V0); rewrite /loss /parts big_ord0 subr0 mulr1 subr_le0.
  have h : (1 * W 0%N <= c)%N by rewrite mul1n (chain_c ch).
  by have := chain_fits0 ch h; rewrite mul1r.
have [s1|s1] := leP (parts V U k.+1) 1; last first.
  apply: le_trans (IH _ _ _ (chain_later ch)).
  have h0 : 0 <= U 1%N - U 0%N by rewrite subr_ge0 (chain_U ch).
  have h1 : 0 <= parts V U k.+1 - 1 by rewrite subr_ge0 ltW.
  have h := mulr_ge0 h0 h1; apply: (ler_from2 h (lexx 0)).
  by rewrite /loss partsS (part_eq ch 0); ring.
have [flat|steep] := leqP (2 * W 0%N) c; first exact: (chain_flat ch flat s1).
apply: le_trans (chain_steep k.+1 ch steep).
have h : (1 * W 0%N <= c)%N by rewrite mul1n (chain_c ch).
have := chain_fits0 ch h; rewrite mul1r => {}h; rewrite -subr_ge0 in s1.
have {}h := ler_wpM2r s1 h; apply: (ler_from2 h (lexx 0)); rewrite /loss; ring.
Qed.

End Chains.

(** ** From contents to assignments *)

Section Average.
Variable F : realFieldType.
Variables (J : finType) (d : J -> nat) (c : nat) (u : J -> F).
Hypothesis u_gt0 : forall j, 0 < u j.
Hypothesis d_gt0 : forall j, (0 < d j)%N.
Notation config := (configuration J).
Notation K := (fun _ : unit => Model.additive (fun (j : J) (_ : unit) => d j) (fun _ : unit => c)).

Let u_ge0 j : 0 <= u j. Proof. exact: ltW. Qed.

Lemma additive_fits p (k : config) : K p k <-> (\sum_j k j * d j <= c)%N.
Proof. by split=> [/(_ tt)|h []]. Qed.

Lemma K_closed : down_closed K.
Proof.
by move=> p k k' h le r; apply: leq_trans (h r); apply: leq_sum => j _; apply: leq_mul.
Qed.

(** Types [S i] are left before stage i, and a server with these earns at most [U i]. The run has stages 0, ..., m. *)
Variables (S : nat -> {set J}) (U : nat -> F) (m : nat).
Hypothesis S_down : forall i, S i.+1 \subset S i.
Hypothesis U_pos : forall i, (i <= m)%N -> 0 < U i.
Hypothesis U_down : forall i, (i < m)%N -> U i.+1 <= U i.
Hypothesis best : forall i k, (i <= m)%N -> K tt k -> uses_only (S i) k -> reward u k <= U i.

Definition size_of (k : config) (A : {set J}) : nat := (\sum_(j in A) k j * d j)%N.
Definition worth_of (k : config) (A : {set J}) : F := \sum_(j in A) u j * (k j)%:R.

Lemma size_split k (A B : {set J}) : A \subset B -> (size_of k B = size_of k A + size_of k (B :\: A))%N.
Proof. by move=> /setIidPr AB; rewrite /size_of (big_setID A) /= AB. Qed.

Lemma worth_split k (A B : {set J}) : A \subset B -> worth_of k B = worth_of k A + worth_of k (B :\: A).
Proof. by move=> /setIidPr AB; rewrite /worth_of (big_setID A) /= AB. Qed.

Lemma worth_ge0 k A : 0 <= worth_of k A.
Proof. by apply: sumr_ge0 => j _; rewrite mulr_ge0 ?ler0n. Qed.

Lemma worth_reward k A : reward u (restrict A k) = worth_of k A.
Proof.
rewrite /worth_of big_mkcond /=; apply: eq_bigr => j _.
by rewrite /restrict; case: ifP => _ //; rewrite mulr0.
Qed.

(** p jobs for each of the types in A, and q for each of the others that are left. *)
Lemma best_two k i (A : {set J}) p q : (i <= m)%N -> A \subset S i ->
  (p * size_of k A + q * size_of k (S i :\: A) <= c)%N ->
  p%:R * worth_of k A + q%:R * worth_of k (S i :\: A) <= U i.
Proof.
move=> im AB fit; pose k' : config := fun j => if j \in A then (p * k j)%N else if j \in S i then (q * k j)%N else 0%N.
have two (T : Type) (idx : T) (op : Monoid.com_law idx) (f : J -> nat -> T) : (forall j, f j 0%N = idx) ->
    \big[op/idx]_j f j (k' j) = op (\big[op/idx]_(j in A) f j (p * k j)%N) (\big[op/idx]_(j in S i :\: A) f j (q * k j)%N).
  move=> f0; rewrite (bigID (mem A)) /=; congr (op _ _).
    by apply: eq_bigr => j jA; rewrite /k' jA.
  rewrite big_mkcond [RHS]big_mkcond /=; apply: eq_bigr => j _.
  by rewrite inE /k'; case: (j \in A) => //=; case: (j \in S i).
have Kk : K tt k'.
  have e : (\sum_j k' j * d j = \sum_(j in A) p * k j * d j + \sum_(j in S i :\: A) q * k j * d j)%N.
    exact: (two _ _ _ (fun j n => n * d j)%N (fun j => erefl)).
  apply/(additive_fits tt); rewrite e; apply: leq_trans fit.
  by rewrite /size_of !big_distrr /=; apply: leq_add; apply: leq_sum => j _; rewrite mulnA.
have Sk : uses_only (S i) k'.
  by move=> j /negPf jS; rewrite /k' jS; case: ifP => // /(subsetP AB); rewrite jS.
have e : \sum_j u j * (k' j)%:R =
    \sum_(j in A) u j * (p * k j)%:R + \sum_(j in S i :\: A) u j * (q * k j)%:R.
  exact: (two _ _ _ (fun j n => u j * n%:R) (fun j => mulr0 _)).
apply: le_trans (best im Kk Sk); rewrite /reward e.
by rewrite /worth_of !mulr_sumr; apply: lerD; apply: ler_sum => j _; rewrite natrM mulrCA.
Qed.

Lemma S_step t : S (m - t) \subset S (m - t.+1).
Proof. by rewrite subnS; case: (m - t)%N => [|i] //=. Qed.

Lemma content_chain k : K tt k -> chain c (fun t => size_of k (S (m - t)%N)) (fun t => worth_of k (S (m - t)%N))
  (fun t => U (m - t)%N).
Proof.
move=> /(additive_fits tt) fit; split.
- by apply: U_pos; apply: leq_subr.
- move=> t; rewrite subnS; case e: (m - t)%N => [|i] //=; apply: U_down.
  by rewrite -e leq_subr.
- exact: worth_ge0.
- by move=> t; rewrite (worth_split k (S_step t)) lerDl worth_ge0.
- by move=> t; rewrite (size_split k (S_step t)) leq_addr.
- move=> t; apply: leq_trans fit; rewrite /size_of [X in (_ <= X)%N](bigID (mem (S (m - t)%N))) /=.
  exact: leq_addr.
- move=> t; rewrite (size_split k (S_step t)) (worth_split k (S_step t)) => /eqP.
  rewrite -[X in _ == X]addn0 eqn_add2l => /eqP z.
  have z0 j : j \in S (m - t.+1)%N :\: S (m - t)%N -> k j = 0%N.
    move=> jS; move/eqP: z; rewrite /size_of sum_nat_eq0 => /forall_inP /(_ j jS).
    by rewrite muln_eq0 [d j == _]gtn_eqF // orbF => /eqP.
  by rewrite [X in _ + X]big1 ?addr0 // => j /z0 ->; rewrite mulr0.
- move=> p h; have := @best_two k (m - 0)%N (S (m - 0)%N) p 0 (leq_subr _ _) (subxx _).
  by rewrite mul0n addn0 mul0r addr0; apply.
- move=> t p q; rewrite (size_split k (S_step t)) (worth_split k (S_step t)) addKn => h.
  have -> (a b : F) : a + b - a = b by rewrite addrAC subrr add0r.
  by apply: best_two => //; [apply: leq_subr | apply: S_step].
Qed.

(** *** Summation by parts *)

Lemma abel n (f D : nat -> F) : D 0%N = 0 ->
  \sum_(l < n) f l * (D l.+1 - D l) = \sum_(l < n) (f l - f l.+1) * D l.+1 + f n * D n.
Proof.
move=> D0; elim: n => [|n IH]; first by rewrite !big_ord0 D0 mulr0 addr0.
by rewrite !big_ord_recr /= IH -!addrA; congr (_ + _); ring.
Qed.

(** A server of stage l earns [gap l] of its reward more than one of the last stage. *)
Definition gap l : F := 1 - U m / U l.
Definition zeta j : F := \sum_(l < m) (gap l - gap l.+1) * (j \notin S l.+1)%:R.

Lemma gap_step l : (l < m)%N -> 0 <= gap l - gap l.+1.
Proof.
move=> lm; have h : 0 < U l.+1 by apply: U_pos.
have h0 : 0 < U l by apply: U_pos; apply: ltnW.
have hm : 0 <= U m by apply: ltW; apply: U_pos.
have -> : gap l - gap l.+1 = U m * ((U l.+1)^-1 - (U l)^-1) by rewrite /gap; ring.
by rewrite mulr_ge0 // subr_ge0 lef_pV2 ?posrE // U_down.
Qed.

Lemma gap_last : gap m = 0.
Proof. by rewrite /gap divff ?subrr // gt_eqF // U_pos. Qed.

Lemma zeta_ge0 j : 0 <= zeta j.
Proof. by apply: sumr_ge0 => l _; rewrite mulr_ge0 ?gap_step ?ler0n. Qed.

Lemma sum_zeta (A : {set J}) (f : J -> F) :
  \sum_(j in A) f j * zeta j = \sum_(l < m) (gap l - gap l.+1) * \sum_(j in A :\: S l.+1) f j.
Proof.
rewrite /zeta; under eq_bigr do rewrite mulr_sumr.
rewrite exchange_big /=; apply: eq_bigr => l _; rewrite mulr_sumr big_mkcond [RHS]big_mkcond /=.
apply: eq_bigr => j _; rewrite inE; case: (j \in A); rewrite ?andbF ?andbT //.
by case: (j \notin _) => /=; [ring | rewrite !mulr0].
Qed.

Lemma S_mono i j : (i <= j)%N -> S j \subset S i.
Proof.
elim: j => [|j IH]; first by rewrite leqn0 => /eqP ->.
by rewrite leq_eqVlt ltnS => /orP[/eqP ->//|/IH]; apply: subset_trans.
Qed.

Variable L : F.
Hypothesis loses : forall W V U' k, chain c W V U' -> loss V U' k <= L * V k.

Lemma content_bound k : K tt k -> \sum_(j in S 0%N) u j * (k j)%:R * (1 - zeta j - L) <= U m.
Proof.
move=> Kk; have := loses m (content_chain Kk); rewrite /loss /parts /part subn0 subnn.
rewrite (reindex_inj rev_ord_inj) /=.
rewrite (eq_bigr (fun l : 'I_m => (worth_of k (S l) - worth_of k (S l.+1)) / U l)); last first.
  by move=> l _; rewrite subnSK // !subKn // ltnW.
set X := \sum_(l < m) _ => h.
have e : \sum_(j in S 0%N) u j * (k j)%:R * zeta j = \sum_(l < m) gap l * (worth_of k (S l) - worth_of k (S l.+1)).
  rewrite sum_zeta; pose D l := worth_of k (S 0%N) - worth_of k (S l).
  have D0 : D 0%N = 0 by rewrite /D subrr.
  have := abel m gap D0; rewrite gap_last mul0r addr0 => a.
  transitivity (\sum_(l < m) (gap l - gap l.+1) * D l.+1); last first.
    by rewrite -a; apply: eq_bigr => l _; rewrite /D; ring.
  apply: eq_bigr => l _; congr (_ * _); rewrite /D (worth_split k (S_mono (leq0n l.+1))).
  by rewrite addrAC subrr add0r.
have t : \sum_(l < m) (worth_of k (S l) - worth_of k (S l.+1)) = worth_of k (S 0%N) - worth_of k (S m).
  elim: (m) => [|n IH]; first by rewrite big_ord0 subrr.
  by rewrite big_ord_recr /= IH; ring.
have e2 : \sum_(l < m) gap l * (worth_of k (S l) - worth_of k (S l.+1)) =
    worth_of k (S 0%N) - worth_of k (S m) - U m * X.
  rewrite -t /X mulr_sumr -sumrB; apply: eq_bigr => l _; rewrite /gap; ring.
have -> : \sum_(j in S 0%N) u j * (k j)%:R * (1 - zeta j - L) =
    worth_of k (S 0%N) * (1 - L) - \sum_(j in S 0%N) u j * (k j)%:R * zeta j.
  rewrite /worth_of mulr_suml -sumrB; apply: eq_bigr => j _; ring.
by rewrite e e2; apply: (ler_from2 h (lexx 0)); ring.
Qed.

Variables (rho : J -> F) (G : nat -> F) (E : F).
Hypothesis G0 : G 0%N = 0.
Hypothesis gone : forall i, (i <= m)%N -> \sum_(j | j \notin S i) u j * rho j <= G i.
Hypothesis earns : E - U m = \sum_(l < m) gap l * (G l.+1 - G l).
Notation feasible := (@feasible F J _ (whole F) K rho).

Lemma sum_unit (f : unit -> F) : \sum_p f p = f tt.
Proof. by rewrite (bigD1 tt) //= big1 ?addr0 // => -[]. Qed.

Lemma average (a : assignment F J _) : feasible a -> (forall j, j \notin S 0%N -> rho j = 0) ->
  (1 - L) * value u a <= E.
Proof.
move=> fa none; have y0 j : 0 <= jobs a j by case/andP: (feasible_jobs fa j).
have yr j : jobs a j <= rho j by case/andP: (feasible_jobs fa j).
pose e j := 1 - zeta j - L; pose v j : F := if (j \in S 0%N) && (0 <= e j) then u j * e j else 0.
have v0 j : 0 <= v j by rewrite /v; case: ifP => // /andP[_ ej]; rewrite mulr_ge0.
have vk p k : K p k -> reward v k <= U m.
  case: p => Kk; pose k' := restrict [set j | 0 <= e j] k.
  have Kk' : K tt k' by apply: (@K_closed tt k k' Kk) => j; rewrite /k' /restrict; case: ifP.
  apply: le_trans (content_bound Kk'); rewrite le_eqVlt; apply/orP; left; apply/eqP.
  rewrite [RHS]big_mkcond; apply: eq_bigr => j _; rewrite /v /k' /restrict inE /= -/(e j).
  case: (j \in S 0%N); rewrite /= ?mul0r //; case: ifP => _; first by ring.
  by rewrite !mulr0 !mul0r.
have Um : 0 <= U m by apply: ltW; apply: U_pos.
have va : value v a <= U m.
  have := @value_split F J _ (whole F) K v rho K_closed v0 a setT (fun=> U m) fa (fun=> Um).
  rewrite sum_unit mul1r big1 ?add0r => [|j]; last by rewrite inE.
  by apply=> p k Kk _; apply: vk Kk.
have ea : \sum_j u j * jobs a j * e j <= U m.
  apply: le_trans va; apply: ler_sum => j _; rewrite /v.
  case: (boolP (j \in S 0%N)) => jS /=; last first.
    have -> : jobs a j = 0 by apply/eqP; rewrite eq_le y0 andbT -(none j jS) yr.
    by rewrite !mulr0 mul0r.
  case: ifP => [_|/negbT]; first by rewrite mulrAC.
  rewrite mul0r -ltNge => /ltW ej; by rewrite mulr_ge0_le0 ?mulr_ge0.
have za : \sum_j u j * jobs a j * zeta j <= E - U m.
  apply: (@le_trans _ _ (\sum_(j in setT) u j * rho j * zeta j)).
    rewrite [X in _ <= X]big_mkcond /=; apply: ler_sum => j _; rewrite inE.
    by apply: ler_wpM2r; [apply: zeta_ge0 | apply: ler_wpM2l].
  rewrite sum_zeta earns (abel m gap G0) gap_last mul0r addr0; apply: ler_sum => l _.
  apply: ler_wpM2l; first exact: gap_step.
  apply: le_trans (gone (ltn_ord l)); rewrite le_eqVlt; apply/orP; left; apply/eqP.
  by apply: eq_bigl => j; rewrite !inE andbT.
have -> : (1 - L) * value u a = \sum_j u j * jobs a j * e j + \sum_j u j * jobs a j * zeta j.
  by rewrite /value mulr_sumr -big_split; apply: eq_bigr => j _; rewrite /e /=; ring.
by apply: le_trans (lerD ea za) _; rewrite addrC subrK.
Qed.

End Average.

(** ** Greedy runs *)

Section Runs.
Variable F : realFieldType.
Variables (J : finType) (d : J -> nat) (c : nat) (u rho : J -> F).
Hypothesis u_gt0 : forall j, 0 < u j.
Hypothesis d_gt0 : forall j, (0 < d j)%N.
Hypothesis d_fits : forall j, (d j <= c)%N.
Notation K := (fun _ : unit => Model.additive (fun (j : J) (_ : unit) => d j) (fun _ : unit => c)).
Notation run := (greedy_run (whole F) K u rho).
Notation served := (served (whole F)).
Notation rate := (rate (whole F) u).
Notation earned := (earned (whole F) u).
Notation feasible := (@feasible F J _ (whole F) K rho).
Variable L : F.
Hypothesis L_ge0 : 0 <= L.
Hypothesis loses : forall W V U k, chain c W V U -> loss V U k <= L * V k.

Let w_ge0 (p : unit) : 0 <= whole F p. Proof. exact: ler01. Qed.
Let u_ge0 j : 0 <= u j. Proof. exact: ltW. Qed.

Lemma rate_one s : rate s = reward u (conf s tt).
Proof. by rewrite /Model.rate sum_unit mul1r. Qed.

Lemma slots_one (s : stage F J _) j : slots (whole F) s j = (conf s tt j)%:R.
Proof. by rewrite /slots sum_unit mul1r. Qed.

Lemma run_keeps st (a : assignment F J _) : run st -> feasible a -> (1 - L) * value u a <= earned st.
Proof.
move=> r fa; have va := value_ge0 u_ge0 fa.
have all_served : (forall j, served st j = rho j) -> (1 - L) * value u a <= earned st.
  move=> all; apply: le_trans (serves_all_optimal u_ge0 all fa).
  by rewrite -[X in _ <= X]mul1r; apply: ler_wpM2r => //; rewrite gerDl oppr_le0.
case: (run_end r) => // used1.
have [/forallP all|/forallPn[j0 left0]] := boolP [forall j, served st j == rho j].
  by apply: all_served => j; apply/eqP.
case est : st => [|s0 st0]; first by move: used1; rewrite est /used big_nil => /esym/eqP; rewrite oner_eq0.
rewrite -est; pose n := size st; pose m := n.-1; have n0 : (0 < n)%N by rewrite /n est.
have nm : n = m.+1 by rewrite prednK.
pose T i := nth s0 st i; pose S i := [set j | served (take i st) j != rho j]; pose U i := rate (T i).
have parts_of i : (i < n)%N -> st = take i st ++ T i :: drop i.+1 st.
  by move=> ile; rewrite -drop_nth // cat_take_drop.
have served_cat (x y : seq (stage F J _)) j : served (x ++ y) j = served x j + served y j by rewrite /Model.served big_cat.
have ge0 (x y : seq (stage F J _)) j : st = x ++ y -> 0 <= served y j.
  move=> e; have [_ h] := frac_part r e.
  by apply: sum_stages_ge0 => // s; apply: slots_ge0.
have le_rho i j : served (take i st) j <= rho j.
  have e := esym (cat_take_drop i st); apply: le_trans (run_fits r j); rewrite {2}e served_cat lerDl.
  exact: ge0 e.
have take1 i : (i < n)%N -> take i.+1 st = take i st ++ [:: T i].
  by move=> ile; rewrite (take_nth s0) // cats1.
have servedS i j : (i < n)%N -> served (take i.+1 st) j = served (take i st) j + frac (T i) * (conf (T i) tt j)%:R.
  by move=> ile; rewrite take1 // served_cat [X in _ + X]/Model.served big_seq1 slots_one.
have frac0 i : (i < n)%N -> 0 < frac (T i) by move=> ile; apply: (run_frac r (parts_of i ile)).
have S_down i : S i.+1 \subset S i.
  apply/subsetP => j; rewrite !inE; apply: contraNN => /eqP e.
  have [ile|big] := ltnP i n; last by rewrite !take_oversize // in e *; [rewrite e | apply: leqW].
  rewrite eq_le le_rho servedS // e lerDl mulr_ge0 ?ler0n // ltW //; exact: frac0.
have S0 i : j0 \in S i.
  rewrite inE; apply: contraNN left0 => /eqP e; rewrite eq_le (run_fits r) /=.
  have ec := esym (cat_take_drop i st); rewrite ec served_cat -{1}e lerDl; exact: ge0 ec.
have best i k : (i <= m)%N -> K tt k -> uses_only (S i) k -> reward u k <= U i.
  rewrite -ltnS -nm => ile Kk Sk; have e := parts_of i ile.
  have [_ _ h] := run_max r e tt; rewrite /U rate_one; apply: h => // j jl.
  by apply: Sk; rewrite inE (run_gone r e jl) eqxx.
have conf_uses i : (i < n)%N -> K tt (conf (T i) tt) /\ uses_only (S i) (conf (T i) tt).
  move=> ile; have [Kk _ _] := run_max r (parts_of i ile) tt; split=> // j.
  rewrite inE negbK => /eqP e; have := le_rho i.+1 j; rewrite servedS // e gerDl.
  by rewrite pmulr_rle0 ?frac0 // lern0 => /eqP.
have U_pos i : (i <= m)%N -> 0 < U i.
  move=> ile; pose k j := nat_of_bool (j == j0).
  have Kk : K tt k.
    by move=> []; rewrite (bigD1 j0) //= big1 => [|j /negPf jj]; rewrite /k ?jj // eqxx mul1n addn0.
  have Sk : uses_only (S i) k by move=> j; rewrite /k; case: eqP => // ->; rewrite S0.
  apply: lt_le_trans (best i k ile Kk Sk).
  rewrite /reward (bigD1 j0) //= big1 => [|j /negPf jj]; rewrite /k ?jj ?mulr0 //.
  by rewrite eqxx mulr1 addr0.
have U_down i : (i < m)%N -> U i.+1 <= U i.
  move=> ile; have [|Kk Sk] := conf_uses i.+1; first by rewrite nm ltnS.
  rewrite {1}/U rate_one; apply: best => //; first exact: ltnW.
  by move=> j jS; apply: Sk; apply: contraNN jS; apply: (subsetP (S_down i)).
have G0 : earned (take 0 st) = 0 by rewrite take0 /Model.earned big_nil.
have gone i : (i <= m)%N -> \sum_(j | j \notin S i) u j * rho j <= earned (take i st).
  move=> _; apply: earned_ge => //.
    by move=> s; have [h _] := frac_part r (esym (cat_take_drop i st)); apply: h.
  by move=> j; rewrite inE negbK => /eqP.
have earnedS i : (i < n)%N -> earned (take i.+1 st) - earned (take i st) = frac (T i) * U i.
  by move=> ile; rewrite take1 // /Model.earned big_cat big_seq1 /= addrAC subrr add0r.
have earns : earned st - U m = \sum_(l < m) gap U m l * (earned (take l.+1 st) - earned (take l st)).
  have -> : earned st = \sum_(l < n) frac (T l) * U l by rewrite /Model.earned (big_nth s0) big_mkord.
  have one : \sum_(l < n) frac (T l) = 1 by rewrite -used1 /used (big_nth s0) big_mkord.
  transitivity (\sum_(l < n) frac (T l) * (U l - U m)).
    rewrite -[X in _ - X]mul1r -one mulr_suml -sumrB; apply: eq_bigr => l _; ring.
  rewrite nm big_ord_recr /= subrr mulr0 addr0; apply: eq_bigr => l _.
  have ln : (l < n)%N by rewrite nm; apply: leq_trans (ltn_ord l) (leqnSn m).
  rewrite earnedS // /gap; have Ul : U l != 0 by rewrite gt_eqF // U_pos // ltnW.
  by field.
have none j : j \notin S 0%N -> rho j = 0.
  by rewrite inE negbK take0 /Model.served big_nil => /eqP <-.
exact: (average u_gt0 d_gt0 S_down U_pos U_down best loses G0 gone earns fa none).
Qed.

End Runs.

(** ** Theorem: greedy keeps 1 - L of every assignment if there is a potential.

    [P g] is for a room of g units: it bounds what types in this room add to the loss, as a factor. A type whose jobs take
    z units fits n = c/z times alone and r = g/z times beside the later types; a is the part of U_i that one job earns. *)
Theorem potential_keeps (F : realFieldType) (J : finType) (d : J -> nat) (c : nat) (u rho : J -> F)
    (S L : F) (M : nat) (P : nat -> F) (st : seq (stage F J _)) (a : assignment F J _) :
  (forall j, 0 < u j) -> (forall j, (0 < d j <= c)%N) ->
  0 < S -> (0 < M)%N -> 64%:R / 211%:R <= L -> (forall g, 1 <= P g) ->
  (forall z g b, (0 < z)%N -> (z <= g)%N -> (2 * g < c)%N -> 0 <= b -> b * (c %/ z)%:R <= 1 ->
    (1 - (g %/ z)%:R * b) * (1 + b / (S * M%:R)) ^+ M * P (g - z)%N <= (1 - (g %/ z).-1%:R * b) * P g) ->
  (forall g, (2 * g < c)%N -> S * (1 + M%:R^-1) / (1 + M%:R^-1) ^+ M * P g <= L) ->
  greedy_run (whole F) (fun _ : unit => Model.additive (fun j (_ : unit) => d j) (fun=> c)) u rho st ->
  feasible (whole F) (fun _ : unit => Model.additive (fun j (_ : unit) => d j) (fun=> c)) rho a ->
  (1 - L) * value u a <= earned (whole F) u st.
Proof.
move=> u0 dc S0 M0 L0 P1 step lost run fa.
have pot : potential c S M P L by split.
apply: (run_keeps u0 _ _ _ _ run fa).
- by move=> j; case/andP: (dc j).
- by move=> j; case/andP: (dc j).
- by apply: le_trans L0; pos.
- by move=> W V U k; apply: (chain_loss S0 M0 pot L0).
Qed.
