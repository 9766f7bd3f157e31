package main

// writes answers: what reaches HBase, how fast, how evenly, and what is sent again?
func writes() *board {
	b := newBoard("brine-writes", "HBase writes and skew", "What reaches HBase, how evenly it is spread over the regions, and what is "+
		"sent again.").
		variable("table", "brine_table_regions", "An HBase table.")
	rows(b)
	skew(b)
	calls(b)
	return b
}

func rows(b *board) {
	b.row("Rows")
	b.panel(
		graph("Rows/s", "short", "Rows a second that region servers acknowledged.",
			query{sum("table", rate("brine_hbase_acknowledged_rows_total", table)), "{{table}}"}),
		graph("Bytes/s", "Bps", "Bytes a second of the cells that region servers acknowledged.",
			query{sum("table", rate("brine_hbase_acknowledged_bytes_total", table)), "{{table}}"}),
		graph("Rows per region and call", "short",
			"Rows sent to one region at a time. Many small batches cost a region server more than a few large ones: let the pipeline gather for "+
				"longer, or use fewer regions.",
			query{quantile(.5, "instance", "brine_hbase_region_batch_rows", process), "{{instance}} median"},
			query{quantile(.99, "instance", "brine_hbase_region_batch_rows", process), "{{instance}} p99"}),
	)
}

func skew(b *board) {
	b.row("Write skew")
	perRegion := sum("table, region", rate("brine_region_written_rows_total", table))
	withStart := perRegion + " * on (table, region) group_left (start) max by (table, region, start) (" + of("brine_region_info", table) + ")"
	top := "topk by (table) (10, " + sum("table, start", withStart) + ")"
	b.panel(
		limits(graph("Busiest region vs. mean", "short",
			"Rows a second of the busiest region over the mean of the table's regions, over all processes and 5 minutes. 1 is even; the number "+
				"of regions means that one region takes everything. From 2 on it deserves a look, from 4 on the region is hot. See the runbook "+
				"BrineWriteSkew.",
			query{of("table:brine_region_write_skew:max_mean5m", `table=~"$table"`), "{{table}}"}), 2, 4),
		graph("Skew indices", "short",
			"The same by other indices, in the last minute, of the process that sees the most: cv (deviation over mean), Gini, entropy, and the "+
				"cost that HBase's balancer acts on above 0.025. 0 is even. Few writes look uneven by chance.",
			query{"max by (table, index) (" + of("brine_region_write_skew_ratio", table+`, index!="max_mean"`) + ")", "{{table}} {{index}}"}),
		graph("Regions", "short", "Regions that the writers know of. A step up is a split.",
			query{"max by (table) (" + of("brine_table_regions", table) + ")", "{{table}}"}),
		bands("Rows/s by region", "short",
			"Rows a second of each region, over all processes: a line is a region, in the order of their start keys. One bright line is a hot "+
				"region; bright lines one after the other mean a key that rises with time; equal brightness means an even load.",
			query{`sum by (start) (label_join(` + withStart + `, "start", " ", "table", "start"))`, "{{start}}"}).Span(16).Height(10),
		graph("Gini index of regions", "percentunit",
			"The Gini index of the rows of the last minute, of the process that sees the most: 0 is even, towards 100 % one region takes "+
				"everything. Few writes look uneven by chance.",
			query{"max by (table) (" + of("brine_region_write_skew_ratio", table+`, index="gini"`) + ")", "{{table}}"}).Height(10),
		graph("Hot regions by cause", "short",
			"Hot regions, by what makes them hot: regions that for at least six seconds took at least 1.5 times the rows of the mean region, at "+
				"least 50 rows a second, and more than chance explains. A loaded server takes too much although none of its regions is hot. brine "+
				"skew says what helps.",
			query{orNone("cause", `label_join(max by (table, cause) (`+of("brine_table_hot_cause_regions", table)+
				`), "cause", ": ", "table", "cause")`), "{{cause}}"},
			query{"max(" + of("brine_loaded_servers", process) + ")", "loaded servers"}),
		graph("Share of rows in hot regions", "percentunit", "The share of the last minute's rows that went to regions that are hot now.",
			query{"max by (table) (" + of("brine_table_hot_rows_ratio", table) + ")", "{{table}}"}),
		graph("Skew by server, size and reads", "short",
			"max/mean of the rows over region servers, and of the regions' sizes and reads as the cluster reports them: 1 is even.",
			query{"max by (table) (" + of("brine_server_write_skew_ratio", table+`, index="max_mean"`) + ")", "{{table}} rows by server"},
			query{"max by (table) (" + of("brine_region_data_skew_ratio", table+`, index="max_mean"`) + ")", "{{table}} size"},
			query{"max by (table) (" + of("brine_region_read_skew_ratio", table+`, index="max_mean"`) + ")", "{{table}} reads"}),
		graph("Rows/s of each table's ten busiest regions", "short",
			"Rows a second by region, named by its start key, and the sum of all others.",
			query{top, "{{table}} {{start}}"},
			query{sum("table", perRegion) + " - " + sum("table", top), "{{table}} all others"}).Span(16),
		graph("Rows/s by salt bucket", "short",
			"Rows a second by the salt that a key begins with. Lines that lie together mean that the salt works.",
			query{sum("table, bucket", rate("brine_salt_bucket_written_rows_total", table)), "{{table}} {{bucket}}"}).
			NoValue("No table has a salted key."),
	)
}

