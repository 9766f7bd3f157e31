# Whole processes against Kafka and HBase in one bubble of simulated time, with faults drawn by seeds.
# What a run comes to is kept in bench/results/simulate.json, after each 250 seeds: runs of different ranges add up, and without FIRST a run goes
# on where the record ends.
SEEDS ?= 1000

.PHONY: simulate
simulate: ## Run SEEDS (1000) plans of faults, from seed FIRST or the first not recorded on, each some 12 simulated minutes, into docs/reliability.md
	$(GO) test ./internal/simulate -run '^TestSimulation$$' -count 1 -timeout 0 -v -seeds $(SEEDS) $(if $(FIRST),-first $(FIRST)) \
		-record ../../bench/results/simulate.json -page ../../docs/reliability.md
