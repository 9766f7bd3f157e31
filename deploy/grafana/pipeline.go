package main

// pipeline answers: what becomes of a pipeline's records, step by step, and what holds them up?
func pipeline() *board {
	b := newBoard("brine-pipeline", "Pipeline", "What becomes of the records of each pipeline, and what holds them up.").
		variable("pipeline", "brine_ingest_settled_records_total", "A pipeline of the configuration.")
	path(b)
	delays(b)
	trouble(b)
	meaning(b)
	verified(b)
	return b
}

func path(b *board) {
	b.row("Processing steps")
	b.panel(
		graph("Records/s by step", "short",
			"Records a second of the chosen pipelines, rows and documents together: fetched from brokers, decoded into events, handed to a "+
				"store, durable. Lines that lie together are fine; where they diverge, something waits.",
			query{"sum(" + rate("brine_ingest_fetched_records_total", loop) + ")", "fetched"},
			query{"sum(" + rate("brine_ingest_decoded_events_total", loop) + ")", "decoded"},
			query{"sum(" + rate("brine_ingest_submitted_events_total", loop) + ")", "submitted"},
			query{"sum(" + rate("brine_ingest_settled_records_total", loop) + ")", "settled"}),
		graph("Settled records/s", "short", "Records a second that became durable: written, or in the dead letters.",
			query{sum("pipeline, half", rate("brine_ingest_settled_records_total", loop)), "{{pipeline}} {{half}}"}),
		graph("Partitions by state", "short",
			"Partitions of all processes by state: starting, running, retrying (a store asked for time), waiting (a broker or the dead-letter "+
				"topic does not answer), halted (the cause must be fixed), draining (moving to another process).",
			query{sum("state", of("brine_ingest_partitions", loop)), "{{state}}"}),
	)
}

func delays(b *board) {
	b.row("Latency")
	const fresh = `, stage="durable"`
	b.panel(
		spread("Freshness", "s", "Records a second by their age, by their own timestamps, when they became durable.",
			"brine_freshness_seconds", loop+fresh),
		graph("Step duration", "s", "The median time that a batch took: fetch (the broker answers), room (it waits for earlier flights or for "+
			"the rate limit), decode, submit (the writer takes it), settle (the store has it), commit.",
			query{quantile(.5, "step", "brine_step_duration_seconds", loop), "{{step}}"}),
		graph("Step duration, p99", "s", "One batch in a hundred takes longer than this.",
			query{quantile(.99, "step", "brine_step_duration_seconds", loop), "{{step}}"}),
		graph("Where time goes", "percentunit",
			"Shares of the time of batches by step: fetch (the worker waits for records), decode, room (it waits for earlier flights, the rate "+
				"limit or memory), submit, lane (handed over but not sent yet), server (calls to the store), settle (dead letters and retries), "+
				"commit. The step with the longest wait comes before the slow one: see the limiting step.",
			query{"avg by (pipeline, half, step) (" + of("brine_ingest_step_time_ratio", loop) + ")", "{{pipeline}} {{half}} {{step}}"}),
		graph("Limiting step", "short",
			"Number of processes that each step holds up: where back-pressure begins. fetch without lag means that everything is up to date.",
			query{sum("pipeline, half, step", of("brine_ingest_limiting_step", loop)) + " > 0", "{{pipeline}} {{half}} {{step}}"}),
		graph("Lag in bytes", "bytes", "Estimated bytes of the records that are not settled, from the average size of the records fetched so "+
			"far.",
			query{sum("pipeline, half", of("brine_ingest_lag_bytes", loop)), "{{pipeline}} {{half}}"}),
		graph("Lag", "short", "Offsets that are in the topic and not yet settled, an upper bound of the records.",
			query{sum("pipeline, half", of("brine_ingest_lag_offsets", loop)), "{{pipeline}} {{half}}"}),
		graph("Events per batch", "short", "Events handed to a store at a time.",
			query{quantile(.5, "pipeline, half", "brine_ingest_batch_events", loop), "{{pipeline}} {{half}} median"},
			query{quantile(.99, "pipeline, half", "brine_ingest_batch_events", loop), "{{pipeline}} {{half}} p99"}),
		graph("Memory budget", "bytes",
			"Bytes of records between fetching and settling in each half of a pipeline, and what each half could hold now: it uses what others "+
				"leave of memory. At that limit, workers wait: the store takes less than arrives.",
			query{sum("pipeline, half", of("brine_ingest_budget_used_bytes", loop)), "{{pipeline}} {{half}}"},
			query{sum("pipeline, half", of("brine_ingest_budget_bytes", loop)), "limit of {{pipeline}} {{half}}"}),
	)
}

func trouble(b *board) {
	b.row("Failures and retries")
	b.panel(
		graph("Dead letters by reason", "short",
			"Records that could not be written and are kept, whole, in the dead letters; in each step of the graph.",
			query{rare("pipeline, half, reason", "brine_ingest_dead_letters_total", loop), "{{pipeline}} {{half}} {{reason}}"}),
		graph("Resubmitted events by reason", "short",
			"Events that a store could not take for now; in each step of the graph. They are retried for as long as this process owns the "+
				"partition.",
			query{rare("pipeline, half, reason", "brine_ingest_retried_events_total", loop), "{{pipeline}} {{half}} {{reason}}"}),
		graph("Waits and halts by reason", "short",
			"Failed attempts at a broker or the dead letters (wait), and attempts that ended in a halt of the partition; in each step of the graph.",
			query{rare("pipeline, half, reason", "brine_ingest_waits_total", loop), "wait: {{pipeline}} {{half}} {{reason}}"},
			query{rare("pipeline, half, reason", "brine_ingest_halts_total", loop), "halt: {{pipeline}} {{half}} {{reason}}"}),
	)
}

func meaning(b *board) {
	b.row("Hidden and overwritten rows")
	written := process + `, pipeline=~"$pipeline"`
	b.panel(
		graph("Key collisions", "short",
			"Events, in each step of the graph, that share a row key with another event: one hides the other. The table's key needs another "+
				"field. Only recent events are compared.",
			query{rare("pipeline, table", "brine_sink_key_collisions_total", written), "{{pipeline}} {{table}}"}),
		graph("Expired events", "short",
			"Events, in each step of the graph, that are older than the TTL of their family: HBase hides them as they are written.",
			query{rare("pipeline, table, family", "brine_sink_expired_events_total", written), "{{pipeline}} {{table}} {{family}}"}),
		graph("Version ties", "short",
			"Cells, in each step of the graph, that were written twice with the same version and different values: the last applied wins. The "+
				"pipeline needs a version that tells them apart.",
			query{rare("pipeline, table", "brine_sink_version_ties_total", written), "{{pipeline}} {{table}}"}),
	)
}

func verified(b *board) {
	b.row("Verification")
	const nobody = "Nothing is verified. Run brine verify --follow --listen HOST:PORT."
	b.panel(
		graph("Rows and documents compared/s", "short",
			"Rows and documents a second that brine verify --follow compared with what their records say.",
			query{sum("table", rate("brine_verify_rows_total", process)), "{{table}}"}).NoValue(nobody),
		graph("Findings", "short", "What brine verify found, by kind, in each step of the graph. Any finding needs attention at "+
			"once. See the runbook BrineVerifyFindings.",
			query{rare("table, kind", "brine_verify_findings_total", process), "{{table}} {{kind}}"}),
		graph("Time since last verification", "s", "Time since each verifying process last completed a round of brine verify --follow.",
			query{"time() - (" + of("brine_verify_last_timestamp_seconds", process) + " > 0)", "{{instance}}"}).NoValue(nobody),
	)
}
