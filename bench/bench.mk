# Benchmarks against real servers; each ends with a line per target and fails when one is short.
##@ Measure

ROWS   ?= 2000000
ROUNDS ?= 3

.PHONY: bench
bench: ## Measure the record's path step by step, into docs/benchmarks.md
	$(GO) run ./bench micro

.PHONY: bench-rebalance
bench-rebalance: ## How long partitions pause while a member joins and dies 20 times on a real Kafka, by both protocols (make real-up SERVERS=kafka)
	@set -a; . deploy/devcluster/run/env; BRINE_REAL=required BRINE_REBALANCES=20 $(GO) test ./ingest -run TestRealPauses -v -count 1 -timeout 20m | grep -v '^time='

RELOADS ?= 1000

.PHONY: bench-reload
bench-reload: ## How late the records of a pipeline are while others are reloaded on embedded servers, with random settings (RELOADS)
	GOMEMLIMIT=4GiB BRINE_RELOADS=$(RELOADS) $(GO) test ./service -run 'TestRandomReloadsUnderLoad$$' -v -count 1 -timeout 30m | grep -v '^time='

.PHONY: bench-load
bench-load: ## Measure the HBase client beside HBase's Java client and PerformanceEvaluation on a real HBase, into docs/benchmarks.md (ROWS, ROUNDS)
	$(GO) run ./bench load --rows $(ROWS) --rounds $(ROUNDS)

.PHONY: bench-load-before bench-pipeline-before
bench-load-before: ## Measure the HBase client beside itself as it was at the commit BEFORE, by turns, into docs/benchmarks.md (ROWS, ROUNDS)
	$(GO) run ./bench load --before $(BEFORE) --rows $(ROWS) --rounds $(ROUNDS)
bench-pipeline-before: data/orders.jsonl.gz ## Measure the pipeline beside itself as it was at the commit BEFORE, by turns, into docs/benchmarks.md (ROWS, ROUNDS)
	$(GO) run ./bench pipeline --before $(BEFORE) --events $(ROWS) --rounds $(ROUNDS)

.PHONY: bench-read
bench-read: ## Measure gets and scans of the HBase client beside HBase's Java client on a real HBase, into docs/benchmarks.md (READ_FLAGS)
	$(GO) run ./bench read $(READ_FLAGS)

.PHONY: bench-tls bench-kerberos
bench-tls: ## Measure how much longer writes take by TLS than in plain text, by turns, on embedded servers and on real ones that run
	$(GO) test ./hbase -run '^$$' -bench 'TLS$$' -benchtime 101x
bench-kerberos: ## The same by Kerberos, with each quality of protection
	$(GO) test ./hbase -run '^$$' -bench 'Kerberos$$' -benchtime 101x

.PHONY: bench-pipeline
bench-pipeline: data/orders.jsonl.gz ## Measure Kafka to HBase beside the Java loader without Kafka, packed rows (ROWS, ROUNDS)
	$(GO) run ./bench pipeline --events $(ROWS) --rounds $(ROUNDS)

.PHONY: bench-delay
bench-delay: data/orders.jsonl.gz ## Measure the delay from producing an event to reading its row at half of the rate that is settled live (ROWS)
	$(GO) run ./bench pipeline --delay --events $(ROWS)

.PHONY: bench-outage
bench-outage: data/orders.jsonl.gz ## Measure what an HBase that stands still for OUTAGE (5m) costs: memory, and the rate after it, into docs/benchmarks.md (EVENTS, OUTAGES)
	$(GO) run ./bench pipeline --outage $(or $(OUTAGE),5m) --events $(or $(EVENTS),4000000) --rounds $(or $(OUTAGES),1)

.PHONY: bench-consume
bench-consume: data/orders.jsonl.gz ## Measure Kafka to events, without a store, beside kafka-go on a real Kafka (ROWS, ROUNDS)
	$(GO) run ./bench consume --events $(ROWS) --rounds $(ROUNDS)

.PHONY: bench-embedded
bench-embedded: ## Measure the embedded HBase server through the wire, with and without fsync (ROWS, ROUNDS)
	$(GO) run ./bench embedded --rows $(ROWS) --rounds $(ROUNDS)

.PHONY: bench-index
bench-index: ## Measure the indexer beside go-elasticsearch's BulkIndexer on a real Elasticsearch (DOCUMENTS, ROUNDS)
	$(GO) run ./bench index $(if $(DOCUMENTS),--documents $(DOCUMENTS)) --rounds $(ROUNDS)

