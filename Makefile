# brine. `make help` lists the targets; `make run` and `make test` do their own set-up.
SHELL       := /bin/bash
.SHELLFLAGS := -o pipefail -c

GO       ?= go
BIN      := bin/brine
VERSION  := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS  := -X main.version=$(VERSION)
LINT     := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
VULN     := golang.org/x/vuln/cmd/govulncheck@v1.8.0
TESTFLAGS ?=

.DEFAULT_GOAL := help

.PHONY: help
help: ## List the targets
	@awk 'BEGIN {FS = ":.*## "} /^[a-zA-Z0-9_-]+:.*## / {printf "  %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: build
build: ## Build bin/brine
	$(GO) build -trimpath -ldflags '$(LDFLAGS)' -o $(BIN) ./cmd/brine

.PHONY: run
run: build ## Run brine dev on the embedded stack (pass flags as ARGS="--for 20s")
	$(BIN) dev $(ARGS)

.PHONY: test
test: ## Run all tests; starts real Kafka, HBase and Elasticsearch when Java and Maven are there
	@eval "$$(deploy/devcluster/test-env.sh)"; $(GO) test -v -timeout 40m $(TESTFLAGS) ./... | awk -f internal/testenv/log.awk

.PHONY: full
full: build data real-up ## Write all 664,839 scan events into the real servers, and count the rows with HBase's Java client
	@deploy/devcluster/full.sh

.PHONY: bench
bench: ## Measure the record's path step by step, into docs/benchmarks.md
	$(GO) run ./bench/micro

.PHONY: lint
lint: ## Run golangci-lint, as pinned
	$(GO) run $(LINT) run ./...

.PHONY: vet
vet: ## Run go vet
	$(GO) vet ./...

.PHONY: vuln
vuln: ## Run govulncheck where its data base can be reached
	$(GO) run $(VULN) ./...

.PHONY: generate
generate: ## Make the generated files again
	$(GO) generate ./...

-include deploy/devcluster/devcluster.mk data.mk deploy/prometheus/prometheus.mk deploy/pictures/pictures.mk bench/bench.mk fuzz.mk simulate.mk shop.mk
