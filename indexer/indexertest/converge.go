package indexertest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"brine/event"
	"brine/indexer"
	"brine/search"
)

// testWriterConverges checks that changes of some orders, which are shuffled, repeated and cut into random batches, end in the documents
// that a model of HBase's cells yields.
func testWriterConverges(t *testing.T, e indexer.Engine) {
	for _, changes := range []indexer.Changes{indexer.Whole, indexer.Partial} {
		rng := rand.New(rand.NewPCG(1, uint64(len(changes))))
		w, name := newWriter(t, e, changes)
		var sent []event.Event
		for i := range 600 {
			ev := Event(rng.Int64N(40), fmt.Sprint("o", rng.IntN(12)), value(rng, fmt.Sprint("s", i)), value(rng, fmt.Sprint("i", i)), value(rng, i))
			sent = append(sent, ev)
			if rng.IntN(3) == 0 { // repeated later
				sent = slices.Insert(sent, rng.IntN(len(sent)), ev)
			}
		}
		model := NewModel(changes)
		var flights []event.Flight
		for rest := sent; len(rest) > 0; {
			n := min(len(rest), 1+rng.IntN(50))
			flights = append(flights, w.Submit(deadline(t), &event.Batch{Events: rest[:n]}))
			rest = rest[n:]
		}
		for _, f := range flights {
			if failures, err := event.Settle(deadline(t), f); err != nil || len(failures) > 0 {
				t.Fatalf("failures %v, error %v", failures, err)
			}
		}
		for i := range sent {
			model.Apply(&sent[i])
		}
		refresh(t, e, name)
		page, err := e.Search(deadline(t), search.Query{Index: name, Size: 100})
		if err != nil {
			t.Fatal(err)
		}
		if diff := model.Diff(page.Hits); diff != "" {
			t.Errorf("%s: %s", changes, diff)
		}
	}
}

func value(rng *rand.Rand, v any) any {
	if rng.IntN(3) == 0 {
		return nil
	}
	return v
}

// Model is the expected state of rows and documents: for every field the greatest version, among equals the last applied. Whole changes
// replace all fields at once.
type Model struct {
	Nulls   bool // a null ends its field's older value, as indexer.Document.Nulls says
	changes indexer.Changes
	rows    map[string]map[string]cell
}

type cell struct {
	version int64
	value   any
}

// NewModel returns an empty Model.
func NewModel(changes indexer.Changes) *Model {
	return &Model{changes: changes, rows: map[string]map[string]cell{}}
}

// whole is the name under which a model of whole changes stores the version of the row.
const whole = ""

var goneAt = slices.IndexFunc(Schema.Fields, func(f event.Field) bool { return f.Name == "gone" })

// Apply applies an event of Schema.
func (m *Model) Apply(ev *event.Event) {
	key := string(ev.Values[0].Text())
	row := m.rows[key]
	if m.changes == indexer.Whole {
		if c, ok := row[whole]; ok && ev.Version < c.version {
			return
		}
		row = map[string]cell{whole: {version: ev.Version}}
		m.rows[key] = row
	}
	for i, f := range Schema.Fields[1:] {
		v := ev.Values[i+1]
		if v.Null() && (!m.Nulls || v.Unsent() || ev.Values[goneAt].Bool()) {
			continue
		}
		if row == nil {
			row = map[string]cell{}
			m.rows[key] = row
		}
		if c, ok := row[f.Name]; !ok || ev.Version >= c.version {
			row[f.Name] = cell{ev.Version, plain(v)}
		}
	}
}

func plain(v event.Value) any {
	switch v.Type {
	case 0:
		return nil
	case event.Text:
		return string(v.Text())
	case event.Float:
		return v.Float()
	case event.Bool:
		return v.Bool()
	default:
		return v.Int()
	}
}

// Diff describes where hits differ from the model, or returns "" if they do not.
func (m *Model) Diff(hits []search.Hit) string {
	if len(hits) != len(m.rows) {
		return fmt.Sprintf("%d documents for %d rows", len(hits), len(m.rows))
	}
	for _, h := range hits {
		row, version, n := m.rows[string(h.Row)], int64(0), 0
		for name, c := range row {
			version = max(version, c.version)
			if name == whole {
				continue
			}
			if c.value != nil {
				n++
			}
			if name == "gone" {
				name = indexer.FieldDeleted
			}
			if h.Fields[name] != c.value {
				return fmt.Sprintf("row %s: field %s is %v, want %v of version %d", h.Row, name, h.Fields[name], c.value, c.version)
			}
		}
		if n != len(h.Fields) || version != h.Version {
			return fmt.Sprintf("row %s: fields %v of version %d, want %v", h.Row, h.Fields, h.Version, row)
		}
	}
	return ""
}
