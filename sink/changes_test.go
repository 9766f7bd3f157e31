package sink_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"brine/event"
	"brine/sink"
)

// TestChangesOfOneOrder checks the rows that some changes, in one batch, become.
func TestChangesOfOneOrder(t *testing.T) {
	ann, bob := &order{"1", "ann", "bob", "x"}, &order{"1", "bob", "ann", "y"}
	for _, c := range []struct {
		name    string
		hard    bool
		changes []change
		ties    bool
		want    string
	}{
		{name: "a creation", changes: []change{{nil, ann, 5}},
			want: "orders ann|1=x@5, sides ann|bob=x@5, sides bob|ann=x@5, words bob|1=@5"},
		{name: "a move, and sides that change places", changes: []change{{nil, ann, 5}, {ann, bob, 6}},
			want: "orders ann|1=† x@6, orders bob|1=y@6, sides ann|bob=y@6, sides bob|ann=y@6, words ann|1=@6, words bob|1=† @6"},
		{name: "a move there and back", changes: []change{{nil, ann, 5}, {ann, bob, 6}, {bob, ann, 7}},
			want: "orders ann|1=x@7, orders bob|1=† y@7, sides ann|bob=x@7, sides bob|ann=x@7, words ann|1=† @7, words bob|1=@7"},
		{name: "a late older change to the old key", changes: []change{{nil, ann, 5}, {ann, bob, 8}, {ann, &order{"1", "ann", "bob", "z"}, 6}},
			want: "orders ann|1=† z@8, orders bob|1=y@8, sides ann|bob=y@8, sides bob|ann=y@8, words ann|1=@8, words bob|1=† @8"},
		{name: "there and back in one version: the last applied wins", changes: []change{{nil, ann, 5}, {ann, bob, 6}, {bob, ann, 6}}, ties: true,
			want: "orders ann|1=x@6, orders bob|1=† y@6, sides ann|bob=x@6, sides bob|ann=x@6, words ann|1=† @6, words bob|1=@6"},
		{name: "a delete", changes: []change{{nil, ann, 5}, {ann, nil, 6}},
			want: "orders ann|1=† x@6, sides ann|bob=† x@6, sides bob|ann=† x@6, words bob|1=† @6"},
		{name: "a delete, and a new one", changes: []change{{nil, ann, 5}, {ann, nil, 6}, {nil, ann, 7}},
			want: "orders ann|1=x@7, sides ann|bob=x@7, sides bob|ann=x@7, words bob|1=@7"},
		{name: "a version that runs backwards", changes: []change{{nil, ann, 5}, {ann, nil, 6}, {nil, ann, 4}},
			want: "orders ann|1=† x@6, sides ann|bob=† x@6, sides bob|ann=† x@6, words bob|1=† @6"},
		{name: "hard: a move", hard: true, changes: []change{{nil, ann, 5}, {ann, bob, 6}},
			want: "orders bob|1=y@6, sides ann|bob=y@6, sides bob|ann=y@6, words ann|1=@6"},
		{name: "hard: there and back in one version: deletes win", hard: true, changes: []change{{nil, ann, 5}, {ann, bob, 6}, {bob, ann, 6}}, ties: true,
			want: "sides ann|bob=x@6, sides bob|ann=x@6"},
		{name: "hard: a delete, and an older change", hard: true, changes: []change{{ann, nil, 6}, {nil, ann, 5}}, want: ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			client := store(t)
			entries := loggedRows(t, "t", c.hard)
			tables := made(t, client, nil, entries)
			ties := 0
			s := newSink(t, sink.HBase(autoflush(t, client)), sink.Options{Schema: logged, Rows: entries, Hooks: sink.Hooks{Tie: func(sink.TieInfo) { ties++ }}})
			var records []string
			for _, change := range c.changes {
				records = append(records, change.record())
			}
			for range 2 { // applied twice
				if got := submit(t, s, batch(t, logged, records...)); got != "" {
					t.Fatal(got)
				}
			}
			rows := found(t, client, tables)
			var got []string
			for _, row := range slices.Sorted(maps.Keys(rows)) {
				got = append(got, row+"="+rows[row])
			}
			if strings.Join(got, ", ") != c.want {
				t.Errorf("\ngot  %s\nwant %s", strings.Join(got, ", "), c.want)
			}
			if (ties > 0) != c.ties {
				t.Errorf("%d ties", ties)
			}
		})
	}
}

