package metrics

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"log/slog"
	"runtime"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"brine/event"
	"brine/hbase"
	"brine/ingest"
	"brine/skew"
)

// unscraped is a process whose regions split, whose servers come and go and whose keys never end, and which is not scraped.
type unscraped struct {
	clock  time.Time
	tables *skew.Tables
	client hbase.Hooks
	loop   ingest.Hooks
	ages   []event.Record
	minute int
}

func newUnscraped(reg *prometheus.Registry) *unscraped {
	u := &unscraped{clock: time.Unix(1_700_000_000, 0), ages: make([]event.Record, 1)}
	u.tables = skew.NewTables(func() time.Time { return u.clock })
	u.client = HBase(reg, u.tables)
	m := NewIngest(reg)
	u.loop = m.Hooks("scans", "rows")
	m.Watch("scans", "rows", func() ingest.Status {
		return ingest.Status{Partitions: []ingest.PartitionStatus{{State: ingest.Running, Watermark: int64(u.minute), End: int64(u.minute)}}}
	}, ingest.NewBudget(8<<20), nil, nil)
	reg.MustRegister(&Skew{Tables: u.tables})
	return u
}

// run lets the given number of minutes pass. In each, the table has new regions, by name and server.
func (u *unscraped) run(minutes int) {
	const regions = 16
	for range minutes {
		u.minute++
		u.clock = u.clock.Add(time.Minute)
		for i := range regions {
			r := regionOf(i, regions)
			server := fmt.Sprintf("rs%d:16020", u.minute*regions+i)
			u.client.Applied(&hbase.AppliedInfo{Table: "t", Rows: 100, Bytes: 10_000, Region: &hbase.Region{
				Encoded: fmt.Sprintf("%d-%d", u.minute, i), ID: int64(u.minute), Start: r.Start, End: r.End, Server: server}})
			u.client.Sent(&hbase.SentInfo{Server: server, Rows: 100, Duration: time.Duration(u.minute*i) * time.Microsecond})
			u.client.Dial(hbase.DialInfo{Server: server})
			u.client.Retry(hbase.RetryInfo{Table: "t", Class: fmt.Sprint("com.example.Exception", u.minute), Remedy: "relocate", Mutations: 1})
		}
		u.tables.Observe()
		u.loop.Fetched(ingest.FetchedInfo{Records: 1, Bytes: 100})
		u.loop.Took(ingest.TookInfo{Flight: context.Background(), Step: ingest.StepSettle, Duration: time.Duration(u.minute) * time.Millisecond})
		u.ages[0].Timestamp = time.Now().UnixMilli() - int64(u.minute)
		u.loop.Durable(ingest.DurableInfo{Flight: context.Background(), Records: u.ages, Times: ingest.TimesOf(u.ages)})
		u.loop.DeadLettered(ingest.DeadLetteredInfo{Records: 1, Reason: event.Rejects[u.minute%len(event.Rejects)]})
	}
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// While Prometheus is away for a day, brine keeps no more than after the nine hours in which the history of the heat map fills, waits for
// nobody and logs nothing. The first scrape is an ordinary one, and nothing is forgotten.
func TestNobodyScrapes(t *testing.T) {
	var said bytes.Buffer
	before, to := slog.Default(), log.Writer()
	slog.SetDefault(slog.New(slog.NewTextHandler(&said, nil))) // also the one of package log
	t.Cleanup(func() {
		slog.SetDefault(before)
		log.SetOutput(to)
	})
	const filled, away = 9 * 60, 24 * 60
	reg := prometheus.NewRegistry()
	u := newUnscraped(reg)
	u.run(filled)
	full := heap()
	u.run(away - filled)
	if grown := heap() - full; grown > 1<<20 {
		t.Errorf("%d bytes more are held than after %d h", grown, filled/60)
	}
	if said.Len() > 0 {
		t.Errorf("it was logged: %s", said.String())
	}
	if n := series(t, reg); n > 1000 {
		t.Errorf("%d series", n)
	}
	rows, letters := 0.0, 0.0
	for _, v := range values(t, reg, "brine_region_written_rows_total", "region") {
		rows += v
	}
	for _, v := range values(t, reg, "brine_ingest_dead_letters_total", "reason") {
		letters += v
	}
	if rows != away*16*100 || letters != away {
		t.Errorf("%.0f rows and %.0f dead letters are reported of %d and %d", rows, letters, away*16*100, away)
	}
}
