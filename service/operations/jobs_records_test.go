package operations

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"brine/explain"
	"brine/hbase"
	"brine/internal/sample"
	"brine/rowkey"
	"brine/serve"
	"brine/serve/client"
	"brine/service"
)

const scansTable = "logistics:scans"

// TestFromACellToItsRecord goes from a cell to the record that it comes from, and from there to the row.
func TestFromACellToItsRecord(t *testing.T) {
	t.Parallel()
	b := newBench(t, service.ToRun, nil)
	b.publish("courier.scans", "waybill", first(200, sample.Scans()))
	b.run()
	b.untilEnd()
	var cell hbase.Cell
	for r, err := range b.service.Client().Scan(t.Context(), scansTable, hbase.Scan{Limit: 1}) {
		if err != nil {
			t.Fatal(err)
		}
		cell = r.Cells[0]
	}
	asked := client.SeekJob{Table: scansTable, Row: rowkey.Binary(cell.Row), Column: string(cell.Family) + ":" + string(cell.Qualifier),
		Version: strconv.FormatInt(cell.Timestamp, 10)}
	type outcome struct{ Outcome string }
	sought := func(of client.SeekJob) (client.Job, string) {
		t.Helper()
		job := b.job(serve.SeekJob, of)
		got := results[outcome](t, job, "outcome")
		if len(got) != 1 {
			t.Fatalf("%+v", job)
		}
		read := int64(0)
		for _, r := range results[explain.ReadRange](t, job, "range") {
			read += r.To - r.From
		}
		if len(job.Progress) != 1 || job.Progress[0].Done != read || read == 0 {
			t.Errorf("%d offsets were read, and the progress is %+v", read, job.Progress)
		}
		return job, got[0].Outcome
	}
	job, got := sought(asked)
	found := results[explain.FoundRecord](t, job, "record")
	if got != explain.SoughtFound || len(found) != 1 || found[0].Topic != "courier.scans" || len(results[explain.ReadRange](t, job, "range")) == 0 ||
		!strings.Contains(job.Detail, "the record is courier.scans") {
		t.Fatalf("%+v", job)
	}
	byTime := asked
	byTime.Version = time.UnixMilli(cell.Timestamp).UTC().Format(time.RFC3339Nano)
	if _, got = sought(byTime); got != explain.SoughtFound {
		t.Errorf("by its time: %s", got)
	}
	other := asked
	other.Column = "none:none"
	if _, got = sought(other); got != explain.SoughtMissing {
		t.Errorf("another column: %s", got)
	}
	few := asked
	few.Row, few.Most = "none", 1
	if job, got = sought(few); got != explain.SoughtUnread || len(results[explain.ReadRange](t, job, "range")) != 1 {
		t.Errorf("one record of many: %+v", job)
	}

	job = b.job(serve.ExplainJob, client.ExplainJob{Topic: found[0].Topic, Partition: found[0].Partition, Offset: found[0].Offset})
	rows := results[struct{ Pipeline, Table, Row string }](t, job, "row")
	if len(rows) != 1 || rows[0].Row != asked.Row || rows[0].Table != scansTable || rows[0].Pipeline != "scans" ||
		len(results[explain.Half](t, job, "outcome")) != 1 || len(results[explain.Report](t, job, "record")) != 1 {
		t.Errorf("%+v", job)
	}

	b.publish("courier.scans", "waybill", first(200, sample.Scans())) // each record is in the topic twice
	b.untilEnd()
	if _, got = sought(asked); got != explain.SoughtAmbiguous {
		t.Errorf("a record that is there twice: %s", got)
	}
	b.refuses([]refusal{
		{serve.SeekJob, client.SeekJob{Table: "none", Row: "a", Version: "1"}, 404, "no table"},
		{serve.SeekJob, client.SeekJob{Table: scansTable, Version: "1"}, 400, "row: give its key"},
		{serve.SeekJob, client.SeekJob{Table: scansTable, Row: `\xq`, Version: "1"}, 400, "row: "},
		{serve.SeekJob, client.SeekJob{Table: scansTable, Row: "a", Version: "soon"}, 400, "is not a version"},
		{serve.SeekJob, client.SeekJob{Table: scansTable, Row: "a", Version: "-1"}, 400, "is not a version"},
		{serve.SeekJob, client.SeekJob{Table: scansTable, Row: "a", Version: "1", Most: -1}, 400, "most: -1"},
		{serve.ExplainJob, client.ExplainJob{Topic: "none"}, 400, "no pipeline reads topic none"},
		{serve.ExplainJob, client.ExplainJob{Topic: "courier.scans", Offset: -1}, 400, "at least 0"},
		{serve.ExplainJob, client.ExplainJob{Topic: "courier.scans", Pipeline: "orders"}, 400, "not orders"},
	})
}

