package verify_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"brine/event"
	"brine/indexer"
	"brine/rowkey"
	"brine/sink"
	"brine/verify"
)

// shapes are what a pipeline can make of an event; each changes the world's only entry of rows, or adds some.
var shapes = map[string]func(t *testing.T, o *sink.Options){
	"columns":       func(*testing.T, *sink.Options) {},
	"nulls replace": func(_ *testing.T, o *sink.Options) { o.Rows[0].Nulls = sink.NullsReplace },
	"nulls delete":  func(_ *testing.T, o *sink.Options) { o.Rows[0].Nulls = sink.NullsDelete },
	"packed": func(_ *testing.T, o *sink.Options) {
		o.Rows[0].Columns = []sink.Column{{Family: "f", Qualifier: "p", Pack: &event.Pack{Packing: event.JSON, Fields: []event.PackedField{
			{Name: "s", Field: "status", Type: event.Text}, {Name: "n", Field: "note", Type: event.Text}}}}}
	},
	"two entries of one table": func(t *testing.T, o *sink.Options) {
		more := o.Rows[0]
		more.Columns = []sink.Column{{Family: "g", Qualifier: "again", Field: "status"}}
		o.Rows = append(o.Rows, more)
	},
	"rows of two keys": func(t *testing.T, o *sink.Options) {
		more := o.Rows[0]
		more.Table.Keys = rowkey.One(key(t, `"by status" + id`))
		o.Rows = append(o.Rows, more)
	},
	"another key from a version on": func(t *testing.T, o *sink.Options) {
		o.Rows[0].Table.Keys = rowkey.Keys{{Key: key(t, `salt(4, id) + id`)}, {From: base.UnixMilli() + 15, Key: key(t, `salt(16, id) + id`)}}
	},
	"tokens": func(t *testing.T, o *sink.Options) {
		words := sink.Rows{Table: o.Rows[0].Table, Empty: "g", Each: &sink.Each{Name: "word", Tokens: event.Tokens{
			Tokenizer: event.Words, Fields: []event.TextField{{Field: "note"}}, Limit: 8}}}
		words.Table.Keys = rowkey.One(key(t, `"w" + word + "|" + id`))
		o.Rows = append(o.Rows, words)
	},
	"members": func(_ *testing.T, o *sink.Options) {
		o.Rows[0].Columns = []sink.Column{{Family: "f", Qualifier: "m_", Members: &sink.Members{Limit: 40}}}
	},
	"hard deletes": func(_ *testing.T, o *sink.Options) {
		o.Schema.Fields = append(o.Schema.Fields[:len(o.Schema.Fields):len(o.Schema.Fields)], event.Field{Name: "gone", Type: event.Bool})
		o.Rows[0].Deletes = sink.Deletes{Field: "gone", Hard: true}
	},
}

// randomChanges returns changes of a few orders, some of which tie, are late or are repeated.
func randomChanges(random *rand.Rand, n int) (out []string) {
	for range n {
		var fields []string
		add := func(format string, args ...any) {
			if random.IntN(3) > 0 {
				fields = append(fields, fmt.Sprintf(format, args...))
			}
		}
		add(`"status":"s%d"`, random.IntN(4))
		add(`"note":"word%d and word%d"`, random.IntN(3), random.IntN(3))
		add(`"total":%d`, random.IntN(3))
		add(`"extra%d":{"a":%d}`, random.IntN(20), random.IntN(9))
		if random.IntN(6) == 0 {
			fields = append(fields, `"gone":true`)
		}
		c := change(fmt.Sprintf("o%d", random.IntN(7)), int64(random.IntN(30)), strings.Join(fields, ","))
		for range 1 + random.IntN(2) {
			out = append(out, c)
		}
	}
	return out
}

