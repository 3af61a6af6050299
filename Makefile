# Deep-OJ. `make` prints what there is; `make run` starts it; `make test` proves it.
.DEFAULT_GOAL := help
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:

export CGO_ENABLED ?= 0
# What the program never uses stays out of it: the HTTP/2 of net/http (its servers and clients speak 1.1; gRPC has its own) and
# the pages on which gRPC shows its traces.
TAGS := nethttpomithttp2,grpcnotrace
# What is COLD, that no test and no board waits for, is compiled without inlining: the program is 5 MB smaller, see host/docs/benchmarks.md.
COLD := archive crypto/tls crypto/x509 encoding/asn1 encoding/xml html mime net/http text/template \
	go.etcd.io go.uber.org go.yaml.in golang.org/x/crypto golang.org/x/text google.golang.org/grpc google.golang.org/protobuf gopkg.in \
	$(addprefix github.com/,andybalholm/brotli boombuler coreos dlclark/regexp2 dop251/goja fxamacker/cbor go-jose go-viper go-webauthn \
	golang-jwt golang google minio pquerna prometheus redis/go-redis tinylib wneessen/go-mail yuin/goldmark) deepoj
WARM := $(addprefix deepoj/,checkers plugins queue sandbox sql $(addprefix host/,contest judge judging plugin recorder scheduler standings worker) \
	$(addprefix web/,job live rounds site))
export GOFLAGS := $(GOFLAGS) -tags=$(TAGS) $(COLD:%=-gcflags=%/...=-l) $(WARM:%=-gcflags=%/...=)
VERSION := $(shell git describe --always --dirty --tags 2>/dev/null || echo unknown)
SUDO := $(if $(filter 0,$(shell id -u)),,$(shell command -v sudo))
LISTEN ?= 127.0.0.1:8080
DATA ?= .deepoj
GO_FILES := $(shell find host plugins sandbox queue sql web \( -name node_modules -o -name peers -o -name strict \) -prune -o \
	\( -name '*.go' -o -name '*.sql' -o -name '*.html' -o -name '*.css' -o -name '*.s' \) -print 2>/dev/null)
SAMPLES := $(shell find host/problem/samples web/static web/locale -type f -not -path '*/dist/*' 2>/dev/null)

include plugins/plugins.mk
include web/web.mk
MAKEFILES_READ := Makefile $(filter-out Makefile,$(MAKEFILE_LIST))

##@ Every day

.PHONY: run
run: deps-run build ## Install what is missing, build, start everything and print the address
	@$(SUDO) $(if $(SUDO),env "PATH=$$PATH" "HOME=$$HOME") bin/deepoj up --data $(DATA) --listen $(LISTEN) $(ARGS)

.PHONY: build
build: deps-build bin/deepoj ## Build plugins, the web editor, what shows formulas, and bin/deepoj

bin/deepoj: go.mod go.sum $(GO_FILES) $(SAMPLES) $(ADAPTERS) $(EDITOR) $(MATH) $(ZXCVBN)
	go build -trimpath -ldflags '-X deepoj/host/shortcut.Version=$(VERSION)' -o bin/ ./host/cmd/...

.PHONY: test
test: deps-test build .build/versitygw $(GENERATED) ## Install what is missing, then run every test but those in virtual machines (race detector on)
	.tools/test.sh

.build/versitygw: .tools/s3.mod .tools/s3.sum # the S3 server of the tests
	go build -trimpath -modfile=.tools/s3.mod -o $@ github.com/versity/versitygw/cmd/versitygw

.PHONY: test-vm
test-vm: deps-test ## The sandbox on cgroup v2 and without root, under two kernels in QEMU
	.tools/test-vm.sh

.PHONY: test-hostile
test-hostile: deps-test build ## Whatever ends first in the sandbox with whatever ends a run, everything with everything
	cd sandbox && DEEPOJ_HOSTILE=whole DEEPOJ_TEST=require go test -count=1 -timeout 0 -run '^TestNothingIsLeftOfARunWhateverEndsFirst$$'

.PHONY: test-upgrade
test-upgrade: deps-test build ## Upgrade from the version FROM (a tag or commit) while jobs run, and go back
	DEEPOJ_UPGRADE_FROM=$(FROM) DEEPOJ_TEST=require go test -count=1 -v -run '^TestOldAndNewVersionsWorkSideBySide$$' ./host/e2e

.PHONY: check
check: lint verify test test-vm ## What has to hold before a commit: lint, verify, test, test-vm

