package main

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"brine/hbase/embedded"
	"brine/internal/testenv"
	"brine/serve/client"
)

// TestServeKeepsHowLongItsReadsTake checks that what brine serve has read of a slow region is in the maps of other processes once it has
// ended, in that region and in no other.
func TestServeKeepsHowLongItsReadsTake(t *testing.T) {
	t.Parallel()
	server, err := embedded.Start(embedded.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	j := newJob(t, stack{brokers: testenv.KafkaFake(t, devPartitions).ListenAddrs(), hbase: "rpc://" + server.Addr(),
		search: "embedded:" + filepath.Join(t.TempDir(), "search")})
	j.replace("hbase:\n", "map: { history: \"brine:maps\" }\nhbase:\n")
	const patience = 200 * time.Millisecond
	remove := server.Control("", func(r *embedded.Request) *embedded.Outcome {
		if !slices.Contains(r.Tables(), j.table) || !slices.ContainsFunc(r.Rows(), func(row []byte) bool { return bytes.HasPrefix(row, []byte("5")) }) {
			return nil
		}
		r.Keep()
		return &embedded.Outcome{Delay: patience}
	})
	defer remove()
	s := j.serve()
	for n := range 200 { // of all regions, about a dozen of each; no row is there
		var e *client.Problem
		_, err := s.Find(t.Context(), j.table, url.Values{"waybill": {fmt.Sprint("W", n)}, "at": {"2023-11-14T22:13:20Z"}, "action": {"in"}})
		if !errors.As(err, &e) || e.Status != http.StatusNotFound {
			t.Fatal(err)
		}
	}
	s.stop()

	other := j.serve()
	defer other.stop()
	if _, err := other.Views(t.Context()); err != nil {
		t.Fatal(err)
	}
	ops := client.Client{Base: other.ops}
	m, err := ops.HeatMap(t.Context(), j.table, client.HeatMapOf{Metric: "read_latency", Minutes: 15})
	if err != nil || len(m.ReadLatency) != 16 {
		t.Fatalf("%+v, %v", m, err)
	}
	for n, line := range m.ReadLatency {
		if most := slices.Max(line); most <= 0 || (most >= patience.Seconds()*1000) != (n == 5) {
			t.Errorf("reads of the region from %q take up to %.1f ms", m.Starts[n], most)
		}
	}
}
