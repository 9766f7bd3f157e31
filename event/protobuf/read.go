package protobuf

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"

	"brine/event"
)

// NewReader implements event.Format.
func (m *Message) NewReader(root *event.Node) event.Reader { return m.reader(root) }

func (m *Message) reader(root *event.Node) *reader {
	return &reader{plan: plan(m.desc, root), own: root.OwnRecord(m.Shape()), root: root, schema: m.schema}
}

// reader reads the messages of one type.
type reader struct {
	plan   *message
	own    event.LeftOut // why all of them are left out; empty: they are not
	root   *event.Node
	schema *Schema
	render renderer
	wrong  []*field // those of the current record that had a value which does not fit
}

// Read implements event.Reader.
func (r *reader) Read(rec *event.Record, b *event.Builder) *event.Error { return r.body(rec.Value, b) }

// Own implements event.Recognizer.
func (r *reader) Own(rec *event.Record) event.LeftOut { return r.ownIn(rec.Value) }

// ownIn returns why a message is left out whatever its fields; empty: it is not, or it is broken.
func (r *reader) ownIn(p []byte) event.LeftOut {
	if r.own == "" || r.whole(p) != nil {
		return ""
	}
	return r.own
}

// whole returns an error if not all of a message can be read.
func (r *reader) whole(p []byte) *event.Error {
	var o occurrence
	for i := 0; i < len(p); {
		number, n := next(p[i:], &o)
		if number == 0 {
			return broken(r.root, p, i)
		}
		i += n
	}
	return nil
}

// body reads one message.
func (r *reader) body(p []byte, b *event.Builder) *event.Error {
	if r.own != "" {
		b.LeaveOut(r.own)
		return r.whole(p)
	}
	r.plan.fresh()
	for _, f := range r.wrong {
		f.wrong = nil
	}
	r.wrong = r.wrong[:0]
	if err := r.message(r.plan, r.root, p, b); err != nil {
		return err
	}
	if err := r.finish(r.plan, b); err != nil {
		return err
	}
	for _, f := range r.wrong {
		if f.wrong != nil && b.Has(f.node) {
			return f.wrong
		}
	}
	return nil
}

// set sets a scalar. Of several values the last counts, so one that does not fit rejects the record only if none follows. But Protobuf
// rejects messages with invalid UTF-8 wherever it is.
func (r *reader) set(f *field, v value, b *event.Builder) *event.Error {
	err := f.set(v, b)
	if err == nil || err.Reason != event.WrongType {
		return err
	}
	if !b.Has(f.node) {
		_ = b.Null(f.node) // it occurred, so it has no default
	}
	f.wrong, r.wrong = err, append(r.wrong, f)
	return nil
}

// fresh drops what fields collected from another record, or from what is overwritten.
func (m *message) fresh() {
	for _, f := range m.held {
		f.drop()
	}
}

// drop drops what a field collected. Fields below entered ones are dropped when they are next entered.
func (f *field) drop() {
	f.count, f.held, f.here, f.wrong = 0, nil, false, nil
}

// occurrence is one occurrence of a field in a message.
type occurrence struct {
	value
	wire  protowire.Type
	whole []byte // including its tag
}

// next reads the field at the start of p, which is not empty. The number is 0 if it cannot be read.
func next(p []byte, o *occurrence) (protowire.Number, int) {
	tag, at := uint64(p[0]), 1
	if tag >= utf8.RuneSelf {
		if tag, at = protowire.ConsumeVarint(p); at < 0 {
			return 0, 0
		}
	}
	number, end := protowire.Number(tag>>3), -1
	if number == 0 || tag>>3 > uint64(protowire.MaxValidNumber) {
		return 0, 0
	}
	o.value = value{}
	switch o.wire = protowire.Type(tag & 7); o.wire {
	case protowire.VarintType:
		o.bits, end = varint(p, at)
	case protowire.Fixed64Type:
		if end = at + 8; end <= len(p) {
			o.bits = binary.LittleEndian.Uint64(p[at:])
		}
	case protowire.Fixed32Type:
		if end = at + 4; end <= len(p) {
			o.bits = uint64(binary.LittleEndian.Uint32(p[at:]))
		}
	case protowire.BytesType:
		size, from := varint(p, at)
		if from < 0 || size > uint64(len(p)-from) {
			return 0, 0
		}
		end = from + int(size)
		o.bytes = p[from:end:end]
	case protowire.StartGroupType:
		var n int
		if o.bytes, n = protowire.ConsumeGroup(number, p[at:]); n >= 0 {
			end = at + n
		}
	}
	if end < 0 || end > len(p) {
		return 0, 0
	}
	o.whole = p[:end]
	return number, end
}

