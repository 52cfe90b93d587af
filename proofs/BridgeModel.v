(** * An instance of a certificate as an instance of the model

    The theorems on greedy reservation speak of an ordered field (Model.v), those on certificates of rationals
    (CertificateModel.v). Here are the elements of the field for rationals, and the instance of Model.v for an instance
    of a certificate. *)

From mathcomp Require Import all_ssreflect all_algebra.
From Coq Require ZArith QArith.
From packproof Require Import CertificateModel.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Notation Z := BinNums.Z.
Notation Q := QArith_base.Q.
Notation Q0 := (QArith_base.Qmake BinNums.Z0 BinNums.xH).

Section Bridge.
Variable F : realFieldType.

(** Whole numbers and rationals in the field. *)
Definition of_Z (z : Z) : F := (BinInt.Z.to_nat z)%:R - (BinInt.Z.to_nat (BinInt.Z.opp z))%:R.
Definition of_Q (q : Q) : F := of_Z (QArith_base.Qnum q) / of_Z (BinNums.Zpos (QArith_base.Qden q)).

Variable m : instance.
Notation type := ('I_(types m)).
Notation pool := ('I_(size (pools m))).

(** The share of a pool, the configurations of its servers, and rewards and workload. *)
Definition pool_of (p : pool) : Q * space := nth (Q0, Listed [::]) (pools m) p.
Definition share (p : pool) : F := of_Q (pool_of p).1.
Definition numbers (k : type -> nat) : seq Z := [seq BinInt.Z.of_nat (k j) | j <- enum type].
Definition can_hold (p : pool) (k : type -> nat) : Prop := feasible (types m) (pool_of p).2 (numbers k).
Definition entry_of (a : seq Q) (j : type) : F := of_Q (nth Q0 a j).
Definition reward_of : type -> F := entry_of (rewards m).
Definition work_of : type -> F := entry_of (workload m).

End Bridge.
