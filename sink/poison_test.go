package sink_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"brine/event"
	"brine/hbase"
	"brine/hbase/embedded"
	"brine/hbase/hbasepb"
	"brine/sink"
)

const complaint = "Cell with size 11 exceeds limit of 10 bytes"

// poison makes a server refuse every region's share of a call that contains a row with "BAD" in it, as HBase does with a cell that is too
// large: without a reason and without naming the row.
func poison(s *embedded.Server) {
	s.Control("Multi", func(r *embedded.Request) *embedded.Outcome {
		r.Keep()
		out := &embedded.Outcome{Regions: map[string]*embedded.Exception{}}
		for _, ra := range r.Param.(*hbasepb.MultiRequest).RegionAction {
			for _, a := range ra.Action {
				if bytes.Contains(a.Mutation.Row, []byte("BAD")) {
					out.Regions[string(ra.Region.Value)] = &embedded.Exception{Class: "org.apache.hadoop.hbase.DoNotRetryIOException", Message: complaint, DoNotRetry: true}
				}
			}
		}
		return out
	})
}

// In a batch with rows that the server refuses, all others are written. The refused ones are rejected while neighbours are accepted and
// they are few: 1 %, plus 100 a minute. Those beyond that halt, and so does everything in a table that accepts nothing.
func TestPoisonedRowsAmongGoodOnes(t *testing.T) {
	for _, tt := range []struct {
		name                      string
		events, bad, reject, halt int
	}{
		{"one", 1000, 1, 1, 0},
		{"ten", 1000, 10, 10, 0},
		{"more than 1 %", 1000, 25, 10, 15},
		{"more than 100 a minute", 20_000, 130, 100, 30},
		{"all", 1000, 1000, 0, 1000},
	} {
		t.Run(tt.name, func(t *testing.T) {
			server, err := embedded.Start(embedded.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer server.Close()
			client, err := hbase.Open(t.Context(), hbase.Options{Connect: "rpc://" + server.Addr()})
			if err != nil {
				t.Fatal(err)
			}
			defer client.Close()
			rows := scanRows(t)
			create(t, client, rows)
			poison(server)
			clock := time.Now()
			s := newSink(t, sink.HBase(autoflush(t, client)), sink.Options{Schema: scans, Rows: []sink.Rows{rows}, Now: func() time.Time { return clock }})
			var records []string
			every := tt.events / tt.bad
			for i := range tt.events {
				waybill := fmt.Sprintf("W%05d", i)
				if i%every == 0 && i/every < tt.bad {
					waybill = fmt.Sprintf("BAD%05d", i)
				}
				records = append(records, scan(waybill, i))
			}
			failures, err := event.Settle(t.Context(), s.Submit(t.Context(), batch(t, scans, records...)))
			if err != nil {
				t.Fatal(err)
			}
			verdicts := map[event.Verdict]int{}
			for _, f := range failures {
				verdicts[f.Verdict]++
				if text := f.Err.Error(); !strings.Contains(records[f.Index], "BAD") || f.Reason != event.Refused || !strings.Contains(text, complaint) ||
					!strings.Contains(text, ", attempt ") || !strings.Contains(text, server.Addr()) || !strings.Contains(text, "DoNotRetryIOException") {
					t.Fatalf("%s: %+v", records[f.Index], f)
				}
			}
			if len(failures) != tt.bad || verdicts[event.Reject] != tt.reject || verdicts[event.Halt] != tt.halt {
				t.Errorf("%d failures, %d rejected and %d halt, want %d and %d", len(failures), verdicts[event.Reject], verdicts[event.Halt], tt.reject, tt.halt)
			}
			written := 0
			for r, err := range client.Scan(t.Context(), rows.Table.Name, hbase.Scan{}) {
				if err != nil || strings.Contains(string(r.Row), "BAD") {
					t.Fatal(r, err)
				}
				written++
			}
			if written != tt.events-tt.bad {
				t.Errorf("%d rows are written, want %d", written, tt.events-tt.bad)
			}
		})
	}
}
