#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Ten parties as ten processes over mutual TLS, two of them killed while they vote.
set -eu
out=$1
here=$(cd "$(dirname "$0")/../../../examples/adapters" && pwd)
cd "$out"
discreet=./discreet
net=./discreet-net
pids=
trap 'kill -9 $pids 2>/dev/null || true' EXIT

# Addresses that nobody uses.
"$PYTHON" - >ports <<'END'
import socket
open_ones = [socket.socket() for _ in range(10)]
for s in open_ones:
    s.bind(("127.0.0.1", 0))
for s in open_ones:
    print(s.getsockname()[1])
END

$net certs trial --dir certs combiner/uni

voter() { # its number: what votes there
	case $1 in
	1 | 2 | 3) echo "$PYTHON $here/sklearn_votes.py party$1.joblib" ;;
	4) echo "$PYTHON $here/onnx_votes.py party4.onnx --levels no,yes" ;;
	9 | 10) echo "touch begun$1; exec sleep 60" ;;
	esac
}

for i in 1 2 3 4 5 6 7 8 9 10; do
	port=$(sed -n "${i}p" ports)
	$net certs trial --dir certs "party/party$i"
	echo "https://127.0.0.1:$port $($net keygen --out "party$i.pem") party$i" >>peers.txt
	if [ -n "$(voter $i)" ]; then
		set -- --command "$(voter $i)"
	else
		$net site fit --data "party$i.csv" --schema mine.yaml --learner logistic --model "party$i.json" >/dev/null
		set -- --model "party$i.json"
	fi
	tail -1 peers.txt >own.txt
	$net site init --site "party$i" --sites own.txt --aux aux.csv --aux-schema aux.yaml --coordinator uni --epsilon 20 \
		--lifetime-epsilon 20 --until 2999-12-31 --out "party$i.yaml"
	$net site sign --policy "party$i.yaml" --key "party$i.pem" --out "party$i.signed.yaml" >/dev/null
	$net site serve --certs certs --as "party/party$i" --listen "127.0.0.1:$port" --state "state$i" --policy "party$i.signed.yaml" \
		--officer "party$i.pem.pub" --key "party$i.pem" --aux-schema aux.yaml --ledger "party$i.db" "$@" 2>"party$i.log" &
	eval "party$i=$!"
	pids="$pids $!"
done

$net site vote --sites peers.txt --certs certs --as combiner/uni --wait 45s --aux aux.csv --schema aux.yaml --parties 10 --epsilon 20 --model global.json >card 2>said &
combine=$!
pids="$pids $combine"
for i in 9 10; do
	while ! [ -e "begun$i" ]; do sleep 0.05; done
	eval "kill -9 \$party$i"
done
wait "$combine" || { cat said party*.log; exit 1; }

grep "one of the 10 parties" card
grep "8 of 10 parties voted; each that did not counts as a constant vote" said || { cat said party*.log; exit 1; }
$discreet evaluate --model global.json --data test.csv --json | "$PYTHON" -c '
import json, sys
a = json.load(sys.stdin)["accuracy"]
print("accuracy", a)
assert a > 0.75, "eight parties at a generous epsilon know more than that"
'