.PHONY: bench
bench: deps-test build ## Verdicts per second of the floor, CPU time, latency, on this machine
	go test -count=1 -run '^$$' -bench . -benchtime 1x -timeout 30m ./host/e2e

.PHONY: bench-sandbox
bench-sandbox: deps-test build ## The sandbox against plain fork+exec, as ratios
	go test -count=1 -run '^$$' -bench . -benchtime 200x ./sandbox

.PHONY: bench-queue
bench-queue: deps-test ## The queue against River and asynq, as ratios
	cd queue/peers && go test -count=1 -run '^$$' -bench 'Throughput|Latency' -benchtime 9x -timeout 30m . && \
		go test -count=1 -run '^$$' -bench Backlog -benchtime 3x -timeout 30m .

.PHONY: bench-web
bench-web: deps-test ## Submits, reads, pages and live streams of one server, as ratios
	go test -count=1 -run '^$$' -bench Web -benchtime 9x -timeout 30m ./web

.PHONY: bench-scale
bench-scale: deps-test ## Jobs per second of 1 to 64 workers, what is used up first, and the simulation against real runs
	go test -count=1 -v -run '^$$' -bench 'Scale|Waits' -benchtime 1x -timeout 30m ./host/simulation

.PHONY: bench-checker
bench-checker: build ## Checkers as plugins against native ones in the sandbox, as ratios
	go test -count=1 -run '^$$' -bench Checker -benchtime 9x ./host/judging
	go test -count=1 -run '^$$' -bench Fuel -benchtime 9x ./host/plugin/internal/worker

.PHONY: bench-judging
bench-judging: deps-test build ## Proving a package, a test's overhead, a large import, as ratios
	go test -count=1 -run '^$$' -bench . -benchtime 1x -timeout 30m ./host/verify

.PHONY: bench-contest
bench-contest: deps-test ## A judgement in the standings, computing them anew, and from a verdict to the board, as ratios
	go test -count=1 -run '^$$' -bench . ./host/contest
	go test -count=1 -run '^$$' -bench VerdictToBoard -benchtime 100x ./host/recorder
	go test -count=1 -run '^$$' -bench BoardChange -benchtime 100x ./web/rounds
	go test -count=1 -run '^$$' -bench BoardViewers -benchtime 1x ./web

.PHONY: bench-feed
bench-feed: deps-test ## The change feed against pg_recvlogical and the usual way, its lag, and Kafka away for AWAY (default 5m)
	cd host/feed/peers && go test -count=1 -run '^$$' -bench . -benchtime 6x -timeout 60m .
	go test -count=1 -run '^$$' -bench . -benchtime 3x -timeout 30m ./host/feed/wal ./host/feed/pikiwidb/...

.PHONY: bench-verify
bench-verify: deps-test build ## `deepoj problem verify` against its programs run plainly, and against problemtools in PROBLEMTOOLS
	PROBLEMTOOLS='$(PROBLEMTOOLS)' go test -count=1 -run '^$$' -bench VerifyCommand -benchtime 1x -timeout 30m ./host/verify

##@ Now and then

.PHONY: deb
deb: build ## Make a Debian package in .build
	CGO_ENABLED=0 go build -trimpath -ldflags '-s -w -X deepoj/host/shortcut.Version=$(VERSION)' -o .build/deb/ ./host/cmd/...
	.tools/deb.sh .build/deb '$(VERSION)' .build/deepoj.deb
	@echo ".build/deepoj.deb is made; install it with: apt-get install ./.build/deepoj.deb"

.PHONY: test-deb
test-deb: deb ## Install the package in a clean root that debootstrap makes, start it there and judge something
	$(SUDO) .tools/test-deb.sh .build/deepoj.deb

.PHONY: image-root
image-root: deb ## Make the root file system of a container image in .build; TOOLS names its tool chains, COMPILERS what compiles checkers
	$(SUDO) env "TOOLS=$(TOOLS)" $(if $(filter undefined,$(origin COMPILERS)),,"COMPILERS=$(COMPILERS)") .tools/image-root.sh .build/deepoj.deb .build/deepoj-root.tar
	@echo "Now: docker build -t deepoj -f host/deploy/Containerfile .build"

.PHONY: test-image
test-image: image-root ## Start that root as a container would, and judge something
	$(SUDO) .tools/test-image.sh .build/deepoj-root.tar

.PHONY: generate
generate: $(EDITOR) $(MATH) $(ZXCVBN) ## Write the Go code for the queries in sql/queries, and for the API in web/client
	cd sql && go run github.com/sqlc-dev/sqlc/cmd/sqlc@v1.31.1 generate
	$(call generate-client,web/client/api.gen.go)

