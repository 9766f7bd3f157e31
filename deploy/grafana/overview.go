package main

// overview answers: are the promises kept, does brine keep up, and if not, where should one look?
func overview() *board {
	b := newBoard("brine-overview", "Overview", "Whether brine meets its objectives and keeps up.").
		variable("pipeline", "brine_ingest_settled_records_total", "A pipeline of the configuration.")
	b.row("Current state")
	b.panel(
		number("Processes", "short", "brine processes that Prometheus reaches.", plain,
			"count("+of("brine_build_info", process)+") or vector(0)"),
		number("Lag", "short",
			"Offsets that are in the topics and not yet settled, an upper bound of the records, over all partitions and both halves of "+
				"the pipelines.",
			plain,
			"sum("+of("brine_ingest_lag_offsets", loop)+")"),
		number("Settled records/s", "short",
			"Records a second that became durable, in a store or in the dead letters; rows and documents are counted separately.", plain,
			"sum("+rate("brine_ingest_settled_records_total", loop)+")"),
		number("Partitions halted", "short",
			"Partitions that write nothing until the cause is fixed: a table, family or index is missing, access is denied, or records are "+
				"gone. See the runbook BrinePartitionHalted.", bad(1),
			"sum("+of("brine_ingest_partitions", loop+`, state="halted"`)+")"),
		number("Partitions waiting", "short",
			"Partitions that wait for a broker or for the dead-letter topic, or whose writes a store does not accept at the moment. They "+
				"continue by themselves.", bad(1),
			"sum("+of("brine_ingest_partitions", loop+`, state=~"waiting|retrying"`)+")"),
		number("Dead letters", "short",
			"Records put into the dead letters in the time shown. They are whole, with their reason, in the topic's .dead topic.", bad(1),
			"sum("+counted("brine_ingest_dead_letters_total", loop, "$__range")+") or vector(0)"),
	)
	promises(b)
	keepingUp(b)
	return b
}

// keepingUp links to the other dashboards.
func keepingUp(b *board) {
	b.row("Throughput and lag")
	b.panel(
		graph("Lag", "short", "Offsets that are in the topic and not yet settled, an upper bound of the records. A line that keeps rising means "+
			"that more arrives than is written. While a broker does not answer, the last known end of the topic counts.",
			query{sum("pipeline, half", of("brine_ingest_lag_offsets", loop)), "{{pipeline}} {{half}}"}),
		graph("Lag in seconds", "s", "Age of the oldest record that is in the topic and not yet settled.",
			query{"max by (pipeline, half) (" + of("brine_ingest_lag_seconds", loop) + ")", "{{pipeline}} {{half}}"}),
		graph("Settled records/s", "short", "Records a second that became durable: written, or in the dead letters.",
			query{sum("pipeline, half", rate("brine_ingest_settled_records_total", loop)), "{{pipeline}} {{half}}"}),
		graph("Rows/s", "short", "Rows a second that region servers acknowledged, by table. For details see HBase writes and skew.",
			query{sum("table", rate("brine_hbase_acknowledged_rows_total", process)), "{{table}}"}),
		limits(graph("Busiest region vs. mean", "short",
			"Rows a second of the busiest region of a table over the mean of its regions: 1 is even, from 2 on it deserves a look, from 4 on "+
				"the region is hot. For details see HBase writes and skew.",
			query{"table:brine_region_write_skew:max_mean5m", "{{table}}"}), 2, 4),
		graph("Partitions by state", "short",
			"Partitions of all processes by state: starting, running, retrying (a store asked for time), waiting (a broker or the dead-letter "+
				"topic does not answer), halted (the cause must be fixed), draining (moving to another process).",
			query{sum("state", of("brine_ingest_partitions", loop)), "{{state}}"}),
	)
}
