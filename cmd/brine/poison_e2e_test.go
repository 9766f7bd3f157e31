package main

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"brine/event"
	"brine/hbase/embedded"
	"brine/hbase/hbasepb"
	"brine/internal/sample"
	"brine/internal/testenv"
)

// If the server refuses a row among a thousand together with everything in its call, that row is a dead letter, which holds the whole
// record and the server's message. All others are written.
func TestPoisonedRowIsADeadLetter(t *testing.T) {
	t.Parallel()
	const n, complaint = 1000, "Cell with size 11 exceeds limit of 10 bytes"
	server, err := embedded.Start(embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	server.Control("Multi", func(r *embedded.Request) *embedded.Outcome {
		r.Keep()
		out := &embedded.Outcome{Regions: map[string]*embedded.Exception{}}
		for _, ra := range r.Param.(*hbasepb.MultiRequest).RegionAction {
			if slices.ContainsFunc(ra.Action, func(a *hbasepb.Action) bool { return bytes.Contains(a.Mutation.Row, []byte("POISON")) }) {
				out.Regions[string(ra.Region.Value)] = &embedded.Exception{Class: "org.apache.hadoop.hbase.DoNotRetryIOException", Message: complaint, DoNotRetry: true}
			}
		}
		return out
	})
	broker := testenv.KafkaFake(t, devPartitions)
	j := newJob(t, stack{brokers: broker.ListenAddrs(), hbase: "rpc://" + server.Addr(), search: "embedded:" + filepath.Join(t.TempDir(), "search")})
	bad := []byte(`{"waybill":"POISON","at":1356998400000,"station":"EWR","action":"DEPART","courier":"N1","whole":["even","this"]}`)
	records := slices.Collect(first(sample.Scans(), n))
	j.publish(slices.Values(slices.Insert(slices.Clone(records), n/2, bad)))
	j.must("run", "-q", "-c", j.file, "--until-end")

	letters := j.deadLetters()
	if len(letters) != 1 {
		t.Fatalf("%d dead letters, want the poisoned one: %.1000v", len(letters), letters)
	}
	l := letters[0]
	if !bytes.Equal(l.Record.Value, bad) || string(l.Record.Key) != "POISON" || l.Record.Topic != j.topic || l.Reason != event.Refused {
		t.Errorf("%s from %s because of %s: %s", l.Record.Key, l.Record.Topic, l.Reason, l.Record.Value)
	}
	for _, want := range []string{complaint, ", attempt ", server.Addr(), j.table} {
		if !strings.Contains(l.Detail, want) {
			t.Errorf("%q does not say %q", l.Detail, want)
		}
	}
	if got, want := scanTable(t, j.hbase, j.table), undisturbed(t, slices.Values(records)); got != want {
		t.Errorf("written %v, want %v", got, want)
	}
	if left := j.uncommitted("rows"); left != 0 {
		t.Errorf("%d records are uncommitted", left)
	}
}
