package event

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

// Members reads the members of JSON objects, for cells of their own. It is not safe for concurrent use.
type Members struct {
	json  jsontext.Decoder
	input bytes.Buffer
	scrap Batch // for strings that had escapes
}

// Reset reuses the buffer of what Read has passed.
func (m *Members) Reset() { m.scrap.texts = m.scrap.texts[:0] }

// Read calls f for each member of an object, which must be valid JSON: with the text of a string, and the JSON of anything else. It skips
// nulls. Names and values are valid as long as object, and until Reset. Besides the errors of f, it returns an error if object is something
// else.
func (m *Members) Read(object []byte, f func(name, value []byte) *Error) *Error {
	m.input = *bytes.NewBuffer(object)
	m.json.Reset(&m.input, jsontext.AllowDuplicateNames(true)) // f checks whether a name occurs twice
	if kind := m.json.PeekKind(); kind != '{' {
		return &Error{Reason: WrongType, Detail: "an object is expected, found " + kindName(kind)}
	}
	if _, err := m.json.ReadToken(); err != nil {
		return undecodable(err)
	}
	for m.json.PeekKind() != '}' {
		quoted, err := m.value(object)
		if err != nil {
			return err
		}
		name := m.scrap.text(quoted)
		kind := m.json.PeekKind()
		value, err := m.value(object)
		switch {
		case err != nil:
			return err
		case kind == 'n':
			continue
		case kind == '"':
			value = m.scrap.text(value)
		}
		if err := f(name, value); err != nil {
			return err
		}
	}
	return nil
}

// value reads the next value and returns it where it lasts: within object.
func (m *Members) value(object []byte) ([]byte, *Error) {
	raw, err := m.json.ReadValue()
	if err != nil {
		return nil, undecodable(err)
	}
	end := int(m.json.InputOffset())
	return object[end-len(raw) : end], nil
}
