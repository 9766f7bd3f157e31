package main

// overview answers: does it work, does it keep up, and if not, which pipeline and why.
func overview() *board {
	b := newBoard("brine-overview", "brine / Overview", "Whether the pipelines keep up, and what holds them up.").
		variable("pipeline", "brine_ingest_settled_records_total", "A pipeline of the configuration.")
	health(b)
	progress(b)
	trouble(b)
	resources(b)
	return b
}

func health(b *board) {
	b.row("Health")
	b.panel(
		number("Processes", "short", "Processes of brine that Prometheus reaches.", 0,
			"count("+of("brine_build_info", process)+") or vector(0)"),
		number("Lag", "short", "Records that are in the topics and not yet settled, over all partitions and both halves of the pipelines.", 0,
			"sum("+of("brine_ingest_lag_records", loop)+")"),
		number("Settled records/s", "short", "Records a second that became durable, in a store or in the dead letters; rows and documents count apart.", 0,
			"sum("+rate("brine_ingest_settled_records_total", loop)+")"),
		number("Partitions halted", "short", "Partitions that write nothing until somebody acts: a table, family or index is missing, access is denied, or records are gone. See the runbook BrinePartitionHalted.", 1,
			"sum("+of("brine_ingest_partitions", loop+`, state="halted"`)+")"),
		number("Partitions held up", "short", "Partitions that wait for a broker or for the dead letters, or whose writes a store does not take at the moment. They go on by themselves.", 1,
			"sum("+of("brine_ingest_partitions", loop+`, state=~"waiting|retrying"`)+")"),
		number("Dead letters", "short", "Records put into the dead letters in the time shown. They are whole, with their reason, in the topic's .dead topic.", 1,
			"sum("+counted("brine_ingest_dead_letters_total", loop, "$__range")+") or vector(0)"),
	)
}

func progress(b *board) {
	b.row("Pipelines")
	b.panel(
		graph("Lag", "short", "Records that are in the topic and not yet settled. A line that rises for long means that more arrives than is written. While a store is out the end of the topic is the one that was last heard of.",
			query{sum("pipeline, half", of("brine_ingest_lag_records", loop)), "{{pipeline}} {{half}}"}),
		graph("Settled records/s", "short", "Records a second that became durable: written, or in the dead letters.",
			query{sum("pipeline, half", rate("brine_ingest_settled_records_total", loop)), "{{pipeline}} {{half}}"}),
		graph("Fetched bytes/s", "Bps", "Bytes a second that the brokers answered.",
			query{sum("pipeline, half", rate("brine_ingest_fetched_bytes_total", loop)), "{{pipeline}} {{half}}"}),
		graph("The ten partitions that are most behind", "short", "One partition far behind the others has a heavy key, or stands still.",
			query{"topk(10, " + sum("pipeline, half, partition", of("brine_ingest_lag_records", loop)) + ")", "{{pipeline}} {{half}} {{partition}}"}),
		graph("Partitions by state", "short", "Partitions of all processes by what they are doing: starting, running, retrying (a store asks for time), waiting (a broker or the dead letters do not answer), halted (somebody must act), draining (going to another process).",
			query{sum("state", of("brine_ingest_partitions", loop)), "{{state}}"}),
		graph("Commits/s", "short", "Offsets committed a second, and commits that failed. Records that are settled and not committed are read again after a crash, which changes nothing.",
			query{sum("pipeline, half", rate("brine_ingest_commits_total", loop)), "{{pipeline}} {{half}}"},
			query{sum("pipeline, half", rate("brine_ingest_commit_failures_total", loop)), "{{pipeline}} {{half}} failed"}),
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
		graph("Rebalances", "short", "Times that the group gave partitions to the processes anew, and attempts to join it that failed; in each step of the graph.",
			query{sum("pipeline, half", increase("brine_ingest_rebalances_total", loop)), "{{pipeline}} {{half}}"},
			query{sum("pipeline, half", increase("brine_ingest_join_failures_total", loop)), "{{pipeline}} {{half}} failed to join"}),
		graph("Records read again/s", "short", "Records a second that this process had submitted before, after a rebalance. Writing them again changes nothing.",
			query{sum("pipeline, half", rate("brine_ingest_redelivered_records_total", loop)), "{{pipeline}} {{half}}"}),
		graph("Offsets passed over", "short", "Offsets that the topic no longer held and that out_of_range let pass, in each step of the graph: records that brine never saw.",
			query{sum("pipeline, half", increase("brine_ingest_skipped_offsets_total", loop)), "{{pipeline}} {{half}}"}),
	)
}

func resources(b *board) {
	b.row("Processes")
	b.panel(
		graph("Memory", "bytes", "Resident memory of each process, and the part of it that Go's heap uses.",
			query{of("process_resident_memory_bytes", process), "{{instance}} resident"},
			query{of("go_memstats_heap_inuse_bytes", process), "{{instance}} heap"}),
		graph("CPU", "short", "Cores that each process uses.",
			query{rate("process_cpu_seconds_total", process), "{{instance}}"}),
		graph("Goroutines", "short", "Goroutines of each process. A number that only rises is a fault of brine's.",
			query{of("go_goroutines", process), "{{instance}}"}),
	)
}
