package main

import (
	"errors"
	"time"

	"brine/bench/measure"
)

// rate is the rows that HBase acknowledges in a second.
func rate(metrics string, span time.Duration) (float64, error) {
	before, err := measure.Metric(metrics, "brine_hbase_acknowledged_rows_total")
	if err != nil {
		return 0, err
	}
	began := time.Now()
	time.Sleep(span)
	after, err := measure.Metric(metrics, "brine_hbase_acknowledged_rows_total")
	return (after - before) / time.Since(began).Seconds(), err
}

// drained waits until brine is near the end of the topic again.
func drained(metrics string) error {
	for range 300 {
		lag, err := measure.Metric(metrics, "brine_ingest_lag_records")
		if err != nil {
			return err
		}
		if lag < 20_000 {
			return nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return errors.New("brine did not come to the end of the topic within 30 s after the region was well again")
}
