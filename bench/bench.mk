# Benchmarks against real servers; each ends with a line per target and fails when one is short.
ROWS   ?= 2000000
ROUNDS ?= 3

.PHONY: bench-load
bench-load: ## Measure the HBase client beside HBase's Java client on a real HBase, into docs/benchmarks.md (ROWS, ROUNDS)
	$(GO) run ./bench/load -rows $(ROWS) -rounds $(ROUNDS)

.PHONY: bench-pipeline
bench-pipeline: data/orders.jsonl.gz ## Measure Kafka to HBase beside the Java loader without Kafka (ROWS, ROUNDS)
	$(GO) run ./bench/pipeline -events $(ROWS) -rounds $(ROUNDS)
