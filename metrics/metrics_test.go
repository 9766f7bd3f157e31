package metrics

import (
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"brine/command"
	"brine/event"
	"brine/hbase"
	"brine/indexer"
	"brine/ingest"
	"brine/pressure"
	"brine/registry"
	"brine/serve"
	"brine/sink"
	"brine/skew"
	"brine/verify"
)

// registered returns a registry with everything registered and every hook called once.
func registered(t *testing.T) *prometheus.Registry {
	t.Helper()
	reg := prometheus.NewPedanticRegistry()
	callAll(reg)
	return reg
}

// callAll registers everything that a process of brine registers, and calls every hook.
func callAll(reg prometheus.Registerer) {
	clock := time.Unix(1_700_000_000, 0)
	tables := skew.NewTables(func() time.Time { clock = clock.Add(time.Second / 10); return clock })
	callHBase(reg, tables)
	Spread(tables)(sink.SpreadInfo{Table: "salted", Buckets: []sink.Bucket{{Rows: 2, Bytes: 20}, {}}})
	tables.Counter("t", skew.Shape{}).SetLoads([]string{"rs1:16020"}, []skew.RegionLoad{{Region: "r1", MB: 1}})
	heat(tables)
	reg.MustRegister(&Skew{Tables: tables}, Build("v1.0.0"))
	loops := NewIngest(reg)
	callIngest(loops)
	loops.Hooks("scans", "rows", event.Condition{Of: "t"})
	s := NewSink(reg).Hooks("scans")
	s.Collision(sink.CollisionInfo{Table: "t"})
	s.Expired(sink.ExpiredInfo{Table: "t", Family: "e"})
	s.Tie(sink.TieInfo{Table: "t"})
	x := NewIndexer(reg, loops).Hooks("scans")
	x.Call(&indexer.CallInfo{Kind: indexer.CallBulk, Documents: 3, Bytes: 30, Duration: time.Millisecond})
	x.Items(indexer.ItemsInfo{Index: "scans", Outcome: indexer.Written, Events: 3})
	x.Retry(indexer.RetryInfo{Documents: 1})
	x.Buffered(indexer.BufferedInfo{Bytes: 30, Change: 30})
	x.Probe(indexer.ProbeInfo{Flight: context.Background(), Index: "scans", Outcome: indexer.Shown, Produced: clock.UnixMilli(), Durable: clock, Ended: clock.Add(time.Second)})
	v := NewVerify(reg)
	v.Hooks().Read(verify.ReadInfo{Source: "scans", Records: 3})
	v.Hooks().Compared(verify.ComparedInfo{Table: "t", Keys: 3})
	v.Hooks().Found(verify.FoundInfo{Table: "t", Kind: verify.Missing, Count: 1})
	v.Verified(clock)
	v.Proved(clock, false)
	v.Failed()
	serving := NewServe(reg)
	serving.Commands().Swept(command.SweptInfo{Accepted: 3, Withdrawn: 1, Oldest: time.Minute})
	api := serving.Hooks()
	api.Begun()
	api.Ended()
	api.Shed()
	api.Cached(true)
	api.Answered(serve.AnsweredInfo{Route: "/api/v1/views/waybill", Status: 200, Took: time.Millisecond})
	Logs(reg)(slog.LevelWarn, 2)
	NewReload(reg, clock).Done(reloadApplied, clock)
	maps := Maps(reg)
	maps.Written()
	maps.Failed()
	loops.Undeclared("scans", "rows", func() event.UndeclaredCounts {
		return event.UndeclaredCounts{Looked: 3, Names: map[string]int64{"note": 2}, Others: 1}
	})
	schemas := Registry(reg)
	schemas.Fetched(registry.FetchedInfo{Outcome: registry.Unknown})
	schemas.Fetched(registry.FetchedInfo{FromDir: true})
	schemas.Cached(registry.CachedInfo{Schemas: 2, Bytes: 3000})
	schemas.Kept(registry.KeptInfo{Err: fs.ErrPermission})
}

// heat makes one of two regions hot.
func heat(tables *skew.Tables) {
	c := tables.Counter("hot", skew.Shape{})
	c.SetRegions([]skew.Region{regionOf(0, 2), regionOf(1, 2)})
	for range 50 {
		c.Add(skew.Batch{Region: regionOf(0, 2), Count: skew.Count{Rows: 200}})
		tables.Observe()
	}
}