func calls(b *board) {
	b.row("HBase calls")
	const duration = "brine_hbase_call_duration_seconds"
	b.panel(
		graph("Call duration, median", "s", "Time from sending a call to its answer, by method. Multi is writes.",
			query{quantile(.5, "method", duration, process), "{{method}}"}),
		graph("Call duration, p99", "s", "One call in a hundred takes longer than this.",
			query{quantile(.99, "method", duration, process), "{{method}}"}),
		graph("Call duration by server, p99", "s",
			"One call of mutations in a hundred takes longer than this, by region server. One line above the others is a server in long pauses, "+
				"or with a hot region.",
			query{quantile(.99, "server", "brine_hbase_server_call_duration_seconds", process), "{{server}}"}),
		spread("Distribution of mutation call durations", "s", "Calls a second by how long they took.", duration, process+`, method="Multi"`),
		graph("Rows per call", "short", "Mutations per call to a region server, over all its regions.",
			query{quantile(.5, "instance", "brine_hbase_call_rows", process), "{{instance}} median"},
			query{quantile(.99, "instance", "brine_hbase_call_rows", process), "{{instance}} p99"}),
		graph("Flushes by reason", "short", "Flushes of waiting mutations a second, by reason.",
			query{sum("reason", rate("brine_hbase_flushes_total", process)), "{{reason}}"}),
		graph("Calls/s", "short", "Calls a second, by method and outcome. A call that was answered with an exception for one of its regions "+
			"counts as ok.",
			query{sum("method, outcome", rate(duration+"_count", process)), "{{method}} {{outcome}}"}),
		graph("Retries by remedy", "short",
			"Times that a region's mutations or a read were sent again: wait (the server asked for time), relocate (the region moved or split), "+
				"reconnect, split (the call was too large), isolate (one mutation makes the call fail, and the client searches for it); in each "+
				"step of the graph.",
			query{rare("remedy", "brine_hbase_retries_total", process), "{{remedy}}"}),
		graph("Resent rows/s", "short", "Mutations a second that were sent again, beside those that were acknowledged.",
			query{"sum(" + rate("brine_hbase_retried_mutations_total", process) + ")", "sent again"},
			query{"sum(" + rate("brine_hbase_acknowledged_rows_total", process) + ")", "acknowledged"}),
		graph("Connections opened", "short",
			"Connections opened to masters and region servers, and failed attempts, in each step of the graph. Many in a row mean that a server "+
				"keeps going down and coming back.",
			query{sum("outcome", increase("brine_hbase_dials_total", process)), "{{outcome}}"}),
		graph("Sent bytes/s", "Bps", "Bytes a second of the calls, by method.",
			query{sum("method", rate("brine_hbase_sent_bytes_total", process)), "{{method}}"}),
		graph("Unacknowledged bytes", "bytes",
			"Bytes of mutations in memory. A line at the bound of `memory` means that HBase accepts less than arrives.",
			query{of("brine_hbase_buffered_bytes", process), "{{instance}}"},
			query{of("brine_hbase_fullest_lane_bytes", process), "{{instance}} fullest region"}),
		graph("Queue time before a call", "s",
			"Time from the submission of a call's oldest mutation to the call: gathering, waiting for the region's previous call, pauses after "+
				"failures.",
			query{quantile(.5, "instance", "brine_hbase_send_wait_seconds", process), "{{instance}} median"},
			query{quantile(.99, "instance", "brine_hbase_send_wait_seconds", process), "{{instance}} p99"}),
		graph("Calls in flight", "short", "Mutation calls pending at each region server, and the regions that wait for their turn there.",
			query{sum("server", of("brine_hbase_calls_in_flight", process)), "{{server}} calls"},
			query{sum("server", of("brine_hbase_lanes_waiting", process)), "{{server}} regions waiting"}),
		graph("Queued regions and blocked batches", "short",
			"Regions with mutations queued or pending, those that pause after a failure, and batches that wait for room. Batches that wait for "+
				"long mean that HBase, or one region, accepts less than arrives.",
			query{of("brine_hbase_lanes", process), "{{instance}} regions"},
			query{of("brine_hbase_lanes_resting", process), "{{instance}} resting"},
			query{of("brine_hbase_blocked_submits", process), "{{instance}} batches waiting"}),
	)
}
