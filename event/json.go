package event

import (
	"bytes"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
)

// jsonReader reads JSON objects strictly: RFC 8259 grammar, valid UTF-8 (lone surrogate escapes are invalid), no declared field twice,
// nothing after the object. Names are compared exactly. Undeclared fields are skipped. Texts are cut out of the record without copying.
type jsonReader struct {
	root  *Node
	json  jsontext.Decoder
	input bytes.Buffer // over the record's bytes, which json reads in place
	name  []byte       // scratch for a member name with escapes
	array bool         // records are arrays of objects

	broken bool // the error in the current element is in the JSON itself
}

// JSONFormat is JSON: Schema.Format if records hold more than one object, and Schema.KeyFormat for keys that are objects.
type JSONFormat struct {
	Array bool // each record is an array of objects, each of which is an event; otherwise it is one object
}

// NewReader implements Format.
func (f JSONFormat) NewReader(root *Node) Reader { return &jsonReader{root: root, array: f.Array} }

// Read implements Reader.
func (r *jsonReader) Read(rec *Record, b *Builder) *Error {
	if r.array {
		return r.records(rec.Value, b)
	}
	return r.read(r.root, rec.Value, b)
}

// read reads a value that is one object.
func (r *jsonReader) read(n *Node, value []byte, b *Builder) *Error {
	rest, err := r.first(n, value, b)
	if err != nil {
		return err
	}
	return trailing("object", value, len(value)-len(rest))
}

// trailing rejects what follows a value's object or array, which ends before at.
func trailing(what string, value []byte, at int) *Error {
	if rest := bytes.TrimLeft(value[at:], space); len(rest) > 0 {
		return &Error{Reason: Undecodable, Detail: fmt.Sprintf("there is data after the %s at byte %d", what, len(value)-len(rest))}
	}
	return nil
}

// records reads an array of objects, each of which is an event.
func (r *jsonReader) records(record []byte, b *Builder) *Error {
	r.reset(record)
	if kind := r.json.PeekKind(); kind != '[' && kind != 0 {
		return &Error{Reason: Undecodable, Detail: "a JSON array of objects is expected, found " + kindName(kind)}
	}
	if _, err := r.json.ReadToken(); err != nil {
		return r.undecodable(err)
	}
	n := 0
	for ; r.json.PeekKind() != ']'; n++ {
		if n > 0 {
			if err := b.Next(); err != nil {
				return err
			}
		}
		b.Element(n)
		r.broken = false
		if err := r.element(record, b); err != nil {
			if r.broken {
				b.Element(noElement) // paths of errors in the JSON begin at its root
			}
			return err
		}
	}
	if n == 0 {
		b.LeaveOut(Empty)
	}
	if _, err := r.json.ReadToken(); err != nil {
		return r.undecodable(err)
	}
	err := trailing("array", record, int(r.json.InputOffset()))
	if err != nil {
		b.Element(noElement)
	}
	return err
}

// element reads the next element of an array of objects.
func (r *jsonReader) element(record []byte, b *Builder) *Error {
	if kind := r.json.PeekKind(); kind != '{' && kind != 0 {
		return r.noObject(kind)
	}
	return r.object(r.root, record, b)
}

// first reads the object at the start of a value and returns what follows it.
func (r *jsonReader) first(n *Node, value []byte, b *Builder) (rest []byte, err *Error) {
	if end := r.quick(n, value, b); end >= 0 {
		return value[end:], nil
	}
	r.reset(value)
	if kind := r.json.PeekKind(); kind != '{' && kind != 0 {
		return nil, r.noObject(kind)
	}
	if err := r.object(n, value, b); err != nil {
		return nil, err
	}
	return value[r.json.InputOffset():], nil
}

// noObject returns the error for a value that begins as something else than an object: it may also not be JSON at all.
func (r *jsonReader) noObject(begins jsontext.Kind) *Error {
	if begins != '[' {
		if _, err := r.json.ReadToken(); err != nil {
			return r.undecodable(err)
		}
	}
	return &Error{Reason: Undecodable, Detail: "a JSON object is expected, found " + kindName(begins)}
}

func (r *jsonReader) reset(value []byte) {
	r.input = *bytes.NewBuffer(value)
	r.json.Reset(&r.input, jsontext.AllowDuplicateNames(true)) // only declared ones matter: see Builder.have
}

// object reads the members of an object.
func (r *jsonReader) object(n *Node, record []byte, b *Builder) *Error {
	if _, err := r.json.ReadToken(); err != nil {
		return r.undecodable(err)
	}
	for r.json.PeekKind() != '}' {
		name, err := r.json.ReadValue()
		if err != nil {
			return r.undecodable(err)
		}
		m := r.find(n, name)
		if m == nil {
			if b.look != 0 {
				b.Undeclared(n, r.unquoted(name))
			}
			if _, err := r.json.ReadValue(); err != nil {
				return r.undecodable(err)
			}
			continue
		}
		if err := b.have(m); err != nil {
			return err
		}
		if err := r.member(m, record, b); err != nil {
			return err
		}
	}
	if _, err := r.json.ReadToken(); err != nil {
		return r.undecodable(err)
	}
	return nil
}

