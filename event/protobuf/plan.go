package protobuf

import (
	"math"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"

	"brine/event"
)

// message is what a plan reads of a message: of the whole record, or of a message in it at the place of a node.
type message struct {
	near   [64]*field
	far    map[protowire.Number]*field // by number, for the other numbers
	fields []*field                    // all fields that are read
	last   []*field                    // those with work left at the end of the record
	held   []*field                    // those among them that collect something until then
	desc   protoreflect.MessageDescriptor
}

// role is how a field's occurrences are handled.
type role uint8

const (
	scalar   role = iota // set as it comes
	enter                // a message with nodes below
	indexed              // a repeated field with nodes below: its elements by their index
	keyed                // a map with nodes below: its values by key
	known                // a well-known type, joined and set at the end
	rendered             // JSON, joined and set at the end
	refused              // a message, list or map, where a single value is declared
	rival                // an undeclared field that ends other members of its oneof
)

// field is what a plan reads of a field, an element of a list, or a value of a map.
type field struct {
	tag  uint64      // of its occurrences, if quick reads them; otherwise 0
	node *event.Node // nil of a rival
	kind protoreflect.Kind
	wire protowire.Type
	role role
	desc protoreflect.FieldDescriptor

	rivals []*field // other members of its oneof
	also   *field   // another node for the same field, which has two names
	below  *message // enter
	parts  []*field // indexed, keyed
	index  int      // of a part of an indexed field
	key    key      // of a part of a keyed field
	well   wellKnown
	inner  *field // of a wrapper: its field, with the same node
	entry  wires  // of a keyed field: the encoding of its entries' keys
	part   bool   // it is a part of another field

	standard value  // the value if absent
	zero     []byte // the same, for a rendered field
	preset   bool   // there is such a value
	implicit bool   // a value equal to that of an absent field counts as absent
	names    map[int32][]byte
	few      [][]byte // names of the numbers from 0

	// State of the current record.
	count int          // indexed: number of elements so far
	held  []byte       // known: contents, joined; rendered: tags with contents, joined
	own   []byte       // memory for held if it is joined
	here  bool         // the field occurred
	wrong *event.Error // why the last value so far does not fit; nil: it does, or there is none
}

// value is a scalar, or anything with a length, in its wire form.
type value struct {
	bits  uint64
	bytes []byte
}

// key is a map's key in its wire form.
type key struct {
	bits uint64
	text string
	ok   bool // the node's key is a possible key
}

// wires is the encoding of a kind of scalar.
type wires struct {
	kind protoreflect.Kind
	wire protowire.Type
}

// maxFew bounds the enum numbers that are looked up without a map.
const maxFew = 256

// plan makes a plan for a message with the nodes below n. A node that names no field stays absent: other versions of the schema may have
// it.
func plan(md protoreflect.MessageDescriptor, n *event.Node) *message {
	m := &message{desc: md}
	for _, child := range n.Children() {
		fd := lookUp(md, child.Key())
		if fd == nil {
			continue
		}
		f := planField(fd, child, false)
		if fd.HasPresence() && !fd.HasDefault() || child.Type() == 0 {
			f.preset = false
		}
		m.add(f)
	}
	m.oppose()
	for _, f := range m.fields {
		f.setTag(f == m.find(f.desc.Number()))
		switch f.role {
		case known, rendered, indexed, keyed:
			m.held = append(m.held, f)
		}
		switch {
		case f.preset, f.role == known, f.role == rendered, f.role == indexed, f.role == keyed, f.role == enter && len(f.below.last) > 0:
			m.last = append(m.last, f)
		}
	}
	return m
}

// setTag sets the tag of a field that quick reads: one with no rivals and only one name. first means that it is the first of that name.
func (f *field) setTag(first bool) {
	simple := f.role == scalar || f.role == enter || f.role == known
	if simple && first && f.also == nil && len(f.rivals) == 0 && f.wire != protowire.StartGroupType {
		f.tag = protowire.EncodeTag(f.desc.Number(), f.wire)
	}
}

