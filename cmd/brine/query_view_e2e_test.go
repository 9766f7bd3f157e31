package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"

	"brine/internal/sample"
	"brine/internal/testenv"
)

// shopOrders and shopScans are the sizes of the sample for TestViews: generated orders, and real scans. `make shop` takes the baskets.
const (
	shopOrders = 600
	shopScans  = 3000
)

// shopJob is examples/shop.yaml with names of its own and a part of the sample, and the records put into it.
type shopJob struct {
	*job
	orders map[string][]sample.Change // by user, the newest first, each with everything its changes contained
	scans  map[string][]sample.Scan   // by waybill, the newest first
}

func newShop(t *testing.T, s stack) *shopJob {
	t.Helper()
	source, err := os.ReadFile("../../examples/shop.yaml")
	if err != nil {
		t.Fatal(err)
	}
	j := &shopJob{job: &job{stack: s, t: t, name: testenv.Name(t), file: filepath.Join(t.TempDir(), "brine.yaml")}}
	text := strings.NewReplacer("centre:", "centre:"+j.name+"_", "centre.", j.name+".", "centre-", j.name+"-",
		"group: shop", "group: "+j.name+"\n  commit_interval: 100ms").Replace(string(source))
	if err := os.WriteFile(j.file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if s.lasting {
		t.Cleanup(j.takeAway)
	}
	j.must("tables", "apply", "-c", j.file)
	for key, records := range map[string][][]byte{"order": slices.Collect(sample.Orders(shopOrders)), "waybill": slices.Collect(first(sample.Scans(), shopScans))} {
		if j.topic = j.name + ".orders"; key == "waybill" {
			j.topic = j.name + ".scans"
		}
		if err := createTopicBy(t.Context(), j.client(), j.topic, devPartitions); err != nil {
			t.Fatal(err)
		}
		j.key = key
		j.publish(slices.Values(records))
		j.take(key, records)
	}
	j.must("run", "-q", "-c", j.file, "--until-end")
	j.refresh()
	return j
}

// refresh makes written documents visible in the indexes, whose own refresh may be late on a busy machine.
func (j *shopJob) refresh() {
	j.t.Helper()
	engine := j.engine()
	defer engine.Close()
	for _, what := range []string{"-orders", "-scans"} {
		if err := engine.Refresh(j.t.Context(), j.name+what); err != nil {
			j.t.Fatal(err)
		}
	}
}

func (j *shopJob) takeAway() {
	for _, what := range []string{"orders", "order_ids", "scans"} {
		dropTable(j.t, j.hbase, "centre:"+j.name+"_"+what)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute) // the test's own context has ended
	defer cancel()
	name := j.name
	for _, what := range []string{"orders", "scans"} {
		if _, err := j.client().DeleteTopics(ctx, &kafka.DeleteTopicsRequest{Topics: []string{name + "." + what}}); err != nil {
			j.t.Error(err)
		}
		j.name = name + "-" + what
		j.deleteIndex(ctx)
	}
}

// take computes what the records alone mean.
func (j *shopJob) take(key string, records [][]byte) {
	if key == "waybill" {
		j.scans = map[string][]sample.Scan{}
		for _, record := range records {
			var x sample.Scan
			if err := json.Unmarshal(record, &x); err != nil {
				j.t.Fatal(err)
			}
			j.scans[x.Waybill] = append(j.scans[x.Waybill], x)
		}
		for _, list := range j.scans {
			slices.SortFunc(list, func(a, b sample.Scan) int { return cmp.Or(cmp.Compare(b.At, a.At), cmp.Compare(a.Action, b.Action)) })
		}
		return
	}
	var changes []sample.Change
	for _, record := range records {
		var c sample.Change
		if err := json.Unmarshal(record, &c); err != nil {
			j.t.Fatal(err)
		}
		changes = append(changes, c)
	}
	slices.SortStableFunc(changes, func(a, b sample.Change) int { return cmp.Compare(a.At, b.At) })
	orders := map[string]sample.Change{}
	for _, c := range changes {
		o := orders[c.Order]
		o.Order, o.User, o.Created = c.Order, c.User, c.Created
		o.Status, o.Items, o.Brand = cmp.Or(c.Status, o.Status), cmp.Or(c.Items, o.Items), cmp.Or(c.Brand, o.Brand)
		o.Total, o.Deleted = cmp.Or(c.Total, o.Total), cmp.Or(c.Deleted, o.Deleted)
		orders[c.Order] = o
	}
	j.orders = map[string][]sample.Change{}
	for _, o := range orders {
		j.orders[o.User] = append(j.orders[o.User], o)
	}
	for _, list := range j.orders {
		slices.SortFunc(list, func(a, b sample.Change) int { return cmp.Compare(b.Created, a.Created) })
	}
}

// asks runs brine query on a view in this process, and returns the rows that it prints.
func (j *shopJob) asks(args ...string) (rows []map[string]any) {
	j.t.Helper()
	d := json.NewDecoder(strings.NewReader(j.prints(append(args, "--json")...)))
	for d.More() {
		var row map[string]any
		if err := d.Decode(&row); err != nil {
			j.t.Fatal(err)
		}
		rows = append(rows, row)
	}
	return rows
}

func (j *shopJob) prints(args ...string) string {
	j.t.Helper()
	var out, errs strings.Builder
	vars := map[string]string{"BRINE_KAFKA_BROKERS": strings.Join(j.brokers, ","), "BRINE_HBASE_CONNECT": j.hbase, "BRINE_SEARCH_CONNECT": j.search}
	e := &env{ctx: j.t.Context(), stdout: &out, stderr: &errs, getenv: func(name string) (string, bool) { v, ok := vars[name]; return v, ok }}
	if code := run(e, append([]string{"query", "-c", j.file}, args...)); code != exitOK {
		j.t.Fatalf("brine query %v: exit %d\n%s", args, code, errs.String())
	}
	return out.String()
}

// wants queries a view, page by page if pages is positive, and compares one field of its rows.
func (j *shopJob) wants(pages int, field string, want []string, args ...string) {
	j.t.Helper()
	got := []string{}
	for after := []string(nil); ; {
		more := after
		if pages > 0 {
			more = append(more, fmt.Sprint("--limit=", pages))
		}
		rows := j.asks(slices.Concat(args, more)...)
		for _, row := range rows {
			if row["state"] != nil {
				j.t.Errorf("%v: both stores are up to date, yet %v", args, row)
			}
			got = append(got, fmt.Sprint(row["fields"].(map[string]any)[field]))
		}
		if pages == 0 || len(rows) < pages {
			break
		}
		after = []string{"--after", rows[len(rows)-1]["after"].(string)}
	}
	if !slices.Equal(got, want) {
		j.t.Errorf("%v: %v, want %v", args, got, want)
	}
}
