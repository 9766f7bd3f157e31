package main

// index answers: what reaches the search index, how fast, and what does it refuse?
func index() *board {
	b := newBoard("brine-index", "Index", "What reaches the search index, how fast, and what it refuses.").
		variable("pipeline", "brine_ingest_settled_records_total", "A pipeline of the configuration.")
	documents(b)
	indexCalls(b)
	return b
}

func documents(b *board) {
	b.row("Documents")
	b.panel(
		graph("Documents/s by outcome", "short",
			"Events a second by the outcome of their document: written; conflict (the index already held this version or a newer one: settled); "+
				"again and retry (sent once more); reject (a dead letter); halt.",
			query{sum("pipeline, index, outcome", rate("brine_index_documents_total", loop)), "{{pipeline}} {{index}} {{outcome}}"}),
		graph("Lag", "short", "Offsets whose documents are not yet settled, an upper bound of the records. A separate "+
			"loop writes the rows: an outage of the index does not hold them up.",
			query{sum("pipeline", of("brine_ingest_lag_offsets", loop+`, half="documents"`)), "{{pipeline}}"}),
		graph("Resent documents/s", "short", "Documents a second that were sent again, and the pauses before that.",
			query{sum("pipeline", rate("brine_index_retried_documents_total", loop)), "{{pipeline}} documents"},
			query{sum("pipeline", rate("brine_index_retries_total", loop)), "{{pipeline}} pauses"}),
		graph("Time until searchable", "s",
			"Every 5 s (search.probe) one document is searched for until it is found. From durable: the time since the index accepted it, which "+
				"search.refresh bounds. From produced: the age of its record.",
			query{quantile(.5, "pipeline, index", "brine_index_searchable_delay_seconds", loop), "{{pipeline}} {{index}} from durable, median"},
			query{quantile(.99, "pipeline, index", "brine_index_searchable_delay_seconds", loop), "{{pipeline}} {{index}} from durable, p99"},
			query{quantile(.99, "pipeline", "brine_freshness_seconds", loop+`, stage="searchable"`), "{{pipeline}} from produced, p99"}),
	)
}

func indexCalls(b *board) {
	b.row("Calls")
	const duration = "brine_index_call_duration_seconds"
	b.panel(
		graph("Call duration", "s", "Time from sending a bulk or get call to its answer.",
			query{quantile(.5, "call", duration, loop), "{{call}} median"},
			query{quantile(.99, "call", duration, loop), "{{call}} p99"}),
		spread("Distribution of call durations", "s", "Calls a second by how long they took.", duration, loop),
		graph("Calls/s", "short", "Calls a second, by kind and outcome.",
			query{sum("call, outcome", rate(duration+"_count", loop)), "{{call}} {{outcome}}"}),
		graph("Sent bytes/s", "Bps", "Bytes a second of documents.",
			query{sum("pipeline", rate("brine_index_sent_bytes_total", loop)), "{{pipeline}}"}),
		graph("Documents per call", "short", "Documents per call. Many small calls cost the search engine more than few large ones.",
			query{quantile(.5, "pipeline, call", "brine_index_call_documents", loop), "{{pipeline}} {{call}} median"},
			query{quantile(.99, "pipeline, call", "brine_index_call_documents", loop), "{{pipeline}} {{call}} p99"}),
		graph("Unanswered bytes", "bytes", "Bytes of documents in memory that the search engine has not answered.",
			query{sum("instance, pipeline", of("brine_index_buffered_bytes", loop)), "{{instance}} {{pipeline}}"}),
	)
}
