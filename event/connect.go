package event

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// connectReader reads JSON as Kafka Connect writes it: bare, or as {"schema": …, "payload": …}; it detects which for each record. The
// schema determines which values are decimals and times.
//
// ExtractNewRecordState leaves a deleted row its schema, so that Kafka Connect writes {"schema": …, "payload": null}, or the text null.
type connectReader struct {
	jsonReader
	unwrapped bool
	current   *connectSchema // whose forms the nodes have; nil: the declared forms
	known     map[string]*connectSchema
}

// connectSchema is a schema of the records. Nearly all of them share one.
type connectSchema struct {
	head []byte  // of a record: everything before the payload, which comes last; nil: no such record was seen
	own  LeftOut // why the records are left out; empty: they are not
	fields
}

// fields are a schema as Kafka Connect writes it.
type fields struct {
	Type       string            `json:"type"`
	Name       string            `json:"name"`
	Field      string            `json:"field"`
	Parameters map[string]string `json:"parameters"`
	Fields     []fields          `json:"fields"`
}

const maxConnectSchemas = 16 // that a decoder remembers

func newConnectReader(root *Node, unwrapped bool) *connectReader {
	return &connectReader{jsonReader: jsonReader{root: root}, unwrapped: unwrapped, known: map[string]*connectSchema{}}
}

// Read implements Reader.
func (r *connectReader) Read(rec *Record, b *Builder) *Error {
	value := rec.Value
	if s := r.current; s != nil && s.head != nil {
		if r.sameSchema(s.head, value, b) {
			return nil
		}
		b.restart() // errors are worded the same, whichever schema came before
	}
	w, err := r.unwrap(value)
	switch {
	case err != nil:
		return err
	case r.unwrapped && string(bytes.Trim(value, space)) == "null":
		return b.decoder.envelope.noValue(b)
	case w.schema == nil || w.payload == nil:
		r.use(nil)
		return r.read(r.root, value, b)
	case string(w.payload) == "null":
		return b.decoder.envelope.noValue(b)
	}
	if err := r.learn(w); err != nil {
		return err
	}
	if r.current != nil && r.current.own != "" {
		b.LeaveOut(r.current.own)
		return nil
	}
	return r.read(r.root, w.payload, b)
}

// sameSchema reads a record that begins like the previous one, without parsing the schema again. It returns false if that does not work.
func (r *connectReader) sameSchema(head, value []byte, b *Builder) bool {
	if !bytes.HasPrefix(value, head) || !bytes.HasPrefix(value[len(head):], []byte{'{'}) {
		return false
	}
	rest, err := r.first(r.root, value[len(head):], b)
	rest, closed := bytes.CutPrefix(bytes.TrimLeft(rest, space), []byte{'}'})
	return err == nil && closed && len(bytes.TrimLeft(rest, space)) == 0
}

// wrapped is a record split into its two parts. The head is all that comes before the payload; it is nil if the schema comes last.
type wrapped struct{ head, schema, payload []byte }

// mayHaveMore reports whether something may have been added to a wrapped record. A row with columns of these names, and others, holds
// other values in them.
func (w *wrapped) mayHaveMore() bool {
	part := func(raw []byte) bool { return raw[0] == '{' || raw[0] == 'n' }
	return part(w.schema) && part(w.payload) && (w.schema[0] == '{' || w.payload[0] == '{')
}

const space = " \t\r\n"

// isBare reports whether the first member of a record is certainly neither of the two of a wrapped one.
func isBare(value []byte) bool {
	i := skipSpace(value, 0)
	if i == len(value) || value[i] != '{' {
		return false
	}
	first := value[skipSpace(value, i+1):]
	if len(first) > 1 && bytes.IndexByte(first[:min(len(first), len(`"payload"`))], '\\') >= 0 {
		return false // the name has an escape
	}
	return !bytes.HasPrefix(first, []byte(`"schema"`)) && !bytes.HasPrefix(first, []byte(`"payload"`))
}

// unwrap finds the two members of a wrapped record, which may have no others. For a bare one it returns none.
func (r *connectReader) unwrap(value []byte) (w wrapped, wrong *Error) {
	if isBare(value) {
		return wrapped{}, nil
	}
	r.reset(value)
	if r.json.PeekKind() != '{' {
		return wrapped{}, nil
	}
	_, err := r.json.ReadToken()
	for err == nil && r.json.PeekKind() != '}' {
		var name, raw jsontext.Value
		if name, err = r.json.ReadValue(); err != nil {
			break
		}
		part := &w.schema
		switch key := string(r.unquoted(name)); {
		case key == "payload":
			part = &w.payload
		case key == "schema":
		case w.schema != nil && w.payload != nil && w.mayHaveMore():
			return wrapped{}, &Error{Reason: Undecodable, Detail: "there is data after the payload"}
		default:
			return wrapped{}, nil
		}
		twice := *part != nil
		if twice {
			return wrapped{}, &Error{Reason: Undecodable, Field: string(r.unquoted(name)), Detail: "it occurs twice"}
		}
		if raw, err = r.json.ReadValue(); err == nil {
			end := int(r.json.InputOffset())
			if *part = value[end-len(raw) : end]; part == &w.payload && w.schema != nil {
				w.head = value[:end-len(raw)]
			}
		}
	}
	if err == nil {
		_, err = r.json.ReadToken()
	}
	if err != nil {
		return wrapped{}, undecodable(err)
	}
	if rest := bytes.TrimLeft(value[r.json.InputOffset():], space); w.schema != nil && w.payload != nil && len(rest) > 0 {
		return wrapped{}, &Error{Reason: Undecodable, Detail: "there is data after the payload"}
	}
	return w, nil
}