// TestPreviewShowsWhatIsMarked checks that a comparison of tables with a topic reports the rows that are left behind.
func TestPreviewShowsWhatIsMarked(t *testing.T) {
	for hard, want := range map[bool]string{
		false: "orders bob|1 f:note=y f:gone=\x00, orders ann|1 f:gone=\xff; orders ann|1 f:note=x f:gone=\xff; ; ",
		true:  "orders bob|1 f:note=y f:gone=\x00; ; ; ",
	} {
		p, err := sink.NewPreview(sink.Options{Schema: logged, Rows: loggedRows(t, "t", hard)[:1]})
		if err != nil {
			t.Fatal(err)
		}
		ann := &order{"1", "ann", "bob", "x"}
		records := []string{change{ann, &order{"1", "bob", "", "y"}, 6}.record(), change{ann, nil, 7}.record(), ""}
		got := ""
		for _, ev := range batch(t, logged, records...).Events {
			var rows []string
			err := p.Rows(&ev, func(table string, key []byte, cells func() []sink.Cell) {
				row := strings.TrimPrefix(table, "t_") + " " + string(key)
				for _, c := range cells() {
					row += fmt.Sprintf(" %s:%s=%s", c.Family, c.Qualifier, c.Value)
				}
				rows = append(rows, row)
			})
			if err != nil {
				t.Error(err)
			}
			got += strings.Join(rows, ", ") + "; "
		}
		if got != want {
			t.Errorf("hard %v: got %q, want %q", hard, got, want)
		}
	}
}

func TestDeletesThatCannotBe(t *testing.T) {
	for _, c := range []struct {
		want   string
		change func(*sink.Options)
	}{
		{`table t_orders: field "lost", which says that an event is a delete, is not declared; add it to fields`, func(o *sink.Options) { o.Rows[0].Deletes.Field = "lost" }},
		{"table t_orders: field note, which says that an event is a delete, is declared text; it must be bool", func(o *sink.Options) { o.Rows[0].Deletes.Field = "note" }},
		{"table t_orders: its rows are events, and a delete is just another event; keep them, or write row entity", func(o *sink.Options) { o.Rows[0].Deletes.Hard, o.Rows[0].Table.Row = true, sink.RowEvent }},
		{"table t_orders: a change can leave a row behind, and no column would mark it; set one from a bool field and name that field as the deletes' field, or delete hard",
			func(o *sink.Options) { o.Rows[0].Columns = o.Rows[0].Columns[:1] }},
		{"table t_orders: a ttl would also expire the delete markers, and deleted rows would reappear; remove one of the two",
			func(o *sink.Options) { o.Rows[0].Deletes.Hard, o.Rows[0].TTL.For = true, 1e9 }},
		{"table t_orders: versions seq(…, n) are not timestamps, but HBase orders delete markers by time; mark rows instead",
			func(o *sink.Options) { o.Rows[0].Deletes.Hard = true; sequenced(o) }},
		{"table t_orders: versions seq(…, n) are not timestamps, so a family's ttl would mean something else; remove it",
			func(o *sink.Options) { o.Rows[0].Table.TTL = map[string]time.Duration{"f": 1e9}; sequenced(o) }},
		{"table t_orders: versions seq(…, n) are not timestamps, so a ttl would mean something else; remove it", func(o *sink.Options) { o.Rows[0].TTL.For = 1e9; sequenced(o) }},
		{"", func(*sink.Options) {}},
	} {
		opts := sink.Options{Schema: logged, Rows: loggedRows(t, "t", false)}
		c.change(&opts)
		refused(t, opts, c.want)
	}
}

func sequenced(o *sink.Options) {
	o.Schema.Fields = append(slices.Clone(o.Schema.Fields), event.Field{Name: "n", Type: event.Int})
	o.Schema.Sequence = "n"
}
