#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Three sites in the folder given, each with an authority of its own, and what their coordinator needs.
set -eu
cd "$1"
cat >clinics.yaml <<'END'
name: clinics
unit: one patient
relation: add-remove
file: {delimiter: ",", quote: "", header: true}
columns:
  - {name: age, role: private, number: {lower: 0, upper: 100, integer: true, default: 50}}
  - {name: ward, role: private, category: {levels: [a, b]}}
  - {name: ill, role: private, label: {levels: ["no", "yes"], positive: "yes", default: "no"}}
END
"$PYTHON" - <<'END'
import random, socket
draw = random.Random(1)
held = [socket.socket() for _ in range(3)]
for name, s in zip(("north", "south", "west"), held):
    with open(name + ".csv", "w") as f:
        f.write("age,ward,ill\n")
        for _ in range(1000):
            age, ward = draw.randint(0, 100), draw.choice("ab")
            ill = age / 100 + (ward == "b") / 2 + draw.gauss(0, 0.3) > 0.75
            f.write(f"{age},{ward},{'yes' if ill else 'no'}\n")
    s.bind(("127.0.0.1", 0))
    with open(name + ".at", "w") as f:
        f.write("127.0.0.1:%d" % s.getsockname()[1])
END
./discreet-net keygen --out officer
./discreet-net certs trial --dir uni combiner/uni party/north party/south party/west
for n in north south west; do
	./discreet-net certs trial --dir "$n.certs" party/$n combiner/uni
	echo "https://$(cat $n.at) $(./discreet-net keygen --out $n.pem) $n" >>all.txt
done
for n in north south west; do
	./discreet-net site init --site $n --sites all.txt --schema clinics.yaml --coordinator uni --honest 2 --epsilon 1 \
		--lifetime-epsilon 1 --until 2999-12-31 --out $n.yaml
	./discreet-net site sign --policy $n.yaml --key officer --out $n.signed
	./discreet-net site check --policy $n.signed --schema clinics.yaml --data $n.csv
	./discreet-net site serve --certs $n.certs --as party/$n --listen "$(cat $n.at)" --state $n.state --policy $n.signed \
		--officer officer.pub --key $n.pem --schema clinics.yaml --data $n.csv --ledger $n.db 2>$n.log &
	echo $! >>pids
done
