package event

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// EnvelopeForm is the form in which a publisher of a database's changes wraps rows.
type EnvelopeForm string

// The forms of brine.yaml.
const (
	Debezium EnvelopeForm = "debezium"
	Canal    EnvelopeForm = "canal"   // its flat JSON
	Maxwell  EnvelopeForm = "maxwell" // its JSON

	CanalProtobuf EnvelopeForm = "canal_protobuf" // its packets of messages
)

// Envelope is how a publisher of a database's changes wraps rows. Paths of fields are relative to the row. A path whose first key begins
// with $ is relative to the envelope: $op, $source.lsn. $row, an Int, is the row's index in its record.
//
// It is a layer over a Format. It places the fields where the publisher's records hold them, reads a few of the envelope's own fields as
// well, and decides by these what an event is. Only Debezium's may wrap a format other than JSON: the others use none.
type Envelope struct {
	Form EnvelopeForm
	// Unwrapped: the row stands alone, as Debezium's ExtractNewRecordState writes it, with the envelope's fields as members: $op is __op,
	// $source.lsn is __source_lsn.
	Unwrapped bool
	// MarkedDeletes: each delete of an unwrapped row is a row that __deleted or __op marks, so a record without a value says nothing new and
	// is left out. If false, such a record is the delete itself (Schema.Tombstones), or rejected, because nothing tells the two apart.
	MarkedDeletes bool
	// Keys are the fields of the primary key if a before-image holds only those; nil: it holds the whole row. What such an image lacks is
	// unknown, so there are no former values; a delete has its key.
	Keys []string
	// Partial: a column that the database did not send because it has not changed is left out. If false, the event is rejected, unless the
	// before-image has the column.
	Partial bool
	// Refused are those of Truncate and Message that are rejected instead of left out.
	Refused []LeftOut
}

// rowPath is the field for the row's index in its record.
const rowPath = "$row"

// Wrap returns the schema of records that hold the rows of s in the envelope. Of the Images of s only Deleted may be set.
func (e *Envelope) Wrap(s Schema) Schema {
	s.Envelope = e
	switch {
	case e.Form == Debezium && !e.Unwrapped:
		s.Images.Before, s.Images.After = []string{"before"}, []string{"after"}
	case e.Form != Debezium:
		s.Images.Before, s.Images.After = []string{"old"}, []string{"data"}
	}
	s.Fields = slices.Clone(s.Fields)
	for i := range s.Fields {
		if f := &s.Fields[i]; f.Name != s.Images.Deleted && f.OfValue() {
			f.Path = e.place(f.Keys(), s.Images.After)
		}
	}
	return s
}

// place returns where records hold what is at a path of the row or, with $, of the envelope.
func (e *Envelope) place(path, row []string) []string {
	own, found := strings.CutPrefix(path[0], "$")
	switch {
	case !found:
		return slices.Concat(row, path)
	case path[0] == rowPath:
		return path
	case e.Unwrapped:
		return []string{"__" + strings.Join(append([]string{own}, path[1:]...), "_")}
	}
	return append([]string{own}, path[1:]...)
}

// ofEnvelope reports whether a member of an unwrapped row is one of the envelope's own and not a column.
func ofEnvelope(member string) bool { return strings.HasPrefix(member, "__") }

// OfCanal reports whether the publisher is Canal.
func (e *Envelope) OfCanal() bool { return e.Form == Canal || e.Form == CanalProtobuf }

// makes reports whether the envelope, not a record, provides the field.
func (e *Envelope) makes(f Field) bool { return e != nil && len(f.Path) == 1 && f.Path[0] == rowPath }

// bare reports whether rows stand alone, without their envelope.
func (e *Envelope) bare() bool { return e != nil && e.Unwrapped }

func (e *Envelope) keyOnly() bool { return e != nil && e.Keys != nil }

// knowsFormer reports whether before-images hold a field.
func (e *Envelope) knowsFormer(field string) bool {
	return !e.keyOnly() || e.identifies(field)
}

// identifies reports whether a field is known to be one of the primary key.
func (e *Envelope) identifies(field string) bool {
	return e.keyOnly() && slices.Contains(e.Keys, field)
}

