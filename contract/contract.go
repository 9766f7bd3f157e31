// Package contract describes what a publisher must send for a pipeline to take its records: as JSON Schema, as AsyncAPI, as an Avro schema,
// or as a Protobuf message. It is pure: it turns what a pipeline declares about its records into a document.
//
// A document never requires less than the pipeline: no record that it accepts is refused for a missing field or a wrong type, as far as the
// language of the document can express that. It may require more, because it describes what to send rather than everything that is read.
package contract

import (
	"errors"
	"fmt"
	"strings"

	"brine/event"
)

// The formats of records, as in brine.yaml.
const (
	JSON      = "json"
	JSONArray = "json_array"
	CSV       = "csv"
	Raw       = "raw"
	Avro      = "avro"
	Protobuf  = "protobuf"
)

// Terms are what a pipeline expects of a publisher.
type Terms struct {
	Pipeline string
	Topic    string   // its topic, or the description of its topics, for people
	Topics   []string // their names; nil: a pattern selects them
	Format   string
	Framing  string // what precedes each record; empty: nothing
	Schema   event.Schema
	Needs    []Need   // fields without which an event is rejected
	Columns  []string // of CSV, in order
	Between  string   // separator of values in CSV
	Text     []byte   // contents of the schema file that applies to all records; nil: there is none
	Servers  []Server

	KeyFormat  string // of fields in keys
	KeyFraming string // what precedes each key; empty: nothing
	KeyText    []byte // contents of the schema file that applies to all keys; nil: there is none
}

// Need is a field that an event must have.
type Need struct {
	Field string
	Why   string // for example "part of the key of table scans"
}

// Server is the publishable part of a broker: how to reach it, and nothing secret.
type Server struct {
	Address   string // host:port
	Encrypted bool
	Mechanism string // SASL mechanism, as brine.yaml names it; empty: none
}

// ErrFormat means that a language cannot describe the pipeline's records.
var ErrFormat = errors.New("")

// unfit returns an error that is ErrFormat.
func unfit(format string, args ...any) error {
	return fmt.Errorf("%w"+format, append([]any{ErrFormat}, args...)...)
}

// needs returns why an event must have a field, or an empty string if it need not.
func (t *Terms) needs(f *event.Field) string {
	if !f.Default.Null() {
		return ""
	}
	var why []string
	for _, n := range t.Needs {
		if n.Field == f.Name {
			why = append(why, n.Why)
		}
	}
	return strings.Join(why, ", ")
}

// tree is the contents of records, by key.
type tree struct {
	key      string
	field    *event.Field // nil: an inner node
	why      string       // why the field is needed; empty: it is not
	children []*tree
	texts    bool // a text in place of the value is taken too
	column   bool // of a row; a publisher may be unable to send its value
}

// part returns the tree of the fields in one part of a record.
func (t *Terms) part(place event.Place) *tree {
	root := &tree{}
	for i := range t.Schema.Fields {
		f := &t.Schema.Fields[i]
		made := f.Made || !f.Const.Null() || f.Name == t.Schema.Images.Deleted || len(f.Path) == 1 && f.Path[0] == "$row"
		if made || f.Place != place {
			continue
		}
		n := root.at(f.Keys())
		n.field, n.why = f, t.needs(f)
	}
	return root
}

// at returns the node at a path, and adds it if necessary.
func (n *tree) at(path []string) *tree {
	for _, key := range path {
		m := n.child(key)
		if m == nil {
			m = &tree{key: key}
			n.children = append(n.children, m)
		}
		n = m
	}
	return n
}

func (n *tree) child(key string) *tree {
	for _, m := range n.children {
		if m.key == key {
			return m
		}
	}
	return nil
}

// needed reports whether a field at n or below it is needed.
func (n *tree) needed() bool {
	if n.why != "" {
		return true
	}
	for _, m := range n.children {
		if m.needed() {
			return true
		}
	}
	return false
}

// elements reports whether all keys below n are array indexes.
func (n *tree) elements() bool {
	for _, m := range n.children {
		if _, ok := index(m.key); !ok {
			return false
		}
	}
	return len(n.children) > 0
}

// index parses a key that may be an array index.
func index(key string) (i int, ok bool) {
	if len(key) == 0 || len(key) > 4 || len(key) > 1 && key[0] == '0' {
		return 0, false
	}
	for _, c := range []byte(key) {
		if c < '0' || c > '9' {
			return 0, false
		}
		i = 10*i + int(c-'0')
	}
	return i, true
}

// each calls f for n and everything below it.
func (n *tree) each(f func(*tree)) {
	f(n)
	for _, m := range n.children {
		m.each(f)
	}
}

// Language is the language of a document.
type Language string

// The languages.
const (
	JSONSchemaLanguage Language = "json-schema"
	AsyncAPILanguage   Language = "asyncapi"
	AvroLanguage       Language = "avro"
	ProtoLanguage      Language = "proto"
)

// In describes the records in a language; if it is empty, in the language of their format. The error is ErrFormat if the language cannot
// describe them.
func (t *Terms) In(l Language) ([]byte, error) {
	if l == "" {
		l = JSONSchemaLanguage
		if own, ok := map[string]Language{Avro: AvroLanguage, Protobuf: ProtoLanguage}[t.Format]; ok {
			l = own
		}
	}
	switch l {
	case AsyncAPILanguage:
		return t.AsyncAPI()
	case AvroLanguage:
		return t.Avro()
	case ProtoLanguage:
		return t.Proto()
	}
	return t.JSONSchema()
}
