package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"brine/internal/sample"
	"brine/internal/when"
)

// TestViews queries every view of examples/shop.yaml, and compares the answers with what the records alone mean.
func TestViews(t *testing.T) {
	t.Parallel()
	for _, s := range orderStacks {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel() // much of it is waiting for tables to be created and deleted
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

// checkDetails checks that a list reads no details unless whole rows are asked for, and that an order is read whole by its id alone, unless
// it is deleted.
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
				out = append(out, when.Text(x.At))
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
