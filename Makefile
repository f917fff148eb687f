# SPDX-License-Identifier: Apache-2.0
#
# What people and CI type. Needs Go, make and the usual Unix tools; the race
# detector also gcc, the cross-checks (make peers) also python3 with venv.
# Everything generated goes to out/, which version control ignores.

.NOTPARALLEL:
.DEFAULT_GOAL := help
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c

GO       ?= go
OUT      ?= out
FUZZTIME ?= 30s
FIGURES  ?= $$($(OUT)/discreet-lab experiment list | awk '/^[^ ]/ && !/url-svmlight|hamm\/har/ { print $$1 }') # those tables are not among ours
REPEATS  ?=
QUICK    ?=

# The product's module and the laboratory's, which go.work joins. A build goes by the go.mod of its
# own module alone.
ALL = ./... ./lab/...
export GOWORK = $(CURDIR)/go.work

# Tests run at full size here, except under the race detector (internal/check/testkit/size).
export DISCREET_LONG = 1

# Packages whose sources start goroutines or share memory between them; a value that is
# made once (sync.OnceValue) is neither, a cluster's test (make spark) is skipped here, and the explorer's worker has one thread.
RACY = $(sort $(patsubst %/,%,$(dir $(shell grep -rlE --include='*.go' --exclude=cluster_test.go --exclude-dir=$(OUT) --exclude-dir=mutants --exclude-dir=worker \
	'^[[:space:]]*go [a-z]|[^a-z]sync\.([A-NP-Z]|Once\b)|errgroup\.|parallel\.Each' .))))

.PHONY: help
help: ## list the verbs
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

.PHONY: build
build: ## build the commands into out/
	GOWORK=off $(GO) build -trimpath -o $(OUT)/ ./cmd/discreet ./cmd/discreet-net
	GOWORK=off $(GO) build -C lab -trimpath -o $(abspath $(OUT))/discreet-lab github.com/discreet-dp/discreet/lab/cmd/discreet-lab

.PHONY: check
check: lint ## gofmt, vet, staticcheck, our own rules and limits
	$(GO) vet $(ALL)
	$(GO) tool staticcheck -checks inherit,ST1000 $(ALL)
	DISCREET_TOOLS=1 $(GO) test -count=1 -timeout $(HANGS) -run '^TestTools$$' ./internal/check/lint

# -count=1: the test cache does not notice every edit to what a rule inspects.
.PHONY: lint
lint: ## our own rules alone
	$(GO) test -count=1 ./internal/check/lint

# Only what hangs meets this: no test depends on how fast the machine is.
HANGS = 60m

# Every process that ends would sleep for a second, and tests start hundreds. Scripts of commands that
# compute alone leave them out by -short.
.PHONY: race
race: export GORACE = atexit_sleep_ms=0
race: export DISCREET_LONG =
race: ## tests of the concurrent packages under the race detector
	@if [ "$$($(GO) env CGO_ENABLED)" = 1 ]; then \
		echo "$(GO) test -vet=off -short -race -timeout $(HANGS) $(RACY)"; $(GO) test -vet=off -short -race -timeout $(HANGS) $(RACY); \
	else echo "race: skipped, the race detector needs a C compiler"; fi

.PHONY: plain
plain: ## all tests at full size, without the race detector; check vets
	$(GO) test -vet=off -timeout $(HANGS) $(ALL)

# What one phase finds keeps nobody from what the others do.
each = @failed=0; for phase in $(1); do $(MAKE) --no-print-directory $$phase || failed=1; done; exit $$failed

.PHONY: test
test: ## all tests, then the race detector where goroutines are
	$(call each,plain race)

.PHONY: ci
ci: ## what CI runs: check, then test
	$(call each,check plain race)

# The versions are those of go.mod; needs protoc.
.PHONY: proto
proto: ## generate the calls of services from their .proto files
	GOBIN=$(abspath $(OUT))/bin $(GO) install google.golang.org/protobuf/cmd/protoc-gen-go
	GOBIN=$(abspath $(OUT))/bin $(GO) install connectrpc.com/connect/cmd/protoc-gen-connect-go
	cd internal/net/service/rpc && PATH="$(abspath $(OUT))/bin:$$PATH" protoc --go_out=. --go_opt=paths=source_relative \
		--connect-go_out=. --connect-go_opt=paths=source_relative,package_suffix federation.proto helper.proto party.proto
	cd internal/serve/inference/oip && PATH="$(abspath $(OUT))/bin:$$PATH" protoc --go_out=. \
		--go_opt=paths=source_relative --connect-go_out=. --connect-go_opt=paths=source_relative,package_suffix oip.proto