// TestWhatTheSinkWritesIsWhatIsExpected writes random changes in every shape, twice, and finds nothing; then it finds what is removed.
func TestWhatTheSinkWritesIsWhatIsExpected(t *testing.T) {
	t.Parallel()
	for name, shape := range shapes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(7, uint64(len(name))))
			w := newWorld(t, embeddedHBase)
			shape(t, w.rows)
			w.schema = w.rows.Schema
			w.send(randomChanges(random, 150)...)
			w.write()
			w.write()
			r := w.check(w.options())
			if got := found(r); got != "" {
				t.Fatalf("found\n%s", got)
			}
			if r.Tables[0].Rows == 0 || r.Tables[0].Digest != r.Tables[0].Expected {
				t.Errorf("%d rows, digest %x, expected %x", r.Tables[0].Rows, r.Tables[0].Digest, r.Tables[0].Expected)
			}
			o := w.options()
			o.Memory, o.Workers = 64<<10, 1
			if again := w.check(o); found(again) != "" || again.Tables[0].Digest != r.Tables[0].Digest {
				t.Errorf("with little memory digest %x, before %x; found\n%s", again.Tables[0].Digest, r.Tables[0].Digest, found(again))
			}
			w.takeOne()
			if got := found(w.check(w.options())); strings.Count(got, "\n") != 1 || !strings.HasPrefix(got, "missing row ") {
				t.Errorf("a cell was taken away, and is found\n%s", got)
			}
		})
	}
}

// TestDocumentsOfRandomChangesAreWhatIsExpected does the same with documents.
func TestDocumentsOfRandomChangesAreWhatIsExpected(t *testing.T) {
	t.Parallel()
	for _, changes := range []indexer.Changes{indexer.Whole, indexer.Partial} {
		w := newWorld(t, embeddedHBase)
		w.indexed(changes)
		w.send(randomChanges(rand.New(rand.NewPCG(3, 4)), 200)...)
		w.write()
		w.write()
		if r := w.check(w.options()); found(r) != "" || r.Tables[1].Rows != 7 {
			t.Errorf("%s: %d documents; found\n%s", changes, r.Tables[1].Rows, found(r))
		}
	}
}

// TestASampleIsAlwaysTheSame verifies a part of the rows: always the same one, and no others.
func TestASampleIsAlwaysTheSame(t *testing.T) {
	t.Parallel()
	w := newWorld(t, embeddedHBase)
	var all []string
	for i := range 400 {
		all = append(all, change(fmt.Sprintf("o%d", i), 0, `"status":"created"`))
	}
	w.send(all...)
	o := w.options()
	o.Sample = 0.25
	first := w.check(o)
	if n := first.Tables[0].Found[verify.Missing]; n < 60 || n > 140 || first.Tables[0].Compared != n {
		t.Errorf("%d of 400 rows are missing in a sample of a quarter, %d were looked at", n, first.Tables[0].Compared)
	}
	o.Full = false
	if again := w.check(o); found(again) != found(first) {
		t.Error("another sample finds something else")
	}
}

// TestCellsPastTheirTimeMayBeGone has cells with a TTL of their own and of their family.
func TestCellsPastTheirTimeMayBeGone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, embeddedHBase)
	w.rows.Rows[0].TTL = sink.TTL{For: 2 * time.Hour}
	w.rows.Rows[0].Table.TTL = map[string]time.Duration{"g": time.Hour}
	w.send(change("o1", 0, `"status":"created","note":"x"`))
	for at, want := range map[time.Duration]string{
		30 * time.Minute:            "missing row o1  expected 0 0@0: all of it is missing\n",
		time.Hour + time.Minute:     "missing row o1  expected 0 0@0: all of it is missing\n",
		2*time.Hour + 2*time.Minute: "",
	} {
		w.now = base.Add(at)
		r := w.check(w.options())
		if got := found(r); got != want {
			t.Errorf("after %v found\n%sexpected\n%s", at, got, want)
		}
		if want := int64(min(1, at/time.Hour)); r.Tables[0].Expired != want {
			t.Errorf("after %v %d rows have cells past their time, expected %d", at, r.Tables[0].Expired, want)
		}
	}
}
