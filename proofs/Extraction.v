(** The proved checkers as an OCaml program: booleans, lists, pairs and options become those of OCaml, numbers stay
    binary numbers of any length. *)

From Coq Require Extraction ExtrOcamlBasic.
From Coq Require Import ZArith.
From packproof Require Import CertificateModel Checker Intensity Throughput Sharing.

Extraction "build/extracted.ml" check check_intensity check_throughput check_allocation Z.add Z.mul Z.opp.
