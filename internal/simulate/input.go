package simulate

import (
	"crypto/md5"
	"encoding/binary"
	"encoding/hex"
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

const (
	scansKey = `md5(waybill, 2) + waybill + "|" + desc(at, ms) + "|" + action` // one row per event
	lastKey  = `md5(waybill, 2) + waybill`                                     // one row for all changes of a waybill

	maxCell = 4 << 10 // bytes; a longer note is a dead letter
)

// column is a column of the tables and the field that sets it.
type column struct {
	family, qualifier string
	value             func(*scan) string
}

// tables are the two tables to which each scan is written; a suffix names another pair of them.
var tables = []struct {
	name    string
	kind    sink.RowKind
	key     string
	row     func(*scan) string
	columns []column
}{
	{"scans", sink.RowEvent, scansKey, (*scan).scansRow, []column{
		{"e", "i", func(s *scan) string { return s.ID }}, {"e", "s", (*scan).stationed}, {"e", "n", (*scan).noted},
		{"e", goneQualifier, (*scan).ended}}},
	{"last", sink.RowEntity, lastKey, (*scan).lastRow, []column{
		{"a", "i", unlessHidden(func(s *scan) string { return s.ID })}, {"b", "s", unlessHidden((*scan).stationed)},
		{"a", goneQualifier, (*scan).lastEnded}}},
}

// lastTable is the table whose rows may have a condition.
const lastTable = 1

// unlessHidden returns a column's value, which an event that makes no row does not write.
func unlessHidden(value func(*scan) string) func(*scan) string {
	return func(s *scan) string {
		if s.hidden() {
			return nowhere
		}
		return value(s)
	}
}

// goneQualifier is the qualifier of the column that says whether a row is deleted. It sorts last, because the first cell of a row must be
// its scan's id.
const goneQualifier = "z"

// nowhere is the value of a column that an event does not write.
const nowhere = "\x00nowhere"

// field returns a column's field, as the sink's configuration names it.
func (p *Plan) field(qualifier string) string {
	if qualifier == "n" && p.Filter {
		return "info"
	}
	return map[string]string{"i": "id", "s": "station", "n": "note", goneQualifier: "gone"}[qualifier]
}

// rows returns the sink's configuration for a pair of tables.
func rows(p *Plan, schema event.Schema, suffix string) ([]sink.Rows, error) {
	var all []sink.Rows
	for i, t := range tables {
		key, err := eventkey.Parse(t.key, schema)
		if err != nil {
			return nil, err
		}
		r := sink.Rows{Table: sink.Table{Name: t.name + suffix, Row: t.kind, Keys: rowkey.One(key)}}
		ends := p.Tombstones
		if i == lastTable && p.Otherwise != "" {
			r.When, r.Otherwise = lastCondition, p.Otherwise
			if p.Otherwise == sink.Delete {
				r.Deletes.Field, ends = "gone", true
			}
		}
		for _, c := range t.columns {
			if c.qualifier == goneQualifier && !ends {
				continue
			}
			r.Columns = append(r.Columns, sink.Column{Family: c.family, Qualifier: c.qualifier, Field: p.field(c.qualifier)})
		}
		all = append(all, r)
	}
	return all, nil
}

// scan is one event.
type scan struct {
	Waybill, Action, Station, ID, Note string

	At   int64
	Info string // result of the pipeline's let
	Gone bool   // it is a tombstone
	Ends bool   // in a plan with tombstones: a column says whether it is one

	Otherwise sink.Otherwise // of the plan
}

// scansRow and lastRow build the rows as docs/rowkeys.md describes them, so that they do not share a mistake with rowkey.
func (s *scan) scansRow() string {
	at := binary.BigEndian.AppendUint64(nil, uint64(math.MaxInt64-s.At))
	return s.lastRow() + "|" + string(at) + "|" + s.Action
}

func (s *scan) lastRow() string {
	sum := md5.Sum([]byte(s.Waybill))
	return hex.EncodeToString(sum[:])[:2] + s.Waybill
}

// stationed returns the scan's value in the column of stations.
func (s *scan) stationed() string {
	if s.Gone {
		return nowhere
	}
	return s.Station
}

// ended returns the scan's value in the column that says whether a row is deleted, in the bytes of HBase.
func (s *scan) ended() string {
	switch {
	case !s.Ends:
		return nowhere
	case s.Gone:
		return "\xff"
	}
	return "\x00"
}

// lastEnded returns the same for the table last, whose rows may also end because a condition no longer holds.
func (s *scan) lastEnded() string {
	switch {
	case s.hidden() && s.Otherwise == sink.Skip:
		return nowhere
	case s.hidden():
		return "\xff"
	case s.Otherwise == sink.Delete && !s.Gone:
		return "\x00"
	}
	return s.ended()
}

// noted returns the scan's value in the column of notes.
func (s *scan) noted() string {
	if s.Gone {
		return nowhere
	}
	if s.Info != "" {
		return s.Info
	}
	return s.Note
}

// record is one record of the input.
type record struct {
	due    time.Duration // after the start
	at     time.Time     // when it was produced
	key    string
	value  []byte
	beside map[string]string // header values
	scans  []*scan           // what can be written of it, if a filter keeps it
	poison string            // its fault; empty: none

	by, must some // filters: those by which it was submitted, and those by which what was committed settled it
}

// input draws the records of a run, which arrive over the given time, sorted by time.
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

// draw returns one record: usually of a new scan, and sometimes of a troublesome one.
func draw(rng *rand.Rand, p *Plan, n int, due time.Duration, start time.Time, before []record) record {
	first, poison := drawScan(rng, p, fmt.Sprintf("%06d", n), due, start, before)
	r := record{due: due, key: first.Waybill, scans: []*scan{first}, poison: poison}
	for i := 1; p.Format == "json_array" && i < 1+n%4; i++ { // of one waybill, because order holds only within a partition
		s, _ := drawScan(rng, p, fmt.Sprintf("%06d.%d", n, i), due, start, nil)
		s.Waybill = first.Waybill
		if rng.IntN(10) == 0 {
			s.At = first.At
		}
		r.scans = append(r.scans, s)
	}
	if p.Nulls > 0 && rng.Float64() < p.Nulls {
		r.poison = "null"
	}
	if r.poison == "null" && p.Tombstones {
		first.ID, first.Gone, r.poison = fmt.Sprintf("%06d", n), true, ""
	}
	r.write(rng, p)
	return r
}

// drawScan returns one scan, and the fault that its record is to have.
func drawScan(rng *rand.Rand, p *Plan, id string, due time.Duration, start time.Time, before []record) (s *scan, poison string) {
	s = &scan{
		Waybill: fmt.Sprintf("W%03d", rng.IntN(p.Waybills)), At: start.Add(due).UnixMilli() - rng.Int64N(1000),
		Action: []string{"ARRIVE", "DEPART", "SIGN"}[rng.IntN(3)], Station: fmt.Sprintf("S%02d", rng.IntN(40)),
		ID: id, Note: strings.Repeat("n", rng.IntN(p.Note)),
	}
	var other *scan
	if len(before) > 0 {
		if scans := before[rng.IntN(len(before))].scans; len(scans) > 0 {
			other = scans[0]
		}
	}
	switch luck := rng.Float64(); {
	case luck < p.Poison:
		return s, p.poison(rng)
	case other == nil:
	case luck < p.Poison+0.01: // an older version arrives late
		s.Waybill, s.At = other.Waybill, other.At-1-rng.Int64N(100_000)
	case luck < p.Poison+0.02: // two changes of one waybill in one millisecond
		s.Waybill, s.At = other.Waybill, other.At
	case luck < p.Poison+0.03: // the same event twice
		*s = *other
	case luck < p.Poison+0.035: // two events for one row
		s.Waybill, s.At, s.Action = other.Waybill, other.At, other.Action
	}
	return s, ""
}

// poison draws a record's fault.
func (p *Plan) poison(rng *rand.Rand) string {
	kinds := []string{"broken", "no waybill", "wrong type", "from the future", "too large", "null"}
	if p.Filter {
		kinds = append(kinds, "no note")
	}
	if p.registered() {
		kinds = append(kinds, "no frame", "unknown schema")
	}
	kind := kinds[rng.IntN(len(kinds))]
	if p.Tombstones && kind == "no waybill" { // it is the record's key
		return "broken"
	}
	return kind
}

// write encodes the record's value in the plan's format, breaks it according to its poison, and leaves in scans what must become of it.
func (r *record) write(rng *rand.Rand, p *Plan) {
	at := 0
	if len(r.scans) > 1 {
		at = rng.IntN(len(r.scans))
	}
	bad := r.scans[at]
	if r.poison != "" {
		bad.Action = "ARRIVE" // every filter keeps it
	}
	switch r.poison {
	case "from the future":
		bad.At += (25 + rng.Int64N(1000)) * time.Hour.Milliseconds()
	case "too large":
		bad.Note = strings.Repeat("n", maxCell+1)
	}
	var all []written
	for i, s := range r.scans {
		s.Ends, s.Otherwise = p.Tombstones, p.Otherwise
		all = append(all, p.written(s, r.poison, i == at))
	}
	if p.Tombstones {
		r.beside = map[string]string{"at": *all[0].at, "action": *all[0].action, "id": *all[0].id}
	}
	if !bad.Gone {
		r.value = encoders[p.format()](all, r)
	}
	switch r.poison {
	case "":
	case "no waybill", "too large": // detected when it is written: the other scans of the record are written
		r.scans = slices.Delete(r.scans, at, at+1)
	default:
		r.scans = nil
	}
	if p.Filter {
		for _, s := range r.scans {
			if !s.Gone {
				s.Info = s.Station + " " + s.Note
			}
		}
	}
}

// partition returns the partition of a key's records.
func partition(key string, of int) int {
	h := fnv.New32a()
	h.Write([]byte(key))
	return int(h.Sum32() % uint32(of))
}