func (r *jsonReader) undecodable(err error) *Error {
	r.broken = true
	return undecodable(err)
}

// find returns the node of a quoted member name, or nil if it is not declared.
func (r *jsonReader) find(n *Node, quoted jsontext.Value) *Node { return n.Find(r.unquoted(quoted)) }

// unquoted returns the name in quotes. It is valid until the next call.
func (r *jsonReader) unquoted(quoted jsontext.Value) []byte {
	name := []byte(quoted[1 : len(quoted)-1])
	if bytes.IndexByte(name, '\\') >= 0 {
		r.name = appendUnquoted(r.name[:0], quoted)
		name = r.name
	}
	return name
}

// member reads the value of a declared key.
func (r *jsonReader) member(n *Node, record []byte, b *Builder) *Error {
	kind := r.json.PeekKind()
	n.null = kind == 'n'
	switch {
	case n.field >= 0:
	case n.column && r.lacks(n, record, b):
		if err := r.json.SkipValue(); err != nil {
			return r.undecodable(err)
		}
		return nil
	case kind == '{':
		return r.object(n, record, b)
	case kind == '[' && n.indexed:
		return r.elements(n, record, b)
	}
	raw, err := r.json.ReadValue()
	switch {
	case err != nil:
		return r.undecodable(err)
	case kind == 'n':
		return nil
	case n.field < 0:
		return &Error{Reason: WrongType, Field: n.path, Detail: "an object is expected, found " + kindName(kind)}
	}
	// What ReadValue returns is valid only until the next read; the same bytes in the record last longer.
	end := int(r.json.InputOffset())
	return b.take(n, kind, record[end-len(raw):end])
}

// lacks reports whether the next value stands for a column that the publisher could not send.
func (r *jsonReader) lacks(n *Node, record []byte, b *Builder) bool {
	next := record[r.json.InputOffset():]
	if next = bytes.TrimLeft(next, ":"+space); !mayBeUnavailable(next) {
		return false
	}
	end := endOfValue(next, 0, quickDepth)
	return end >= 0 && b.Lacks(n, next[:end])
}

// take sets a field from valid JSON that is not null and lasts as long as the batch.
func (b *Builder) take(n *Node, kind jsontext.Kind, raw []byte) *Error {
	if n.form.kind != 0 || n.column && (kind == '{' || len(raw) >= len(unavailable)) {
		if known, err := b.formed(n, kind, raw); known {
			return err
		}
	}
	if n.convert != nil {
		return b.convert(n, kind, raw)
	}
	if detail := b.batch.parse(&b.values[n.field], n, kind, raw); detail != "" {
		return b.misread(n, detail, raw)
	}
	return nil
}

// elements reads the declared elements of an array.
func (r *jsonReader) elements(n *Node, record []byte, b *Builder) *Error {
	if _, err := r.json.ReadToken(); err != nil {
		return r.undecodable(err)
	}
	for i := 0; r.json.PeekKind() != ']'; i++ {
		m := n.Element(i)
		if m == nil {
			if _, err := r.json.ReadValue(); err != nil {
				return r.undecodable(err)
			}
			continue
		}
		if err := b.have(m); err != nil {
			return err
		}
		if err := r.member(m, record, b); err != nil {
			return err
		}
	}
	if _, err := r.json.ReadToken(); err != nil {
		return r.undecodable(err)
	}
	return nil
}

func kindName(k jsontext.Kind) string {
	switch k {
	case 'n':
		return "null"
	case 't', 'f':
		return "a bool"
	case '"':
		return "a string"
	case '{':
		return "an object"
	case '[':
		return "an array"
	default:
		return "a number"
	}
}

// Own implements Recognizer.
func (r *jsonReader) Own(rec *Record) LeftOut { return r.own(rec.Value) }

// own returns what a record is whose members are those of an object.
func (r *jsonReader) own(object []byte) LeftOut {
	s, status := Shape{Members: map[string]bool{}}, ""
	r.reset(object)
	if r.json.PeekKind() != '{' {
		return ""
	}
	_, err := r.json.ReadToken()
	for err == nil && r.json.PeekKind() != '}' {
		var quoted, value jsontext.Value
		if quoted, err = r.json.ReadValue(); err != nil {
			break
		}
		member := string(r.unquoted(quoted))
		if value, err = r.json.ReadValue(); err == nil {
			s.Members[member] = mayBeObjects(value)
			if member == "status" {
				status = string(value)
			}
		}
	}
	if err == nil {
		_, err = r.json.ReadToken()
	}
	if err != nil || trailing("object", object, int(r.json.InputOffset())) != nil {
		return ""
	}
	own := r.root.OwnRecord(s)
	if own == Transaction && status != `"BEGIN"` && status != `"END"` {
		return ""
	}
	return own
}

// mayBeObjects reports whether a valid JSON value is an object, a list of objects or null.
func mayBeObjects(value []byte) bool {
	switch value[0] {
	case '{', 'n':
		return true
	case '[':
		first := value[skipSpace(value, 1)]
		return first == '{' || first == ']'
	}
	return false
}
