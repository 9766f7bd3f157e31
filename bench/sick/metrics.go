package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// rate is the rows that HBase acknowledges in a second.
func rate(metrics string, span time.Duration) (float64, error) {
	before, err := counter(metrics, "brine_hbase_acknowledged_rows_total")
	if err != nil {
		return 0, err
	}
	began := time.Now()
	time.Sleep(span)
	after, err := counter(metrics, "brine_hbase_acknowledged_rows_total")
	return (after - before) / time.Since(began).Seconds(), err
}

// drained waits until brine is near the end of the topic again.
func drained(metrics string) error {
	for range 300 {
		lag, err := counter(metrics, "brine_ingest_lag_records")
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

// counter asks a process for the sum of a metric over its labels.
func counter(url, name string) (sum float64, err error) {
	resp, err := http.Get(url)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, name+"{"); ok {
			_, number, _ := strings.Cut(rest, "} ")
			n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
			if err != nil {
				return 0, fmt.Errorf("metric %s: %w", name, err)
			}
			sum += n
		}
	}
	return sum, nil
}
