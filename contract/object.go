package contract

import (
	"bytes"
	"encoding/json"
)

// object is a JSON object that keeps its members in insertion order.
type object []member

type member struct {
	name  string
	value any
}

// with returns the object with one more member.
func (o object) with(name string, value any) object { return append(o, member{name, value}) }

// get returns a member's value, or nil if there is none.
func (o object) get(name string) any {
	for _, m := range o {
		if m.name == name {
			return m.value
		}
	}
	return nil
}

// MarshalJSON implements json.Marshaler.
func (o object) MarshalJSON() ([]byte, error) {
	out := []byte{'{'}
	for i, m := range o {
		if i > 0 {
			out = append(out, ',')
		}
		name, err := marshal(m.name)
		if err != nil {
			return nil, err
		}
		value, err := marshal(m.value)
		if err != nil {
			return nil, err
		}
		out = append(append(append(out, name...), ':'), value...)
	}
	return append(out, '}'), nil
}

func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimRight(b.Bytes(), "\n"), err
}

// document returns a value as a JSON file.
func document(v any) []byte {
	raw, err := marshal(v)
	var b bytes.Buffer
	if err == nil {
		err = json.Indent(&b, raw, "", "  ")
	}
	if err != nil {
		panic("BUG: contract: " + err.Error())
	}
	return append(b.Bytes(), '\n')
}
