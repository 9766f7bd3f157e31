package failingregion

import (
	"errors"
	"time"

	"brine/bench/measure"
)

// rate returns the number of rows that HBase acknowledges per second, measured every second of a span.
func rate(metrics string, span time.Duration) (measure.Estimate, error) {
	acknowledged := func() (float64, time.Time, error) {
		n, err := measure.Metric(metrics, "brine_hbase_acknowledged_rows_total")
		return n, time.Now(), err
	}
	before, began, err := acknowledged()
	var rates []float64
	for range span / time.Second {
		if err != nil {
			break
		}
		time.Sleep(time.Second)
		var after float64
		var ended time.Time
		if after, ended, err = acknowledged(); err == nil {
			rates = append(rates, (after-before)/ended.Sub(began).Seconds())
		}
		before, began = after, ended
	}
	return measure.Repeated(rates), err
}

// drained waits until brine is near the end of the topic again.
func drained(metrics string) error {
	for range 300 {
		lag, err := measure.Metric(metrics, "brine_ingest_lag_offsets")
		if err != nil {
			return err
		}
		if lag < 20_000 {
			return nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return errors.New("brine did not reach the end of the topic within 30 s after the region recovered")
}
