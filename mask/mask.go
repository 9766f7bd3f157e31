// Package mask decides what may be shown of records, rows and documents: every command, page and message that shows any asks it.
//
// A pipeline masks some of its fields (its setting mask). Everything made from a masked field is masked too: fields that expressions make,
// columns, fields of documents, row keys. A record that cannot be decoded is masked as a whole, as are messages that may quote it.
//
// The invariant: what a Rules does not know is shown; what it masks is replaced by Text, whose length reveals nothing.
package mask

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"brine/event"
)

// Text replaces what is masked.
const Text = event.Hidden

// Unasked is the note where something is omitted that a flag would show.
const Unasked = "not shown, since the pipeline masks fields; --unmask shows it"

// Rules define what is masked. The zero Rules, and nil, mask nothing.
type Rules struct {
	fields map[[2]string]bool // pipeline, field
	places map[[2]string]bool // table and column, or index and field
	keys   map[[2]string]bool // table and field of its key; for an index, its name and no field

	members [][2]string // table, and how the columns of a masked field's members begin
}

// Field masks a field of a pipeline.
func (r *Rules) Field(pipeline, field string) { add(&r.fields, pipeline, field) }

// Place masks a column of a table, as family:qualifier or by the name of what is packed in it, or a field of an index. family:prefix* masks
// every column that a member of a field can have.
func (r *Rules) Place(in, name string) {
	add(&r.places, in, name)
	if prefix, ok := strings.CutSuffix(name, "*"); ok {
		r.members = append(r.members, [2]string{in, prefix})
	}
}

// Key masks a field of a table's key, and thereby the key as a whole; or, without a field, the ids of an index.
func (r *Rules) Key(in, field string) {
	add(&r.keys, in, field)
	add(&r.keys, in, "")
}

func add(m *map[[2]string]bool, in, name string) {
	if *m == nil {
		*m = map[[2]string]bool{}
	}
	(*m)[[2]string{in, name}] = true
}

// Nothing reports whether nothing is masked.
func (r *Rules) Nothing() bool { return r == nil || len(r.fields) == 0 }

// Any reports whether a pipeline masks any field.
func (r *Rules) Any(pipeline string) bool {
	if r == nil {
		return false
	}
	for of := range r.fields {
		if of[0] == pipeline {
			return true
		}
	}
	return false
}

// MasksField reports whether a field of a pipeline is masked.
func (r *Rules) MasksField(pipeline, field string) bool {
	return r != nil && r.fields[[2]string{pipeline, field}]
}

// MasksPlace reports whether a column of a table, or a field of an index, is masked.
func (r *Rules) MasksPlace(in, name string) bool {
	return r != nil && (r.places[[2]string{in, name}] || slices.ContainsFunc(r.members, func(of [2]string) bool {
		return of[0] == in && strings.HasPrefix(name, of[1])
	}))
}

// MasksKey reports whether the key of a table, or the ids of an index, contain something masked.
func (r *Rules) MasksKey(in string) bool { return r != nil && r.keys[[2]string{in, ""}] }

// MasksKeyField reports whether a field of a table's key is masked.
func (r *Rules) MasksKeyField(table, field string) bool {
	return r != nil && field != "" && r.keys[[2]string{table, field}]
}

// If returns Text if masked is true, and text otherwise.
func If(masked bool, text string) string {
	if masked {
		return Text
	}
	return text
}

// secret is the key of this process's hashes: a plain hash would reveal a telephone number.
var secret = func() []byte { b := make([]byte, 32); _, _ = rand.Read(b); return b }()

// Bytes describes bytes that are not shown by their length, and by a hash that shows which of one process's answers are equal.
func Bytes(b []byte) string {
	if b == nil {
		return "null"
	}
	h := hmac.New(sha256.New, secret)
	h.Write(b)
	return fmt.Sprintf("%d bytes, hash %x", len(b), h.Sum(nil)[:6])
}