// TestRegionsAreChangedByJobs checks that advised changes are previewed and made, and that the jobs refuse what the commands refuse.
func TestRegionsAreChangedByJobs(t *testing.T) {
	t.Parallel()
	b := newBench(t, service.ToRun, nil)
	regions := func() []client.Region {
		t.Helper()
		all, err := b.Regions(t.Context(), scansTable)
		if err != nil {
			t.Fatal(err)
		}
		return all.Regions
	}
	before := regions()
	split := client.RegionSplitJob{Table: scansTable, Region: before[3].Name, At: "38", DryRun: true}
	job := b.job(serve.RegionSplitJob, split)
	if got := results[changed](t, job, "region"); job.State != client.JobDone || len(got) != 1 || got[0].Done || got[0].What != "split at 38" ||
		got[0].Region != before[3].Name || !strings.Contains(got[0].Is, "from 3000 to 4000") || len(regions()) != len(before) {
		t.Errorf("a look: %+v", job)
	}
	split.DryRun = false
	job = b.job(serve.RegionSplitJob, split)
	after := regions()
	if got := results[changed](t, job, "region"); job.State != client.JobDone || len(got) != 1 || !got[0].Done || len(after) != len(before)+1 || after[4].Start != "38" {
		t.Errorf("split: %+v, %+v", job, after)
	}
	for _, c := range []struct {
		kind string
		of   any
		says string
	}{
		{serve.RegionSplitJob, split, "is gone: it was split"},
		{serve.RegionMoveJob, client.RegionMoveJob{Table: scansTable, Region: before[3].Name}, "is gone: it was split"},
		{serve.RegionSplitJob, client.RegionSplitJob{Table: scansTable, Region: before[3].Name[:8]}, "is gone: it was split"}, // no row key
		{serve.RegionMoveJob, client.RegionMoveJob{Table: scansTable, Region: "3000"}, "is gone: it was split"},
		{serve.RegionSplitJob, client.RegionSplitJob{Table: scansTable, Region: before[0].Name, At: "ff"}, "is not in"},
		{serve.RegionMoveJob, client.RegionMoveJob{Table: scansTable, Region: before[0].Name, To: before[0].Server}, "already"},
	} {
		if job := b.job(c.kind, c.of); job.State != client.JobFailed || !strings.Contains(job.Detail, c.says) {
			t.Errorf("%+v: %+v, want %s", c.of, job, c.says)
		}
	}
	move := b.job(serve.RegionMoveJob, client.RegionMoveJob{Table: scansTable, Region: before[0].Name, DryRun: true})
	if got := results[changed](t, move, "region"); len(got) != 1 || got[0].What != "move to another server" {
		t.Errorf("%+v", move)
	}
	move = b.job(serve.RegionMoveJob, client.RegionMoveJob{Table: scansTable, Region: "key:0", DryRun: true})
	if got := results[changed](t, move, "region"); len(got) != 1 || got[0].Region != before[0].Name {
		t.Errorf("a row key: %+v", move)
	}
	b.refuses([]refusal{
		{serve.RegionSplitJob, client.RegionSplitJob{Table: "none", Region: "a"}, 404, "no table"},
		{serve.RegionSplitJob, client.RegionSplitJob{Table: scansTable}, 400, "region: give its name"},
		{serve.RegionSplitJob, client.RegionSplitJob{Table: scansTable, Region: "a", At: `\xq`}, 400, "at: "},
		{serve.RegionMoveJob, client.RegionMoveJob{Table: scansTable}, 400, "region: give its name"},
	})
}

// TestMapsAreOfAllMembersAndOfLongAgo checks that operators of a brine that runs no pipelines see the stored maps of those that do.
func TestMapsAreOfAllMembersAndOfLongAgo(t *testing.T) {
	t.Parallel()
	b := newBench(t, service.ToRun, nil)
	b.publish("courier.scans", "waybill", first(500, sample.Scans()))
	b.run()
	b.untilEnd()
	ctx := t.Context()
	month := client.HeatMapOf{Minutes: 31 * 24 * 60}
	now, err := b.HeatMap(ctx, scansTable, month)
	if err != nil || now.Most <= 0 || now.Kept != month.Minutes || now.Detail != "" || len(now.Labels) != len(now.Starts) {
		t.Fatalf("%+v, %v", now, err)
	}
	then, err := b.HeatMap(ctx, scansTable, client.HeatMapOf{Until: "2h"})
	if err != nil || len(then.Times) != 0 {
		t.Errorf("two hours ago: %+v, %v", then, err)
	}
	sizes, err := b.TableSizes(ctx, scansTable, month)
	if err != nil || sizes.Table != scansTable || sizes.Sizes == nil {
		t.Errorf("%+v, %v", sizes, err)
	}
	for _, until := range []string{"soon", "2020-01-01"} {
		if _, err := b.HeatMap(ctx, scansTable, client.HeatMapOf{Until: until}); status(err) != 400 {
			t.Errorf("until %s: %v", until, err)
		}
	}
}

// refusal is a request for a job that is refused before the job is created.
type refusal struct {
	kind string
	of   any
	want int
	says string
}

func (b *bench) refuses(list []refusal) {
	b.t.Helper()
	for _, c := range list {
		if _, err := b.StartJob(b.t.Context(), c.kind, c.of, ""); status(err) != c.want || !strings.Contains(err.Error(), c.says) {
			b.t.Errorf("%s %+v: %v, want %d %s", c.kind, c.of, err, c.want, c.says)
		}
	}
}
