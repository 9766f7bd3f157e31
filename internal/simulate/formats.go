package simulate

import (
	"encoding/binary"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"brine/derive"
	"brine/event"
	"brine/event/avro"
	"brine/event/csv"
	"brine/event/protobuf"
	"brine/registry"
	"brine/sink"
)

// What the pipeline of a plan with a filter computes from events, and the condition of a plan with otherwise for events that change the
// last row of their waybill, each with the same in Go. A tombstone has no station, so the condition does not apply to it.
const (
	info     = `station + " " + note`
	lastWhen = `station < "S25"`

	lastCondition = "rows.1.when" // name of the condition's field
)

// hidden reports whether its row in the table last is not made because a condition does not hold.
func (s *scan) hidden() bool { return s.Otherwise != "" && s.Station >= "S25" && !s.Gone }

// schema returns the pipeline's schema of the input, with a filter.
func (p *Plan) schema(by filter) (event.Schema, error) {
	s := event.Schema{Version: 1, Fields: []event.Field{
		{Name: "waybill", Type: event.Text}, {Name: "at", Type: event.TimeMS}, {Name: "action", Type: event.Text},
		{Name: "station", Type: event.Text}, {Name: "id", Type: event.Text}, {Name: "note", Type: event.Text},
	}}
	switch p.format() {
	case "json_array":
		s.Format = event.JSONFormat{Array: true}
	case "csv":
		s.Format = csv.Format{Columns: columns}
	}
	if p.Tombstones { // what identifies the row is outside the value, in the key and in headers
		s.Tombstones, s.Images.Deleted = true, "gone"
		s.Fields[0].Place = event.WholeKey
		for _, i := range []int{1, 2, 4} {
			f := &s.Fields[i]
			f.Place, f.Path = event.InHeader, []string{f.Name}
		}
	}
	if p.Tombstones || p.Otherwise == sink.Delete {
		s.Fields = append(s.Fields, event.Field{Name: "gone", Type: event.Bool})
	}
	return s, p.derive(&s, by)
}

// derive adds what expressions compute from events.
func (p *Plan) derive(s *event.Schema, by filter) error {
	if !p.Filter && p.Otherwise == "" && by == 0 {
		return nil
	}
	b := derive.New(s.Fields)
	if p.Filter {
		if _, err := b.Let("info", event.Text, "let.info", info); err != nil {
			return err
		}
	}
	if by != 0 {
		if err := b.When("when", by.when()); err != nil {
			return err
		}
	}
	if p.Otherwise != "" {
		if err := b.Condition(lastCondition, "when", lastWhen); err != nil {
			return err
		}
	}
	s.Fields, s.Derive = b.Fields(), b.Rules()
	return nil
}

// registeredFormat returns the format of records that name their schemas.
func (p *Plan) registeredFormat(c *registry.Client) event.Format {
	if p.Format == "avro" {
		return avro.Registered(c.Framing(), c)
	}
	return protobuf.Registered(c.Framing(), c)
}

// format returns the name of the records' format. Plans that were stored before there were several have none.
func (p *Plan) format() string {
	if p.Format == "" {
		return "json"
	}
	return p.Format
}

// written is a scan as its record contains it; nil is absent.
type written struct{ waybill, at, action, station, id, note *string }

func (p *Plan) written(s *scan, poison string, bad bool) written {
	at := strconv.FormatInt(s.At, 10)
	w := written{&s.Waybill, &at, &s.Action, &s.Station, &s.ID, &s.Note}
	if bad && poison == "no waybill" {
		w.waybill = nil
	}
	if bad && poison == "no note" {
		w.note = nil
	}
	if bad && poison == "wrong type" {
		at = "yesterday"
	}
	return w
}

// columns are the names of the values, in order.
var columns = []string{"waybill", "at", "action", "station", "id", "note"}

func (w *written) values() [6]*string {
	return [...]*string{w.waybill, w.at, w.action, w.station, w.id, w.note}
}