.PHONY: fuzz
fuzz: ## each fuzz target for FUZZTIME (30s)
	@grep -roE --include='*_test.go' --exclude-dir=$(OUT) '^func Fuzz[A-Za-z0-9_]*' . | sed 's/:func /\t/' | sort | while IFS=$$'\t' read -r file target; do \
		echo "fuzz: $$target in $$(dirname "$$file")"; \
		$(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) "$$(dirname "$$file")"; \
	done

.PHONY: mutants
mutants: ## plant a bug for each claim, and those that once survived: each must turn its test red
	DISCREET_MUTANTS=1 $(GO) test -count=1 -v -timeout 60m ./internal/check/mutants

# Mistakes that nobody thought of: every one takes days, SAMPLE of each package minutes.
MUTATE = all
SAMPLE = 0
SEED = 17
MISTAKES = 30
.PHONY: wrong-learners
wrong-learners: ## make MISTAKES (30) by rule in learners, drawn by SEED: the promise must hold in all
	DISCREET_WRONG_LEARNERS=$(MISTAKES) DISCREET_MUTATE_SEED=$(SEED) $(GO) test -count=1 -v -timeout 0 -run '^TestWrongLearners$$' ./internal/check/mutants

.PHONY: mutate
mutate: ## make mistakes by rule in MUTATE (all critical packages), SAMPLE (0: all) of each, drawn by SEED
	@mkdir -p $(OUT)
	DISCREET_MUTATE=$(MUTATE) DISCREET_MUTATE_SAMPLE=$(SAMPLE) DISCREET_MUTATE_SEED=$(SEED) $(GO) test -count=1 -v -timeout 0 -run '^TestMutate$$' ./internal/check/mutants | tee $(OUT)/mutate.txt

# Needs dieharder (Debian: apt-get install dieharder).
RANDOMNESS = -a
.PHONY: randomness
randomness: ## judge the system's random words by the tests of NIST and Marsaglia (RANDOMNESS: -a), hours
	DISCREET_RANDOMNESS="$(RANDOMNESS)" $(GO) test -count=1 -v -timeout 0 -run '^TestBattery$$' ./internal/privacy/rng

.PHONY: audit
audit: ## try to break every claim from outside, with the runs of the published figures
	DISCREET_AUDIT=1 $(GO) test -count=1 -v -timeout 0 ./internal/train/audit
	DISCREET_AUDIT=1 $(GO) test -count=1 -v -timeout 0 -run '^TestAudit$$' ./internal/net/federated/multiparty

# In processes of their own, within 1 GiB: an aggregator, and LOAD owners behind
# CONNECTIONS connections, on this machine.
LOAD = 1000000
CONNECTIONS = 1000
.PHONY: load
load: ## time a federation of LOAD (1000000) owners over CONNECTIONS (1000) of mutual TLS
	GOMAXPROCS=2 DISCREET_LOAD=$(LOAD) DISCREET_CONNECTIONS=$(CONNECTIONS) $(GO) test -count=1 -v -timeout 60m -run '^TestLoad$$' ./cmd/discreet

# Three replicas over a bad network, killed again and again; see TestSoak.
SOAK = 1h
.PHONY: soak
soak: ## keep a federation busy for SOAK (1h) while its processes are killed
	DISCREET_SOAK=$(SOAK) $(GO) test -count=1 -v -timeout 0 -run '^TestSoak$$' ./cmd/discreet

SECRET = 5000
.PHONY: load-secret
load-secret: ## time SECRET (5000) owners who give shares to three helpers
	GOMAXPROCS=2 DISCREET_LOAD_SECRET=$(SECRET) $(GO) test -count=1 -v -timeout 60m -run '^TestLoadSecretly$$' ./cmd/discreet

SERVING = 30s
.PHONY: load-serve
load-serve: ## time single rows over HTTP for SERVING (30s), and while a hundred hostile calls are sent at once
	DISCREET_LOAD_SERVE=$(SERVING) $(GO) test -count=1 -v -timeout 60m -run '^Test(Hostile)?Load$$' ./internal/serve/inference

PARTIES = 1000
.PHONY: load-combine
load-combine: ## time combine on the votes of PARTIES (1000) about a million rows
	GOMAXPROCS=2 DISCREET_COMBINE=$(PARTIES) $(GO) test -count=1 -v -timeout 60m -run '^TestCombineLoad$$' ./cmd/discreet

