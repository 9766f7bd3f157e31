package main

// promises shows the objectives of deploy/prometheus/brine.slo.rules.yaml, and how fast their budgets burn.
func promises(b *board) {
	const fresh, in10s = `, stage="durable"`, `, stage="durable", le=~"10(\\.0)?"`
	whole := func(metric, selector string) string { return "sum(increase(" + of(metric, selector) + "[$__range]))" }
	b.row("Objectives")
	b.panel(
		number("Durable within 10 s", "percentunit",
			"Share of the records in the time shown that were durable within 10 s of their own timestamp. The objective is 99 %.",
			colored("red", from(.99, "green")),
			whole("brine_freshness_seconds_bucket", loop+in10s)+" / "+whole("brine_freshness_seconds_count", loop+fresh)),
		number("Records written", "percentunit",
			"Share of the records settled in the time shown that were written, not dead-lettered. The objective is 99.9 %.",
			colored("red", from(.999, "green")),
			"1 - (sum("+counted("brine_ingest_dead_letters_total", loop, "$__range")+") or vector(0)) / "+
				whole("brine_ingest_settled_records_total", loop)),
		number("Oldest unsettled record", "s", "Age of the oldest record that is in a topic and not yet settled.",
			colored("green", from(10, "orange"), from(300, "red")),
			"max("+of("brine_ingest_lag_seconds", loop)+")"),
		number("Time to catch up", "s", "Time until the lag is gone, at the current rates; infinite while it grows.",
			colored("green", from(300, "orange"), from(3600, "red")),
			"max("+of("brine_ingest_drain_seconds", loop)+")"),
		number("Hot regions", "short",
			"Regions that currently take far more writes than the others of their table. brine skew says why, and what helps.", bad(1),
			"sum(max by (table) ("+of("brine_table_hot_regions", process)+"))"),
		number("Firing alerts", "short", "brine's alerts that are firing now. Each has a runbook in docs/runbooks.", bad(1),
			`count(ALERTS{alertname=~"Brine.+", alertstate="firing"}) or vector(0)`),
		graph("Freshness", "s", "Age of records, by their own timestamps, when they became durable: half of them were younger than the "+
			"median, one in a hundred older than p99.",
			query{quantile(.5, "pipeline, half", "brine_freshness_seconds", loop+fresh), "{{pipeline}} {{half}} median"},
			query{quantile(.99, "pipeline, half", "brine_freshness_seconds", loop+fresh), "{{pipeline}} {{half}} p99"}),
		burn("Burn rate: late records",
			"How fast the error budget (1 % of records may become durable later than 10 s) is used up, over an hour and over five "+
				"minutes.", "fresh"),
		burn("Burn rate: dead letters",
			"How fast the error budget (0.1 % of records may be dead letters) is used up, over an hour and over five minutes.", "kept"),
	)
}

func burn(title, description, objective string) builder {
	rate := func(window string) query {
		return query{of("pipeline_half:brine_"+objective+"_burn:rate"+window, `pipeline=~"$pipeline"`), "{{pipeline}} {{half}} " + window}
	}
	return limits(graph(title, "short", description+" At 1 it lasts 30 days; when both are over 14.4, an alert "+
		"fires.", rate("1h"), rate("5m")),
		1, 14.4)
}
