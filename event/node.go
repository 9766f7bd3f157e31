package event

import "strings"

// node is one object key on the way to a declared field.
type node struct {
	key      string
	path     string      // for people: keys from the root, joined by "."
	field    int         // position in the schema, behind its last one for what the field was before; -1 on the way
	typ      Type        // of the field
	time     *TimeFormat // of a Time
	numbers  bool        // of a Text: numbers are taken too
	children []*node     // of an object
	seen     uint64      // Decoder.count of the last record that held this key
	null     bool        // there
}

// place puts a field, or what it was before, where the record holds it.
func (d *Decoder) place(path []string, field int, f Field) {
	n := d.at(path)
	n.field, n.typ, n.numbers = field, f.Type, f.Numbers
	if f.Type == Time {
		n.time, _ = ParseTimeFormat(f.Format, f.Zone) // the schema is valid
	}
}

// at finds or adds the node at a path.
func (d *Decoder) at(path []string) *node {
	n := d.root
	for depth, key := range path {
		n = n.child(key, strings.Join(path[:depth+1], "."))
	}
	return n
}

func fieldPath(f Field) string { return strings.Join(f.Keys(), ".") }

// child finds or adds the key below n.
func (n *node) child(key, path string) *node {
	for _, m := range n.children {
		if m.key == key {
			return m
		}
	}
	m := &node{key: key, path: path, field: -1}
	n.children = append(n.children, m)
	return m
}
