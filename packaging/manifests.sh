#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Checks what packaging/site has for those who run a site: compose file and chart, each by the tool that
# reads it. A mistake that is planted into each must be found. Needs Go's module proxy once.
set -euo pipefail
cd "$(dirname "$0")/site"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
compose() { go run github.com/compose-spec/compose-go/v2/cmd@v2.16.2 "$@"; }
helm() { go run helm.sh/helm/v3/cmd/helm@v3.22.0 "$@"; }
kubernetes=$(go mod download -json k8s.io/kubernetes@v1.34.2 | python3 -c 'import json, sys; print(json.load(sys.stdin)["Dir"])')
python3 schemas.py "$kubernetes/api/openapi-spec/v3" "$work/schemas"
kubeconform() {
	go run github.com/yannh/kubeconform/cmd/kubeconform@v0.8.0 -strict -summary \
		-schema-location "$work/schemas/{{ .ResourceKind }}{{ .KindSuffix }}.json" "$@"
}
refuses() { # what, command...: that the command fails
	local what=$1
	shift
	if "$@" > "$work/said" 2>&1; then echo "$what is not found"; exit 1; fi
	echo "$what: found"
}

compose compose.yaml > "$work/compose"
grep -q 'read_only: true' "$work/compose"
grep -q 'pull_policy: never' "$work/compose"
mkdir -p "$work/packaging/site" && cp ../site.env "$work/packaging/"
sed 's/read_only: true/read_ony: true/' compose.yaml > "$work/packaging/site/compose.yaml"
refuses "a wrong key in the compose file" compose "$work/packaging/site/compose.yaml"

helm lint --strict chart
for values in "" "rows.heldOut=later.csv,monitoring=,coordinators={192.0.2.7/32},state.class=fast"; do
	helm template north chart --set "$values" > "$work/chart.yaml"
	kubeconform "$work/chart.yaml"
	grep -q 'imagePullPolicy: Never' "$work/chart.yaml"
done
sed 's/readOnlyRootFilesystem/readOnlyRootFilesytem/' "$work/chart.yaml" > "$work/wrong.yaml"
refuses "a wrong key in the chart" kubeconform "$work/wrong.yaml"