// lookUp finds a field by its name or its JSON name.
func lookUp(md protoreflect.MessageDescriptor, name string) protoreflect.FieldDescriptor {
	if fd := md.Fields().ByName(protoreflect.Name(name)); fd != nil {
		return fd
	}
	return md.Fields().ByJSONName(name)
}

func (m *message) add(f *field) {
	if f.role != rival {
		m.fields = append(m.fields, f)
	}
	number := f.desc.Number()
	if f.also = m.find(number); int(number) < len(m.near) {
		m.near[number] = f
		return
	}
	if m.far == nil {
		m.far = map[protowire.Number]*field{}
	}
	m.far[number] = f
}

func (m *message) find(n protowire.Number) *field {
	if uint(n) < uint(len(m.near)) {
		return m.near[n]
	}
	return m.beyond(n)
}

func (m *message) beyond(n protowire.Number) *field { return m.far[n] }

// oppose enters the rivals of members of oneofs.
func (m *message) oppose() {
	for _, f := range m.fields {
		o := f.desc.ContainingOneof()
		if o == nil || o.IsSynthetic() {
			continue
		}
		for i := range o.Fields().Len() {
			fd := o.Fields().Get(i)
			if fd.Number() == f.desc.Number() {
				continue
			}
			if m.find(fd.Number()) == nil {
				m.add(&field{desc: fd, kind: fd.Kind(), wire: wireType(fd.Kind()), role: rival})
			}
			for other := m.find(fd.Number()); other != nil; other = other.also {
				other.rivals = append(other.rivals, f)
			}
		}
	}
}

// planField makes the plan of a field or, for a list or map, of a part.
func planField(fd protoreflect.FieldDescriptor, n *event.Node, part bool) *field {
	f := &field{node: n, desc: fd, kind: fd.Kind(), wire: wireType(fd.Kind()), part: part}
	many := !part && fd.Cardinality() == protoreflect.Repeated
	leaf := n.Type() != 0
	f.well = wellKnownType(fd.Message())
	switch {
	case n.Type() == event.Nested:
		f.role = rendered
	case many && leaf:
		f.role = refused
	case many && fd.IsMap():
		f.role, f.parts = keyed, values(fd, n)
		f.entry = wires{fd.MapKey().Kind(), wireType(fd.MapKey().Kind())}
	case many:
		f.role, f.parts = indexed, elements(fd, n)
	case fd.Message() == nil:
		f.role = scalar
	case !leaf:
		f.role, f.below = enter, plan(fd.Message(), n)
	case f.well != 0:
		f.role = known
		first := fd.Message().Fields().ByNumber(1)
		f.inner = &field{node: n, desc: fd, kind: first.Kind(), wire: wireType(first.Kind())}
	default:
		f.role = refused
	}
	f.implicit = !part && !fd.HasPresence()
	f.presets(many)
	if f.kind == protoreflect.EnumKind {
		f.enum()
	}
	return f
}

func wireType(k protoreflect.Kind) protowire.Type {
	switch k {
	case protoreflect.Fixed32Kind, protoreflect.Sfixed32Kind, protoreflect.FloatKind:
		return protowire.Fixed32Type
	case protoreflect.Fixed64Kind, protoreflect.Sfixed64Kind, protoreflect.DoubleKind:
		return protowire.Fixed64Type
	case protoreflect.StringKind, protoreflect.BytesKind, protoreflect.MessageKind:
		return protowire.BytesType
	case protoreflect.GroupKind:
		return protowire.StartGroupType
	}
	return protowire.VarintType
}

// elements returns the parts of a list: the nodes' keys are numbers from 0.
func elements(fd protoreflect.FieldDescriptor, n *event.Node) (out []*field) {
	for _, child := range n.Children() {
		if i, err := strconv.ParseUint(child.Key(), 10, 31); err == nil {
			f := planField(fd, child, true)
			f.index, f.preset = int(i), false
			out = append(out, f)
		}
	}
	return out
}

