package event

import (
	"cmp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// debezium judges an event that Debezium has wrapped.
func (e *envelope) debezium(b *Builder) (gone bool, err *Error) {
	switch op := b.said(e.kind); string(op) {
	case "c", "r":
		if err := e.images(b, false, true); err != nil {
			return false, err
		}
		return false, e.complete(b, true)
	case "u":
		if err := e.images(b, !e.keyOnly(), true); err != nil {
			return false, err
		}
		return false, e.complete(b, false)
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
	if !e.decoder.has(i.before) && !e.decoder.has(i.after) {
		if why := e.decoder.own(b.record); why != "" {
			b.LeaveOut(why)
			return nil
		}
	}
	return &Error{Reason: MissingField, Field: e.kind.path, Detail: "it is not a change in Debezium's format; write unwrapped: true in the " +
		"envelope if its rows come without one"}
}

// Debezium publishes records of its own, in topics beside those of the tables: heartbeats, changes of the tables' schemas, and the
// beginnings and ends of transactions. They have no envelope that says so, and ExtractNewRecordState passes them on as they are. They
// differ from rows by their schema's name, or by all their members together: one member, such as id or status, may well be a column.

// Recognizer is a Reader that recognizes Debezium's own records without reading their fields, so also if these do not fit.
type Recognizer interface {
	Reader
	// Own returns what the record is if it is one of Debezium's own; empty: it is not.
	Own(rec *Record) LeftOut
}

// Shape is what records of a schema look like from outside.
type Shape struct {
	Name    string // of the schema, with its namespace; empty: none is known
	Members map[string]bool
	// A member's value is true if it is, or may be, an object or a list of objects, as few columns are.
}

// OwnRecord returns what records of a shape are if they are Debezium's own; empty: they are not. A Recognizer that knows the schema of
// records asks the root of its nodes once for each schema.
func (n *Node) OwnRecord(s Shape) LeftOut {
	if n.own == nil {
		return ""
	}
	return n.own(s)
}

// OwnRecord is Node.OwnRecord for records of the schema s.
func (s Schema) OwnRecord(of Shape) LeftOut {
	e := s.Envelope
	if e == nil || e.Form != Debezium {
		return ""
	}
	if name, ok := strings.CutPrefix(of.Name, "io.debezium.connector."); ok {
		switch name[strings.LastIndexByte(name, '.')+1:] {
		case "Heartbeat":
			return Heartbeat
		case "SchemaChangeValue":
			return SchemaChange
		case "TransactionMetadataValue":
			return Transaction
		}
	}
	switch {
	case of.has(e.Unwrapped, heartbeatMembers) && len(of.Members) == 1 && !s.hasColumn(beatMember):
		return Heartbeat
	case of.has(e.Unwrapped, schemaChangeMembers):
		return SchemaChange
	case of.has(e.Unwrapped, transactionMembers):
		return Transaction
	}
	return ""
}

// hasColumn reports whether a field of an unwrapped row is declared at a member.
func (s Schema) hasColumn(name string) bool {
	for _, f := range s.Fields {
		if s.Envelope.Unwrapped && f.OfValue() && f.Keys()[0] == name {
			return true
		}
	}
	return false
}

// ownMember is a member of one of Debezium's own records.
type ownMember struct {
	name    string
	objects bool // it is an object or a list of objects, or null
	always  bool // it is in records of every version of Debezium
}

// beatMember is the only member of a heartbeat.
const beatMember = "ts_ms"

var (
	heartbeatMembers    = []ownMember{{beatMember, false, true}}
	schemaChangeMembers = []ownMember{{"source", true, true}, {"databaseName", false, true}, {"ddl", false, true},
		{"schemaName", false, false}, {"tableChanges", true, false}, {"ts_ms", false, false}}
	transactionMembers = []ownMember{{"status", false, true}, {"id", false, true}, {"event_count", false, true},
		{"data_collections", true, true}, {"ts_ms", false, false}}
)

// has reports whether the shape is that of a record with these members. exactly: it has no others. Otherwise a transform may have added
// some, but none of a change's.
func (s Shape) has(exactly bool, members []ownMember) bool {
	found := 0
	for _, name := range []string{"op", "before", "after"} {
		if _, ok := s.Members[name]; ok {
			return false
		}
	}
	for _, m := range members {
		objects, ok := s.Members[m.name]
		switch {
		case !ok && m.always, ok && m.objects && !objects:
			return false
		case ok:
			found++
		}
	}
	return !exactly || found == len(s.Members)
}

// onHeartbeatTopic reports whether the record is of a topic that has only Debezium's heartbeats.
func onHeartbeatTopic(rec *Record) bool { return strings.HasPrefix(rec.Topic, "__debezium-heartbeat") }

// own returns what the record is if it is one of Debezium's own; empty: it is not.
func (d *Decoder) own(rec *Record) LeftOut {
	switch {
	case d.envelope == nil || d.envelope.Form != Debezium:
		return ""
	case onHeartbeatTopic(rec):
		return Heartbeat
	case d.recognizer == nil:
		return ""
	}
	return d.recognizer.Own(rec)
}

// recall takes columns that the database did not send from the before-image, where that has them.
func (e *envelope) recall(b *Builder) {
	n, i := len(e.decoder.schema.Fields), &e.decoder.images
	if i.before == nil || e.keyOnly() {
		return
	}
	b.lacking = slices.DeleteFunc(b.lacking, func(m *Node) bool {
		if slices.Contains(i.before.children, m) {
			return false
		}
		was := i.before.Find([]byte(m.key))
		if !b.knows(was) {
			return false
		}
		m.each(func(field int) { b.values[field] = b.values[n+field] })
		return true
	})
}

// knows reports whether the event has a column, and its value.
func (b *Builder) knows(n *Node) bool { return n != nil && b.Has(n) && !slices.Contains(b.lacking, n) }

// complete handles columns that the database did not send and recall did not find, and rejects a before-image that lacks what must be
// known. An update of the primary key comes as a delete and a create, so a created row may lack columns too; what they hold is not known
// under its key.
func (e *envelope) complete(b *Builder, created bool) *Error {
	i := &e.decoder.images
	for _, m := range b.lacking {
		switch {
		case i.before != nil && slices.Contains(i.before.children, m):
		case e.Partial && created:
			return &Error{Reason: MissingField, Field: m.path, Detail: "the database did not send the column because only the row's key has " +
				"changed, but under its new key the row lacks it; make it log whole rows (in Postgres REPLICA IDENTITY FULL)"}
		case !e.Partial:
			return &Error{Reason: MissingField, Field: m.path, Detail: "the database did not send the column because it has not changed, but each " +
				"change must carry it; make it log whole rows (in Postgres REPLICA IDENTITY FULL), or write changes: partial"}
		default:
			m.each(b.notSent)
		}
	}
	if e.Partial {
		e.absent(b)
	}
	if i.before == nil || e.keyOnly() || !e.decoder.has(i.before) {
		return nil
	}
	for _, p := range e.pairs {
		if b.knows(p.after) && !b.knows(p.before) {
			return &Error{Reason: MissingField, Field: p.before.path,
				Detail: "the before-image lacks it, so its former value is not known; make the " +
					"database log whole rows (in Postgres REPLICA IDENTITY FULL), or write before: key in the envelope"}
		}
	}
	return nil
}

// absent handles columns that the record does not have at all, because a transform has removed what did not change, or the table did not
// have them then: their nulls say nothing. Expressions take them for null, as they take any member that a record lacks.
func (e *envelope) absent(b *Builder) {
	for _, m := range e.columns {
		if !b.Has(m) {
			m.each(func(field int) {
				if b.values[field].Null() { // otherwise a fix has filled it
					b.values[field] = Unsent()
				}
			})
		}
	}
}

// notSent notes that the event lacks a field, unless a fix has filled it.
func (b *Builder) notSent(field int) {
	if !b.values[field].Null() {
		return
	}
	b.values[field] = Unsent()
	if b.decoder.evaluator != nil {
		b.decoder.partial.unsent[field], b.unsent = true, true
	}
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

// formed sets a field from JSON in a form of its own. It returns false if the JSON is not in such a form.
func (b *Builder) formed(n *Node, kind jsontext.Kind, raw []byte) (known bool, err *Error) {
	if b.Lacks(n, raw) {
		return true, nil
	}
	switch f := &n.form; {
	case kind == '"' && f.kind == decimalForm:
		return true, b.base64Decimal(n, b.batch.text(raw), f.scale)
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

// Debezium writes this text instead of a value that the database did not send because it has not changed. It makes of it a value of the
// column's type: its bytes for bytes, which may be written in base64 or hex; {text: text} for an hstore, perhaps within a text; for an
// array a list of the text, of its bytes, of the UUID named by them, or of the code of each byte.
const (
	unavailable       = "__debezium_unavailable_value"
	unavailableBase64 = "X19kZWJleml1bV91bmF2YWlsYWJsZV92YWx1ZQ=="
	unavailableHex    = "5f5f646562657a69756d5f756e617661696c61626c655f76616c7565"
	unavailableMap    = `{"` + unavailable + `":"` + unavailable + `"}`
	unavailableUUID   = "b68a35a7-17ad-35b3-af2a-ae46edb4545a"
	unavailableCodes  = "[95,95,100,101,98,101,122,105,117,109,95,117,110,97,118,97,105,108,97,98,108,101,95,118,97,108,117,101]"
)

// longestUnavailable is the most bytes that JSON needs for one of the texts, if it escapes each byte.
const longestUnavailable = 6*len(unavailableMap) + 2

// isUnavailable reports whether a text is one of Debezium's placeholders.
func isUnavailable(text []byte) bool {
	switch string(text) {
	case unavailable, unavailableBase64, unavailableHex, unavailableMap:
		return true
	}
	return false
}

// Lacks notes that the publisher could not send the value of a column, if that is what the JSON means, and reports whether it is. If so,
// the event has nothing of the column. A Reader asks it about a column of which fields hold only parts.
func (b *Builder) Lacks(n *Node, json []byte) bool {
	if !n.column || !mayBeUnavailable(json) || !b.isUnavailable(json) {
		return false
	}
	b.lacking = append(b.lacking, n)
	return true
}

// MayLack reports whether a list, a map or, as one item, a text at n may be what the publisher writes instead of a value that it could not
// send.
func (n *Node) MayLack(items int) bool {
	return n.column && (items == 1 || items == len(unavailable))
}

// mayBeUnavailable reports whether a JSON value that json begins with may be a placeholder. It is fast for nearly all others.
func mayBeUnavailable(json []byte) bool {
	if len(json) < len(unavailable) {
		return false
	}
	switch json[0] {
	case '"':
		if json[1] == '{' { // as all texts of JSON begin
			return json[2] == '\\' && (json[3] != '"' || json[4] == '_' || json[4] == '\\')
		}
		return strings.IndexByte(`_X5\`, json[1]) >= 0
	case '[', '{':
		i := skipSpace(json, 1)
		if i+1 < len(json) && json[i] == '"' {
			return strings.IndexByte(`_Xb59\`, json[i+1]) >= 0
		}
		return i < len(json) && json[i] == '9'
	}
	return false
}

// isUnavailable reports whether valid JSON is a placeholder.
func (b *Builder) isUnavailable(json []byte) bool {
	switch json[0] {
	case '"':
		text, _ := b.shortText(json, 0)
		return isUnavailable(text)
	case '[':
		text, next := b.shortText(json, skipSpace(json, 1))
		if next == len(json)-1 {
			return isUnavailable(text) || string(text) == unavailableUUID
		}
		return areCodes(json)
	case '{':
		name, next := b.shortText(json, skipSpace(json, 1))
		if string(name) != unavailable {
			return false
		}
		value, next := b.shortText(json, skipSpace(json, next+1)) // after the colon
		return string(value) == unavailable && next == len(json)-1
	}
	return false
}

// shortText returns the text of the string at json[i], and the index of what follows it; -1: it is not a string, or too long for a
// placeholder.
func (b *Builder) shortText(json []byte, i int) (text []byte, next int) {
	if i >= len(json) || json[i] != '"' {
		return nil, -1
	}
	end, _ := endOfString(json, i)
	if end < 0 || end-i > longestUnavailable {
		return nil, -1
	}
	return b.batch.text(json[i:end]), skipSpace(json, end)
}

// areCodes reports whether a JSON list holds the codes. Protobuf's JSON has its longer integers in quotes.
func areCodes(json []byte) bool {
	at := 0
	for _, c := range json {
		switch {
		case c <= ' ' || c == '"':
		case at == len(unavailableCodes) || c != unavailableCodes[at]:
			return false
		default:
			at++
		}
	}
	return at == len(unavailableCodes)
}
