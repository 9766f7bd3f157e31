package sink_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"brine/event"
	"brine/hbase"
	"brine/rowkey"
	"brine/rowkey/eventkey"
	"brine/sink"
)

var _ event.Writer = (*sink.Sink)(nil)

// scans is the schema of the examples' scan events.
var scans = event.Schema{
	Fields: []event.Field{
		{Name: "waybill", Type: event.Text}, {Name: "at", Type: event.TimeMS}, {Name: "station", Type: event.Text},
		{Name: "action", Type: event.Text}, {Name: "courier", Type: event.Text, Path: []string{"by", "courier"}},
	},
	Version: 1,
}

// key returns a key over the fields of a schema, and more text fields.
func key(t testing.TB, schema event.Schema, expr string, more ...string) *rowkey.Key {
	t.Helper()
	var others []rowkey.Field
	for _, name := range more {
		others = append(others, rowkey.Field{Name: name, Type: rowkey.Text})
	}
	k, err := eventkey.Parse(expr, schema, others...)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// scanRows is the examples' table of scans: each event has its own row.
func scanRows(t testing.TB) sink.Rows {
	return sink.Rows{
		Table:   sink.Table{Name: "logistics:scans", Row: sink.RowEvent, Keys: rowkey.One(key(t, scans, `md5(waybill, 4) + waybill + "|" + desc(at, ms) + "|" + action`))},
		Columns: []sink.Column{{Family: "e", Qualifier: "s", Field: "station"}, {Family: "e", Qualifier: "a", Field: "action"}, {Family: "e", Qualifier: "c", Field: "courier"}},
	}
}

// lastRows is a second table of the same events: where each waybill was last, in two families.
func lastRows(t testing.TB) sink.Rows {
	return sink.Rows{
		Table:   sink.Table{Name: "last", Row: sink.RowEntity, Keys: rowkey.One(key(t, scans, `waybill`))},
		Columns: []sink.Column{{Family: "a", Qualifier: "s", Field: "station"}, {Family: "b", Qualifier: "c", Field: "courier"}},
	}
}

// packScan packs a scan's fields that are not in its key.
func packScan(packing event.Packing) *event.Pack {
	return &event.Pack{Packing: packing, Fields: []event.PackedField{
		{Name: "s", Field: "station", Type: event.Text}, {Name: "a", Field: "action", Type: event.Text}, {Name: "c", Field: "courier", Type: event.Text}}}
}

// packedRows is the table of scans with one cell per row.
func packedRows(t testing.TB, packing event.Packing) sink.Rows {
	rows := scanRows(t)
	rows.Table.Name = string(packing)
	rows.Columns = []sink.Column{{Family: "e", Qualifier: "p", Pack: packScan(packing)}}
	return rows
}

// fake answers each table's Submit with the failures that are scripted for it, in order; then with none.
type fake struct {
	script   map[string][][]hbase.MutationError
	batches  []string // the table and number of mutations of each
	rows     map[string][]string
	released int
	hurried  int
}

func (f *fake) Release() { f.released++ }
func (f *fake) Hurry()   { f.hurried++ }

type answer []hbase.MutationError

func (a answer) Wait(ctx context.Context) ([]hbase.MutationError, error) { return a, ctx.Err() }

func (a answer) WaitPending(ctx context.Context) (*hbase.Batch, []int32, error) {
	return nil, nil, ctx.Err()
}

func (f *fake) Submit(_ context.Context, b *hbase.Batch) sink.Flight {
	f.batches = append(f.batches, fmt.Sprintf("%s %d", b.Table(), b.Len()))
	for i := range b.Len() {
		if f.rows == nil {
			f.rows = map[string][]string{}
		}
		f.rows[b.Table()] = append(f.rows[b.Table()], string(b.Row(i)))
	}
	answers := f.script[b.Table()]
	if len(answers) == 0 {
		return answer(nil)
	}
	f.script[b.Table()] = answers[1:]
	return answer(answers[0])
}

func newSink(t testing.TB, c sink.Client, opts sink.Options) *sink.Sink {
	t.Helper()
	s, err := sink.New(c, opts)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// batch decodes records of one partition.
func batch(t testing.TB, schema event.Schema, records ...string) *event.Batch {
	t.Helper()
	d, b := event.NewDecoder(schema), new(event.Batch)
	for i, r := range records {
		var value []byte // none if a record is empty
		if r != "" {
			value = []byte(r)
		}
		if err := d.Decode(&event.Record{Topic: "t", Offset: int64(i), Timestamp: 2_000_000_000_000, Value: value}, b); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

func scan(waybill string, at int) string {
	return fmt.Sprintf(`{"waybill":%q,"at":%d,"station":"EWR","action":"DEPART","by":{"courier":"N1"}}`, waybill, at)
}

// submit waits for a batch and prints its failures.
func submit(t testing.TB, s *sink.Sink, b *event.Batch) string {
	t.Helper()
	failures, err := event.Settle(t.Context(), s.Submit(t.Context(), b))
	if err != nil {
		t.Fatal(err)
	}
	return failuresText(failures)
}

// failuresText formats failures.
func failuresText(failures []event.Failure) string {
	var lines []string
	for _, f := range failures {
		verdict := map[event.Verdict]string{event.Retry: "retry", event.Reject: "reject", event.Halt: "halt"}[f.Verdict]
		lines = append(lines, fmt.Sprintf("%d %s %s: %v", f.Index, verdict, f.Reason, f.Err))
	}
	return strings.Join(lines, "\n")
}

func TestEveryEventBecomesARowInEachTable(t *testing.T) {
	c := &fake{}
	s := newSink(t, c, sink.Options{Schema: scans, Rows: []sink.Rows{scanRows(t), lastRows(t)}})
	for range 2 { // the second time in used buffers
		if got := submit(t, s, batch(t, scans, scan("A", 1), scan("B", 2), scan("A", 3))); got != "" {
			t.Error(got)
		}
	}
	if got, want := fmt.Sprint(c.batches), "[logistics:scans 3 last 3 logistics:scans 3 last 3]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if rows := c.rows["logistics:scans"]; !slices.Equal(rows[:3], rows[3:]) {
		t.Errorf("rows differ: %q", rows)
	}
	if got := fmt.Sprint(c.rows["last"]); got != "[A B A A B A]" {
		t.Error(got)
	}
}

func TestReleaseAndHurryReachTheClient(t *testing.T) {
	c := &fake{}
	s := newSink(t, c, sink.Options{Schema: scans, Rows: []sink.Rows{scanRows(t)}})
	s.Release()
	s.Hurry()
	if c.released != 1 || c.hurried != 1 {
		t.Errorf("released %d times, hurried %d times", c.released, c.hurried)
	}
}

func TestRejectedBeforeAnythingIsQueued(t *testing.T) {
	c := &fake{}
	s := newSink(t, c, sink.Options{Schema: scans, Rows: []sink.Rows{lastRows(t), scanRows(t)}, MaxCellBytes: 200})
	got := submit(t, s, batch(t, scans,
		scan("A", 1),
		`{"at":2}`,
		`{"waybill":"A|B","at":3,"action":"x"}`,
		`{"waybill":"A","at":4,"action":"x","by":{"courier":"`+strings.Repeat("c", 200)+`"}}`,
		`{"waybill":"`+strings.Repeat("w", 40000)+`","at":5,"action":"x"}`,
		scan("A", 6),
	))
	for i, want := range []string{
		`1 reject missing_field: missing_field: field waybill: `,
		`2 reject bad_key: bad_key: field waybill: `,
		`3 reject too_large: too_large: field by.courier: its cell in table last has 223 bytes; HBase allows 200`,
		`4 reject key_too_long: key_too_long: field waybill: `,
	} {
		if line := strings.Split(got, "\n")[i]; !strings.HasPrefix(line, want) {
			t.Errorf("got  %s\nwant %s", line, want)
		}
	}
	if got, want := fmt.Sprint(c.batches), "[last 2 logistics:scans 2]"; got != want {
		t.Errorf("got %s, want %s: an event that has no row in one table must have none in the others", got, want)
	}
}

func TestPackedCellTooLarge(t *testing.T) {
	for packing, room := range map[event.Packing]int{event.MessagePack: 71, event.JSON: 83} {
		for _, tooLarge := range []bool{true, false} {
			max := room
			if tooLarge {
				max--
			}
			s := newSink(t, &fake{}, sink.Options{Schema: scans, Rows: []sink.Rows{packedRows(t, packing)}, MaxCellBytes: max})
			want := ""
			if tooLarge {
				want = fmt.Sprintf("0 reject too_large: too_large: the packed cell e:p in table %s has %d bytes; HBase allows %d", packing, room, max)
			}
			if got := submit(t, s, batch(t, scans, scan("AWAYBILL", 1))); strings.TrimSpace(got) != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		}
	}
}

func TestNewNamesWhatIsWrong(t *testing.T) {
	for _, c := range []struct {
		want   string
		change func(*sink.Options)
	}{
		{"", func(*sink.Options) {}},
		{"sink: Options.Rows is empty; name a table", func(o *sink.Options) { o.Rows = nil }},
		{"sink: Options.Schema: version is field 9 of 5", func(o *sink.Options) { o.Schema.Version = 9 }},
		{`table last: row is "rows"; write "event" or "entity"`, func(o *sink.Options) { o.Rows[0].Table.Row = "rows" }},
		{`table last: nulls is "keep"; write "merge", "store", "replace" or "delete"`, func(o *sink.Options) { o.Rows[0].Nulls = "keep" }},
		{"table last: it has no key", func(o *sink.Options) { o.Rows[0].Table.Keys = nil }},
		{"table last: no column is set; add one to set", func(o *sink.Options) { o.Rows[0].Columns = nil }},
		{`table last: column a:s: field "place" is not declared; add it to fields`, func(o *sink.Options) { o.Rows[0].Columns[0].Field = "place" }},
		{"table last: column :s: a family has 1 to 127 bytes; write family:qualifier", func(o *sink.Options) { o.Rows[0].Columns[0].Family = "" }},
		{"table last: column a: has no qualifier, which is reserved for rows without cells; write family:qualifier", func(o *sink.Options) { o.Rows[0].Columns[0].Qualifier = "" }},
		{"table last: column a:s: it is set both from field station and from a pack; keep one", func(o *sink.Options) { o.Rows[0].Columns[0].Pack = packScan(event.JSON) }},
		{"table last: column a:s: field station is declared text but packed as int; use the same type", func(o *sink.Options) {
			pack := packScan(event.JSON)
			pack.Fields[0].Type = event.Int
			o.Rows[0].Columns[0] = sink.Column{Family: "a", Qualifier: "s", Pack: pack}
		}},
		{"table last: column a:s is set twice; remove one", func(o *sink.Options) { o.Rows[0].Columns[1] = o.Rows[0].Columns[0] }},
	} {
		opts := sink.Options{Schema: scans, Rows: []sink.Rows{lastRows(t)}}
		c.change(&opts)
		refused(t, opts, c.want)
	}
}

// refused checks that options are refused with an error, or accepted if want is empty.
func refused(t *testing.T, opts sink.Options, want string) {
	t.Helper()
	got := ""
	if _, err := sink.New(&fake{}, opts); err != nil {
		got = err.Error()
	}
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestWaitAgainAfterItsContextEnded(t *testing.T) {
	s := newSink(t, &fake{}, sink.Options{Schema: scans, Rows: []sink.Rows{scanRows(t), lastRows(t)}})
	f := s.Submit(t.Context(), batch(t, scans, `{"at":1}`, scan("A", 1)))
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if failures, err := event.Settle(ended, f); !errors.Is(err, context.Canceled) || failures != nil {
		t.Errorf("%v, %v", failures, err)
	}
	for range 2 {
		if failures, err := event.Settle(t.Context(), f); err != nil || len(failures) != 1 || failures[0].Index != 0 {
			t.Errorf("%v, %v", failures, err)
		}
	}
}

// seen records what the hooks report.
type seen struct{ collisions, ties, expired []string }

func (s *seen) hooks() sink.Hooks {
	return sink.Hooks{
		Collision: func(i sink.CollisionInfo) {
			s.collisions = append(s.collisions, i.Table+" "+rowkey.Binary(i.Row[4:]))
		},
		Expired: func(i sink.ExpiredInfo) {
			s.expired = append(s.expired, fmt.Sprint(i.Table, " ", i.Family, " ", i.Record.Offset))
		},
		Tie: func(t sink.TieInfo) {
			s.ties = append(s.ties, fmt.Sprintf("%s %s %s:%s@%d %d:%d after %d:%d", t.Table, t.Row, t.Family, t.Qualifier, t.Version, t.Record.Partition, t.Record.Offset, t.Partition, t.Offset))
		},
	}
}

func TestCollisionsAreSeenAndRedeliveriesAreNot(t *testing.T) {
	var h seen
	s := newSink(t, &fake{}, sink.Options{Schema: scans, Rows: []sink.Rows{scanRows(t)}, Hooks: h.hooks()})
	one, other := scan("A", 1), strings.Replace(scan("A", 1), "EWR", "JFK", 1)
	for _, records := range [][]string{{one, scan("A", 2), scan("B", 1), one}, {one}} {
		submit(t, s, batch(t, scans, records...))
	}
	if len(h.collisions) != 0 {
		t.Errorf("redeliveries are no collisions: %q", h.collisions)
	}
	submit(t, s, batch(t, scans, other))
	if want := []string{`logistics:scans A|\x7F\xFF\xFF\xFF\xFF\xFF\xFF\xFE|DEPART`}; !slices.Equal(h.collisions, want) {
		t.Errorf("got %q, want %q", h.collisions, want)
	}
	if len(h.ties) != 0 {
		t.Errorf("a table of events has no ties: %q", h.ties)
	}
}

func TestTiesAreSeen(t *testing.T) {
	var h seen
	s := newSink(t, &fake{}, sink.Options{Schema: scans, Rows: []sink.Rows{lastRows(t)}, Hooks: h.hooks()})
	submit(t, s, batch(t, scans,
		scan("A", 1), scan("A", 1), // redelivered
		scan("A", 2), scan("B", 1), // other versions, other rows
		`{"waybill":"A","at":3,"station":"EWR"}`, `{"waybill":"A","at":3,"by":{"courier":"N1"}}`)) // one version, other cells
	if len(h.ties) != 0 {
		t.Fatalf("%d ties too many", len(h.ties))
	}
	other := batch(t, scans, `{"waybill":"A","at":1,"station":"JFK","by":{"courier":"N1"}}`)
	other.Events[0].Record.Partition, other.Events[0].Record.Offset = 3, 1<<40
	for range 2 { // the second time it is redelivered
		submit(t, s, other)
		submit(t, s, batch(t, scans, scan("A", 1)))
	}
	if want := []string{"last A a:s@1 3:1099511627776 after 0:0"}; !slices.Equal(h.ties, want) || len(h.collisions) != 0 {
		t.Errorf("ties %q, expected %q; collisions %q", h.ties, want, h.collisions)
	}
}

func TestExpiredEventsAreNamedAndWritten(t *testing.T) {
	var h seen
	rows := lastRows(t)
	rows.Table.TTL = map[string]time.Duration{"b": time.Hour}
	c := &fake{}
	now := time.UnixMilli(10_000_000)
	s := newSink(t, c, sink.Options{Schema: scans, Rows: []sink.Rows{rows}, Hooks: h.hooks(), Now: func() time.Time { return now }})
	submit(t, s, batch(t, scans,
		scan("A", 10_000_000-3_600_001),
		scan("A", 10_000_000-3_600_000),           // to the millisecond
		`{"waybill":"A","at":1,"station":"EWR"}`)) // nothing in the family that has a TTL
	if want := []string{"last b 0"}; !slices.Equal(h.expired, want) {
		t.Errorf("got %q, want %q", h.expired, want)
	}
	if fmt.Sprint(c.batches) != "[last 3]" {
		t.Errorf("%q: what is expired is written all the same", c.batches)
	}
}

// takesEven accepts every mutation of an even row.
type takesEven struct{}

func (takesEven) Release() {}
func (takesEven) Hurry()   {}

func (takesEven) Submit(_ context.Context, b *hbase.Batch) sink.Flight {
	var errs answer
	for i := range b.Len() {
		if row := b.Row(i); row[len(row)-1]%2 == 1 {
			errs = append(errs, hbase.MutationError{Index: i, Kind: hbase.Transient, Err: errStore})
		}
	}
	return errs
}

// Workers of several partitions share a sink: each gets its own events' failures.
func TestConcurrentSubmits(t *testing.T) {
	s := newSink(t, takesEven{}, sink.Options{Schema: scans, Rows: []sink.Rows{lastRows(t)}})
	var workers errgroup.Group
	for w := range 4 {
		workers.Go(func() error {
			for round := range 50 {
				n := w + round%3
				b := batch(t, scans, scan(fmt.Sprint("a", n), 1), scan(fmt.Sprint("b", n+1), 1))
				failures, err := event.Settle(t.Context(), s.Submit(t.Context(), b))
				if err != nil || len(failures) != 1 || failures[0].Index != 1-n%2 || !strings.Contains(failures[0].Err.Error(), fmt.Sprint("row ", string("ab"[1-n%2]), n+1-n%2)) {
					return fmt.Errorf("worker %d, round %d: %v, %w", w, round, failures, err)
				}
			}
			return nil
		})
	}
	if err := workers.Wait(); err != nil {
		t.Error(err)
	}
}