# A master and two workers on this machine, from the package of PyPI; needs Java 17 and python3 with
# venv, and a package registry once. SPARK_ROWS adds a table of so many rows, and its times.
SPARK_ROWS =
.PHONY: spark
spark: ## train on a cluster of Spark on this machine, and compare with memory; also on SPARK_ROWS rows
	@if ! command -v java > /dev/null; then echo "spark: skipped, there is no Java here"; exit 0; fi; \
	if ! test -e $(OUT)/spark/ready && ! (python3 -m venv --clear $(OUT)/spark && $(OUT)/spark/bin/pip install --quiet \
		--disable-pip-version-check --no-input --timeout 20 --retries 1 pyspark==4.0.1 pyarrow==26.0.1 pandas==3.1.1 && \
		touch $(OUT)/spark/ready); then \
		echo "spark: skipped, the package pyspark could not be installed"; exit 0; fi; \
	DISCREET_SPARK=$(abspath $(OUT))/spark DISCREET_SPARK_ROWS=$(SPARK_ROWS) \
		$(GO) test -count=1 -v -timeout $(HANGS) -run '^TestSparkCluster$$' ./internal/spark/cluster

.PHONY: bench
bench: ## all benchmarks; the raw output stays in out/bench.txt
	@mkdir -p $(OUT)
	$(GO) test -run '^$$' -bench . -benchmem -timeout 60m $(ALL) | tee $(OUT)/bench.txt

# Whole processes, one reading beside two training; best on an idle machine.
ROWS = 100000,1000000,10000000
.PHONY: rows
rows: ## time reading and training of ROWS (1e5, 1e6, 1e7) generated rows
	@mkdir -p $(OUT)
	DISCREET_BENCH_ROWS=$(ROWS) $(GO) test -run '^$$' -bench Rows -benchtime 3x -count 3 -timeout 60m ./cmd/discreet | tee $(OUT)/rows.txt

.PHONY: census
census: ## write the invented census that the demo embeds
	go run ./lab/cmd/discreet-lab census --force --out internal/table/census

.PHONY: figures
figures: build ## regenerate FIGURES (all) into out/figures; QUICK=1 takes few repeats
	@for f in $(FIGURES); do \
		echo "figure: $$f"; \
		$(OUT)/discreet-lab experiment run "$$f" $(if $(REPEATS),--repeats $(REPEATS)) $(if $(QUICK),--quick) --out "$(OUT)/figures" || exit 1; \
	done

# Hours. Each table is written line by line; to go on after an end, name one test by MEASURE.
MEASURE = Sweep|Threshold|Ridge|SpreadOfSites|CostsOfSites
.PHONY: measure
measure: ## measure the tables of evidence that tests write, into out/measure; MEASURE picks tests
	@mkdir -p $(OUT)/measure
	at=$(abspath $(OUT))/measure; DISCREET_BRC_SWEEP=$$at/brc-choices.tsv DISCREET_ERM_SWEEP=$$at/erm-reg.tsv \
		DISCREET_ERM_THRESHOLD=$$at/erm-threshold.tsv DISCREET_ERM_THRESHOLD_REAL=$$at/erm-threshold-real.tsv \
		DISCREET_ERM_RIDGE_REAL=$$at/erm-ridge-real.tsv DISCREET_SPREAD=$$at/sites.jsonl DISCREET_COSTS=1 \
		$(GO) test -count=1 -v -timeout 0 -run '$(MEASURE)' ./internal/learn/brc ./internal/learn/erm ./internal/net/service/site

.PHONY: docs
docs: ## run the manual: examples and command scripts
	$(GO) test -count=1 -run '^(Example|TestScript|TestDoc)' $(ALL)

