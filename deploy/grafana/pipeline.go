package main

// pipeline answers: what becomes of the records of a pipeline, step by step, and what holds them up.
func pipeline() *board {
	b := newBoard("brine-pipeline", "Pipeline", "What becomes of the records of each pipeline, and what holds them up.").
		variable("pipeline", "brine_ingest_settled_records_total", "A pipeline of the configuration.")
	path(b)
	trouble(b)
	meaning(b)
	return b
}

func path(b *board) {
	b.row("The path of a record")
	b.panel(
		graph("Records/s by step", "short", "Records a second of the chosen pipelines, rows and documents together: fetched from brokers, made events, handed to a store, durable. Lines that lie together are well; where they part, something waits.",
			query{"sum(" + rate("brine_ingest_fetched_records_total", loop) + ")", "fetched"},
			query{"sum(" + rate("brine_ingest_decoded_events_total", loop) + ")", "decoded"},
			query{"sum(" + rate("brine_ingest_submitted_events_total", loop) + ")", "submitted"},
			query{"sum(" + rate("brine_ingest_settled_records_total", loop) + ")", "settled"}),
		graph("Settled records/s", "short", "Records a second that became durable: written, or in the dead letters.",
			query{sum("pipeline, half", rate("brine_ingest_settled_records_total", loop)), "{{pipeline}} {{half}}"}),
		graph("Lag", "short", "Records that are in the topic and not yet settled.",
			query{sum("pipeline, half", of("brine_ingest_lag_records", loop)), "{{pipeline}} {{half}}"}),
		graph("Partitions by state", "short", "Partitions of all processes by what they are doing: starting, running, retrying (a store asks for time), waiting (a broker or the dead letters do not answer), halted (somebody must act), draining (going to another process).",
			query{sum("state", of("brine_ingest_partitions", loop)), "{{state}}"}),
	)
}

func trouble(b *board) {
	b.row("Trouble")
	b.panel(
		graph("Dead letters by reason", "short", "Records that could not be written and are kept, whole, in the dead letters; in each step of the graph.",
			query{rare("pipeline, half, reason", "brine_ingest_dead_letters_total", loop), "{{pipeline}} {{half}} {{reason}}"}),
		graph("Events submitted again, by reason", "short", "Events that a store could not take for now; in each step of the graph. They are tried again for as long as the partition is ours.",
			query{rare("pipeline, half, reason", "brine_ingest_retried_events_total", loop), "{{pipeline}} {{half}} {{reason}}"}),
		graph("Waits and halts by reason", "short", "Failed attempts at a broker or the dead letters (wait), and attempts that ended in a halt of the partition; in each step of the graph.",
			query{rare("pipeline, half, reason", "brine_ingest_waits_total", loop), "wait: {{pipeline}} {{half}} {{reason}}"},
			query{rare("pipeline, half, reason", "brine_ingest_halts_total", loop), "halt: {{pipeline}} {{half}} {{reason}}"}),
	)
}

func meaning(b *board) {
	b.row("Rows that will not be found")
	written := process + `, pipeline=~"$pipeline"`
	b.panel(
		graph("Key collisions", "short", "Events, in each step of the graph, whose row key another event has: one hides the other. The key of the table needs another field. Seen among recent events only.",
			query{rare("pipeline, table", "brine_sink_key_collisions_total", written), "{{pipeline}} {{table}}"}),
		graph("Expired events", "short", "Events, in each step of the graph, that are older than the TTL of their family: HBase hides them as they are written.",
			query{rare("pipeline, table, family", "brine_sink_expired_events_total", written), "{{pipeline}} {{table}} {{family}}"}),
		graph("Version ties", "short", "Cells, in each step of the graph, that were written twice with one version and different values: the last applied wins. The pipeline needs a version that tells them apart.",
			query{rare("pipeline, table", "brine_sink_version_ties_total", written), "{{pipeline}} {{table}}"}),
	)
}
