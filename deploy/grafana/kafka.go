package main

// kafka answers: how fast do the topics grow, how far behind is each partition, and how is the group?
func kafka() *board {
	b := newBoard("brine-kafka", "Kafka", "How the topics are read, how far behind each partition is, and how the consumer groups are.").
		variable("pipeline", "brine_ingest_settled_records_total", "A pipeline of the configuration.")
	reading(b)
	positions(b)
	group(b)
	return b
}

func reading(b *board) {
	b.row("Consumption")
	b.panel(
		graph("Produced records/s", "short",
			"How fast the partitions grow, by the end offsets that brokers report. Compare it with what is fetched.",
			query{sum("pipeline, half", rate("brine_ingest_end_offset", loop)), "{{pipeline}} {{half}}"}),
		graph("Fetched records/s", "short", "Records a second that the brokers returned, without those of aborted transactions.",
			query{sum("pipeline, half", rate("brine_ingest_fetched_records_total", loop)), "{{pipeline}} {{half}}"}),
		graph("Fetched bytes/s", "Bps", "Bytes a second that the brokers returned.",
			query{sum("pipeline, half", rate("brine_ingest_fetched_bytes_total", loop)), "{{pipeline}} {{half}}"}),
	)
}

func positions(b *board) {
	b.row("Partitions")
	perPartition := sum("pipeline, half, topic, partition", of("brine_ingest_lag_offsets", loop))
	b.panel(
		bands("Lag by partition", "short",
			"Offsets of each partition that are not yet settled, an upper bound of the records. One bright line is a partition "+
				"behind the others: it has a heavy key, or is stuck.",
			query{perPartition, "{{pipeline}} {{half}} {{topic}} {{partition}}"}).Span(16),
		graph("Ten most lagging partitions", "short", "One partition far behind the others has a heavy key, or is stuck.",
			query{"topk(10, " + perPartition + ")", "{{pipeline}} {{half}} {{topic}} {{partition}}"}),
		graph("Lag in seconds by partition", "s", "Age of the oldest unsettled record, for the ten partitions where it is oldest.",
			query{"topk(10, max by (pipeline, half, topic, partition) (" + of("brine_ingest_lag_seconds", loop) + "))",
				"{{pipeline}} {{half}} {{topic}} {{partition}}"}),
		graph("Commits/s", "short", "Offsets committed a second, and commits that failed. Records that are settled but not committed are read "+
			"again after a crash, which changes nothing.",
			query{sum("pipeline, half", rate("brine_ingest_commits_total", loop)), "{{pipeline}} {{half}}"},
			query{sum("pipeline, half", rate("brine_ingest_commit_failures_total", loop)), "{{pipeline}} {{half}} failed"}),
		graph("Skipped offsets", "short",
			"Offsets that the topic no longer held and that out_of_range allowed brine to skip, in each step of the graph: records that brine "+
				"never saw.",
			query{sum("pipeline, half", increase("brine_ingest_skipped_offsets_total", loop)), "{{pipeline}} {{half}}"}),
	)
}

func group(b *board) {
	b.row("Consumer groups")
	b.panel(
		graph("Partitions per process", "short", "Number of partitions of each process. Processes without any are spares.",
			query{sum("instance, pipeline, half", of("brine_ingest_partitions", loop)), "{{instance}} {{pipeline}} {{half}}"}).Span(6),
		graph("Rebalances", "short", "Times that the group reassigned its partitions, and failed attempts to join it; in each step of the "+
			"graph.",
			query{sum("pipeline, half", increase("brine_ingest_rebalances_total", loop)), "{{pipeline}} {{half}}"},
			query{sum("pipeline, half", increase("brine_ingest_join_failures_total", loop)), "{{pipeline}} {{half}} failed to join"}).Span(6),
		graph("Redelivered records/s", "short",
			"Records a second that this process had submitted before, after a rebalance. Writing them again changes nothing.",
			query{sum("pipeline, half", rate("brine_ingest_redelivered_records_total", loop)), "{{pipeline}} {{half}}"}).Span(6),
		graph("Abandoned batches", "short",
			"Batches, in each step of the graph, that were given up when their partition went to another process before they were settled. That "+
				"process writes their records.",
			query{sum("pipeline, half", increase("brine_ingest_abandoned_flights_total", loop)), "{{pipeline}} {{half}}"}).Span(6),
	)
}
