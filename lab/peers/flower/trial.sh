#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A Flower network of three nodes trains by the app of examples/networks in the folder given.
set -eu
out=$1 here=$(cd "$(dirname "$0")" && pwd) bin=$(dirname "$PYTHON")
cp -r "$here/../../../examples/networks" "$out/app"
cd "$out"
export FLWR_HOME="$out/flwr" FLWR_TELEMETRY_ENABLED=0 PATH="$bin:$PATH"
trap 'kill $(cat pids) 2>/dev/null || true; wait' EXIT
sh "$here/sites.sh" "$out"

# Addresses that nobody uses.
set -- $("$PYTHON" - <<'END'
import socket
held = [socket.socket() for _ in range(4)]
for s in held:
    s.bind(("127.0.0.1", 0))
print(*(s.getsockname()[1] for s in held))
END
)
link=127.0.0.1:$1
flower-superlink --insecure --disable-runtime-dependency-installation --host 127.0.0.1 --port "$1" >superlink.log 2>&1 &
echo $! >>pids
until "$PYTHON" -c 'import socket, sys; socket.create_connection(("127.0.0.1", int(sys.argv[1])))' "$1" 2>/dev/null; do sleep 0.2; done
shift
for n in north south west; do
	flower-supernode --insecure --superlink "$link" --host 127.0.0.1 --port "$1" \
		--node-config "site=\"$n\" address=\"$(cat $n.at)\" certs=\"$out/$n.certs\" caller=\"combiner/uni\"" >$n.node.log 2>&1 &
	echo $! >>pids
	shift
done
mkdir -p flwr
printf '[superlink]\ndefault = "trial"\n\n[superlink.trial]\naddress = "%s"\ninsecure = true\n' "$link" >flwr/config.toml
cat >run.toml <<END
program = "$out/discreet-net"
certs = "$out/uni"
sites = "$out/all.txt"
folder = "$out"
arguments = "--schema clinics.yaml --epsilon 1 --honest 2 --declared-rows 3000 --state run --model m.json"
END
timeout 500 flwr run app trial --stream --run-config run.toml >run.log 2>&1 || { cat run.log superlink.log ./*.node.log; exit 1; }
sh "$here/judge.sh" || { cat run.log superlink.log ./*.log; exit 1; }
