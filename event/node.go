package event

import (
	"strconv"
	"strings"
)

// Node is one key on the way to a declared field, or a field itself: the tree of what a schema reads of a record.
type Node struct {
	key      string
	path     string      // for people: keys from the root, joined by "."
	field    int         // position in the schema, behind its last one for what the field was before; -1 on the way
	typ      Type        // of the field
	time     *TimeFormat // of a Time
	numbers  bool        // of a Text: numbers are taken too
	texts    bool        // of any type: a text that says the value is taken too
	loose    bool        // any value is taken as it stands, since a fix makes the field's value of it
	timed    Type        // loose, and of a field that is a time of this type; 0: it is none
	direct   Type        // the type whose values are the field's as they come; 0: something is to be done with them
	column   bool        // of a row, whose value the publisher may be unable to send
	form     form        // that the value has in JSON, beside its type
	usual    form        // where the record says nothing of it
	children []*Node     // of an object
	convert  *conversion // of the field; nil: none
	index    int         // of the array element that key stands for; -1: it is no number
	indexed  bool        // some children are array elements
	seen     uint64      // Builder.count of the last event that held this key
	null     bool        // there
	watched  bool        // members that nobody declared are counted
	declared []Declared  // of the root: what a schema is compared with
}

// Key is the name of the member, column or field that the node stands for.
func (n *Node) Key() string { return n.key }

// Path is the keys from the root, joined by dots, for people.
func (n *Node) Path() string { return n.path }

// Children are the nodes below n; a declared field has none.
func (n *Node) Children() []*Node { return n.children }

// Type is the declared type of the field, or 0 for a node on the way to fields.
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

// Element returns the child that stands for an element of an array, or nil: where n is an array, a key that is a number is an index.
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

// hold makes n a field, or what it was before, at its position.
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

// straighten finds the nodes at n and below it whose values are taken as they come.
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

// child finds or adds the key below n.
func (n *Node) child(key string) *Node {
	if m := n.Find([]byte(key)); m != nil {
		return m
	}
	m := &Node{key: key, path: strings.TrimPrefix(n.path+"."+key, "."), field: -1, index: -1}
	if i, err := strconv.Atoi(key); err == nil && strconv.Itoa(i) == key && i >= 0 {
		m.index, n.indexed = i, true
	}
	n.children = append(n.children, m)
	return m
}