// varint reads a varint at p[at] and returns where it ends; -1 if it does not end.
func varint(p []byte, at int) (bits uint64, end int) {
	if at < len(p) && p[at] < utf8.RuneSelf {
		return uint64(p[at]), at + 1
	}
	return longer(p, at)
}

// longer reads a varint that may have several bytes; many numbers and lengths have two.
func longer(p []byte, at int) (bits uint64, end int) {
	if end = at + 2; end <= len(p) && p[at+1] < utf8.RuneSelf {
		return uint64(p[at]) - utf8.RuneSelf | uint64(p[at+1])<<7, end
	}
	bits, n := protowire.ConsumeVarint(p[at:])
	if n < 0 {
		return 0, -1
	}
	return bits, at + n
}

// message reads the fields of the message at a node.
func (r *reader) message(m *message, at *event.Node, p []byte, b *event.Builder) *event.Error {
	for i := 0; i < len(p); {
		f, v, end := m.quick(p, i)
		var err *event.Error
		switch {
		case f == nil:
			end, err = r.other(m, at, p, i, b)
		case f.role == scalar:
			err = r.set(f, v, b)
		case f.role == enter:
			err = r.enter(f, v.bytes, b)
		default:
			f.hold(v.bytes)
		}
		if err != nil {
			return err
		}
		i = end
	}
	return nil
}

// quick reads the field at p[i] if it is one that has a tag in the plan. Otherwise, or if it cannot be read, it returns nil.
func (m *message) quick(p []byte, i int) (f *field, v value, end int) {
	tag, at := uint64(p[i]), i+1
	if tag >= utf8.RuneSelf && at < len(p) {
		tag, at = tag-utf8.RuneSelf|uint64(p[at])<<7, at+1 // a tag of more bytes is too large for near
	}
	if tag>>3 >= uint64(len(m.near)) || at == len(p) {
		return nil, v, 0
	}
	if f = m.near[tag>>3]; f == nil || f.tag != tag {
		return nil, v, 0
	}
	switch f.wire {
	case protowire.VarintType:
		if v.bits, end = uint64(p[at]), at+1; v.bits >= utf8.RuneSelf {
			v.bits, end = longer(p, at)
		}
	case protowire.BytesType:
		size, from := uint64(p[at]), at+1
		if size >= utf8.RuneSelf {
			size, from = longer(p, at)
		}
		if from < 0 || size > uint64(len(p)-from) {
			return nil, v, 0
		}
		end = from + int(size)
		v.bytes = p[from:end:end]
	case protowire.Fixed64Type:
		if end = at + 8; end <= len(p) {
			v.bits = binary.LittleEndian.Uint64(p[at:])
		}
	default:
		if end = at + 4; end <= len(p) {
			v.bits = uint64(binary.LittleEndian.Uint32(p[at:]))
		}
	}
	if end < 0 || end > len(p) {
		return nil, v, 0
	}
	return f, v, end
}

// other reads any field at p[i] and returns where it ends.
func (r *reader) other(m *message, at *event.Node, p []byte, i int, b *event.Builder) (end int, err *event.Error) {
	var o occurrence
	number, n := next(p[i:], &o)
	if number == 0 {
		return 0, broken(at, p, i)
	}
	if f := m.find(number); f != nil {
		return i + n, r.fields(f, &o, b)
	}
	if b.Looks() {
		b.Undeclared(at, m.nameOf(number))
	}
	return i + n, nil
}

