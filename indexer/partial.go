package indexer

import (
	"encoding/binary"
	"fmt"
	"strconv"

	"github.com/valyala/fastjson"
)

// merger merges partial changes into stored documents. For every field the greatest version wins, and among equals the one merged last, as
// in an HBase cell. Only one lane at a time may use it.
type merger struct {
	parser   fastjson.Parser
	values   [][]byte // by column: JSON; nil: none
	versions []int64
	scratch  []byte // the stored values
	newest   int64  // the greatest of the versions
	former   int64  // the stored document's version; −1: none
	others   bool   // the stored document has fields that are not declared
	changed  bool
}

func (m *merger) reset(d *document) {
	m.values, m.versions, m.scratch, m.changed, m.former = m.values[:0], m.versions[:0], m.scratch[:0], false, -1
	for range d.columns {
		m.values, m.versions = append(m.values, nil), append(m.versions, 0)
	}
}

// begin reads the stored document; source is nil if there is none.
func (m *merger) begin(d *document, source []byte) (*fastjson.Object, error) {
	m.reset(d)
	if source == nil {
		return nil, nil
	}
	v, err := m.parser.ParseBytes(source)
	if err != nil {
		return nil, fmt.Errorf("the stored document is not JSON: %w", err)
	}
	stored, err := v.Object()
	if err != nil {
		return nil, fmt.Errorf("the stored document is not an object: %w", err)
	}
	m.former = stored.Get(FieldVersion).GetInt64()
	for i, c := range d.columns {
		value := stored.Get(c.name)
		if !says(stored, c.name, value) {
			continue
		}
		from := len(m.scratch)
		m.scratch = appendStored(m.scratch, value)
		m.values[i] = m.scratch[from:len(m.scratch):len(m.scratch)]
		m.versions[i] = storedVersion(stored, c.name)
	}
	return stored, nil
}

// says reports whether a stored document says what the value of a field is. A null does if it has a version of its own.
func says(stored *fastjson.Object, name string, value *fastjson.Value) bool {
	return value != nil && (value.Type() != fastjson.TypeNull || stored.Get(FieldVersions).Get(name) != nil)
}

// storedVersion returns the version of a stored field. For a field that a whole change has written, before the pipeline's changes became
// partial, this is the document's version.
func storedVersion(stored *fastjson.Object, name string) int64 {
	if at := stored.Get(FieldVersions).Get(name); at != nil {
		return at.GetInt64()
	}
	return stored.Get(FieldVersion).GetInt64()
}

// add merges one change.
func (m *merger) add(o *op) {
	_, rest := nextPart(o.source)
	var part []byte
	for i := range m.values {
		part, rest = nextPart(rest)
		if len(part) == 0 || m.values[i] != nil && o.version < m.versions[i] {
			continue
		}
		if m.values[i] == nil || o.version != m.versions[i] || string(part) != string(m.values[i]) {
			m.values[i], m.versions[i], m.changed = part, o.version, true
		}
	}
}

// appendDocument appends the merged document: the declared fields in their order, then the other fields of the stored one.
func (m *merger) appendDocument(dst []byte, d *document, o *op, stored *fastjson.Object) []byte {
	m.newest = 0
	for i, v := range m.values {
		if v != nil {
			m.newest = max(m.newest, m.versions[i])
		}
	}
	others := othersOf(d, stored)
	m.others = len(others) > 0
	for _, name := range others {
		m.newest = max(m.newest, storedVersion(stored, name))
	}
	key, _ := nextPart(o.source)
	if len(key) == 0 {
		key = nil
	}
	dst = appendHead(dst, o.id, key, m.newest)
	for i, c := range d.columns {
		if m.values[i] != nil {
			dst = append(append(dst, c.label...), m.values[i]...)
		}
	}
	for _, name := range others {
		dst = append(appendString(append(dst, ','), []byte(name)), ':')
		dst = appendStored(dst, stored.Get(name))
	}
	dst = append(dst, `,"`+FieldVersions+`":{`...)
	start := len(dst)
	for i, c := range d.columns {
		if m.values[i] != nil {
			dst = append(dst, c.label...)
			dst = strconv.AppendInt(dst, m.versions[i], 10)
		}
	}
	for _, name := range others {
		dst = append(appendString(append(dst, ','), []byte(name)), ':')
		dst = strconv.AppendInt(dst, storedVersion(stored, name), 10)
	}
	if len(dst) > start { // drop the first label's comma
		dst = append(dst[:start], dst[start+1:]...)
	}
	return append(dst, '}', '}')
}

// othersOf returns the fields of the stored document that are not declared, because another pipeline has them, or this one had. They are
// kept.
func othersOf(d *document, stored *fastjson.Object) []string {
	if stored == nil {
		return nil
	}
	var names []string
	stored.Visit(func(key []byte, _ *fastjson.Value) {
		switch string(key) {
		case FieldRow, FieldKey, FieldVersion, FieldVersions:
			return
		}
		for _, c := range d.columns {
			if c.name == string(key) {
				return
			}
		}
		names = append(names, string(key))
	})
	return names
}

// appendHeld appends the document that appendDocument has just appended in the form for recent, or nothing if it has fields that are not
// declared. The form is: the newest version, then for each column the length of its value, the value, and by how much its version is older.
// Numbers are uvarints; length 0 means none.
func (m *merger) appendHeld(dst []byte) []byte {
	if m.others {
		return dst
	}
	dst = binary.AppendUvarint(dst, uint64(m.newest))
	for i, v := range m.values {
		dst = binary.AppendUvarint(dst, uint64(len(v)))
		if len(v) > 0 {
			dst = binary.AppendUvarint(append(dst, v...), uint64(m.newest-m.versions[i]))
		}
	}
	return dst
}

// beginHeld is begin for the form of appendHeld. fields must not change until the document is appended.
func (m *merger) beginHeld(d *document, fields []byte) {
	m.reset(d)
	next := func() uint64 {
		v, n := binary.Uvarint(fields)
		fields = fields[n:]
		return v
	}
	newest := next()
	m.former = int64(newest)
	for i := range m.values {
		if n := next(); n > 0 {
			m.values[i], fields = fields[:n:n], fields[n:]
			m.versions[i] = int64(newest - next())
		}
	}
}