.PHONY: bench-query
bench-query: data/orders.jsonl.gz ## Measure timelines, orders by a word and how soon an event is found, on real HBase and Elasticsearch (EVENTS)
	$(GO) run ./bench query $(if $(EVENTS),--events $(EVENTS))

.PHONY: bench-serve
bench-serve: data/orders.jsonl.gz ## Measure the HTTP API on the embedded stack, and on the real servers of DEVCLUSTER_RUN if it is set, into docs/benchmarks.md
	$(GO) run ./bench serve

.PHONY: bench-failing-region bench-sick
bench-failing-region: data/orders.jsonl.gz ## Measure what one failing region of 16 costs the others through the whole pipeline (RATE)
	$(GO) run ./bench failing-region $(if $(RATE),--rate $(RATE))
bench-sick: bench-failing-region # its former name

.PHONY: bench-metrics
bench-metrics: data/orders.jsonl.gz ## Measure what metrics, skew and tracing cost the pipeline, and a scrape of 10,000 regions (EVENTS, METRICS_ROUNDS)
	$(GO) run ./bench metrics $(if $(EVENTS),--events $(EVENTS)) $(if $(METRICS_ROUNDS),--rounds $(METRICS_ROUNDS))

.PHONY: bench-verify
bench-verify: data/scans.jsonl.gz ## Measure brine verify: of a whole table, of a window, and beside a pipeline at full rate (EVENTS, VERIFY_ROUNDS)
	$(GO) run ./bench verify $(if $(EVENTS),--events $(EVENTS)) $(if $(VERIFY_ROUNDS),--rounds $(VERIFY_ROUNDS))

.PHONY: bench-console
bench-console: build console/node_modules ## Measure the web console in Chromium: first paint, sizes, frames, heap, cost, into docs/benchmarks.md
	CHROMIUM=$(CHROMIUM) BRINE=../$(BIN) $(GO) run ./bench console

.PHONY: chaos-hbase
chaos-hbase: ## Break a real HBase cluster in eleven ways under load, and count, into docs/reliability.md (SEED, FAULTS)
	$(GO) run ./bench chaos hbase $(if $(SEED),--seed $(SEED)) $(if $(FAULTS),--faults "$(FAULTS)")

.PHONY: chaos-hbase-secure
chaos-hbase-secure: ## The same on a cluster with TLS, certificates and Kerberos: tickets of 60 s, connections cut every 30 s (SEED, FAULTS)
	$(GO) run ./bench chaos hbase --secure $(if $(SEED),--seed $(SEED)) $(if $(FAULTS),--faults "$(FAULTS)")

UPGRADE_FROM ?= 2.5.12-hadoop3

.PHONY: upgrade-hbase
upgrade-hbase: ## Upgrade a real HBase cluster, process by process, while brine writes and reads, and count, into docs/reliability.md (UPGRADE_FROM)
	$(GO) run ./bench chaos hbase --upgrade-from $(UPGRADE_FROM) $(if $(SEED),--seed $(SEED))

.PHONY: chaos-index
chaos-index: data/orders.jsonl.gz data/scans.jsonl.gz ## Kill and freeze a real Elasticsearch ten times while brine fills it and a real HBase, and verify, into docs/reliability.md
	$(GO) run ./bench chaos index $(INDEX_FLAGS)

.PHONY: chaos
chaos: data/orders.jsonl.gz ## Break real Kafka, HBase and brine itself in twenty ways while 1.2 million events come in, and verify, into docs/reliability.md (SEED, FAULTS)
	$(GO) run ./bench chaos pipeline $(if $(SEED),--seed $(SEED)) $(if $(FAULTS),--faults "$(FAULTS)")

# Whole processes against Kafka and HBase in one bubble of simulated time, with faults drawn by seeds.
# What a run comes to is kept in bench/results/simulate.json, after each 250 seeds: runs of different ranges add up, and without FIRST a run goes
# on where the record ends.
SEEDS ?= 1000

.PHONY: simulate
simulate: ## Run SEEDS (1000) plans of faults, from seed FIRST or the first not recorded on, each some 12 simulated minutes, into docs/reliability.md
	$(GO) test ./internal/simulate -run '^TestSimulation$$' -count 1 -timeout 0 -v -seeds $(SEEDS) $(if $(FIRST),-first $(FIRST)) \
		-record ../../bench/results/simulate.json -page ../../docs/reliability.md