// fields handles an occurrence of a field for each of its nodes.
func (r *reader) fields(f *field, o *occurrence, b *event.Builder) *event.Error {
	for ; f != nil; f = f.also {
		if err := r.field(f, o, b); err != nil {
			return err
		}
	}
	return nil
}

// nameOf returns the name of a field that the plan does not read, or its number if the schema does not know it.
func (m *message) nameOf(number protowire.Number) []byte {
	if fd := m.desc.Fields().ByNumber(number); fd != nil {
		return []byte(fd.Name())
	}
	return []byte("#" + strconv.Itoa(int(number)))
}

// broken explains why no field can be read at an offset of a message.
func broken(at *event.Node, p []byte, offset int) *event.Error {
	var detail string
	switch number, wire, n := protowire.ConsumeTag(p[offset:]); {
	case n < 0 && offset+10 > len(p) && unended(p[offset:]):
		detail = "the message ends within a field's tag"
	case n < 0:
		detail = "there is no field tag"
	default:
		n = protowire.ConsumeFieldValue(number, wire, p[offset+n:])
		if detail = fmt.Sprintf("field number %d cannot be read", number); n == endOfInput {
			detail = fmt.Sprintf("the message ends within field number %d", number)
		}
	}
	return (&event.Error{Reason: event.Undecodable, Field: at.Path(),
		Detail: fmt.Sprintf("%s, at byte %d of %d", detail, offset, len(p))}).Short()
}

// endOfInput is protowire's result for a field whose message ends too early.
var endOfInput = protowire.ConsumeFieldValue(1, protowire.VarintType, nil)

// unended reports whether all bytes announce another one.
func unended(p []byte) bool {
	for _, c := range p {
		if c < utf8.RuneSelf {
			return false
		}
	}
	return true
}

// field handles an occurrence of a field.
func (r *reader) field(f *field, o *occurrence, b *event.Builder) *event.Error {
	packed := false
	if o.wire != f.wire {
		packed = o.wire == protowire.BytesType && !f.part && f.desc.IsList() && packable(f.wire)
		switch {
		case f.role == rival:
			return nil // an unknown field to Protobuf
		case !packed:
			return f.wrongWire(o.wire)
		}
	}
	for _, other := range f.rivals {
		if other.node != nil {
			b.Forget(other.node)
			other.drop()
		}
	}
	if (f.role == indexed || f.role == keyed) && f.node.MayLack(1) {
		f.hold(o.whole)
	}
	switch f.role {
	case scalar:
		return r.set(f, o.value, b)
	case enter:
		return r.enter(f, o.bytes, b)
	case indexed:
		return r.indexed(f, o, packed, b)
	case keyed:
		return r.keyed(f, o.bytes, b)
	case known:
		f.hold(o.bytes)
	case rendered:
		f.hold(o.whole)
	case refused:
		return f.node.Wrong(f.what())
	}
	return nil
}

func packable(t protowire.Type) bool {
	return t == protowire.VarintType || t == protowire.Fixed32Type || t == protowire.Fixed64Type
}

// what describes the field for people.
func (f *field) what() string {
	switch {
	case f.part && f.desc.Message() != nil:
		return "a message"
	case f.desc.IsMap():
		return "a map"
	case f.desc.IsList() && !f.part:
		return "a repeated field"
	}
	return "a message"
}

var wireNames = map[protowire.Type]string{protowire.VarintType: "a varint", protowire.Fixed32Type: "4 bytes",
	protowire.Fixed64Type: "8 bytes", protowire.BytesType: "bytes with a length", protowire.StartGroupType: "a group"}

func (f *field) wrongWire(found protowire.Type) *event.Error {
	return &event.Error{Reason: event.WrongType, Field: f.node.Path(), Detail: fmt.Sprintf("field number %d is %s, which is %s, found %s",
		f.desc.Number(), f.kind, wireNames[f.wire], wireNames[found])}
}

