package sink_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"brine/event"
	"brine/hbase"
	"brine/sink"
)

// TestEarlierOfATieIsNotWrittenAgainWhereItWas checks that of two changes with one version the later stays in a table that took both,
// although the earlier failed in another table and was submitted again.
func TestEarlierOfATieIsNotWrittenAgainWhereItWas(t *testing.T) {
	c := &fake{script: map[string][][]hbase.MutationError{"logistics:scans": {failed(hbase.Transient, 0)}}}
	s := newSink(t, c, sink.Options{Schema: scans, Rows: []sink.Rows{lastRows(t), scanRows(t)}})
	earlier := batch(t, scans, scan("A", 1))
	failures, err := event.Settle(t.Context(), s.Submit(t.Context(), earlier))
	if err != nil || len(failures) != 1 || failures[0].Verdict != event.Retry {
		t.Fatalf("failures %v, error %v", failures, err)
	}
	if got := submit(t, s, batch(t, scans, scan("A", 1))); got != "" {
		t.Fatal(got)
	}
	earlier.Events[0].Rest = failures[0].Rest
	if got := submit(t, s, earlier); got != "" {
		t.Fatal(got)
	}
	if got, want := strings.Join(c.batches, ", "), "last 1, logistics:scans 1, last 1, logistics:scans 1, logistics:scans 1"; got != want {
		t.Errorf("submitted %s, want %s", got, want)
	}
}

// TestEachRowOfAnEventIsWrittenOnce checks that whatever rows of events fail, in several tables, in several entries of one, of several words
// and of changes that move their rows, submitting the events again makes exactly the mutations that are missing.
func TestEachRowOfAnEventIsWrittenOnce(t *testing.T) {
	for _, hard := range []bool{false, true} {
		c := &halfway{}
		s := newSink(t, c, sink.Options{Schema: logged, Rows: loggedRows(t, "t", hard)})
		state := rapid.Custom(func(t *rapid.T) *order {
			if rapid.IntRange(0, 4).Draw(t, "absent") == 0 {
				return nil
			}
			return &order{ID: "1", User: rapid.SampledFrom([]string{"ann", "bob"}).Draw(t, "user"),
				Words: rapid.SampledFrom([]string{"ann", "one two three", "two four"}).Draw(t, "words"),
				Note:  rapid.SampledFrom([]string{"x", "y"}).Draw(t, "note")}
		})
		rapid.Check(t, func(rt *rapid.T) {
			var records []string
			for range rapid.IntRange(1, 6).Draw(rt, "changes") {
				before, after := state.Draw(rt, "before"), state.Draw(rt, "after")
				if before == nil && after == nil {
					after = &order{ID: "1", User: "ann", Words: "ann", Note: "x"}
				}
				records = append(records, change{before, after, rapid.Int64Range(5, 6).Draw(rt, "version")}.record())
			}
			var applied []map[string]int
			for _, fails := range [][]bool{nil, rapid.SliceOfN(rapid.Bool(), 0, 60).Draw(rt, "fails")} {
				*c = halfway{fails: fails, applied: map[string]int{}}
				for left := batch(t, logged, records...); len(left.Events) > 0; {
					failures, err := event.Settle(t.Context(), s.Submit(t.Context(), left))
					if err != nil {
						rt.Fatal(err)
					}
					next := new(event.Batch)
					for _, f := range failures {
						if f.Verdict != event.Retry {
							rt.Fatalf("event %d: %v", f.Index, f.Err)
						}
						ev := left.Events[f.Index]
						ev.Rest = f.Rest
						next.Events = append(next.Events, ev)
					}
					left = next
				}
				applied = append(applied, c.applied)
			}
			if diff := cmp.Diff(applied[0], applied[1]); diff != "" {
				rt.Fatalf("hard %v: mutations, and how often each was applied (- wanted, + got)\n%s", hard, diff)
			}
		})
	}
}

// halfway is a client that counts the mutations that it applies, and of which some fail.
type halfway struct {
	fails   []bool // by their number among all mutations
	seen    int
	applied map[string]int
}

func (*halfway) Release() {}
func (*halfway) Hurry()   {}

func (c *halfway) Submit(_ context.Context, b *hbase.Batch) sink.Flight {
	var errs answer
	for i := range b.Len() {
		if c.seen < len(c.fails) && c.fails[c.seen] {
			errs = append(errs, failed(hbase.Transient, i)...)
		} else {
			name := fmt.Sprintf("%s %q", b.Table(), b.Row(i))
			for cell := range b.Cells(i) {
				name += fmt.Sprintf(" %v %s:%s@%d=%q", cell.Type, cell.Family, cell.Qualifier, cell.Timestamp, cell.Value)
			}
			c.applied[name]++
		}
		c.seen++
	}
	return errs
}

// TestRowsBeyondTheSixtyThirdAreWrittenTogether checks that of an event with more rows than a Rest tells apart none is lost.
func TestRowsBeyondTheSixtyThirdAreWrittenTogether(t *testing.T) {
	entry := words(t, "words", event.Words)
	entry.Each.Tokens.Limit = 100
	var all []string
	for i := range 100 {
		all = append(all, fmt.Sprintf("w%03d", i))
	}
	posted := batch(t, posts, fmt.Sprintf(`{"id":"1","at":1,"from":"ann","text":%q}`, strings.Join(all, " ")))
	c := &fake{script: map[string][][]hbase.MutationError{"words": {failed(hbase.Transient, 3, 80)}}}
	s := newSink(t, c, sink.Options{Schema: posts, Rows: []sink.Rows{entry}})
	failures, err := event.Settle(t.Context(), s.Submit(t.Context(), posted))
	if err != nil || len(failures) != 1 {
		t.Fatalf("failures %v, error %v", failures, err)
	}
	posted.Events[0].Rest = failures[0].Rest
	if got := submit(t, s, posted); got != "" {
		t.Fatal(got)
	}
	first, second := c.rows["words"][:100], c.rows["words"][100:]
	if diff := cmp.Diff(append([]string{first[3]}, first[63:]...), second); diff != "" {
		t.Errorf("submitted again (- wanted, + got)\n%s", diff)
	}
}
