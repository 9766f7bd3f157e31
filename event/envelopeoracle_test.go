package event_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"brine/event"
)

// The oracle reads what publishers of changes wrap in JSON with encoding/json, member by member, and does what the documents say: slowly,
// and without anything of the decoder. jsontext decides what is JSON, because encoding/json takes texts that are not UTF-8.

// The outcomes without events.
const (
	rejectedRecord = "rejected"
	unjudgedRecord = "unjudged" // the schema has a type that the oracle does not read
)

// oracleMember is a member of an object; a name may occur twice.
type oracleMember struct {
	name string
	raw  json.RawMessage
}

// oracleObject returns the members of valid JSON; false: it is not an object.
func oracleObject(raw json.RawMessage) (members []oracleMember, ok bool) {
	d := json.NewDecoder(bytes.NewReader(raw))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, false
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			panic(err)
		}
		m := oracleMember{name: name.(string)}
		if err := d.Decode(&m.raw); err != nil {
			panic(err)
		}
		members = append(members, m)
	}
	return members, true
}

func oracleText(raw json.RawMessage) (text string, ok bool) {
	return text, len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &text) == nil
}

func isNull(raw json.RawMessage) bool { return string(raw) == "null" }

// oracleColumn is a field as the oracle declares it.
type oracleColumn struct {
	name    string
	typ     event.Type
	decimal bool // of a text: {text: {from: decimal, scale: 2}}
	texts   bool // a text in the type's form is taken as well
	ofRow   bool // Debezium may write its placeholder instead of a value
}

// oracleType is a type of Kafka Connect's.
type oracleType struct {
	Type       string            `json:"type"`
	Name       string            `json:"name"`
	Field      string            `json:"field"`
	Parameters map[string]string `json:"parameters"`
	Fields     []oracleType      `json:"fields"`
}

func (t *oracleType) field(name string) *oracleType {
	if t != nil {
		for i := range t.Fields {
			if t.Fields[i].Field == name {
				return &t.Fields[i]
			}
		}
	}
	return nil
}

// oracleUnits are numbers of nanoseconds.
var oracleUnits = map[string]int64{"io.debezium.time.Date": 86400e9, "org.apache.kafka.connect.data.Date": 86400e9, "io.debezium.time.Timestamp": 1e6,
	"org.apache.kafka.connect.data.Timestamp": 1e6, "io.debezium.time.MicroTimestamp": 1e3, "io.debezium.time.NanoTimestamp": 1}

// oracleCell is what the oracle reads of a column.
type oracleCell struct {
	value   event.Value
	lacking bool // the placeholder stands for it
	bad     bool
	skipped bool // of a type that the oracle does not read
}

// cell reads a value; t is its type in the record's schema, or nil.
func (c oracleColumn) cell(raw json.RawMessage, t *oracleType) oracleCell {
	text, isText := oracleText(raw)
	members, isObject := oracleObject(raw)
	decimal, variable, scale, unit := c.decimal, false, 2, int64(0)
	if t != nil {
		switch declared, err := strconv.Atoi(t.Parameters["scale"]); {
		case t.Name == "io.debezium.time.ZonedTimestamp", t.Name == "io.debezium.data.VariableScaleDecimal" && c.typ == event.Nested:
			return oracleCell{skipped: true}
		case t.Name == "org.apache.kafka.connect.data.Decimal" && err == nil:
			decimal, scale = true, declared
		case t.Name == "org.apache.kafka.connect.data.Decimal": // the declaration counts
		case t.Name == "io.debezium.data.VariableScaleDecimal":
			decimal, variable = false, true
		case oracleUnits[t.Name] != 0:
			decimal, unit = false, oracleUnits[t.Name]
		case t.Type != "bytes":
			decimal = false
		}
	}
	switch {
	case isNull(raw):
		return oracleCell{}
	case c.ofRow && oraclePlaceholder(raw):
		return oracleCell{lacking: true}
	case decimal && isText:
		return c.unscaled(text, scale)
	case (c.ofRow || decimal || variable || unit != 0) && isObject && c.typ != event.Nested:
		return c.variable(members)
	case unit != 0 && oracleInteger.Match(raw):
		return c.count(string(raw), unit)
	case unit != 0 && oracleNumber(string(raw)):
		return oracleCell{bad: true}
	case c.texts && isText && c.typ == event.Nested && jsontext.Value(text).IsValid():
		return oracleCell{value: event.NestedValue(text)}
	case c.texts && isText && c.typ == event.Bool:
		return c.plain(strings.NewReplacer("1", "true", "0", "false").Replace(text), len(text) == 1 || text == "true" || text == "false")
	case c.texts && isText && c.typ != event.Text && c.typ != event.Nested:
		return c.plain(text, oracleNumber(text))
	case c.typ == event.Text && isText:
		return oracleCell{value: event.TextValue(text)}
	case c.typ == event.Nested:
		return oracleCell{value: event.NestedValue(string(raw))}
	}
	return c.plain(string(raw), true)
}

