package event

import (
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Node is a declared field or a key on the path to one, in the tree of what a schema reads of a record.
type Node struct {
	field    int    // position in the schema, after its last field for former values; -1: not a field
	seen     uint64 // Builder.count of the last event that had this key
	typ      Type   // of the field
	direct   Type   // the type whose values are the field's as they come; 0: they need some handling
	null     bool   // it was null in the last event that had this key
	column   bool   // of a row; the publisher may be unable to send its value
	key      string
	path     string      // for people: keys from the root, joined by "."
	time     *TimeFormat // of a Time
	numbers  bool        // of a Text: numbers are accepted too
	texts    bool        // of any type: a text in the form of the type is accepted too
	loose    bool        // any value is accepted as it is, because a fix makes the field's value from it
	timed    Type        // of a loose node whose field is a time of this type; 0: it is not
	form     form        // that the value has in JSON, besides its type
	usual    form        // if the record does not determine it
	children []*Node     // of an object
	member   member      // of the object around it
	begin    member      // of an object: what precedes its members
	learned  int         // number of its undeclared members that quick expects
	convert  *conversion // of the field; nil: none
	raw      int         // position of the text that is converted; 0: it is not kept
	index    int         // of the array element that key stands for; -1: key is not a number
	indexed  bool        // some children are array elements
	watched  bool        // undeclared members are counted
	declared []Declared  // of the root: what a schema is compared with

	beyond func(digits []byte) *Error // of a part of a position: the error of a number past 64 bits; nil: it is a wrong type

	own func(Shape) LeftOut // of the root: see OwnRecord; nil: no record is one
}

// Key returns the name of the member, column or field that the node stands for.
func (n *Node) Key() string { return n.key }

// Path returns the keys from the root, joined by dots, for people.
func (n *Node) Path() string { return n.path }

// OfKeys reports whether n is the root of what is read of records' keys, rather than of their values.
func (n *Node) OfKeys() bool { return n.path == keyPath }

// Children returns the nodes below n; a declared field has none.
func (n *Node) Children() []*Node { return n.children }

// Type returns the declared type of the field, or 0 if the node is not a field.
func (n *Node) Type() Type {
	if n.field < 0 {
		return 0
	}
	return n.typ
}

// Find returns the child of a key, or nil.
func (n *Node) Find(key []byte) *Node {
	for _, m := range n.children {
		if m.key == string(key) {
			return m
		}
	}
	return nil
}

// Element returns the child for an element of an array, or nil: if n is an array, a numeric key is an index.
func (n *Node) Element(index int) *Node {
	if !n.indexed {
		return nil
	}
	for _, m := range n.children {
		if m.index == index {
			return m
		}
	}
	return nil
}

// Indexed reports whether fields are declared within an array at n.
func (n *Node) Indexed() bool { return n.indexed }

// hold makes n a field, or its former value, at its position.
func (n *Node) hold(field int, f Field) {
	n.field, n.typ, n.numbers, n.convert = field, f.Type, f.Numbers || f.Decimal, newConversion(f)
	if f.Decimal {
		n.usual = form{kind: decimalForm, scale: f.Scale}
	}
	n.form = n.usual
	if f.Type == Time {
		n.time, _ = ParseTimeFormat(f.Format, f.Zone) // the schema is valid
	}
}

// each calls do with the position of each field at n and below.
func (n *Node) each(do func(field int)) {
	if n.field >= 0 {
		do(n.field)
	}
	for _, m := range n.children {
		m.each(do)
	}
}

// straighten finds the nodes at n and below whose values are taken as they come.
func (n *Node) straighten() {
	if n.field >= 0 && n.convert == nil && !n.column && !n.loose {
		n.direct = n.typ
	}
	for _, m := range n.children {
		m.straighten()
	}
}

// at finds or adds the node at a path below n.
func (n *Node) at(path []string) *Node {
	for _, key := range path {
		n = n.child(key)
	}
	return n
}

// child finds or adds the child of a key.
func (n *Node) child(key string) *Node {
	if m := n.Find([]byte(key)); m != nil {
		return m
	}
	m := &Node{key: key, path: strings.TrimPrefix(n.path+"."+key, "."), field: -1, index: -1}
	m.member.node = m
	if quoted, err := jsontext.AppendQuote(nil, key); err == nil {
		m.member.name = append(quoted, ':')
	}
	if i, err := strconv.Atoi(key); err == nil && strconv.Itoa(i) == key && i >= 0 {
		m.index, n.indexed = i, true
	}
	n.children = append(n.children, m)
	return m
}
