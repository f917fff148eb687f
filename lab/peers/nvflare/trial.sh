#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# An NVFlare server and three clients on this machine train by the job of examples/networks in the folder given.
set -eu
out=$1 here=$(cd "$(dirname "$0")" && pwd) bin=$(dirname "$PYTHON")
cd "$out"
export PATH="$bin:$PATH"
trap 'kill $(cat pids) 2>/dev/null || true; wait' EXIT
sh "$here/../flower/sites.sh" "$out"
cat >coordinator.json <<END
{"program": "$out/discreet-net", "certs": "$out/uni", "caller": "combiner/uni", "sites": "$out/all.txt", "folder": "$out",
 "arguments": "--schema clinics.yaml --epsilon 1 --honest 2 --declared-rows 3000 --state run --model m.json"}
END
"$PYTHON" -c '
import json
json.dump({n: {"address": open(n + ".at").read(), "certs": n + ".certs", "caller": "combiner/uni"} for n in ("north", "south", "west")},
          open("site.json", "w"))'
sed -i "s|\"certs\": \"|&$out/|g" site.json
cp -r "$here/../../../examples/networks/job" job
mkdir job/app/custom
cp -r "$here/../../../examples/networks/discreet_sites" job/app/custom/
sed -i "s|coordinator.json|$out/&|" job/app/config/config_fed_server.json
sed -i "s|site.json|$out/&|" job/app/config/config_fed_client.json
timeout 500 nvflare simulator job -w work -c north,south,west -t 3 >run.log 2>&1 || { tail -100 run.log; exit 1; }
sh "$here/../flower/judge.sh" || { tail -100 run.log; exit 1; }
