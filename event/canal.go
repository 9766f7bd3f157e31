package event

import "github.com/go-json-experiment/json/jsontext"

// canalReader reads Canal's flat JSON: members that apply to all rows, and two lists with an element per row, for the new and the old
// values.
type canalReader struct {
	jsonReader
	data, old *Node
	members   []canalMember
	rows      [2][][]byte // of data and of old
}

// canalMember is a declared member of the record.
type canalMember struct {
	node *Node
	kind jsontext.Kind
	json []byte
}

// Read implements Reader.
func (r *canalReader) Read(rec *Record, b *Builder) *Error {
	r.members, r.rows[0], r.rows[1] = r.members[:0], r.rows[0][:0], r.rows[1][:0]
	if err := r.scan(rec.Value); err != nil {
		return err
	}
	data, old := r.rows[0], r.rows[1]
	said := 0
	for _, m := range r.members {
		said += len(m.json)
	}
	if said*len(data) > mostRepeated {
		return &Error{Reason: TooLarge, Detail: "the record has too many rows for the amount of data around them, which is read again for each"}
	}
	for i := range max(1, len(data)) {
		if i > 0 {
			if err := b.Next(); err != nil {
				return err
			}
		}
		for _, m := range r.members {
			if err := r.again(m, b); err != nil {
				return err
			}
		}
		if i < len(data) {
			if err := r.image(r.data, data[i], b); err != nil {
				return err
			}
		}
		if i < len(old) {
			if err := r.image(r.old, old[i], b); err != nil {
				return err
			}
		}
	}
	return nil
}

// scan finds the declared members and the rows.
func (r *canalReader) scan(value []byte) *Error {
	r.reset(value)
	if kind := r.json.PeekKind(); kind != '{' && kind != 0 {
		return r.noObject(kind)
	}
	if _, err := r.json.ReadToken(); err != nil {
		return undecodable(err)
	}
	var has [2]bool
	for r.json.PeekKind() != '}' {
		name, err := r.json.ReadValue()
		if err != nil {
			return undecodable(err)
		}
		n := r.find(r.root, name)
		images := n != nil && (n == r.data || n == r.old)
		if images {
			at := 0
			if n == r.old {
				at = 1
			}
			if has[at] {
				return &Error{Reason: Undecodable, Field: n.path, Detail: "it occurs twice"}
			}
			has[at] = true
			if err := r.list(n, value, &r.rows[at]); err != nil {
				return err
			}
			continue
		}
		kind := r.json.PeekKind()
		raw, err := r.json.ReadValue()
		if err != nil {
			return undecodable(err)
		}
		if end := int(r.json.InputOffset()); n != nil {
			r.members = append(r.members, canalMember{n, kind, value[end-len(raw) : end]})
		}
	}
	if _, err := r.json.ReadToken(); err != nil {
		return undecodable(err)
	}
	return trailing("object", value, int(r.json.InputOffset()))
}

// list finds the objects of a list, or of null.
func (r *canalReader) list(n *Node, value []byte, rows *[][]byte) *Error {
	kind := r.json.PeekKind()
	if kind != '[' {
		_, err := r.json.ReadValue()
		switch {
		case err != nil:
			return undecodable(err)
		case kind != 'n':
			return &Error{Reason: WrongType, Field: n.path, Detail: "a list of rows is expected, found " + kindName(kind)}
		}
		return nil
	}
	if _, err := r.json.ReadToken(); err != nil {
		return undecodable(err)
	}
	for r.json.PeekKind() != ']' {
		raw, err := r.json.ReadValue()
		if err != nil {
			return undecodable(err)
		}
		end := int(r.json.InputOffset())
		*rows = append(*rows, value[end-len(raw):end])
	}
	if _, err := r.json.ReadToken(); err != nil {
		return undecodable(err)
	}
	return nil
}

// again reads a member of the record for another of its rows.
func (r *canalReader) again(m canalMember, b *Builder) *Error {
	if err := b.have(m.node); err != nil {
		return err
	}
	r.reset(m.json)
	return r.member(m.node, m.json, b)
}

// image reads a row, or its old values.
func (r *canalReader) image(n *Node, row []byte, b *Builder) *Error {
	if err := b.have(n); err != nil {
		return err
	}
	r.reset(row)
	return r.member(n, row, b)
}

// canal judges an event that Canal has wrapped.
func (e *envelope) canal(b *Builder) (gone bool, err *Error) {
	kind := b.said(e.kind)
	switch string(kind) {
	case "INSERT":
		return false, e.images(b, false, true)
	case "UPDATE":
		return false, e.images(b, !e.keyOnly(), true)
	case "DELETE":
		return true, e.images(b, false, true)
	case "TRUNCATE":
		return false, e.leaveOut(b, Truncate)
	}
	switch {
	case e.decoder.has(e.decoder.images.after):
		return false, &Error{Reason: Undecodable, Field: e.kind.path, Detail: "unknown kind of row change: " + Quoted(kind)}
	case len(kind) == 0:
		return false, &Error{Reason: MissingField, Field: e.kind.path, Detail: "it is not a change in Canal's format"}
	}
	return false, e.leaveOut(b, SchemaChange)
}
