package pipeline

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"brine/hbase/internal/locate"

	"pgregory.net/rapid"
)

// Regions are carved in any order, with any overlaps, while calls are unanswered. The lanes always cover every key once; every mutation
// stays in the lane of its row, in order; a lane does not send while part of its range is unanswered elsewhere.
func TestLanesCoverEveryKeyOnceAndKeepOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ls := newLanes("t")
		var out []*part
		next := 0
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			switch rapid.IntRange(0, 3).Draw(t, "step") {
			case 0:
				ls.carve(anyRegion(t, "t", 1))
			case 1: // submit
				row := rapid.SampledFrom([]string{"a", "b", "c", "cc", "e", "g", "h"}).Draw(t, "row")
				b := NewBatch("t")
				for range 2 {
					b.Mutate([]byte(row))
					b.Put([]byte("e"), nil, int64(next), nil)
					next++
				}
				f := newFlight(context.Background(), &Mutator{unsettled: map[*Flight]struct{}{}}, b, time.Time{})
				l := ls.of([]byte(row))
				l.push(entry{flight: f})
				l.push(entry{flight: f, index: 1})
			case 2: // send from any lane that may send
				for _, l := range ls.all {
					if l.mayGo() {
						out = append(out, takeOf(l, rapid.IntRange(1, 3).Draw(t, "rows")))
					}
				}
			case 3: // a call fails and all its mutations return
				if len(out) > 0 {
					p := out[0]
					out = out[1:]
					p.unbind()
					for _, e := range slices.Backward(p.entries) {
						ls.of(e.row()).pushFront([]entry{e})
					}
				}
			}
			checkLanes(t, ls, out)
		}
	})
}

func checkLanes(t *rapid.T, ls *lanes, out []*part) {
	if len(ls.all[0].start) != 0 || len(ls.all[len(ls.all)-1].end) != 0 {
		t.Fatal("the ends are not covered")
	}
	for i, l := range ls.all {
		if l.state == dead {
			t.Fatal("a dead lane is listed")
		}
		if i > 0 && !bytes.Equal(ls.all[i-1].end, l.start) {
			t.Fatalf("between %q and %q is a gap or an overlap", ls.all[i-1].end, l.start)
		}
		last := map[string]int64{}
		for _, p := range out {
			for _, e := range p.entries {
				if ls.of(e.row()) == l && !slices.Contains(l.unanswered, p) {
					t.Fatalf("lane %q–%q does not wait for its row %q", l.start, l.end, e.row())
				}
			}
		}
		for _, e := range l.queue.items() {
			if ls.of(e.row()) != l {
				t.Fatalf("row %q is in lane %q–%q", e.row(), l.start, l.end)
			}
			if v := version(e); v <= last[string(e.row())]-1 {
				t.Fatalf("row %q: version %d behind %d", e.row(), v, last[string(e.row())]-1)
			}
			last[string(e.row())] = version(e) + 1
		}
	}
}

func takeOf(l *lane, rows int) *part {
	p := new(part)
	l.take(p, rows, 1<<20, true)
	return p
}

func version(e entry) int64 {
	for c := range e.flight.batch.Cells(int(e.index)) {
		return c.Timestamp
	}
	panic("a mutation without cells")
}

// A merged region waits for the unanswered calls of its parts.
func TestMergedLaneWaitsForItsParts(t *testing.T) {
	ls := newLanes("t")
	ls.carve(&locate.Region{Table: "t", ID: 1, End: []byte("m")})
	ls.carve(&locate.Region{Table: "t", ID: 2, Start: []byte("m")})
	f := newFlight(context.Background(), &Mutator{unsettled: map[*Flight]struct{}{}}, puts("a", "z", "z"), time.Time{})
	ls.of([]byte("z")).push(entry{flight: f, index: 1})
	ls.of([]byte("z")).push(entry{flight: f, index: 2})
	p := takeOf(ls.of([]byte("z")), 1)
	ls.of([]byte("a")).push(entry{flight: f, index: 0})
	ls.carve(&locate.Region{Table: "t", ID: 3})
	l := ls.of([]byte("a"))
	if len(ls.all) != 1 || l.queue.len() != 2 || l.mayGo() {
		t.Fatalf("%d lanes, %d queued, idle %v", len(ls.all), l.queue.len(), l.mayGo())
	}
	p.unbind()
	if !l.mayGo() {
		t.Error("the lane waits for a call that is answered")
	}
}

// When a region changes, mutations that lingered in its old range are sent, because their holder would look for them in the old lane.
func TestCarvedLaneIsNotHeldBack(t *testing.T) {
	ls := newLanes("t")
	ls.carve(&locate.Region{Table: "t", ID: 1})
	m := &Mutator{unsettled: map[*Flight]struct{}{}}
	f := newFlight(context.Background(), m, puts("a", "z"), time.Time{})
	l := ls.of([]byte("a"))
	l.state, l.holder = lingering, m
	l.push(entry{flight: f})
	l.push(entry{flight: f, index: 1})
	if l.mayGo() {
		t.Fatal("the lane may send though it lingers")
	}
	ls.carve(&locate.Region{Table: "t", ID: 2, End: []byte("m")})
	for _, row := range []string{"a", "z"} {
		if l := ls.of([]byte(row)); !l.mayGo() || l.queue.len() != 1 {
			t.Errorf("row %s: idle %v, %d queued", row, l.mayGo(), l.queue.len())
		}
	}
}

func BenchmarkLaneOf(b *testing.B) {
	ls := newLanes("t")
	for i := range 1000 {
		ls.carve(&locate.Region{Table: "t", Start: fmt.Appendf(nil, "%04d", i), End: fmt.Appendf(nil, "%04d", i+1)})
	}
	row := []byte("0567-some-row-key")
	for b.Loop() {
		ls.of(row)
	}
}

func anyRegion(t *rapid.T, table string, id int64) *locate.Region {
	keys := []string{"", "b", "c", "d", "e", "f", "g"}
	i := rapid.IntRange(0, len(keys)-1).Draw(t, "start")
	end := ""
	if j := rapid.IntRange(i+1, len(keys)).Draw(t, "end"); j < len(keys) {
		end = keys[j]
	}
	return &locate.Region{Table: table, ID: id, Start: []byte(keys[i]), End: []byte(end), Server: fmt.Sprint("s", id)}
}

// puts returns a batch with a put of each row.
func puts(rows ...string) *Batch {
	b := NewBatch("t")
	for i, r := range rows {
		b.Mutate([]byte(r))
		b.Put([]byte("e"), []byte("q"), int64(i+1), []byte("value of "+r))
	}
	return b
}
