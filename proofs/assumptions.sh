#!/bin/sh
# Prints what each theorem of theorems.txt assumes, and fails unless that is nothing.
set -eu
cd "$(dirname "$0")"
mkdir -p build
{
  sed 's/\..*//' theorems.txt | sort -u | while read -r file; do echo "From packproof Require $file."; done
  while read -r name; do echo "Goal True. idtac \"$name:\". Abort. Print Assumptions packproof.$name."; done <theorems.txt
} >build/assumptions.v
coqtop -quiet -batch -w none -Q . packproof -l build/assumptions.v >build/assumptions.txt
cat build/assumptions.txt
wanted=$(grep -c . theorems.txt)
closed=$(grep -c '^Closed under the global context$' build/assumptions.txt || true)
if [ "$closed" -ne "$wanted" ] || grep -q 'Axioms:' build/assumptions.txt; then
  echo "proofs: only $closed of $wanted theorems are closed under the global context" >&2
  exit 1
fi
echo "proofs: all $wanted theorems are closed under the global context"