var oracleInteger = regexp.MustCompile(`^-?(0|[1-9][0-9]*)$`)

func oracleNumber(text string) bool {
	return text != "" && strings.IndexByte("-0123456789", text[0]) >= 0 && strings.TrimSpace(text) == text && jsontext.Value(text).IsValid()
}

// plain reads a value that is neither a text nor JSON to be kept.
func (c oracleColumn) plain(raw string, ok bool) oracleCell {
	bad := oracleCell{bad: true}
	if !ok {
		return bad
	}
	switch c.typ {
	case event.Int, event.TimeMS:
		i, err := strconv.ParseInt(raw, 10, 64)
		switch {
		case err != nil || !oracleInteger.MatchString(raw):
			return bad
		case c.typ == event.TimeMS:
			return oracleCell{value: event.TimeValue(i)}
		}
		return oracleCell{value: event.IntValue(i)}
	case event.Float:
		f, err := strconv.ParseFloat(raw, 64)
		if err != nil || !oracleNumber(raw) || f == 0 && strings.ContainsAny(strings.Split(strings.ToLower(raw), "e")[0], "123456789") {
			return bad
		}
		return oracleCell{value: event.FloatValue(f)}
	case event.Bool:
		if raw == "true" || raw == "false" {
			return oracleCell{value: event.BoolValue(raw == "true")}
		}
	case event.Text:
		if c.decimal && oracleNumber(raw) {
			return oracleCell{value: event.TextValue(raw)}
		}
	}
	return bad
}

// count reads a number of units since 1970.
func (c oracleColumn) count(digits string, unit int64) oracleCell {
	n, _ := new(big.Int).SetString(digits, 10)
	if !n.IsInt64() {
		return oracleCell{bad: true}
	}
	if c.typ != event.TimeMS {
		return c.digits(n.String())
	}
	n.Mul(n, big.NewInt(unit))
	if n.Div(n, big.NewInt(1e6)); !n.IsInt64() { // rounds down
		return oracleCell{bad: true}
	}
	return oracleCell{value: event.TimeValue(n.Int64())}
}

// digits reads a decimal number.
func (c oracleColumn) digits(number string) oracleCell {
	if c.typ == event.Nested {
		return oracleCell{value: event.NestedValue(number)}
	}
	return c.plain(number, true)
}

// unscaled reads a decimal in base64.
func (c oracleColumn) unscaled(text string, scale int) oracleCell {
	p, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(p) == 0 || strings.ContainsAny(text, "\r\n") || scale < 0 || scale > 38 || len(text) > 43 { // 38 digits take 24
		return oracleCell{bad: true}
	}
	n := new(big.Int).SetBytes(p)
	if p[0] >= 0x80 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(p))))
	}
	if len(new(big.Int).Abs(n).String()) > 38 {
		return oracleCell{bad: true}
	}
	return c.digits(new(big.Rat).SetFrac(n, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil)).FloatString(scale))
}

