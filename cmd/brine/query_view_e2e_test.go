package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
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

// shopOrders and shopScans are how much of the sample TestViews takes: generated orders, and real scans. `make shop` takes the baskets.
const (
	shopOrders = 600
	shopScans  = 3000
)

// shopJob is examples/shop.yaml with names of its own and a part of the sample, and what was put into it.
type shopJob struct {
	*job
	orders map[string][]sample.Change // by user, the newest first, each with all that its changes said
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
		if err := createTopic(t.Context(), j.client(), j.topic, devPartitions); err != nil {
			t.Fatal(err)
		}
		j.key = key
		j.publish(slices.Values(records))
		j.take(key, records)
	}
	j.must("run", "-q", "-c", j.file, "--until-end")
	return j
}

func (j *shopJob) takeAway() {
	for _, what := range []string{"orders", "order_ids", "scans"} {
		dropTable(j.t, j.hbase, "centre:"+j.name+"_"+what)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second) // the test's own has ended
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

// take works out what the records mean, by themselves.
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

// asks runs brine query on a view in this process, and gives the rows that it prints.
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

// wants asks a view, page by page if pages is positive, and compares one field of its rows.
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

// TestViews asks every view of examples/shop.yaml, and compares the answers with what the records say by themselves.
func TestViews(t *testing.T) {
	for _, s := range orderStacks {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel() // much of it is waiting for tables to be made and deleted
			j := newShop(t, s.start(t))
			j.checkOrders()
			j.checkScans()
		})
	}
}

func (j *shopJob) checkOrders() {
	ids := func(list []sample.Change, is func(sample.Change) bool) []string {
		out := []string{}
		for _, o := range list {
			if o.Deleted == nil && is(o) {
				out = append(out, o.Order)
			}
		}
		return out
	}
	all := func(sample.Change) bool { return true }
	users := slices.SortedFunc(maps.Keys(j.orders), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(j.orders[b]), len(j.orders[a])), cmp.Compare(a, b))
	})
	for _, user := range users[:6] {
		list, arg := j.orders[user], "user="+user
		j.wants(0, "order", ids(list, all)[:min(20, len(ids(list, all)))], "user-orders", arg)
		j.wants(4, "order", ids(list, all), "user-orders", arg)
		half := list[len(list)/2].Created
		before := func(o sample.Change) bool { return o.Created < half }
		j.wants(9, "order", ids(list, before), "user-orders", arg, fmt.Sprint("created=..", half))
		tea := func(o sample.Change) bool { return strings.Contains(o.Items, "biscuits") }
		j.wants(3, "order", ids(list, tea), "user-orders", arg, "items=green BISCUITS")
		sent := func(o sample.Change) bool { return o.Status == "shipped" || o.Status == "received" }
		j.wants(3, "order", ids(list, sent), "user-orders", arg, "status=shipped,received")
		brand := list[0].Brand
		j.wants(9, "order", ids(list, func(o sample.Change) bool { return sent(o) && before(o) && o.Brand == brand }),
			"user-orders", arg, "status=shipped,received", fmt.Sprint("created=..", half), "brand="+brand)
		j.checkCount(user, ids(list, all))
		j.checkDetails(list)
	}
	status := []sample.Change{}
	for _, list := range j.orders {
		status = append(status, list...)
	}
	slices.SortFunc(status, func(a, b sample.Change) int { return cmp.Compare(b.Created, a.Created) })
	j.wants(7, "order", ids(status, func(o sample.Change) bool { return o.Status == "paid" }), "orders-by-status", "status=paid")
}

func (j *shopJob) checkCount(user string, want []string) {
	var got struct {
		Rows   int
		Status []struct{ Rows int }
	}
	if err := json.Unmarshal([]byte(j.prints("user-orders", "user="+user, "--count", "--json")), &got); err != nil {
		j.t.Fatal(err)
	}
	sum := 0
	for _, s := range got.Status {
		sum += s.Rows
	}
	if got.Rows != len(want) || sum != len(want) {
		j.t.Errorf("user %s has %d orders, want %d: %+v", user, got.Rows, len(want), got)
	}
}

// checkDetails: a list reads no details unless it is asked for whole rows; an order is read whole by its id alone, unless it is deleted.
func (j *shopJob) checkDetails(list []sample.Change) {
	for i, whole := range [][]string{nil, {"--whole"}} {
		for _, row := range j.asks(append([]string{"user-orders", "user=" + list[0].User}, whole...)...) {
			if _, read := row["fields"].(map[string]any)["items"]; read != (i == 1) {
				j.t.Errorf("%v: %v", whole, row)
			}
		}
	}
	for _, o := range list[:min(3, len(list))] {
		want := []string{o.Items}
		if o.Deleted != nil {
			want = []string{}
		}
		j.wants(0, "items", want, "order", "order="+o.Order)
	}
}

func (j *shopJob) checkScans() {
	times := func(list []sample.Scan, is func(sample.Scan) bool) []string {
		out := []string{}
		for _, x := range list {
			if is(x) {
				out = append(out, timeText(x.At))
			}
		}
		return out
	}
	station := map[string][]sample.Scan{}
	asked := 0
	for _, waybill := range slices.Sorted(maps.Keys(j.scans)) {
		list := j.scans[waybill]
		for _, x := range list {
			station[x.Station] = append(station[x.Station], x)
		}
		if asked++; asked > 5 {
			continue
		}
		arg := "waybill=" + waybill
		j.wants(0, "at", times(list, func(sample.Scan) bool { return true }), "waybill", arg)
		j.wants(0, "at", times(list[:1], func(sample.Scan) bool { return true }), "waybill-latest", arg)
		j.wants(0, "at", times(list, func(x sample.Scan) bool { return x.At < list[0].At }), "waybill", arg, fmt.Sprint("at=..", list[0].At))
	}
	for _, name := range []string{"EWR", "MIA"} {
		list := station[name]
		slices.SortFunc(list, func(a, b sample.Scan) int { return cmp.Compare(b.At, a.At) })
		middle := list[len(list)/2].At
		j.wants(11, "at", times(list, func(x sample.Scan) bool { return x.At >= middle }), "station-scans", "station="+name, fmt.Sprintf("at=%d..", middle))
		j.wants(0, "at", times(list, func(x sample.Scan) bool { return x.At >= middle && x.Action == "CANCEL" }), "station-scans", "station="+name, fmt.Sprintf("at=%d..", middle), "action=CANCEL")
	}
	if out := j.prints("--views"); !strings.Contains(out, "station=… [at=from..to] [action=…]") {
		j.t.Errorf("--views prints\n%s", out)
	}
}