func callHBase(reg prometheus.Registerer, tables *skew.Tables) {
	h := HBase(reg, tables)
	h.Call(hbase.CallInfo{Method: "Multi", Duration: time.Millisecond, Sent: 10})
	h.Retry(hbase.RetryInfo{Class: "org.apache.hadoop.hbase.NotServingRegionException", Remedy: "relocate", Mutations: 3})
	h.Retry(hbase.RetryInfo{Class: "com.example.NeverHeardOf", Remedy: "relocate", Mutations: 1})
	h.Flush(hbase.FlushInfo{Reason: hbase.FlushLinger, Bytes: 10})
	h.Applied(&hbase.AppliedInfo{Table: "t", Region: &hbase.Region{Encoded: "r1"}, Rows: 5, Bytes: 50})
	h.Buffered(hbase.BufferedInfo{Bytes: 7, Change: 7})
	h.Retry(hbase.RetryInfo{Class: "org.apache.hadoop.hbase.DoNotRetryIOException", Remedy: "isolate", Mutations: 2})
	h.Send(hbase.SendInfo{Server: "rs1:16020", Rows: 5, Waited: 2 * time.Millisecond})
	h.Sent(&hbase.SentInfo{Server: "rs1:16020", Rows: 5, Duration: 2 * time.Millisecond})
	h.Dial(hbase.DialInfo{Server: "a:1"})
	reg.MustRegister(Lanes{func() hbase.Stats { return stats }})
}

func callIngest(m *Ingest) {
	i := m.Hooks("scans", "rows")
	i.Fetched(ingest.FetchedInfo{Records: 3, Bytes: 30})
	i.Decoded(ingest.DecodedInfo{Events: 3})
	i.Submitted(ingest.SubmittedInfo{Events: 3})
	i.Settled(ingest.SettledInfo{Records: 3})
	i.Redelivered(ingest.RedeliveredInfo{Records: 1})
	i.Retried(ingest.RetriedInfo{Events: 1, Reason: event.Unavailable})
	i.DeadLettered(ingest.DeadLetteredInfo{Records: 1, Reason: event.MissingField})
	i.Waiting(ingest.WaitingInfo{Reason: event.Unavailable})
	i.Halted(ingest.HaltedInfo{Reason: event.NoTable})
	i.Committed(ingest.CommittedInfo{Offset: 3})
	i.CommitFailed(ingest.CommitFailedInfo{})
	i.Assigned(ingest.AssignedInfo{Generation: 1, Partitions: []int{0}})
	i.JoinFailed(ingest.JoinFailedInfo{})
	i.Revoked(ingest.RevokedInfo{Generation: 1, Partitions: []int{0}, Abandoned: 1})
	i.Skipped(ingest.SkippedInfo{From: 3, To: 5})
	i.Took(ingest.TookInfo{Flight: context.Background(), Step: ingest.StepSettle, Duration: time.Millisecond})
	one := []event.Record{{Timestamp: 1}}
	i.Durable(ingest.DurableInfo{Flight: context.Background(), Records: one, Times: ingest.TimesOf(one)})
	parts := []ingest.PartitionStatus{
		{Topic: "courier.scans", Partition: 2, State: ingest.Halted, Watermark: 10, End: 15},
		{Partition: 3, State: ingest.Starting, Watermark: -1},
	}
	meter := &pressure.Meter{}
	meter.Fetched(10, 1000)
	meter.Read(time.Now().Add(-time.Minute))
	meter.Add(pressure.Fetch, time.Second)
	m.Watch("scans", "rows", func() ingest.Status { return ingest.Status{Partitions: parts} }, ingest.NewBudget(8<<20), meter,
		func() (Left, bool) { return Left{Time: time.Hour, Ratio: .5}, true })
	m.Watch("scans", "documents", func() ingest.Status { return ingest.Status{} }, ingest.NewBudget(8<<20), nil, nil)
}

var stats = hbase.Stats{Buffered: 70, Blocked: 1, Lanes: 5, Resting: 2, Fullest: 40, Servers: []hbase.ServerStats{{Addr: "rs1:16020", Calls: 2, Lanes: 3}}}

