package hbase

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Regions are carved in any order, overlapping at will, while calls are out. The lanes always cover every key once; every
// mutation stays in the lane of its row, in its order; a lane does not send while a part of its range is out elsewhere.
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
				f := newFlight(context.Background(), &Mutator{open: map[*Flight]struct{}{}}, b, time.Time{})
				l := ls.of([]byte(row))
				l.push(entry{flight: f})
				l.push(entry{flight: f, index: 1})
			case 2: // send from any lane that may
				for _, l := range ls.all {
					if l.idle() {
						out = append(out, takeOf(l, rapid.IntRange(1, 3).Draw(t, "rows")))
					}
				}
			case 3: // a call fails and everything of it comes back
				if len(out) > 0 {
					p := out[0]
					out = out[1:]
					p.release()
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
		if l.dead {
			t.Fatal("a dead lane is listed")
		}
		if i > 0 && !bytes.Equal(ls.all[i-1].end, l.start) {
			t.Fatalf("between %q and %q is a gap or an overlap", ls.all[i-1].end, l.start)
		}
		last := map[string]int64{}
		for _, p := range out {
			for _, e := range p.entries {
				if ls.of(e.row()) == l && !slices.Contains(l.out, p) {
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
	r, _, err := takeCells(e.flight.batch.cellsOf(int(e.index)), 1)
	if err != nil {
		panic(err)
	}
	return r.Cells[0].Timestamp
}

// A merged region waits for what its parts had out.
func TestMergedLaneWaitsForItsParts(t *testing.T) {
	ls := newLanes("t")
	ls.carve(&Region{Table: "t", ID: 1, End: []byte("m")})
	ls.carve(&Region{Table: "t", ID: 2, Start: []byte("m")})
	f := newFlight(context.Background(), &Mutator{open: map[*Flight]struct{}{}}, puts("a", "z", "z"), time.Time{})
	ls.of([]byte("z")).push(entry{flight: f, index: 1})
	ls.of([]byte("z")).push(entry{flight: f, index: 2})
	p := takeOf(ls.of([]byte("z")), 1)
	ls.of([]byte("a")).push(entry{flight: f, index: 0})
	ls.carve(&Region{Table: "t", ID: 3})
	l := ls.of([]byte("a"))
	if len(ls.all) != 1 || l.queue.len() != 2 || l.idle() {
		t.Fatalf("%d lanes, %d queued, idle %v", len(ls.all), l.queue.len(), l.idle())
	}
	p.release()
	if !l.idle() {
		t.Error("the lane waits for a call that is answered")
	}
}

// A region that changes lets go what was held back of its old range: whoever held it looks for it in the old lane.
func TestCarvedLaneIsNotHeldBack(t *testing.T) {
	ls := newLanes("t")
	ls.carve(&Region{Table: "t", ID: 1})
	m := &Mutator{open: map[*Flight]struct{}{}}
	f := newFlight(context.Background(), m, puts("a", "z"), time.Time{})
	l := ls.of([]byte("a"))
	l.holder = m
	l.push(entry{flight: f})
	l.push(entry{flight: f, index: 1})
	if l.idle() {
		t.Fatal("the lane may send though it is held back")
	}
	ls.carve(&Region{Table: "t", ID: 2, End: []byte("m")})
	for _, row := range []string{"a", "z"} {
		if l := ls.of([]byte(row)); !l.idle() || l.queue.len() != 1 {
			t.Errorf("row %s: idle %v, %d queued", row, l.idle(), l.queue.len())
		}
	}
}

func BenchmarkLaneOf(b *testing.B) {
	ls := newLanes("t")
	for i := range 1000 {
		ls.carve(&Region{Table: "t", Start: fmt.Appendf(nil, "%04d", i), End: fmt.Appendf(nil, "%04d", i+1)})
	}
	row := []byte("0567-some-row-key")
	for b.Loop() {
		ls.of(row)
	}
}
