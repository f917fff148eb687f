#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What every network must leave in this folder: a model that knows something, and each site's price paid.
set -eu
cat north.csv >all.csv
for n in south west; do tail -n +2 $n.csv >>all.csv; done
./discreet evaluate --model m.json --data all.csv --json | "$PYTHON" -c '
import json, sys
auc = json.load(sys.stdin)["auc"]
print("auc", auc)
assert auc > 0.85, "three thousand rows at epsilon 1 know more than that"
'
for n in north south west; do
	./discreet budget show --ledger $n.db | grep -Eq '^rows +1 +1 +0 +0$' || { ./discreet budget show --ledger $n.db; exit 1; }
done
