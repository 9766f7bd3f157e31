package sample_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"testing"

	"brine/internal/sample"
)

// The sums change only if the sample does, and with it every published count.
func TestAlwaysTheSame(t *testing.T) {
	for _, c := range []struct {
		name   string
		events iter.Seq[[]byte]
		count  int
		sum    string
	}{
		{"Scans", sample.Scans(), sample.ScanCount, "5c5971c78d238e3a"},
		{"Trail", sample.Trail(1000), 8599, "e77d193bf15963aa"},
		{"Orders", sample.Orders(1000), 3879, "177d228ea3acf317"},
	} {
		h, n := sha256.New(), 0
		for e := range c.events {
			h.Write(append(e, '\n'))
			n++
		}
		if got := hex.EncodeToString(h.Sum(nil)[:8]); n != c.count || got != c.sum {
			t.Errorf("%s: %d events with sum %s, want %d with %s", c.name, n, got, c.count, c.sum)
		}
	}
}

func decode[T any](t *testing.T, events iter.Seq[[]byte]) []T {
	var all []T
	for line := range events {
		var e T
		d := json.NewDecoder(bytes.NewReader(line))
		d.DisallowUnknownFields()
		if err := d.Decode(&e); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		all = append(all, e)
	}
	return all
}

func TestScans(t *testing.T) {
	scans := decode[sample.Scan](t, sample.Scans())
	count := map[string]int{}
	seen := map[string]bool{}
	for i, s := range scans {
		count[s.Action]++
		if key := s.Waybill + s.Action; seen[key] {
			t.Errorf("%s is there twice", key)
		} else {
			seen[key] = true
		}
		if s.Waybill == "" || s.Station == "" || s.Courier == "" {
			t.Errorf("event %d lacks a field: %+v", i, s)
		}
		if i > 0 && s.At < scans[i-1].At {
			t.Errorf("event %d is older than the one before it", i)
		}
	}
	if got := fmt.Sprint(count); got != "map[ARRIVE:26468 CANCEL:521 DEPART:26483]" {
		t.Error(got)
	}
}

func TestTrail(t *testing.T) {
	const n = 1000
	trails, repeated, late := map[string][]sample.Scan{}, 0, 0
	newest := int64(0)
	for _, s := range decode[sample.Scan](t, sample.Trail(n)) {
		if slices.Contains(trails[s.Waybill], s) {
			repeated++
			continue
		}
		if s.At < newest-3600_000 {
			late++
		}
		newest = max(newest, s.At)
		trails[s.Waybill] = append(trails[s.Waybill], s)
	}
	sameSecond, sameInstant, lengths := 0, 0, map[int]int{}
	for waybill, scans := range trails {
		slices.SortStableFunc(scans, func(a, b sample.Scan) int { return int(a.At - b.At) })
		lengths[len(scans)]++
		if scans[len(scans)-1].Action != sample.Signed {
			t.Errorf("%s ends with %s", waybill, scans[len(scans)-1].Action)
		}
		for i := 1; i < len(scans); i++ {
			if scans[i].At == scans[i-1].At {
				sameInstant++
				if scans[i].Action == scans[i-1].Action {
					t.Errorf("%s has %s twice in one ms: their keys would collide", waybill, scans[i].Action)
				}
			} else if scans[i].At/1000 == scans[i-1].At/1000 {
				sameSecond++
			}
		}
	}
	if len(trails) != n || repeated == 0 || late == 0 || sameSecond == 0 || sameInstant == 0 {
		t.Errorf("%d trails, %d repeated, %d late, %d in one second, %d in one ms", len(trails), repeated, late, sameSecond, sameInstant)
	}
	for length := range lengths {
		if length < 5 || length > 12 {
			t.Errorf("a trail has %d scans", length)
		}
	}
	if lengths[5] == 0 || lengths[12] == 0 {
		t.Errorf("lengths %v", lengths)
	}
}

func TestOrders(t *testing.T) {
	const n = 2000
	last, created, ties, newest := map[string]sample.Change{}, map[string]int64{}, 0, map[string]int64{}
	for _, c := range decode[sample.Change](t, sample.Orders(n)) {
		if was, ok := created[c.Order]; ok && was != c.Created {
			t.Errorf("order %s was created at %d and at %d", c.Order, was, c.Created)
		}
		created[c.Order] = c.Created
		if c.User == "" || c.At < c.Created || (c.Status == sample.Created) != (c.Items != "") {
			t.Errorf("%+v", c)
		}
		if c.Status == "" && newest[c.Order] == c.At {
			ties++
		}
		newest[c.Order] = max(newest[c.Order], c.At)
		if c.Status != "" && c.At >= last[c.Order].At {
			last[c.Order] = c
		}
	}
	if len(created) != n || ties == 0 {
		t.Errorf("%d orders, %d ties", len(created), ties)
	}
	ends := map[string]int{}
	for _, c := range last {
		ends[c.Status]++
	}
	for status, percent := range map[string]int{sample.Received: 80, sample.Shipped: 5, sample.Paid: 6, sample.Created: 2, sample.Cancelled: 5, sample.Deleted: 2} {
		if got := float64(ends[status]) * 100 / n; got < float64(percent)-2 || got > float64(percent)+2 {
			t.Errorf("%.1f %% of the orders end as %s, want %d", got, status, percent)
		}
	}
}

// A larger sample contains the same waybills and orders as a smaller one.
func TestMoreOfTheSame(t *testing.T) {
	few, many := map[string]bool{}, map[string]bool{}
	for e := range sample.Orders(20) {
		few[string(e)] = true
	}
	for e := range sample.Orders(200) {
		many[string(e)] = true
	}
	for e := range few {
		if !many[e] {
			t.Errorf("200 orders lack %s", e)
		}
	}
}

func TestReadRefusesOtherFiles(t *testing.T) {
	for event, err := range sample.Read(bytes.NewReader([]byte("not gzip"))) {
		if err == nil {
			t.Errorf("read %q", event)
		}
	}
}