// variable reads {"scale": 2, "value": "MDk="}. It takes texts and numbers for each other, of which Debezium writes neither.
func (c oracleColumn) variable(members []oracleMember) oracleCell {
	said := map[string]string{}
	for _, m := range members {
		if text, ok := oracleText(m.raw); ok {
			said[m.name] = text
		} else if !isNull(m.raw) {
			said[m.name] = string(m.raw)
		}
	}
	scale, err := strconv.Atoi(said["scale"])
	text, ok := said["value"]
	if err != nil || !ok {
		return oracleCell{bad: true}
	}
	return c.unscaled(text, scale)
}

// oraclePlaceholder reports whether JSON stands for a column that the database did not send: a text in any of the forms of a column's type.
func oraclePlaceholder(raw json.RawMessage) bool {
	const said = "__debezium_unavailable_value"
	texts := []string{said, base64.StdEncoding.EncodeToString([]byte(said)), "5f5f646562657a69756d5f756e617661696c61626c655f76616c7565", `{"` + said + `":"` + said + `"}`}
	if text, ok := oracleText(raw); ok {
		return slices.Contains(texts, text)
	}
	if members, ok := oracleObject(raw); ok {
		if len(members) != 1 || members[0].name != said {
			return false
		}
		text, ok := oracleText(members[0].raw)
		return ok && text == said
	}
	var list []json.RawMessage
	if raw[0] != '[' || json.Unmarshal(raw, &list) != nil {
		return false
	}
	if len(list) == 1 {
		text, ok := oracleText(list[0])
		return ok && (slices.Contains(texts, text) || text == "b68a35a7-17ad-35b3-af2a-ae46edb4545a")
	}
	codes := ""
	for _, item := range list {
		digits := strings.Trim(string(item), `"`)
		code, err := strconv.Atoi(digits)
		if err != nil || code < 0 || code > 127 || strconv.Itoa(code) != digits {
			return false
		}
		codes += string(rune(code))
	}
	return codes == said
}

// oracleRow is an object with columns: of an image, or of a record as a whole.
type oracleRow struct {
	there  bool
	bad    bool
	skip   bool
	cells  map[string]oracleCell // of the declared columns that occur
	counts map[string]int        // of all members
	raw    map[string]json.RawMessage
}

// row reads an object. twice are the members, besides the columns, that may occur only once.
func (o *envelopeOracle) row(raw json.RawMessage, columns []oracleColumn, t *oracleType, twice ...string) (r oracleRow) {
	if raw == nil || isNull(raw) {
		return r
	}
	members, ok := oracleObject(raw)
	if !ok {
		return oracleRow{bad: true}
	}
	r = oracleRow{there: true, cells: map[string]oracleCell{}, counts: map[string]int{}, raw: map[string]json.RawMessage{}}
	for _, m := range members {
		r.counts[m.name]++
		r.raw[m.name] = m.raw
	}
	for _, c := range columns {
		if r.counts[c.name] == 0 {
			continue
		}
		twice = append(twice, c.name)
		cell := c.cell(r.raw[c.name], t.field(c.name))
		r.cells[c.name], r.bad, r.skip = cell, r.bad || cell.bad, r.skip || cell.skipped
	}
	for _, name := range twice {
		r.bad = r.bad || r.counts[name] > 1
	}
	return r
}

// text returns a member that must be a text, or null.
func (r *oracleRow) text(name string) string {
	raw := r.raw[name]
	if raw == nil || isNull(raw) {
		return ""
	}
	text, ok := oracleText(raw)
	r.bad = r.bad || !ok
	return text
}

// envelopeOracle knows what records in an envelope mean.
type envelopeOracle struct {
	schema  event.Schema
	columns []oracleColumn // of the row
	keys    []string       // envelope.key; nil: before-images are whole
	partial bool
}

func (o *envelopeOracle) unwrapped() bool { return o.schema.Envelope.Unwrapped }

