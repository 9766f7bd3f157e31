package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"brine/hbase/embedded"
	"brine/internal/sample"
	"brine/service"
	"brine/service/admin"
	"brine/skew"
)

// A running brine reports for its tables what it wrote, the most frequent values of its hot fields, and the cluster's report on the
// regions. Without a master it says so, the cluster's last report ages, and the rest goes on.
func TestARunningBrineReportsItsSkew(t *testing.T) {
	t.Parallel()
	servers, server := ownStack(t, embedded.Options{Servers: 2, DetectAfter: time.Millisecond})
	servers.hbase += "," + server.Nodes()[0].Addr() + "," + server.Nodes()[1].Addr()
	j := newJob(t, servers)
	j.replace("    rows:\n", "    hot_fields: [station]\n    rows:\n")
	p := j.begin("BRINE_HBASE_PAUSE=20ms")
	const records = 300
	n := j.publish(first(sample.Scans(), records))
	p.until("scans.rows", n)
	reported := p.skewOf(j.table, func(skew.TableState) bool { return true })
	if !p.hasCounted(reported.RowsTotal, n) || len(reported.Regions) != 16 {
		t.Errorf("%d rows are reported, written were %d; %d regions", reported.RowsTotal, n, len(reported.Regions))
	}
	top := reported.HeavyFields["station"]
	if len(top) == 0 || !p.hasCounted(top[0].Rows, stationIn(t, records, top[0].Text)) {
		t.Errorf("hot fields: %+v", reported.HeavyFields)
	}
	reported = p.skewOf(j.table, func(s skew.TableState) bool { return s.Cluster != nil })
	if len(reported.Servers) != 2 || reported.Servers[0].Regions+reported.Servers[1].Regions != 16 {
		t.Errorf("servers: %+v", reported.Servers)
	}

	server.Master().Kill()
	n += j.publish(first(sample.Scans(), records))
	p.until("scans.rows", n)
	const unreported = "the cluster does not report region loads"
	for !strings.Contains(p.log.String(), unreported) {
		wait(t, 100*time.Millisecond)
	}
	const old = 40 // in seconds
	reported = p.skewOf(j.table, func(s skew.TableState) bool { return s.Cluster != nil && s.Cluster.Age > old })
	if !p.hasCounted(reported.RowsTotal, n) {
		t.Errorf("without a master %d rows are reported, written were %d", reported.RowsTotal, n)
	}
	if log := p.log.String(); strings.Count(log, unreported) != 1 {
		t.Errorf("the log:\n%s", log)
	}
	p.stop()
}

// hasCounted reports whether as many were counted as were written: each once, except those repeated by a rebalance.
func (p *process) hasCounted(counted int64, written int) bool {
	return counted >= int64(written) && counted <= int64(written)+int64(p.metric("brine_ingest_redelivered_records_total"))
}

// skewOf asks for the state of a table until it is enough.
func (p *process) skewOf(table string, enough func(skew.TableState) bool) skew.TableState {
	p.t.Helper()
	for start := time.Now(); ; wait(p.t, 100*time.Millisecond) {
		var state skew.State
		if err := (admin.Client{Addr: p.http}).Get(p.t.Context(), service.SkewPath, &state); err != nil {
			p.t.Fatal(err)
		}
		if s, ok := state.Tables[table]; ok && enough(s) {
			return s
		}
		if time.Since(start) > standstill {
			p.t.Fatalf("still: %+v\n%s", state.Tables[table].Cluster, &p.log)
		}
	}
}

// stationIn returns how many of the first scans have a station.
func stationIn(t *testing.T, records int, station string) (n int) {
	t.Helper()
	for text := range first(sample.Scans(), records) {
		var scan struct{ Station string }
		if err := json.Unmarshal(text, &scan); err != nil {
			t.Fatal(err)
		}
		if scan.Station == station {
			n++
		}
	}
	return n
}
