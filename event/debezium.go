package event

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// Debezium writes this text instead of a value that the database did not send because it has not changed.
const unavailable = "__debezium_unavailable_value"

// unavailableForms are its JSON as a text, as bytes and as a list.
var unavailableForms = [][]byte{[]byte(`"` + unavailable + `"`), []byte(`"X19kZWJleml1bV91bmF2YWlsYWJsZV92YWx1ZQ=="`),
	[]byte(`["` + unavailable + `"]`)}

// debezium judges an event that Debezium has wrapped.
func (e *envelope) debezium(b *Builder) (gone bool, err *Error) {
	switch op := b.said(e.kind); string(op) {
	case "c", "r":
		if err := e.images(b, false, true); err != nil {
			return false, err
		}
		return false, e.complete(b)
	case "u":
		if err := e.images(b, !e.keyOnly(), true); err != nil {
			return false, err
		}
		return false, e.complete(b)
	case "d":
		return true, e.images(b, true, false)
	case "t":
		return false, e.leaveOut(b, Truncate)
	case "m":
		return false, e.leaveOut(b, Message)
	case "":
		return false, e.noChange(b)
	default:
		return false, &Error{Reason: Undecodable, Field: e.kind.path, Detail: "unknown kind of change: " + Quoted(op)}
	}
}

// noChange leaves out a record that does not concern a row.
func (e *envelope) noChange(b *Builder) *Error {
	i := &e.decoder.images
	switch {
	case e.decoder.has(i.before), e.decoder.has(i.after):
	case b.Has(e.ddl):
		b.LeaveOut(SchemaChange)
		return nil
	case b.Has(e.status):
		b.LeaveOut(Transaction)
		return nil
	case b.Has(e.beat):
		b.LeaveOut(Heartbeat)
		return nil
	}
	return &Error{Reason: MissingField, Field: e.kind.path, Detail: "it is not a change in Debezium's format; write unwrapped: true in the " +
		"envelope if its rows come without one"}
}

// complete handles columns that the database did not send, and rejects a before-image that lacks what must be known.
func (e *envelope) complete(b *Builder) *Error {
	n, i := len(e.decoder.schema.Fields), &e.decoder.images
	known := func(m *Node) bool { return m != nil && b.Has(m) && !slices.Contains(b.lacking, m) }
	for _, m := range b.lacking {
		if m.field >= n {
			continue // of the before-image
		}
		if i.before != nil && !e.keyOnly() && known(i.before.Find([]byte(m.key))) {
			b.values[m.field] = b.values[n+m.field]
			continue
		}
		if !e.Partial {
			return &Error{Reason: MissingField, Field: m.path, Detail: "the database did not send the column because it has not changed, but each " +
				"change must carry it; make it log whole rows (in Postgres REPLICA IDENTITY FULL), or write changes: partial"}
		}
	}
	if i.before == nil || e.keyOnly() || !e.decoder.has(i.before) {
		return nil
	}
	for _, p := range e.pairs {
		if known(p.after) && !known(p.before) {
			return &Error{Reason: MissingField, Field: p.before.path,
				Detail: "the before-image lacks it, so its former value is not known; make the " +
					"database log whole rows (in Postgres REPLICA IDENTITY FULL), or write before: key in the envelope"}
		}
	}
	return nil
}

// form is how JSON writes a value whose type JSON does not have.
type form struct {
	kind  formKind
	scale int
	unit  Unit
}

type formKind uint8

const (
	decimalForm  formKind = iota + 1 // bytes in base64
	variableForm                     // an object of a scale and such bytes
	unitForm                         // a number of units since 1970
	zonedForm                        // a time in RFC 3339
)

// lacks notes that the publisher could not send the value of a column, if that is what the JSON means.
func (b *Builder) lacks(n *Node, json []byte) bool {
	if !n.column || len(json) < len(unavailable) || json[0] == '"' && json[1] != '_' && json[1] != '\\' && json[1] != 'X' {
		return false
	}
	escaped := json[0] == '"' && bytes.IndexByte(json, '\\') >= 0 && string(b.batch.text(json)) == unavailable
	if !escaped && !slices.ContainsFunc(unavailableForms, func(f []byte) bool { return bytes.Equal(f, json) }) {
		return false
	}
	b.lacking = append(b.lacking, n)
	return true
}

// formed sets a field from JSON in a form of its own. It returns false if the JSON is not in such a form.
func (b *Builder) formed(n *Node, kind jsontext.Kind, raw []byte) (known bool, err *Error) {
	if b.lacks(n, raw) {
		return true, nil
	}
	switch f := &n.form; {
	case kind == '"' && f.kind == decimalForm:
		return true, b.base64Decimal(n, raw[1:len(raw)-1], f.scale)
	case kind == '{' && (n.typ != Nested || f.kind == variableForm):
		return b.variableDecimal(n, raw)
	case kind == '0' && f.kind == unitForm:
		var count Value
		if detail := parseInteger(&count, Int, raw); detail != "" {
			return true, &Error{Reason: WrongType, Field: n.path, Detail: detail}
		}
		b.Forget(n)
		return true, b.Time(n, count.Int(), f.unit)
	case kind == '"' && f.kind == zonedForm && (n.typ.IsTime() || n.timed != 0):
		t := cmp.Or(n.timed, n.typ)
		count, ok := parseInstant(t, b.batch.text(raw))
		if !ok {
			return true, n.Wrong(Quoted(raw[1 : len(raw)-1]))
		}
		b.values[n.field] = InstantValue(t.Stored(), count)
		return true, nil
	}
	return false, nil
}