// hold joins what is set at the end. Joined contents of messages are those of the merged message, and joined fields are those of a message.
func (f *field) hold(p []byte) {
	switch {
	case !f.here:
		f.here, f.held = true, p[:len(p):len(p)]
	case len(f.own) > 0 && len(f.held) > 0 && &f.own[0] == &f.held[0]:
		f.own = append(f.own, p...)
		f.held = f.own
	default:
		f.own = append(append(f.own[:0], f.held...), p...)
		f.held = f.own
	}
}

// enter reads a message, or more of it, that has nodes below.
func (r *reader) enter(f *field, p []byte, b *event.Builder) *event.Error {
	if !b.Has(f.node) {
		if err := b.Enter(f.node); err != nil {
			return err
		}
		f.below.fresh()
	}
	return r.message(f.below, f.node, p, b)
}

// indexed reads elements of a list.
func (r *reader) indexed(f *field, o *occurrence, packed bool, b *event.Builder) *event.Error {
	if !b.Has(f.node) {
		if err := b.Enter(f.node); err != nil {
			return err
		}
		f.begin()
	}
	if !packed {
		return r.element(f, o, b)
	}
	element := occurrence{wire: f.wire}
	for left := o.bytes; len(left) > 0; {
		n := 0
		switch f.wire {
		case protowire.VarintType:
			element.bits, n = protowire.ConsumeVarint(left)
		case protowire.Fixed32Type:
			var u uint32
			u, n = protowire.ConsumeFixed32(left)
			element.bits = uint64(u)
		default:
			element.bits, n = protowire.ConsumeFixed64(left)
		}
		if n < 0 {
			return (&event.Error{Reason: event.Undecodable, Field: f.node.Path(),
				Detail: fmt.Sprintf("the packed values end within value %d", f.count)}).Short()
		}
		element.bytes, left = left[:n], left[n:]
		if err := r.element(f, &element, b); err != nil {
			return err
		}
	}
	return nil
}

// begin drops what the parts collected.
func (f *field) begin() {
	f.count = 0
	for _, part := range f.parts {
		part.drop()
	}
}

func (r *reader) element(f *field, o *occurrence, b *event.Builder) *event.Error {
	i := f.count
	f.count++
	for _, part := range f.parts {
		if part.index != i {
			continue
		}
		if part.role == rendered && o.whole == nil { // a packed one
			whole := protowire.AppendTag(nil, f.desc.Number(), f.wire)
			part.hold(append(whole, o.bytes...))
			continue
		}
		if err := r.field(part, o, b); err != nil {
			return err
		}
	}
	return nil
}

// Field numbers of the entries of maps.
const (
	entryKey   = 1
	entryValue = 2
)

// keyed reads an entry of a map. The last entry with a key counts, and the key may come after its value.
func (r *reader) keyed(f *field, p []byte, b *event.Builder) *event.Error {
	if !b.Has(f.node) {
		if err := b.Enter(f.node); err != nil {
			return err
		}
		f.begin()
	}
	var o occurrence
	var k value
	for left := p; len(left) > 0; {
		number, n := next(left, &o)
		switch {
		case number == 0:
			return broken(f.node, p, len(p)-len(left))
		case number == entryKey && o.wire == f.entry.wire:
			k = o.value
		}
		left = left[n:]
	}
	k.bits = integer(f.entry.kind, k.bits)
	if f.entry.kind == protoreflect.StringKind && !utf8.Valid(k.bytes) {
		return &event.Error{Reason: event.Undecodable, Field: f.node.Path(), Detail: "invalid UTF-8 in a map's key"}
	}
	for _, part := range f.parts {
		if part.key.bits != k.bits || part.key.text != string(k.bytes) {
			continue
		}
		if err := r.entry(part, p, b); err != nil {
			return err
		}
	}
	return nil
}