// values returns the parts of a map. If an entry lacks its value, it is the default of the type.
func values(fd protoreflect.FieldDescriptor, n *event.Node) (out []*field) {
	for _, child := range n.Children() {
		if k := parseKey(fd.MapKey().Kind(), child.Key()); k.ok {
			f := planField(fd.MapValue(), child, true)
			f.key = k
			out = append(out, f)
		}
	}
	return out
}

// parseKey parses a map's key as Protobuf's JSON writes it.
func parseKey(k protoreflect.Kind, text string) key {
	var bits uint64
	var err error
	switch k {
	case protoreflect.StringKind:
		return key{text: text, ok: true}
	case protoreflect.BoolKind:
		bits, err = 0, nil
		if text == "true" {
			bits = 1
		} else if text != "false" {
			return key{}
		}
	case protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Sfixed32Kind:
		var i int64
		i, err = strconv.ParseInt(text, 10, 32)
		bits = uint64(i)
	case protoreflect.Int64Kind, protoreflect.Sint64Kind, protoreflect.Sfixed64Kind:
		var i int64
		i, err = strconv.ParseInt(text, 10, 64)
		bits = uint64(i)
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		bits, err = strconv.ParseUint(text, 10, 32)
	default:
		bits, err = strconv.ParseUint(text, 10, 64)
	}
	return key{bits: bits, ok: err == nil}
}

// presets determines what the field has if it is absent.
func (f *field) presets(many bool) {
	if f.role == rendered {
		f.zero = zeroJSON(f.desc, many)
		f.preset = true
		return
	}
	if f.role != scalar || f.node.Type() == 0 || f.desc.IsList() {
		return
	}
	f.preset = true
	switch d := f.desc.Default(); f.kind {
	case protoreflect.BoolKind:
		if d.Bool() {
			f.standard.bits = 1
		}
	case protoreflect.EnumKind:
		f.standard.bits = uint64(int64(d.Enum()))
	case protoreflect.Int32Kind, protoreflect.Int64Kind, protoreflect.Sfixed32Kind, protoreflect.Sfixed64Kind:
		f.standard.bits = uint64(d.Int())
	case protoreflect.Sint32Kind, protoreflect.Sint64Kind:
		f.standard.bits = protowire.EncodeZigZag(d.Int())
	case protoreflect.FloatKind:
		f.standard.bits = uint64(math.Float32bits(float32(d.Float())))
	case protoreflect.DoubleKind:
		f.standard.bits = math.Float64bits(d.Float())
	case protoreflect.StringKind:
		f.standard.bytes = []byte(d.String())
	case protoreflect.BytesKind:
		f.standard.bytes = d.Bytes()
	default:
		f.standard.bits = d.Uint()
	}
	// A time or a decimal cannot be empty: an empty text is one that nobody set.
	t := f.node.Type()
	if f.kind == protoreflect.StringKind && (t.TakesTimes() || t == event.Decimal) && f.implicit && len(f.standard.bytes) == 0 {
		f.preset = false
	}
}

// enum collects the names of an enum's numbers.
func (f *field) enum() {
	f.names = map[int32][]byte{}
	values := f.desc.Enum().Values()
	for i := range values.Len() {
		v := values.Get(i)
		n := int32(v.Number())
		if _, ok := f.names[n]; ok {
			continue // the first of several names counts
		}
		f.names[n] = []byte(v.Name())
		if n >= 0 && n < maxFew {
			for int(n) >= len(f.few) {
				f.few = append(f.few, nil)
			}
			f.few[n] = f.names[n]
		}
	}
}

// name returns the name of an enum's number, or nil if it has none.
func (f *field) name(n int32) []byte {
	if uint32(n) < uint32(len(f.few)) {
		return f.few[n]
	}
	return f.names[n]
}