// learn sets the nodes' forms from a record's schema.
func (r *connectReader) learn(w wrapped) *Error {
	s, err := r.schemaOf(w)
	if err == nil {
		r.use(s)
	}
	return err
}

// schemaOf returns a record's schema; nil: it has none.
func (r *connectReader) schemaOf(w wrapped) (*connectSchema, *Error) {
	if string(w.schema) == "null" {
		return nil, nil
	}
	s := r.known[string(w.schema)]
	if s == nil {
		s = &connectSchema{}
		if err := json.Unmarshal(w.schema, &s.fields); err != nil {
			return nil, &Error{Reason: Undecodable, Field: "schema", Detail: "it is not a Kafka Connect schema"}
		}
		s.own = r.root.OwnRecord(Shape{Name: s.Name})
		if len(r.known) == maxConnectSchemas {
			clear(r.known)
		}
		r.known[string(w.schema)] = s
	}
	if s.head == nil && s.own == "" {
		s.head = bytes.Clone(w.head)
	}
	return s, nil
}

// use sets the nodes' forms to those of a schema, or to the declared ones if s is nil.
func (r *connectReader) use(s *connectSchema) {
	if r.current == s {
		return
	}
	if r.current = s; s == nil {
		r.root.shape(nil)
	} else {
		r.root.shape(&s.fields)
	}
}

// shape sets the forms of n and of the nodes below it from a schema.
func (n *Node) shape(s *fields) {
	if n.form = n.usual; s != nil {
		n.form = s.form(n.usual)
	}
	for _, m := range n.children {
		m.shape(s.find(m.key))
	}
}

func (f *fields) find(key string) *fields {
	if f == nil {
		return nil
	}
	for i := range f.Fields {
		if f.Fields[i].Field == key {
			return &f.Fields[i]
		}
	}
	return nil
}

// units are the types that count since 1970.
var units = map[string]Unit{
	"io.debezium.time.Date": Days, "io.debezium.time.Timestamp": Milliseconds, "io.debezium.time.MicroTimestamp": Microseconds,
	"io.debezium.time.NanoTimestamp": Nanoseconds, "org.apache.kafka.connect.data.Date": Days,
	"org.apache.kafka.connect.data.Timestamp": Milliseconds,
}

// form returns the form of values of a type.
func (f *fields) form(declared form) form {
	switch f.Name {
	case "org.apache.kafka.connect.data.Decimal":
		scale, err := strconv.Atoi(f.Parameters["scale"])
		if err != nil {
			return declared
		}
		return form{kind: decimalForm, scale: scale}
	case "io.debezium.data.VariableScaleDecimal":
		return form{kind: variableForm}
	case "io.debezium.time.ZonedTimestamp":
		return form{kind: zonedForm}
	}
	if unit, ok := units[f.Name]; ok {
		return form{kind: unitForm, unit: unit}
	}
	if f.Type == "bytes" {
		return declared
	}
	return form{} // for example, a decimal that the connector sends as text
}

// base64Decimal sets a field to a decimal given as bytes in base64.
func (b *Builder) base64Decimal(n *Node, text []byte, scale int) *Error {
	var room [2 * maxDecimalBytes]byte
	if base64.StdEncoding.DecodedLen(len(text)) > len(room) {
		return &Error{Reason: WrongType, Field: n.path, Detail: "the decimal has more than 38 digits"}
	}
	size, err := base64.StdEncoding.Decode(room[:], text)
	if err != nil || size == 0 || bytes.ContainsAny(text, "\r\n") { // which Decode skips
		return &Error{Reason: WrongType, Field: n.path, Detail: "a decimal of bytes in base64 is expected, found " + Quoted(text)}
	}
	b.Forget(n)
	return b.Decimal(n, room[:size], scale)
}

// variableDecimal sets a field to {"scale": 2, "value": "MDk="}.
func (b *Builder) variableDecimal(n *Node, raw []byte) (known bool, err *Error) {
	var scale, value []byte
	var m Members
	if err := m.Read(raw, func(name, v []byte) *Error {
		switch string(name) {
		case "scale":
			scale = v
		case "value":
			value = v
		}
		return nil
	}); err != nil {
		return true, err
	}
	places, wrong := strconv.Atoi(string(scale))
	if wrong != nil || value == nil {
		return false, nil //nolint:nilerr // the object is not a decimal of Debezium's
	}
	return true, b.base64Decimal(n, value, places)
}

// Own implements Recognizer.
func (r *connectReader) Own(rec *Record) LeftOut {
	w, err := r.unwrap(rec.Value)
	switch {
	case err != nil:
		return ""
	case w.schema == nil || w.payload == nil:
		return r.own(rec.Value)
	case string(w.payload) == "null":
		return ""
	}
	switch s, err := r.schemaOf(w); {
	case err != nil:
		return ""
	case s != nil && s.own != "":
		return s.own
	}
	return r.own(w.payload)
}