// entry sets a part of a map to the value of an entry that was read before.
func (r *reader) entry(part *field, p []byte, b *event.Builder) *event.Error {
	b.Forget(part.node)
	part.drop()
	var o occurrence
	found := false
	for left := p; len(left) > 0; {
		number, n := next(left, &o)
		left = left[n:]
		if number != entryValue {
			continue
		}
		found = true
		if err := r.field(part, &o, b); err != nil {
			return err
		}
	}
	switch {
	case found:
	case part.role == scalar && part.preset:
		return r.set(part, part.standard, b)
	case part.role == rendered, part.role == known:
		part.here = true
	case part.role == enter:
		return r.enter(part, nil, b)
	case part.role == refused:
		return part.node.Wrong(part.what())
	case part.role == scalar:
		return r.set(part, value{}, b)
	}
	return nil
}

// integer returns the value of a varint for a kind of integer, in the 64 bits of a key.
func integer(k protoreflect.Kind, bits uint64) uint64 {
	switch k {
	case protoreflect.BoolKind:
		return min(bits, 1)
	case protoreflect.Int32Kind, protoreflect.Sfixed32Kind, protoreflect.EnumKind:
		return uint64(int64(int32(bits)))
	case protoreflect.Sint32Kind:
		return uint64(int64(int32(protowire.DecodeZigZag(bits & math.MaxUint32))))
	case protoreflect.Sint64Kind:
		return uint64(protowire.DecodeZigZag(bits))
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		return uint64(uint32(bits))
	}
	return bits
}

// set sets the node to a scalar, replacing what it had.
func (f *field) set(v value, b *event.Builder) *event.Error {
	n := f.node
	if b.Has(n) {
		b.Forget(n)
	}
	if f.wrong != nil {
		f.wrong = nil
	}
	switch f.kind {
	case protoreflect.StringKind:
		if f.implicit && !f.preset && len(v.bytes) == 0 {
			return nil
		}
		return b.Text(n, v.bytes)
	case protoreflect.BytesKind:
		return b.Bytes(n, v.bytes)
	case protoreflect.BoolKind:
		return b.Bool(n, v.bits != 0)
	case protoreflect.DoubleKind:
		return b.Float(n, math.Float64frombits(v.bits))
	case protoreflect.FloatKind:
		return b.Float(n, float64(math.Float32frombits(uint32(v.bits))))
	case protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		return b.Uint(n, v.bits)
	case protoreflect.EnumKind:
		return f.setEnum(int32(v.bits), b)
	case protoreflect.MessageKind, protoreflect.GroupKind:
		return n.Wrong("a message")
	}
	return b.Int(n, int64(integer(f.kind, v.bits)))
}

// setEnum sets the node to the name of an enum's number, or an Int to the number.
func (f *field) setEnum(number int32, b *event.Builder) *event.Error {
	if f.node.Type() == event.Int || f.node.Type() == event.Float {
		return b.Int(f.node, int64(number))
	}
	if name := f.name(number); name != nil {
		return b.Text(f.node, name)
	}
	return &event.Error{Reason: event.WrongType, Field: f.node.Path(),
		Detail: fmt.Sprintf("%s has no name for %d; declare the field int to accept it", f.desc.Enum().FullName(), number)}
}

// finish sets what must wait for the end of the record.
func (r *reader) finish(m *message, b *event.Builder) *event.Error {
	for _, f := range m.last {
		if f.role == scalar && b.Has(f.node) {
			continue
		}
		if err := r.end(f, b); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) end(f *field, b *event.Builder) *event.Error {
	switch f.role {
	case scalar:
		if f.preset && !b.Has(f.node) {
			return f.set(f.standard, b)
		}
	case enter:
		if b.Has(f.node) {
			return r.finish(f.below, b)
		}
	case indexed, keyed:
		switch {
		case !b.Has(f.node):
			return nil
		case r.lacks(f, b):
			for _, part := range f.parts {
				b.Forget(part.node)
			}
			return nil
		}
		for _, part := range f.parts {
			if part.role == scalar { // it is set, or absent
				continue
			}
			if err := r.end(part, b); err != nil {
				return err
			}
		}
	case known:
		if f.here {
			return f.setKnown(b)
		}
	case rendered:
		return r.setJSON(f, b)
	}
	return nil
}
