#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Ten parties as ten processes, two of them killed before they vote.
set -eu
out=$1
here=$(cd "$(dirname "$0")/../../adapters" && pwd)
cd "$out"
mkdir votes

party() { # its number: what it runs by itself
	case $1 in
	1 | 2 | 3) # black boxes
		exec ./discreet party vote --command "$PYTHON $here/sklearn_votes.py party$1.joblib" --schema aux.yaml --aux aux.csv --out "votes/party$1" ;;
	4)
		exec ./discreet party vote --command "$PYTHON $here/onnx_votes.py party4.onnx --levels no,yes" --schema aux.yaml --aux aux.csv --out votes/party4 ;;
	9 | 10) # killed while they vote
		exec ./discreet party vote --command "sleep 30" --schema aux.yaml --aux aux.csv --out "votes/party$1" ;;
	*)
		./discreet party train --data "party$1.csv" --schema mine.yaml --learner logistic --model "party$1.json" >/dev/null
		exec ./discreet party vote --model "party$1.json" --aux aux.csv --out "votes/party$1" ;;
	esac
}

for i in 9 10; do
	party $i 2>/dev/null &
	eval "victim$i=$!"
done
running=
for i in 1 2 3 4 5 6 7 8; do
	party $i 2>"party$i.log" &
	running="$running $!"
done
for pid in $running; do
	wait "$pid" || { cat party*.log; exit 1; }
done
kill -9 "$victim9" "$victim10"
rm -f votes/*.part* # what was killed had begun and has no name yet
wait || true

./discreet combine --votes votes --aux aux.csv --schema aux.yaml --parties 10 --epsilon 20 --model global.json 2>said | grep "one of the 10 parties"
grep "8 of 10 parties voted" said
./discreet evaluate --model global.json --data test.csv --json | "$PYTHON" -c '
import json, sys
a = json.load(sys.stdin)["accuracy"]
print("accuracy", a)
assert a > 0.75, "eight parties at a generous epsilon know more than that"
'
