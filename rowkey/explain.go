package rowkey

import (
	"encoding/json"
	"strings"
)

// Part is one part of a key as explained to people.
type Part struct {
	Expr  string // as written, such as desc(at, ms)
	Width int    // bytes; 0 = variable
	Doc   string // what it does and how it orders, in one sentence
	Bytes []byte // this part of the row explained; nil when no row was given
	Value string // the decoded value for people; empty for a hash or if no row was given
}

// MarshalJSON writes a part with its bytes as Binary formats them.
func (p Part) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Expr  string `json:"expr"`
		Width int    `json:"width"`
		Doc   string `json:"doc"`
		Bytes string `json:"bytes,omitempty"`
		Value string `json:"value,omitempty"`
	}{p.Expr, p.Width, p.Doc, Binary(p.Bytes), p.Value})
}

// Explain describes the key part by part; row may be nil. For a row that the key could not have made, Explain returns the error of Decode
// together with the parts, of which those before the error have their bytes.
func (k *Key) Explain(row []byte) ([]Part, error) {
	parts := make([]Part, len(k.slots))
	for i, s := range k.slots {
		parts[i] = Part{Expr: s.expr(), Width: s.width(), Doc: s.doc()}
	}
	if row == nil {
		return parts, nil
	}
	_, err := k.Decode(row)
	values := make([]Value, len(k.fields))
	start := 0
	for i, s := range k.slots {
		n, bad := s.measure(row[start:])
		if bad != nil {
			break
		}
		b := row[start : start+n]
		parts[i].Bytes = b
		if fields := held(s.part); len(fields) > 0 && s.decode(b, values) == nil {
			parts[i].Value = joinValues(fields, values)
		}
		start += n
	}
	return parts, err
}

func joinValues(fields []field, values []Value) string {
	shown := make([]string, len(fields))
	for i, f := range fields {
		shown[i] = values[f.pos].String()
	}
	return strings.Join(shown, ", ")
}
