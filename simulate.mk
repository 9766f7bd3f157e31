# Whole processes against Kafka and HBase in one bubble of simulated time, with faults drawn by seeds.
SEEDS ?= 1000
FIRST ?= 1

.PHONY: simulate
simulate: ## Run SEEDS (1000) plans of faults from seed FIRST (1) on, each some 12 simulated minutes, into docs/reliability.md
	$(GO) test ./internal/simulate -run '^TestSimulation$$' -count 1 -timeout 0 -v -seeds $(SEEDS) -first $(FIRST) -page ../../docs/reliability.md
