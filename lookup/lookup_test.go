package lookup_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"brine/event"
	"brine/hbase"
	"brine/lookup"
	"brine/rowkey"
	"brine/rowkey/eventkey"
)

var _ event.Writer = (*lookup.Writer)(nil)

// states are changes of orders: all have the order, only some its user and creation.
var states = event.Schema{Version: -1, Fields: []event.Field{
	{Name: "order", Type: event.Text}, {Name: "user", Type: event.Text, Path: []string{"by", "user"}}, {Name: "created", Type: event.TimeS}}}

func key(t testing.TB, expr string) *rowkey.Key {
	t.Helper()
	k, err := eventkey.Parse(expr, states)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// ids is the table of orders by id: the row and its cells.
type ids struct {
	rows map[string][]hbase.Cell
	read []string
	err  error
}

func (c *ids) GetAll(_ context.Context, table string, gets []hbase.Get) ([]hbase.Result, error) {
	out := make([]hbase.Result, len(gets))
	var rows []string
	for i, g := range gets {
		rows = append(rows, string(g.Row))
		out[i] = hbase.Result{Row: g.Row, Cells: c.rows[string(g.Row)]}
	}
	slices.Sort(rows)
	c.read = append(c.read, table+" "+strings.Join(rows, ","))
	return out, c.err
}

func (c *ids) put(order, user string, created int64) {
	if c.rows == nil {
		c.rows = map[string][]hbase.Cell{}
	}
	cell := func(q string, v event.Value) hbase.Cell {
		return hbase.Cell{Family: []byte("i"), Qualifier: []byte(q), Value: event.AppendValue(nil, v)}
	}
	c.rows[order] = []hbase.Cell{cell("c", event.TimeValue(created)), cell("u", event.TextValue(user))}
}

// writer records what it gets, and fails the named orders.
type writer struct {
	got      []string
	fail     string
	released bool
	hurried  bool
}

type failures []event.Failure

func (f failures) Wait(ctx context.Context, _ event.Until) (event.Outcome, error) {
	return event.Outcome{Failures: f}, ctx.Err()
}

func (w *writer) Release() { w.released = true }
func (w *writer) Hurry()   { w.hurried = true }

func (w *writer) Submit(_ context.Context, b *event.Batch) event.Flight {
	var failed failures
	for i, ev := range b.Events {
		text := fmt.Sprint(ev.Record.Offset)
		for _, v := range ev.Values {
			if v.Type == event.Text {
				text += " " + string(v.Text())
			} else if !v.Null() {
				text += fmt.Sprint(" ", v.Int())
			}
		}
		w.got = append(w.got, text)
		if w.fail != "" && string(ev.Values[0].Text()) == w.fail {
			failed = append(failed, event.Failure{Index: i, Verdict: event.Retry, Reason: event.Unavailable})
		}
	}
	return failed
}

// bench is a lookup between a table and a writer, with a clock that the test sets.
type bench struct {
	ids
	writer
	now    time.Time
	lookup *lookup.Writer
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{now: time.Unix(1e9, 0)}
	var err error
	b.lookup, err = lookup.New(&b.ids, &b.writer, lookup.Options{Schema: states, Table: "ids", Keys: rowkey.One(key(t, "order")), Wait: time.Minute,
		Fields: []lookup.Field{{"user", "i", "u"}, {"created", "i", "c"}}, Now: func() time.Time { return b.now }})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// submit decodes and submits records, and prints the failures and what the writer got.
func (b *bench) submit(t *testing.T, records ...string) string {
	t.Helper()
	d, batch := event.NewDecoder(states), new(event.Batch)
	for i, r := range records {
		if err := d.Decode(&event.Record{Offset: int64(i), Timestamp: 5, Value: []byte(r)}, batch); err != nil {
			t.Fatal(err)
		}
	}
	b.got, b.read = nil, nil
	flight := b.lookup.Submit(t.Context(), batch)
	clear(batch.Events) // a writer does not retain it
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := event.Settle(ended, flight); err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	var out []string
	for range 2 { // Wait may be called again
		failures, err := event.Settle(t.Context(), flight)
		if err != nil {
			t.Fatal(err)
		}
		out = nil
		for _, f := range failures {
			out = append(out, fmt.Sprintf("%d %s %s %v", f.Index, map[event.Verdict]string{event.Retry: "retry", event.Reject: "reject"}[f.Verdict], f.Reason, f.Err))
		}
	}
	return strings.Join(append(out, "got "+strings.Join(b.got, "; "), "read "+strings.Join(b.read, "; ")), "\n")
}

func (b *bench) expect(t *testing.T, want string, records ...string) {
	t.Helper()
	if got := b.submit(t, records...); got != want {
		t.Errorf("\ngot:\n%s\nwant:\n%s", got, want)
	}
}

const (
	created = `{"order":"o1","by":{"user":"ann"},"created":7}`
	paid    = `{"order":"o1"}`
	shipped = `{"order":"o2"}`
)

func TestWhatIsLookedUp(t *testing.T) {
	b := newBench(t)
	b.put("o2", "bob", 8000)
	b.expect(t, "got 0 o2 bob 8000; 1 o2 bob 8000\nread ids o2", shipped, shipped)
	b.expect(t, "got 0 o2 bob 8000\nread ", shipped)                              // it is known by then
	b.expect(t, "got 0 o1 ann 7000; 1 o1 ann 7000\nread ", paid, created)         // another event of the batch has it
	b.expect(t, "got 0 o2 cat 8000\nread ", `{"order":"o2","by":{"user":"cat"}}`) // a field that an event has is not replaced
	b.lookup.Release()
	b.lookup.Hurry()
	if !b.released || !b.hurried {
		t.Error("Release and Hurry did not reach the writer")
	}
}

func TestACreationThatIsLate(t *testing.T) {
	b := newBench(t)
	const waits = "1 retry awaited field user is looked up in table ids, but row o2 has not arrived yet\n"
	b.expect(t, waits+"got 0 o1 ann 7000; 2 o1 ann 7000\nread ids o2", created, shipped, paid)
	b.now = b.now.Add(59 * time.Second)
	b.expect(t, waits+"got 0 o1 ann 7000\nread ids o2", paid, shipped)
	b.put("o2", "bob", 8000)
	b.now = b.now.Add(time.Hour)
	b.expect(t, "got 0 o1 ann 7000; 1 o2 bob 8000\nread ids o2", paid, shipped)
}

func TestACreationThatNeverComes(t *testing.T) {
	b := newBench(t)
	b.expect(t, "0 retry awaited field user is looked up in table ids, but row o2 has not arrived yet\ngot \nread ids o2", shipped)
	b.now = b.now.Add(time.Minute)
	const late = "0 reject missing_field missing_field: field by.user: the key needs it, but row o2 of table ids, where it is looked up, has not arrived within 1m0s\ngot \nread ids o2"
	b.expect(t, late, shipped)
	b.expect(t, strings.Replace(late, "reject missing_field missing_field: field by.user: the key needs it, but row o2 of table ids, where it is looked up, has not arrived within 1m0s",
		"retry awaited field user is looked up in table ids, but row o2 has not arrived yet", 1), shipped) // a replay waits again
}

// TestMaskedRowsAreNotNamed checks that an event that waits for a row, or has waited in vain, does not name the row if its key has a masked
// field.
func TestMaskedRowsAreNotNamed(t *testing.T) {
	for masked, shown := range map[string]bool{"order": false, "user": true} {
		b := newBench(t)
		schema := states
		schema.Masked = []int{slices.IndexFunc(states.Fields, func(f event.Field) bool { return f.Name == masked })}
		var err error
		b.lookup, err = lookup.New(&b.ids, &b.writer, lookup.Options{Schema: schema, Table: "ids", Keys: rowkey.One(key(t, "order")),
			Wait: time.Minute, Fields: []lookup.Field{{"user", "i", "u"}, {"created", "i", "c"}}, Now: func() time.Time { return b.now }})
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			got := b.submit(t, shipped)
			failures, _, _ := strings.Cut(got, "\n")
			if strings.Contains(failures, "row o2") != shown || !shown && !strings.Contains(failures, "row *** ") {
				t.Errorf("%s is masked: %s", masked, got)
			}
			b.now = b.now.Add(time.Minute)
		}
	}
}

func TestLookingUpFails(t *testing.T) {
	b := newBench(t)
	b.fail = "o1"
	b.err = errors.New("region moving")
	b.expect(t, "0 retry unavailable looking up fields of the key in table ids: region moving\n1 retry unavailable <nil>\n"+
		"2 reject missing_field missing_field: field order: has no value\ngot 1 o1 ann 7000\nread ids o2", shipped, created, `{}`)
	b.err = nil
	b.rows = map[string][]hbase.Cell{"o2": {{Family: []byte("i"), Qualifier: []byte("u")}, {Family: []byte("i"), Qualifier: []byte("c"), Value: []byte("x")}},
		"o3": {{Family: []byte("i"), Qualifier: []byte("u")}}}
	b.expect(t, "0 reject bad_key table ids, row o2: column i:c: a cell of type time_s has 8 bytes; this one has 1\ngot \nread ids o2", shipped)
	b.expect(t, "0 retry awaited field user is looked up in table ids, but row o3 has not arrived yet\ngot \nread ids o3", `{"order":"o3"}`)
}

// failing is a flight of a writer with one failing region: the named events are pending.
type failing struct {
	pending []int
	err     error
}

func (f *failing) Wait(context.Context, event.Until) (event.Outcome, error) {
	return event.Outcome{Pending: f.pending}, f.err
}

// TestOutageKeepsNoBatch checks that a batch with an event that waits for its row stalls like any other. Otherwise its memory would not be
// released while a region fails.
func TestOutageKeepsNoBatch(t *testing.T) {
	ended := errors.New("ended")
	for _, c := range []struct {
		name   string
		behind event.Flight
		want   []int
		err    error
	}{
		{"a region fails", &failing{pending: []int{1}}, []int{2}, nil},
		{"the rest is durable", &failing{}, nil, nil},
		{"the partition goes away", &failing{err: ended}, nil, ended},
		{"a writer that does not fail in parts", failures{}, nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			w, err := lookup.New(&b.ids, submitter(func() event.Flight { return c.behind }), lookup.Options{Schema: states, Table: "ids",
				Keys: rowkey.One(key(t, "order")), Wait: time.Minute, Fields: []lookup.Field{{"user", "i", "u"}}, Now: func() time.Time { return b.now }})
			if err != nil {
				t.Fatal(err)
			}
			d, batch := event.NewDecoder(states), new(event.Batch)
			for i, r := range []string{created, shipped, created} { // the second one waits for its row, the third is the second of the writer's
				if err := d.Decode(&event.Record{Offset: int64(i), Timestamp: 5, Value: []byte(r)}, batch); err != nil {
					t.Fatal(err)
				}
			}
			o, err := w.Submit(t.Context(), batch).Wait(t.Context(), event.Stalled)
			if !slices.Equal(o.Pending, c.want) || !errors.Is(err, c.err) {
				t.Errorf("pending are %v, %v; want %v, %v", o.Pending, err, c.want, c.err)
			}
			if err == nil && (len(o.Failures) != 1 || o.Failures[0].Index != 1) {
				t.Errorf("failed are %v, want the one that waits for its row", o.Failures)
			}
		})
	}
}

type submitter func() event.Flight

func (s submitter) Submit(context.Context, *event.Batch) event.Flight { return s() }
func (s submitter) Release()                                          {}
func (s submitter) Hurry()                                            {}

func TestNewNamesWhatIsWrong(t *testing.T) {
	for want, o := range map[string]lookup.Options{
		"no field is looked up in table ids; name one":                                      {Table: "ids", Schema: states, Keys: rowkey.One(key(t, "order"))},
		`field "lost", which is looked up in table ids, is not declared; add it to fields`:  {Table: "ids", Schema: states, Keys: rowkey.One(key(t, "order")), Fields: []lookup.Field{{"lost", "i", "l"}}},
		`table ids: the key order names field "order", which the pipeline does not declare`: {Table: "ids", Schema: event.Schema{Version: -1, Fields: states.Fields[1:]}, Keys: rowkey.One(key(t, "order")), Fields: []lookup.Field{{"user", "i", "u"}}},
	} {
		if _, err := lookup.New(nil, nil, o); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