func (s Schema) validateEnvelope() error {
	e := s.Envelope
	if e == nil {
		return nil
	}
	for _, name := range e.Keys {
		if s.position(name) < 0 {
			return fmt.Errorf("field %s of the primary key is not declared; add it to fields", name)
		}
	}
	switch {
	case e.Form != Debezium && !e.OfCanal() && e.Form != Maxwell:
		return fmt.Errorf("no envelope %q; write %s, %s, %s or %s", e.Form, Debezium, Canal, CanalProtobuf, Maxwell)
	case e.Form != Debezium && (s.Format != nil || e.Unwrapped):
		return fmt.Errorf("records of %s have a fixed format; remove format", e.Form)
	case e.MarkedDeletes && (!e.Unwrapped || s.Tombstones):
		return fmt.Errorf("only unwrapped rows have deletes that are marked, and then records without a value are none; choose one of the two")
	}
	for _, f := range s.Fields {
		if e.makes(f) && f.Type != Int {
			return fmt.Errorf("field %s, the row's index in its record, is declared %s; it must be int", f.Name, f.Type)
		}
		if f.Type == Bytes && e.OfCanal() && f.OfValue() {
			return fmt.Errorf("field %s is declared bytes, but Canal writes bytes as text in another encoding; declare it text", f.Name)
		}
	}
	return nil
}

// envelope is an Envelope in a decoder.
type envelope struct {
	*Envelope
	decoder *Decoder
	own     int // number of values of an event that are read for the envelope alone
	row     int // position of the field with the row's index; -1: none
	zoned   *TimeFormat
	kind    *Node
	deleted *Node   // of an unwrapped row
	columns []*Node // of the row after a change, or of an unwrapped one
	pairs   []imaged
	// Of unwrapped rows, members that only some tables have, but all of Debezium's own records of one kind.
	ddl, collections, beat *Node
}

// imaged is a column that is read from both images.
type imaged struct{ before, after *Node }

func newEnvelope(d *Decoder) *envelope {
	e := &envelope{Envelope: d.schema.Envelope, decoder: d, row: slices.IndexFunc(d.schema.Fields, d.schema.Envelope.makes)}
	e.zoned, _ = ParseTimeFormat(RFC3339, "")
	switch {
	case e.Unwrapped:
		for _, n := range d.root.children {
			if n.column = !ofEnvelope(n.key); n.column {
				e.columns = append(e.columns, n)
			}
			n.texts = !n.column
		}
		e.kind, e.deleted = e.read(Text, "__op"), e.read(Text, "__deleted")
		e.ddl, e.collections, e.beat = e.read(Nested, "ddl"), e.read(Nested, "data_collections"), e.read(Nested, beatMember)
	case e.Form == Debezium:
		for _, n := range slices.Concat(d.images.before.children, d.images.after.children) {
			n.column = true
		}
		e.columns = d.images.after.children
		for _, n := range e.columns {
			if before := d.images.before.Find([]byte(n.key)); before != nil {
				e.pairs = append(e.pairs, imaged{before, n})
			}
		}
		e.kind = e.read(Text, "op")
	default:
		for _, n := range slices.Concat(d.images.before.children, d.images.after.children) {
			n.texts = e.Form == Canal
		}
		e.kind = e.read(Text, "type")
	}
	if d.logged != nil {
		d.logged.readBeside(e)
	}
	return e
}

// read makes a field of the envelope one that is read, declared or not. If a declared one is converted or fixed, the envelope has what the
// record says as a value of its own.
func (e *envelope) read(t Type, path ...string) *Node {
	n, next := e.decoder.root.at(path), e.decoder.width()+e.own
	switch {
	case n.field < 0 && len(n.children) == 0:
		n.field, n.typ = next, t
		e.own++
	case n.field >= 0 && n.raw == 0 && (n.convert != nil || n.loose):
		n.raw = next
		e.own++
	}
	return n
}

// newReader returns the reader of JSON in the envelope.
func (e *envelope) newReader(root *Node) Reader {
	switch e.Form {
	case Debezium:
		return newConnectReader(root, e.Unwrapped)
	case CanalProtobuf:
		return &canalPacketReader{root: root, data: e.decoder.images.after, old: e.decoder.images.before}
	case Canal:
		return &canalReader{jsonReader: jsonReader{root: root}, data: e.decoder.images.after, old: e.decoder.images.before}
	}
	return &jsonReader{root: root}
}

// said returns the event's text for one of the envelope's fields, as the record has it, whatever a conversion or a default makes of it;
// empty: none.
func (b *Builder) said(n *Node) []byte {
	switch {
	case !b.Has(n) || n.field < 0:
		return nil
	case n.raw > 0 && !b.values[n.raw].Null():
		return b.values[n.raw].text
	case n.null:
		return nil
	}
	switch v := b.values[n.field]; v.Type {
	case Text:
		return v.text
	case Nested:
		return bytes.Trim(v.text, `"`)
	case Bool:
		return strconv.AppendBool(nil, v.Bool())
	}
	return nil
}

