#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Makes the files beside it by the program of an earlier commit: make.sh COMMIT. TestUpgrade has
# today's program read them. Noise is fresh, so each run makes other files.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'git -C "$here" worktree remove --force "$work/tree"; rm -rf "$work"' EXIT
git -C "$here" worktree add --quiet --detach "$work/tree" "$1"
(cd "$work/tree" && GOWORK=off go build -o "$work/discreet" \
	-ldflags "-X github.com/discreet-dp/discreet/internal/ground/build.Commit=$(git rev-parse "$1")" ./cmd/discreet)
cd "$here"
rm -f ./*.json ./*.db ./*.zip ./*.pub table.csv
export XDG_STATE_HOME="$work/state"
discreet() { "$work/discreet" "$@"; }

awk 'BEGIN { print "age,ward,sick"
  for (i = 0; i < 90; i++) print i % 90 + 5 "," substr("abc", i % 3 + 1, 1) "," (i % 7 < 3 ? "yes" : "no") }' > table.csv
train() { discreet train --data table.csv --schema schema.yaml "$@"; }
discreet budget init --ledger ledger.db --dataset visits --epsilon 9
train --epsilon 1 --ledger ledger.db --dataset visits --job first --model auto.json
for learner in additive grids brc erm labeldp; do
	train --epsilon 1 --learner $learner --model $learner.json
done
train --epsilon inf --not-private --exceed-max-epsilon --learner logistic --model logistic.json
discreet keygen --out sign
discreet release auto.json --ledger ledger.db --key sign --out release.zip
rm -f sign
ls -l
