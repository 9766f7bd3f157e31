package sink_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"brine/event"
	"brine/hbase"
	"brine/sink"
)

var errStore = errors.New("cause")

// failed returns mutations that failed in the same way.
func failed(kind hbase.Kind, indexes ...int) []hbase.MutationError {
	var errs []hbase.MutationError
	for _, i := range indexes {
		errs = append(errs, hbase.MutationError{Index: i, Kind: kind, Err: errStore})
	}
	return errs
}

func join(parts ...[]hbase.MutationError) (all []hbase.MutationError) {
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}

// Three events, in the tables last (mutations 0 to 2) and logistics:scans. The first has cells only in family a of last.
func TestVerdicts(t *testing.T) {
	for _, c := range []struct {
		name        string
		last, scans []hbase.MutationError
		want        string
	}{
		{"all durable", nil, nil, ""},
		{"transient", failed(hbase.Transient, 1), nil, "1 retry unavailable"},
		{"closed", failed(hbase.Closed, 0), nil, "0 retry unavailable"},
		{"bad row", failed(hbase.BadRow, 2), nil, "2 reject too_large"},
		{"no table", failed(hbase.NoTable, 0, 1, 2), nil, "0 halt no_table; 1 halt no_table; 2 halt no_table"},
		{"denied", nil, failed(hbase.Denied, 0), "0 halt denied"},
		{"a kind that is not known", failed(99, 0), nil, "0 retry unknown"},
		{"refused, its neighbours taken", failed(hbase.Refused, 1), nil, "1 reject refused"},
		{"two refused, one taken", failed(hbase.Refused, 1, 2), nil, "1 halt refused; 2 halt refused"}, // the accepted one is not in family b
		{"two refused, one taken in all families", failed(hbase.Refused, 0, 1), nil, "0 reject refused; 1 reject refused"},
		{"all refused", failed(hbase.Refused, 0, 1, 2), nil, "0 halt refused; 1 halt refused; 2 halt refused"},
		{"refused, neighbours unanswered", join(failed(hbase.Refused, 0), failed(hbase.Transient, 1, 2)), nil,
			"0 retry refused; 1 retry unavailable; 2 retry unavailable"},
		{"neighbours in another table do not count", failed(hbase.Refused, 0, 1, 2), failed(hbase.Transient, 0),
			"0 halt refused; 1 halt refused; 2 halt refused"},
		{"halt before retry", failed(hbase.Denied, 0), failed(hbase.Transient, 0), "0 halt denied"},
		{"retry before reject", failed(hbase.BadRow, 0), failed(hbase.Transient, 0), "0 retry unavailable"},
	} {
		t.Run(c.name, func(t *testing.T) {
			store := &fake{script: map[string][][]hbase.MutationError{"last": {c.last}, "logistics:scans": {c.scans}}}
			s := newSink(t, store, sink.Options{Schema: scans, Rows: []sink.Rows{lastRows(t), scanRows(t)}})
			got := submit(t, s, batch(t, scans, `{"waybill":"A","at":1,"station":"EWR","action":"x"}`, scan("B", 2), scan("C", 3)))
			var short []string
			for line := range strings.SplitSeq(got, "\n") {
				short = append(short, strings.Split(line, ":")[0])
			}
			if got := strings.Join(short, "; "); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestFailuresAreWordedForPeople(t *testing.T) {
	store := &fake{script: map[string][][]hbase.MutationError{"last": {{
		{Index: 0, Kind: hbase.Transient, Class: "org.apache.hadoop.hbase.RegionTooBusyException", Server: "rs1:16020", Attempts: 15, Err: errStore},
	}}}}
	s := newSink(t, store, sink.Options{Schema: scans, Rows: []sink.Rows{lastRows(t)}})
	b := batch(t, scans, scan("Aé", 1))
	failures, err := event.Settle(t.Context(), s.Submit(t.Context(), b))
	if err != nil || len(failures) != 1 {
		t.Fatal(failures, err)
	}
	want := `table last, row A\xC3\xA9, server rs1:16020, attempt 15, org.apache.hadoop.hbase.RegionTooBusyException: cause`
	if got := failures[0].Err; got.Error() != want || !errors.Is(got, errStore) {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// A quiet topic: each event arrives alone, so only other flights can show whether the table accepts any.
func TestRefusedAlone(t *testing.T) {
	now := time.UnixMilli(0)
	store := &fake{script: map[string][][]hbase.MutationError{"last": {failed(hbase.Refused, 0), nil, failed(hbase.Refused, 0), failed(hbase.Refused, 0)}}}
	s := newSink(t, store, sink.Options{Schema: scans, Rows: []sink.Rows{lastRows(t)}, Now: func() time.Time { return now }})
	now = now.Add(time.Hour)
	for i, step := range []struct{ want string }{
		{"0 halt refused"},   // the table has accepted nothing yet
		{""},                 // it accepts one
		{"0 reject refused"}, // so this one is at fault
		{"0 halt refused"},   // but a minute later that no longer counts
	} {
		if i == 3 {
			now = now.Add(61 * time.Second)
		}
		if got := submit(t, s, batch(t, scans, scan("A", i))); !strings.HasPrefix(got, step.want) || (got == "") != (step.want == "") {
			t.Errorf("step %d: got %q, want %q", i, got, step.want)
		}
	}
}

// refuse submits n events, the first of which are refused, and counts rejects and halts.
func refuse(t *testing.T, s *sink.Sink, store *fake, n, refused int) (rejects, halts int) {
	var records []string
	for i := range n {
		records = append(records, scan(fmt.Sprint("W", i), i))
	}
	indexes := make([]int, refused)
	for i := range indexes {
		indexes[i] = i
	}
	store.script = map[string][][]hbase.MutationError{"last": {failed(hbase.Refused, indexes...)}}
	failures, err := event.Settle(t.Context(), s.Submit(t.Context(), batch(t, scans, records...)))
	if err != nil || len(failures) != refused {
		t.Fatal(len(failures), err)
	}
	for _, f := range failures {
		switch f.Verdict {
		case event.Reject:
			rejects++
		case event.Halt:
			halts++
		}
	}
	return rejects, halts
}

func TestRefusalsAreBounded(t *testing.T) {
	now := time.UnixMilli(1_700_000_000_000)
	store := &fake{}
	s := newSink(t, store, sink.Options{Schema: scans, Rows: []sink.Rows{lastRows(t)}, Now: func() time.Time { return now }})
	for _, step := range []struct {
		name               string
		after              time.Duration
		n, refused, reject int
	}{
		{"a few are always allowed", 0, 10, 5, 3},
		{"the minute remembers", 50 * time.Second, 10, 1, 0},
		{"and forgets", 20 * time.Second, 10, 1, 1},
		{"one in a hundred", time.Hour, 2000, 30, 20},
		{"a hundred a minute", time.Hour, 30000, 120, 100},
		{"of all flights together", 5 * time.Second, 30000, 1, 0},
	} {
		now = now.Add(step.after)
		rejects, halts := refuse(t, s, store, step.n, step.refused)
		if rejects != step.reject || halts != step.refused-step.reject {
			t.Errorf("%s: %d rejected and %d halted, want %d of %d rejected", step.name, rejects, halts, step.reject, step.refused)
		}
	}
}