// said returns the expected outcome of a record, a line for each of its events.
func (o *envelopeOracle) said(value []byte) string {
	if !jsontext.Value(value).IsValid(jsontext.AllowDuplicateNames(true)) {
		return rejectedRecord
	}
	switch o.schema.Envelope.Form {
	case event.Debezium:
		return o.debezium(bytes.TrimSpace(value))
	case event.Canal:
		return o.canal(value)
	}
	return o.maxwell(value)
}

// shown returns the line of an event. former is nil if there is none.
func (o *envelopeOracle) shown(row, former, ofEnvelope map[string]oracleCell, index int, gone bool) string {
	values := func(row map[string]oracleCell, gone bool) (out []event.Value) {
		for _, f := range o.schema.Fields {
			switch cell, own := ofEnvelope[f.Name]; {
			case f.Name == "row":
				out = append(out, event.IntValue(int64(index)))
			case f.Name == "gone":
				out = append(out, event.BoolValue(gone))
			case own:
				out = append(out, cell.value)
			default:
				out = append(out, row[f.Name].value)
			}
		}
		return out
	}
	ev := event.Event{Version: 1000, Values: values(row, gone)}
	if former != nil {
		ev.Former = values(former, false)
	}
	return shown(o.schema, &ev)
}

// before returns the row before a change: what it lacks did not change.
func before(old, row oracleRow) map[string]oracleCell {
	out := map[string]oracleCell{}
	for name, cell := range row.cells {
		out[name] = cell
	}
	for name, cell := range old.cells {
		out[name] = cell
	}
	return out
}

// envelopeOracles are the envelopes whose records are JSON, with columns of several types.
func envelopeOracles(t testing.TB) (out []*envelopeOracle) {
	t.Helper()
	for _, e := range []event.Envelope{{Form: event.Debezium}, {Form: event.Debezium, Keys: []string{"id"}, Partial: true},
		{Form: event.Debezium, Unwrapped: true, MarkedDeletes: true, Keys: []string{"id"}},
		{Form: event.Debezium, Unwrapped: true, Keys: []string{"id"}, Partial: true}, {Form: event.Canal}, {Form: event.Maxwell}} {
		fields := []event.Field{at("id", event.Int), at("name", event.Text), at("day", event.TimeMS), at("more", event.Nested), at("paid", event.Bool),
			at("rate", event.Float)}
		if e.Form == event.Debezium {
			fields = append(fields, event.Field{Name: "price", Type: event.Text, Decimal: true, Scale: 2})
		}
		o := &envelopeOracle{keys: e.Keys, partial: e.Partial}
		for _, f := range fields {
			o.columns = append(o.columns, oracleColumn{f.Name, f.Type, f.Decimal, e.Form == event.Canal, e.Form == event.Debezium})
		}
		o.schema = wrap(e, -1, append(fields, at("ts", event.TimeMS, "$ts_ms"), at("row", event.Int, "$row"))...)
		if err := o.schema.Validate(); err != nil {
			t.Fatal(err)
		}
		out = append(out, o)
	}
	return out
}

// agrees compares a decoder with the oracle, also when the record comes again, and reports whether the record is one that writes something.
func (o *envelopeOracle) agrees(t *testing.T, d *event.Decoder, value []byte) (writes bool) {
	t.Helper()
	want := o.said(value)
	if want == unjudgedRecord {
		return false
	}
	for _, time := range []string{"once", "twice"} {
		var b event.Batch
		err := d.Decode(&event.Record{Value: value, Timestamp: 1000}, &b)
		got := rejectedRecord
		if err == nil {
			var lines []string
			for i := range b.Events {
				lines = append(lines, shown(o.schema, &b.Events[i]))
			}
			got = strings.Join(lines, "\n")
		}
		if got != want {
			t.Fatalf("%s (%+v), decoded %s: %s\ngot  %s (%v)\nwant %s", o.schema.Envelope.Form, *o.schema.Envelope, time, value, got, err, want)
		}
	}
	return strings.HasPrefix(want, "version=")
}
