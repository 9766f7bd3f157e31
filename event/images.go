package event

import (
	"fmt"
	"slices"
	"strings"
)

// Images are where records, such as those of a database's log, hold the values before and after a change. A field whose path lies below
// After had, before the change, the value at the same place below Before.
//
// A field that the before-image lacks did not change, so a log that holds only the changes is sufficient. A record with a before-image and
// no after-image is a delete: its fields are those of the before-image.
type Images struct {
	Before, After []string // object keys from the root; Before nil: there are no images; After nil: the record itself
	Deleted       string   // a Bool field that no record holds: true in a delete, false in any other event; empty: none
}

func (s Schema) validateImages() error {
	i := s.Images
	if len(i.Before) == 0 && (s.Tombstones || s.Envelope.bare()) {
		if at := s.position(i.Deleted); i.Deleted != "" && (at < 0 || s.Fields[at].Type != Bool) {
			return fmt.Errorf("field %s, which says that an event is a delete, is not declared bool; add it to fields", i.Deleted)
		}
		return nil
	}
	if len(i.Before) == 0 {
		if i.Deleted != "" || len(i.After) > 0 {
			return fmt.Errorf("an after-image is useful only with a before-image; say where that is")
		}
		return nil
	}
	if at := s.position(i.Deleted); i.Deleted != "" {
		switch {
		case at < 0:
			return fmt.Errorf("field %s, which says that an event is a delete, is not declared; add it to fields", i.Deleted)
		case s.Fields[at].Type != Bool:
			return fmt.Errorf("field %s, which says that an event is a delete, is declared %s; it must be bool", i.Deleted, s.Fields[at].Type)
		case len(i.After) == 0:
			return fmt.Errorf("every record is an after-image, so none is a delete; say where it is, or remove %s", i.Deleted)
		}
	}
	found := false
	for n, f := range s.Fields {
		if f.OfValue() && within(f.Keys(), i.Before) {
			return fmt.Errorf("field %s is in the before-image, which is read anyway for every field of the after-image; remove it", f.Name)
		}
		_, ok := s.former(n)
		found = found || ok
	}
	if !found {
		return fmt.Errorf("no field is in %s, the after-image", strings.Join(i.After, "."))
	}
	return nil
}

// within reports whether a path equals another or runs through it.
func within(path, of []string) bool { return len(path) >= len(of) && slices.Equal(path[:len(of)], of) }

// former returns where records hold the value of field n before the change.
func (s Schema) former(n int) (path []string, ok bool) {
	path = s.Fields[n].Keys()
	f := &s.Fields[n]
	if len(s.Images.Before) == 0 || !s.Envelope.knowsFormer(f.Name) || f.Name == s.Images.Deleted || !f.OfValue() ||
		!within(path, s.Images.After) || len(path) == len(s.Images.After) {
		return nil, false
	}
	return append(slices.Clone(s.Images.Before), path[len(s.Images.After):]...), true
}

// images is Images in a decoder.
type images struct {
	before, after *Node  // after is nil if it is the record itself
	deleted       int    // position of Images.Deleted; -1: none
	imaged        []bool // the fields that the before-image has too
}

// compare returns the values before the change, or nil if the record has none: it is then the first of its kind, or a delete. values are
// all fields of the event, then the same for the before-image. gone means that the event is a delete.
func (d *Decoder) compare(values []Value, gone bool) (former []Value) {
	n := len(d.schema.Fields)
	if d.images.deleted >= 0 {
		values[d.images.deleted] = BoolValue(gone)
	}
	switch {
	case d.images.before == nil || !d.has(d.images.before):
		return nil
	case gone:
		if d.images.after != nil && d.has(d.images.after) {
			return nil // an envelope declares it a delete
		}
		for i := range n {
			if d.images.imaged[i] {
				values[i] = values[n+i]
			}
		}
		return nil
	}
	if d.schema.Envelope.keyOnly() {
		return nil
	}
	d.unchanged(d.images.before, values)
	for i := range n {
		if !d.images.imaged[i] {
			values[n+i] = values[i]
		}
	}
	return values[n : 2*n : 2*n]
}

// deletes reports whether the current record has a before-image and no after-image.
func (d *Decoder) deletes() bool {
	i := &d.images
	return i.before != nil && d.has(i.before) && i.after != nil && !d.has(i.after)
}

// has reports whether the current record has an object here.
func (d *Decoder) has(n *Node) bool { return n.seen == d.build.count && !n.null }

// unchanged fills what the before-image lacks with the value of the after-image.
func (d *Decoder) unchanged(n *Node, values []Value) {
	for _, m := range n.children {
		switch absent := m.seen != d.build.count; {
		case m.field < 0 && (absent || !m.null):
			d.unchanged(m, values)
		case m.field >= 0 && absent:
			values[m.field] = values[m.field-len(d.schema.Fields)]
		}
	}
}