// judge reports whether the current event is a delete, leaves it out if it writes nothing, or rejects it.
func (e *envelope) judge(b *Builder) (gone bool, err *Error) {
	switch {
	case e.Form == Debezium && onHeartbeatTopic(b.record):
		b.LeaveOut(Heartbeat)
		return false, nil
	case e.Unwrapped:
		if b.gone || string(b.said(e.deleted)) == "true" || string(b.said(e.kind)) == "d" {
			return true, nil
		}
		if e.maybeOwn(b) {
			if why := e.decoder.own(b.record); why != "" {
				b.LeaveOut(why)
				return false, nil
			}
		}
		return false, e.complete(b, string(b.said(e.kind)) == "c")
	case e.Form == Debezium:
		return e.debezium(b)
	case e.Form == Maxwell:
		return e.maxwell(b)
	}
	return e.canal(b)
}

// maybeOwn reports whether an unwrapped row may be one of Debezium's own records. It is fast, and false for nearly all rows.
func (e *envelope) maybeOwn(b *Builder) bool {
	switch {
	case b.Has(e.kind), b.Has(e.deleted):
		return false
	case b.Has(e.ddl), b.Has(e.collections):
		return true
	}
	return b.Has(e.beat) && !slices.ContainsFunc(e.decoder.root.children, func(n *Node) bool { return n.column && b.Has(n) })
}

// noValue handles a record without a value. Debezium writes one after each change that is a delete, and in place of it for rows without
// their envelope, unless its ExtractNewRecordState marks rows that are deleted.
func (e *envelope) noValue(b *Builder) *Error {
	switch {
	case b.decoder.schema.Tombstones:
		b.gone = true
	case e.Unwrapped && !e.MarkedDeletes:
		return &Error{Reason: Undecodable, Detail: "the record has no value, which is either the delete of its key's row, or follows a row " +
			"that already marks the delete; write deletes: tombstone in the pipeline if rows are deleted only in this way, or deletes: marked if " +
			"__deleted or __op marks each delete"}
	default:
		b.LeaveOut(Tombstone)
	}
	return nil
}

// leaveOut leaves the event out, or rejects it if the envelope refuses it.
func (e *envelope) leaveOut(b *Builder, why LeftOut) *Error {
	if slices.Contains(e.Refused, why) {
		return &Error{Reason: Undecodable,
			Detail: fmt.Sprintf("it is a %s, which the pipeline's envelope refuses", strings.ReplaceAll(string(why), "_", " "))}
	}
	b.LeaveOut(why)
	return nil
}

// images checks that an event has the images of its kind of change.
func (e *envelope) images(b *Builder, before, after bool) *Error {
	i := &e.decoder.images
	switch {
	case after && !e.decoder.has(i.after):
		return &Error{Reason: MissingField, Field: i.after.path, Detail: "a change of this kind must have the row here"}
	case before && !e.decoder.has(i.before):
		return &Error{Reason: MissingField, Field: i.before.path, Detail: "the row's former values are not known; make the database log whole " +
			"rows (in Postgres REPLICA IDENTITY FULL, in MySQL binlog_row_image=FULL), or write before: key in the envelope"}
	}
	return nil
}

// maxwell judges an event that Maxwell has wrapped.
func (e *envelope) maxwell(b *Builder) (gone bool, err *Error) {
	kind := b.said(e.kind)
	switch string(kind) {
	case "insert", "bootstrap-insert":
		return false, e.images(b, false, true)
	case "update":
		return false, e.images(b, !e.keyOnly(), true)
	case "delete":
		return true, e.images(b, false, true)
	case "bootstrap-start", "bootstrap-complete":
		return false, e.leaveOut(b, Bootstrap)
	case "":
		return false, &Error{Reason: MissingField, Field: e.kind.path, Detail: "it is not a change in Maxwell's format"}
	}
	if bytes.HasPrefix(kind, []byte("table-")) || bytes.HasPrefix(kind, []byte("database-")) {
		return false, e.leaveOut(b, SchemaChange)
	}
	return false, &Error{Reason: Undecodable, Field: e.kind.path, Detail: "unknown kind of change: " + Quoted(kind)}
}
