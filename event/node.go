package event

import "strings"

// Node is one key on the way to a declared field, or a field itself: the tree of what a schema reads of a record.
type Node struct {
	key      string
	path     string      // for people: keys from the root, joined by "."
	field    int         // position in the schema, behind its last one for what the field was before; -1 on the way
	typ      Type        // of the field
	time     *TimeFormat // of a Time
	numbers  bool        // of a Text: numbers are taken too
	texts    bool        // of any type: a text that says the value is taken too
	column   bool        // of a row, whose value the publisher may be unable to send
	form     form        // that the value has in JSON, beside its type
	declared form        // where the record says nothing of it
	children []*Node     // of an object
	seen     uint64      // Builder.count of the last event that held this key
	null     bool        // there
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

// place puts a field, or what it was before, where the record holds it.
func (d *Decoder) place(path []string, field int, f Field) {
	n := d.at(path)
	n.field, n.typ, n.numbers = field, f.Type, f.Numbers || f.Decimal
	if f.Decimal {
		n.declared = form{kind: decimalForm, scale: f.Scale}
	}
	n.form = n.declared
	if f.Type == Time {
		n.time, _ = ParseTimeFormat(f.Format, f.Zone) // the schema is valid
	}
}

// at finds or adds the node at a path.
func (d *Decoder) at(path []string) *Node {
	n := d.root
	for depth, key := range path {
		n = n.child(key, strings.Join(path[:depth+1], "."))
	}
	return n
}

func fieldPath(f Field) string { return strings.Join(f.Keys(), ".") }

// child finds or adds the key below n.
func (n *Node) child(key, path string) *Node {
	if m := n.Find([]byte(key)); m != nil {
		return m
	}
	m := &Node{key: key, path: path, field: -1}
	n.children = append(n.children, m)
	return m
}
