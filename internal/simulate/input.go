package simulate

import (
	"crypto/md5"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"brine/event"
	"brine/rowkey"
	"brine/rowkey/eventkey"
	"brine/sink"
)

// schema is what the pipeline declares of the input.
var schema = event.Schema{
	Fields: []event.Field{
		{Name: "waybill", Type: event.Text}, {Name: "at", Type: event.TimeMS}, {Name: "action", Type: event.Text},
		{Name: "station", Type: event.Text}, {Name: "id", Type: event.Text}, {Name: "note", Type: event.Text},
	},
	Version: 1,
}

const (
	scansKey = `md5(waybill, 2) + waybill + "|" + desc(at, ms) + "|" + action` // a row for each event
	lastKey  = `md5(waybill, 2) + waybill`                                     // where the changes of one waybill meet

	maxCell = 4 << 10 // bytes; a longer note is a dead letter
)

// column is one column of the tables and the field that it is set from.
type column struct {
	family, qualifier string
	value             func(*scan) string
}

// tables are the two tables that each scan is written to; a suffix names another pair of them.
var tables = []struct {
	name    string
	kind    sink.RowKind
	key     string
	row     func(*scan) string
	columns []column
}{
	{"scans", sink.RowEvent, scansKey, (*scan).scansRow, []column{
		{"e", "i", func(s *scan) string { return s.ID }}, {"e", "s", func(s *scan) string { return s.Station }},
		{"e", "n", func(s *scan) string { return s.Note }}}},
	{"last", sink.RowEntity, lastKey, (*scan).lastRow, []column{
		{"a", "i", func(s *scan) string { return s.ID }}, {"b", "s", func(s *scan) string { return s.Station }}}},
}

// fields are the columns' fields, as the sink's configuration names them.
var fields = map[string]string{"i": "id", "s": "station", "n": "note"}

// rows is the sink's configuration of a pair of tables.
func rows(suffix string) ([]sink.Rows, error) {
	var all []sink.Rows
	for _, t := range tables {
		key, err := eventkey.Parse(t.key, schema)
		if err != nil {
			return nil, err
		}
		r := sink.Rows{Table: sink.Table{Name: t.name + suffix, Row: t.kind, Keys: rowkey.One(key)}}
		for _, c := range t.columns {
			r.Columns = append(r.Columns, sink.Column{Family: c.family, Qualifier: c.qualifier, Field: fields[c.qualifier]})
		}
		all = append(all, r)
	}
	return all, nil
}

// scan is one event, as its JSON has it.
type scan struct {
	Waybill string `json:"waybill,omitempty"`
	At      int64  `json:"at"`
	Action  string `json:"action"`
	Station string `json:"station"`
	ID      string `json:"id"`
	Note    string `json:"note"`
}

// scansRow and lastRow are the rows by the words of docs/rowkeys.md, so that they do not share a mistake with rowkey.
func (s *scan) scansRow() string {
	at := binary.BigEndian.AppendUint64(nil, uint64(math.MaxInt64-s.At))
	return s.lastRow() + "|" + string(at) + "|" + s.Action
}

func (s *scan) lastRow() string {
	sum := md5.Sum([]byte(s.Waybill))
	return hex.EncodeToString(sum[:])[:2] + s.Waybill
}

// record is one record of the input.
type record struct {
	due    time.Duration // after the start
	at     time.Time     // when it was produced
	key    string
	value  []byte
	scan   *scan  // nil: not one that can be written
	poison string // what is wrong with it; empty: nothing
}

// input draws the records of a run, which come in over so long, in the order of their times.
func input(rng *rand.Rand, p *Plan, start time.Time, over time.Duration) []record {
	var all []record
	pause := int64(over) * int64(p.Burst) / int64(p.Records)
	for due := time.Duration(0); due < over; due += time.Duration(rng.Int64N(2 * pause)) {
		for range 1 + rng.IntN(2*p.Burst) {
			all = append(all, draw(rng, p, len(all), due, start, all))
		}
	}
	slices.SortStableFunc(all, func(a, b record) int { return int(a.due - b.due) })
	return all
}

// draw makes one record: mostly a new scan, and now and then what makes trouble.
func draw(rng *rand.Rand, p *Plan, n int, due time.Duration, start time.Time, before []record) record {
	s := &scan{
		Waybill: fmt.Sprintf("W%03d", rng.IntN(p.Waybills)), At: start.Add(due).UnixMilli() - rng.Int64N(1000),
		Action: []string{"ARRIVE", "DEPART", "SIGN"}[rng.IntN(3)], Station: fmt.Sprintf("S%02d", rng.IntN(40)),
		ID: fmt.Sprintf("%06d", n), Note: strings.Repeat("n", rng.IntN(p.Note)),
	}
	var other *scan
	if len(before) > 0 {
		other = before[rng.IntN(len(before))].scan
	}
	r := record{due: due, scan: s}
	switch luck := rng.Float64(); {
	case luck < p.Poison:
		r.poison = poisons[rng.IntN(len(poisons))]
	case other == nil:
	case luck < p.Poison+0.01: // an older version comes late
		s.Waybill, s.At = other.Waybill, other.At-1-rng.Int64N(100_000)
	case luck < p.Poison+0.02: // two changes of one waybill in one millisecond
		s.Waybill, s.At = other.Waybill, other.At
	case luck < p.Poison+0.03: // the same event twice
		*s = *other
	case luck < p.Poison+0.035: // two events on one row
		s.Waybill, s.At, s.Action = other.Waybill, other.At, other.Action
	}
	r.spoil(rng)
	return r
}

var poisons = []string{"no json", "no waybill", "wrong type", "from the future", "too large", "null"}

// spoil writes the record's value, and makes of it what its poison says.
func (r *record) spoil(rng *rand.Rand) {
	r.key = r.scan.Waybill
	switch r.poison {
	case "no waybill":
		r.scan.Waybill = ""
	case "from the future":
		r.scan.At += (25 + rng.Int64N(1000)) * time.Hour.Milliseconds()
	case "too large":
		r.scan.Note = strings.Repeat("n", maxCell+1)
	}
	r.value, _ = json.Marshal(r.scan) // it has only texts and a number
	switch r.poison {
	case "":
		return
	case "no json":
		r.value = r.value[:len(r.value)/2]
	case "wrong type":
		r.value = []byte(`{"waybill":"W","at":"yesterday"}`)
	case "null":
		r.value = nil
	}
	r.scan = nil
}

// partition is where a key's records go.
func partition(key string, of int) int {
	h := fnv.New32a()
	h.Write([]byte(key))
	return int(h.Sum32() % uint32(of))
}