# The cross-checks compare with other people's libraries and so need a package
# registry once. They are no part of the tests. Each folder lab/peers/NAME brings
# pinned requirements.txt and a Makefile whose target check takes PYTHON. synth
# runs only where it is named (PEERS=synth): its libraries take 6 GB.
PEERS = $(filter-out synth,$(patsubst lab/peers/%/Makefile,%,$(wildcard lab/peers/*/Makefile)))

.PHONY: peers-env
peers-env: $(PEERS:%=$(OUT)/peers/%/ready) ## install the pinned Python libraries of the cross-checks

$(OUT)/peers/%/ready: lab/peers/%/requirements.txt
	python3 -m venv --clear $(@D)
	$(@D)/bin/pip install --quiet --disable-pip-version-check --no-input --timeout 20 --retries 1 -r $<
	touch $@

.PHONY: peers
peers: peers-env ## cross-check against Python libraries: lab/peers/*
	@for p in $(PEERS); do \
		echo "peers: $$p"; $(MAKE) --no-print-directory -C "lab/peers/$$p" check PYTHON="$(abspath $(OUT))/peers/$$p/bin/python"; \
	done

# What the README's picture and rivals.md say of accuracy, and performance.md of time: the data's checksums, then peers
# as their authors run them, fit by fit, then pages and picture. It resumes from rivals.jsonl and
# performance.jsonl. If these are absent, it takes hours.
.PHONY: comparison
comparison: ## the README's comparison with other libraries; DISCREET_DATASETS=FOLDER has the data, QUICK=1 tries it into out/comparison
	@mkdir -p $(OUT)/comparison
	@$(MAKE) --no-print-directory peers PEERS="rivals performance" $(if $(DISCREET_DATASETS),DISCREET_DATASETS="$(abspath $(DISCREET_DATASETS))") $(if $(QUICK),BENCHMARKS=$(abspath $(OUT))/comparison \
		REPEATS=2 TABLES=Adult SIZES=10000 SECONDS=2)

# A checkout of github.com/opendp/deployments-registry-data, whose check wants python3 with PyYAML,
# jsonschema and requests.
REGISTRY =
.PHONY: registry
registry: ## have the OpenDP Deployments Registry's own check, in its checkout REGISTRY, judge a record of every model
	DISCREET_REGISTRY=$(abspath $(REGISTRY)) $(GO) test -count=1 -v -run '^TestRegistryTakesRecords$$' ./internal/release/card

# The version of wheels and of releases. PLATFORM is what pip calls this machine.
VERSION  := $(shell cat internal/ground/build/VERSION)
# The source that programs name; release-check hands it to a tree without a repository.
COMMIT   ?= $(shell c=$$(git rev-parse HEAD 2> /dev/null) && echo "$$c$$([ -z "$$(git status --porcelain)" ] || echo ' (modified)')")
export COMMIT
PLATFORM ?= $(shell python3 -c 'import sysconfig; print(sysconfig.get_platform().replace("-", "_").replace(".", "_"))')
STAMP = -trimpath -ldflags='-s -w -buildid= -X "github.com/discreet-dp/discreet/internal/ground/build.Commit=$(COMMIT)"'
STATIC = GOWORK=off CGO_ENABLED=0 $(GO) build $(STAMP)

# The page and its engine work from any static host; discreet ui --files serves them with a budget.
# The tag explorer builds the packed engine, which lies beside package serve, into programs.
EXPLORER = $(OUT)/explorer
PACKED = internal/explorer/serve/engine

.PHONY: explorer
explorer: ## the explorer's page and engine into out/explorer
	@mkdir -p $(EXPLORER) $(PACKED)
	GOWORK=off GOOS=js GOARCH=wasm $(GO) build $(STAMP) -buildvcs=false -o $(EXPLORER)/explorer.wasm ./internal/explorer/worker
	cp "$$($(GO) env GOROOT)/lib/wasm/wasm_exec.js" internal/explorer/web/*.{html,css,js,svg} $(EXPLORER)/
	cp internal/table/census/census.yaml $(EXPLORER)/ && gzip -dc internal/table/census/people.csv.gz > $(EXPLORER)/people.csv
	cp $(EXPLORER)/wasm_exec.js $(PACKED)/
	gzip -n9 < $(EXPLORER)/explorer.wasm > $(PACKED)/explorer.wasm.gz

# Needs node 20 and npm, and a package registry once; of chromium and firefox-esr (Debian's packages), what
# is here is driven.
SHOTS =
WALKS = $(OUT)/explorer-browser
.PHONY: explorer-browser
explorer-browser: explorer-browser-env explorer-browser-check ## walk through the explorer in Chromium and Firefox, by mouse and by keyboard; SHOTS=FOLDER for pictures

.PHONY: explorer-browser-env
explorer-browser-env:
	@mkdir -p $(WALKS) && cp internal/explorer/browser/* $(WALKS)/
	cd $(WALKS) && npm ci --no-audit --no-fund

.PHONY: explorer-browser-check
explorer-browser-check: explorer
	GOWORK=off $(GO) build -trimpath -o $(OUT)/ ./cmd/discreet
	cp internal/explorer/browser/*.js $(WALKS)/
	cd $(WALKS) && node run.js $(abspath $(OUT))/discreet $(abspath $(EXPLORER)) $(and $(SHOTS),$(abspath $(SHOTS)))

# Needs node. Golden bytes of models, noise and random numbers as WebAssembly makes them.
.PHONY: explorer-check
explorer-check: ## tests of the engine, mechanisms and random numbers as WebAssembly under node
	@if ! command -v node > /dev/null; then echo "explorer-check: skipped, there is no node here"; exit 0; fi; \
	export GOOS=js GOARCH=wasm PATH="$$($(GO) env GOROOT)/lib/wasm:$$PATH"; \
	$(GO) test -count=1 -timeout $(HANGS) ./internal/privacy/rng ./internal/privacy/mech ./internal/explorer/engine && \
	$(GO) test -count=1 -timeout $(HANGS) -run 'SameBytes$$' ./internal/train

# Needs a package registry; no part of the tests. It says how long the wheel takes to install, too.
.PHONY: python
python: python-wheel python-env python-check ## build the wheel of this machine, install it in a fresh environment and run its tests

.PHONY: python-wheel
python-wheel:
	@rm -rf $(OUT)/python && mkdir -p $(OUT)/python
	@mkdir -p $(OUT)/python/programs
	$(STATIC) -o $(OUT)/python/programs/ ./cmd/discreet
	python3 python/wheel.py $(VERSION) $(PLATFORM) $(OUT)/python discreet $(OUT)/python/programs/discreet

PIP = $(OUT)/python/env/bin/pip install --quiet --disable-pip-version-check --no-input --timeout 20 --retries 1

.PHONY: python-env
python-env:
	python3 -m venv --clear $(OUT)/python/env
	time -p $(PIP) $(OUT)/python/discreet-*.whl
	$(PIP) -r python/requirements-test.txt

.PHONY: python-check
python-check:
	$(OUT)/python/env/bin/python -m pytest -q -s -p no:cacheprovider python/tests
	$(OUT)/python/env/bin/mypy --config-file python/pyproject.toml --cache-dir $(OUT)/python/mypy python/discreet
	$(OUT)/python/env/bin/python python/tests/notebook.py python/examples/*.ipynb

# Each platform of Go, and what pip calls it. Windows' programs end in .exe.
TARGETS = linux/amd64/manylinux_2_17_x86_64.musllinux_1_1_x86_64 linux/arm64/manylinux_2_17_aarch64.musllinux_1_1_aarch64 \
	darwin/amd64/macosx_11_0_x86_64 darwin/arm64/macosx_11_0_arm64 windows/amd64/win_amd64 windows/arm64/win_arm64

RELEASE ?= $(OUT)/release

# The same commit gives the same bytes, on every machine with the same Go (release-check).
.PHONY: release
release: explorer ## static programs for six platforms, wheels, a bill of materials and checksums into out/release
	@rm -rf $(RELEASE) && mkdir -p $(RELEASE)
	@for t in $(TARGETS); do \
		IFS=/ read -r os arch tag <<< "$$t"; \
		end=$(VERSION)-$$os-$$arch; [ $$os != windows ] || end=$$end.exe; \
		echo "release: $$os/$$arch"; \
		for program in discreet discreet-net; do \
			GOOS=$$os GOARCH=$$arch $(STATIC) -buildvcs=false -tags explorer -o "$(RELEASE)/$$program-$$end" ./cmd/$$program; \
		done; \
		(cd lab && GOOS=$$os GOARCH=$$arch $(STATIC) -buildvcs=false -o "$(abspath $(RELEASE))/discreet-lab-$$end" ./cmd/discreet-lab); \
		GOOS=$$os GOARCH=$$arch $(STATIC) -buildvcs=false -o $(RELEASE)/wheel/discreet ./cmd/discreet; \
		python3 python/wheel.py $(VERSION) "$$tag" $(RELEASE) discreet $(RELEASE)/wheel/discreet; \
		python3 python/wheel.py $(VERSION) "$$tag" $(RELEASE) discreet-net $(RELEASE)/discreet-net-$$end; \
		[ $$os != linux ] || GOOS=$$os GOARCH=$$arch $(STATIC) -buildvcs=false \
			-o $(RELEASE)/discreet-serve-$(VERSION)-$$os-$$arch ./cmd/discreet-serve; \
	done
	@list='{{with .Module}}{{if and .Version (not .Replace)}}{{.Path}} {{.Version}}{{end}}{{end}}'; export GOWORK=off; \
		( $(GO) list -deps -f "$$list" ./cmd/discreet ./cmd/discreet-net; $(GO) list -C lab -deps -f "$$list" ./cmd/discreet-lab ) | LC_ALL=C sort -u \
		| python3 python/sbom.py $(VERSION) > $(RELEASE)/discreet-$(VERSION).spdx.json
	rm -r $(RELEASE)/wheel
	sed "s/^ARG COMMIT=unknown/ARG COMMIT='$(COMMIT)'/" python/Containerfile > $(RELEASE)/Containerfile
	cd $(RELEASE) && LC_ALL=C sha256sum discreet-* discreet_net-* Containerfile > SHA256SUMS && cat SHA256SUMS

# Each program's deb and rpm of this machine's kind, with pages of the manual, completions and a unit. nfpm is a tool
# of this target alone: it is in no module file.
NFPM = $(GO) run github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.43.0
PACKAGES = out/packages

# Pages as a site. Needs python3 with venv, and a package registry once.
.PHONY: site
site: explorer ## the documentation and the explorer as a site in out/site, every link followed, its search asked
	@test -x $(OUT)/site-tools/bin/mkdocs || { python3 -m venv --clear $(OUT)/site-tools && \
		$(OUT)/site-tools/bin/pip install --quiet --disable-pip-version-check --no-input -r site/requirements.txt; }
	$(OUT)/site-tools/bin/python site/build.py

# What explorer-browser-env installs drives it.
.PHONY: site-check
site-check: site ## the site in Chromium: accessibility, what a block copies, the playground
	cp internal/explorer/browser/*.js $(WALKS)/
	cd $(WALKS) && node site.js $(abspath $(OUT))/site $(and $(SHOTS),$(abspath $(SHOTS)))

.PHONY: packages
packages: explorer ## debs, rpms and their checksums into out/packages; SIGNING_KEY=FILE, an ssh key, signs these
	@rm -rf $(PACKAGES) && mkdir -p $(PACKAGES)/build/completion
	GOOS=linux $(STATIC) -buildvcs=false -tags explorer -o $(PACKAGES)/build/ ./cmd/discreet ./cmd/discreet-net
	DISCREET_MAN=$(abspath $(PACKAGES))/build/man $(GO) test -count=1 -run '^TestManPages$$' ./cmd/discreet
	gzip -n9 $(PACKAGES)/build/man/*/*.1
	cd $(PACKAGES)/build && for p in discreet discreet-net; do ./$$p completion bash > completion/$$p && \
		./$$p completion zsh > completion/_$$p && ./$$p completion fish > completion/$$p.fish; done
	@for kind in deb rpm; do for of in nfpm nfpm-net; do \
		VERSION=$(VERSION) ARCH=$$($(GO) env GOARCH) $(NFPM) package -f packaging/$$of.yaml -p $$kind -t $(PACKAGES); \
	done; done
	cd $(PACKAGES) && LC_ALL=C sha256sum *.deb *.rpm > SHA256SUMS && cat SHA256SUMS
	@[ -z "$(SIGNING_KEY)" ] || ssh-keygen -Y sign -n discreet-release -f "$(SIGNING_KEY)" $(PACKAGES)/SHA256SUMS

.PHONY: packages-check
packages-check: ## what the packages hold, installed where debootstrap or rpm is here; the unit, by systemd's own check
	packaging/check.sh $(PACKAGES)

.PHONY: manifests-check
manifests-check: ## compose file and chart of a site, by the tools that read them; needs Go's module proxy once
	packaging/manifests.sh

.PHONY: release-check
release-check: ## build the release twice, the second time in another folder and cache: both must be equal
	$(MAKE) --no-print-directory release RELEASE=$(OUT)/release
	rm -rf $(OUT)/second && mkdir -p $(OUT)/second/tree
	git archive HEAD | tar -x -C $(OUT)/second/tree
	GOCACHE=$(abspath $(OUT))/second/cache GOFLAGS=-modcacherw $(MAKE) --no-print-directory -C $(OUT)/second/tree release COMMIT='$(COMMIT)'
	cmp $(OUT)/release/SHA256SUMS $(OUT)/second/tree/$(OUT)/release/SHA256SUMS
	@echo "release: two builds are equal"

.PHONY: clean
clean: ## remove out/
	rm -rf $(OUT)