// encoders encode scans as a record of their format, broken if that is the record's poison.
var encoders = map[string]func([]written, *record) []byte{
	"json": func(all []written, r *record) []byte { return r.cut(all[0].json()) },
	"json_array": func(all []written, r *record) []byte {
		var texts []string
		for _, w := range all {
			texts = append(texts, string(w.json()))
		}
		return r.cut([]byte("[" + strings.Join(texts, ", ") + "]"))
	},
	"csv": func(all []written, r *record) []byte {
		var values []string
		for _, v := range all[0].values() {
			if v == nil {
				values = append(values, "")
			} else {
				values = append(values, `"`+strings.ReplaceAll(*v, `"`, `""`)+`"`)
			}
		}
		row := r.cut([]byte(strings.Join(values, ",")))
		if r.poison == "broken" {
			row = append(row, `"x`...) // half a row may be valid, if it is cut between the two quotes that stand for one
		}
		return row
	},
	"avro":     func(all []written, r *record) []byte { return r.cut(r.framed(nil, all[0].avro(r))) },
	"protobuf": func(all []written, r *record) []byte { return r.framed([]byte{2, 2}, all[0].protobuf(r)) }, // the second message
}

// cut returns the value as broken by the poisons that concern the whole record.
func (r *record) cut(value []byte) []byte {
	switch r.poison {
	case "broken":
		return value[:len(value)/2]
	case "null":
		return nil
	}
	return value
}

func (w *written) json() []byte {
	members := map[string]any{}
	for i, v := range w.values() {
		if v != nil {
			members[columns[i]] = *v
		}
	}
	if *w.at != "yesterday" {
		members["at"] = json.Number(*w.at)
	}
	text, _ := json.Marshal(members) // it has only texts and a number
	return text
}

// edition returns the number of the schema of records that arrive at a time: it changes every minute of trouble.
func (r *record) edition() int { return int(r.due / time.Minute) }

// The ids of schemas: of editions, of Avro records whose times are texts, and one that nobody registered.
const (
	firstEdition = 256
	textTimes    = 200
	nobodys      = 77777
)

// framed puts the schema's id before a value, as Confluent's serializers do, and the message's indexes.
func (r *record) framed(indexes, value []byte) []byte {
	id := firstEdition + r.edition()
	switch {
	case r.poison == "null":
		return nil
	case r.poison == "no frame":
		return value
	case r.poison == "unknown schema":
		id = nobodys
	case r.poison == "wrong type" && indexes == nil:
		id = textTimes
	}
	return append(append(binary.BigEndian.AppendUint32([]byte{0}, uint32(id)), indexes...), value...)
}

// rotated returns the order of the columns in an edition.
func rotated(edition int) (order []int) {
	for i := range columns {
		order = append(order, (i+edition)%len(columns))
	}
	return order
}

// avro encodes a scan by Avro's specification: a union's branch, a length and its bytes, or a zigzag number.
func (w *written) avro(r *record) (value []byte) {
	order := rotated(r.edition())
	if r.poison == "wrong type" {
		order = rotated(0)
	}
	for _, i := range order {
		v := w.values()[i]
		switch {
		case v == nil:
			value = append(value, 0)
		case columns[i] == "at" && r.poison != "wrong type":
			at, _ := strconv.ParseInt(*v, 10, 64)
			if r.edition()%2 == 1 { // in microseconds, some within a millisecond
				at = at*1000 + 7
			}
			value = binary.AppendVarint(append(value, 2), at)
		default:
			value = append(binary.AppendVarint(append(value, 2), int64(len(*v))), *v...)
		}
	}
	return value
}

// protobuf encodes a scan as a message whose field numbers differ in each edition.
func (w *written) protobuf(r *record) (value []byte) {
	for number, i := range rotated(r.edition()) {
		v := w.values()[i]
		if v == nil {
			continue
		}
		field := protowire.Number(number + 1)
		if at, err := strconv.ParseUint(*v, 10, 64); err == nil && columns[i] == "at" {
			value = protowire.AppendVarint(protowire.AppendTag(value, field, protowire.VarintType), at)
		} else {
			value = protowire.AppendString(protowire.AppendTag(value, field, protowire.BytesType), *v)
		}
	}
	if r.poison == "broken" {
		return append(value, 0) // no field has the number 0
	}
	return value
}