func TestNamesFollowTheConventions(t *testing.T) {
	problems, err := testutil.GatherAndLint(registered(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

func TestHooksCount(t *testing.T) {
	want := `
# HELP brine_salt_bucket_written_rows_total Rows written into a salt bucket; buckets without a series of their own are summed as other.
# TYPE brine_salt_bucket_written_rows_total counter
brine_salt_bucket_written_rows_total{bucket="0",table="salted"} 2
brine_salt_bucket_written_rows_total{bucket="1",table="salted"} 0
# HELP brine_hbase_blocked_submits Batches that wait for room in memory or in the lane of a region.
# TYPE brine_hbase_blocked_submits gauge
brine_hbase_blocked_submits 1
# HELP brine_hbase_calls_in_flight Mutation calls pending at a region server.
# TYPE brine_hbase_calls_in_flight gauge
brine_hbase_calls_in_flight{server="rs1:16020"} 2
# HELP brine_hbase_fullest_lane_bytes Bytes of mutations of the region that has the most; a region may hold a quarter of the bound, and callers beyond that wait.
# TYPE brine_hbase_fullest_lane_bytes gauge
brine_hbase_fullest_lane_bytes 40
# HELP brine_hbase_lanes Regions that have mutations queued or on their way.
# TYPE brine_hbase_lanes gauge
brine_hbase_lanes 5
# HELP brine_hbase_lanes_resting Regions whose mutations wait out a pause after a failure.
# TYPE brine_hbase_lanes_resting gauge
brine_hbase_lanes_resting 2
# HELP brine_hbase_lanes_waiting Regions that are ready to send but wait until one of their server's calls is answered.
# TYPE brine_hbase_lanes_waiting gauge
brine_hbase_lanes_waiting{server="rs1:16020"} 3
# HELP brine_ingest_lag_offsets Offsets between the watermark and the end of the partition, as a broker last reported it: an upper bound of the records, since transaction markers have offsets too.
# TYPE brine_ingest_lag_offsets gauge
brine_ingest_lag_offsets{half="rows",partition="2",pipeline="scans",topic="courier.scans"} 5
# HELP brine_ingest_partitions Partitions assigned to this process, by state.
# TYPE brine_ingest_partitions gauge
brine_ingest_partitions{half="documents",pipeline="scans",state="draining"} 0
brine_ingest_partitions{half="documents",pipeline="scans",state="halted"} 0
brine_ingest_partitions{half="documents",pipeline="scans",state="retrying"} 0
brine_ingest_partitions{half="documents",pipeline="scans",state="running"} 0
brine_ingest_partitions{half="documents",pipeline="scans",state="starting"} 0
brine_ingest_partitions{half="documents",pipeline="scans",state="waiting"} 0
brine_ingest_partitions{half="rows",pipeline="scans",state="draining"} 0
brine_ingest_partitions{half="rows",pipeline="scans",state="halted"} 1
brine_ingest_partitions{half="rows",pipeline="scans",state="retrying"} 0
brine_ingest_partitions{half="rows",pipeline="scans",state="running"} 0
brine_ingest_partitions{half="rows",pipeline="scans",state="starting"} 1
brine_ingest_partitions{half="rows",pipeline="scans",state="waiting"} 0
# HELP brine_region_written_rows_total Rows acknowledged by a region; regions without a series of their own are summed as other.
# TYPE brine_region_written_rows_total counter
brine_region_written_rows_total{region="00000000000000000000000000000000",table="hot"} 10000
brine_region_written_rows_total{region="00000000000000000000000000000001",table="hot"} 0
brine_region_written_rows_total{region="r1",table="t"} 5
`
	if err := testutil.GatherAndCompare(registered(t), strings.NewReader(want),
		"brine_hbase_blocked_submits", "brine_hbase_calls_in_flight", "brine_hbase_fullest_lane_bytes", "brine_hbase_lanes", "brine_hbase_lanes_resting", "brine_hbase_lanes_waiting",
		"brine_ingest_lag_offsets", "brine_ingest_partitions", "brine_region_written_rows_total", "brine_salt_bucket_written_rows_total"); err != nil {
		t.Error(err)
	}
}

func TestServerSeriesAreBounded(t *testing.T) {
	var s hbase.Stats
	for i := range 1000 {
		s.Servers = append(s.Servers, hbase.ServerStats{Addr: fmt.Sprint("rs", i), Calls: i % 3, Lanes: i})
	}
	got := bounded(s.Servers)
	calls, lanes := 0, 0
	for _, server := range got {
		calls, lanes = calls+server.Calls, lanes+server.Lanes
	}
	if len(got) != topServers+1 || got[0].Addr != "rs998" || got[topServers].Addr != "other" || calls != 999 || lanes != 999*1000/2 {
		t.Errorf("%d series, the first of %s, the last of %s; %d calls and %d lanes", len(got), got[0].Addr, got[topServers].Addr, calls, lanes)
	}
}