# The client as Go code in the file $(1).
define generate-client
	mkdir -p .build && go run ./web/describe client > .build/openapi.json
	$(OAPI_CODEGEN) -config web/client/oapi-codegen.yaml -o $(1) .build/openapi.json
endef

.PHONY: lint
lint: build lint-api ## Find what the compiler does not
	lint=$$(go tool -n -modfile=.tools/go.mod golangci-lint) && $$lint run ./... && \
		GOOS=wasip1 GOARCH=wasm $$lint run ./plugins/...

.PHONY: deadcode
deadcode: $(EDITOR) $(MATH) $(ZXCVBN) ## Find functions that no program and no test reaches
	@GOBIN=$(CURDIR)/.build go install golang.org/x/tools/cmd/deadcode@v0.48.0
	@found=$$(.build/deadcode -test ./... && GOOS=wasip1 GOARCH=wasm .build/deadcode -filter '^deepoj/plugins/(adapters|languages|sdk)' ./plugins/adapters) && \
		test -z "$$found" || { echo "$$found" >&2; exit 1; }

.PHONY: verify
verify: verify-plugins verify-help verify-platforms verify-size deadcode ## Check that go.mod is tidy, generated files are current, digests hold and help is whole
	go mod tidy -diff
	for peers in queue/peers host/feed/peers; do (cd $$peers && go mod tidy -diff && go vet .); done
	cd sql && go run github.com/sqlc-dev/sqlc/cmd/sqlc@v1.31.1 diff
	$(call generate-client,.build/api.gen.go)
	diff -u web/client/api.gen.go .build/api.gen.go

.PHONY: verify-size
verify-size: $(ADAPTERS) $(EDITOR) $(MATH) $(ZXCVBN) ## Check how large the program is and how soon it starts, and show what its size consists of
	go vet -tags size,$(TAGS) ./host/cmd/deepoj
	go test -tags size,$(TAGS) -count=1 -v -run '^(TestTheStrippedProgramIsSmall|TestVersionStartsAsQuicklyAsAProgramThatDoesNothing)$$' ./host/cmd/deepoj

.PHONY: verify-platforms
verify-platforms: ## Check that every package compiles for other processors and systems
	GOARCH=arm64 go vet ./...
	GOOS=darwin go vet ./...

.PHONY: verify-help
verify-help: ## Check that `make help` tells of every target that is no file
	@help=$$($(MAKE) --no-print-directory help) && for target in $$(sed -n 's/^\.PHONY://p' $(MAKEFILES_READ)); do \
		case $$target in deps-*) continue;; esac; \
		grep -q "^  $$target  *[^ ]" <<< "$$help" || { echo "make help says nothing of $$target: write ## and a sentence after its name" >&2; exit 1; }; \
	done

.PHONY: faults
faults: deps-test ## Break the queue from outside for FOR (default 60s), in the order of SEED
	FOR=$(or $(FOR),60s) SEED=$(SEED) PACE=$(PACE) JOBS=$(JOBS) WORKERS=$(WORKERS) STEPS=$(STEPS) DEEPOJ_TEST=require \
		go test -count=1 -v -timeout 0 -run '^TestNothingIsLostOrDoubledWhateverFails$$' ./host/faults

.PHONY: faults-feed
faults-feed: deps-test ## Break the change feed from outside for FOR (default 60s), in the order of SEED
	FOR=$(or $(FOR),60s) SEED=$(or $(SEED),1) DEEPOJ_TEST=require go test -count=1 -v -timeout 0 -run '^TestAFeedLosesNothingWhateverFails$$' ./host/feed

.PHONY: fuzz
fuzz: build ## Run every fuzz target for FOR (default 10s each)
	.tools/fuzz.sh $(or $(FOR),10s)

.PHONY: clean
clean: clean-plugins ## Remove what was built (data stays)
	rm -rf bin .build web/editor/node_modules web/describe/node_modules web/describe/generated $(EDITOR) $(MATH) $(ZXCVBN)

.PHONY: deps-build deps-run deps-test
deps-build deps-run deps-test: deps-%:
	@.tools/deps.sh $*

.PHONY: help
help: ## Show this text
	@awk -F ':.*## ' '/^##@/ {printf "\n%s\n", substr($$0, 5)} /^[a-z0-9-]+:.*## / {printf "  %-16s %s\n", $$1, $$2}' $(MAKEFILES_READ)
