# brine. `make help` lists the targets; `make run` and `make test` do their own set-up.
SHELL       := /bin/bash
.SHELLFLAGS := -o pipefail -c

GO       ?= go
BIN      := bin/brine
VERSION  := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS  := -s -w -X main.version=$(VERSION)
LINT     := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
VULN     := golang.org/x/vuln/cmd/govulncheck@v1.8.0
TESTFLAGS ?=

# Go compiles all that brine consists of, its standard library too, once more for binaries with other flags: all targets have the same ones.
export GOFLAGS := -trimpath $(shell $(GO) env GOFLAGS 2>/dev/null)

.DEFAULT_GOAL := help

##@ Start here

.PHONY: help
help: ## List the targets
	@awk 'BEGIN {FS = ":.*## "} /^##@ / {printf "\n%s\n", substr($$0, 5)} /^[a-zA-Z0-9_-]+:.*## / {printf "  %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: run
run: build ## Run brine dev on the embedded stack (pass flags as ARGS="--for 20s")
	$(BIN) dev $(ARGS)

.PHONY: test
test: ## Run all tests; starts real Kafka, HBase and Elasticsearch when Java and Maven are there
	@eval "$$(deploy/devcluster/test-env.sh)"; CGO_ENABLED=0 $(GO) test -v -vet=off -timeout 40m $(TESTFLAGS) ./... | awk -f internal/testenv/log.awk

.PHONY: build
build: ## Build bin/brine
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o $(BIN) ./cmd/brine

.PHONY: image
image: ## Write the image of the test HBase to bin/brine-hbase.tar, without a container engine (ARCH)
	@mkdir -p bin
	$(GO) run ./deploy/image --version $(VERSION) $(if $(ARCH),--arch $(ARCH)) bin/brine-hbase.tar

##@ Check

.PHONY: vet
vet: ## Run go vet, and see that the benchmark's own module has all that it needs
	$(GO) vet ./...
	cd bench/index/peer && $(GO) list -deps . > /dev/null

.PHONY: lint
lint: ## Run golangci-lint, as pinned
	$(GO) run $(LINT) run ./...

.PHONY: vuln
vuln: ## Run govulncheck where its data base can be reached
	$(GO) run $(VULN) ./...

# FUZZTIME is for each target of hbase/internal/wire, FUZZTIME_OTHERS for each of the others.
FUZZTIME        ?= 30s
FUZZTIME_OTHERS ?= 10s

.PHONY: fuzz
fuzz: ## Run every fuzz target for a while (FUZZTIME, FUZZTIME_OTHERS)
	@.ci/fuzz.sh $(FUZZTIME) $(FUZZTIME_OTHERS)

.PHONY: api-test
api-test: ## Have schemathesis ask the HTTP API of a brine dev in the name of each role (needs Python; SECONDS_EACH)
	@serve/apitest/run.sh

.PHONY: generate
generate: ## Make the generated files again
	$(GO) generate ./...

include deploy/devcluster/devcluster.mk internal/sample/data.mk deploy/prometheus/prometheus.mk deploy/pictures/pictures.mk bench/bench.mk acceptance/acceptance.mk console/console.mk
