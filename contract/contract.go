// Package contract says what a publisher must send for a pipeline to take its records: as JSON Schema, as AsyncAPI, as an Avro schema, as a
// Protobuf message. It is pure: what a pipeline declares of its records goes in, a document comes out.
//
// A document is never wider than the pipeline in what it requires: what it accepts is not refused for a field that is missing or of another
// type, as far as the language of the document can say so. It may be narrower, since it says what to send rather than all that is read.
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
	Topic    string   // its topic, or what says its topics, for people
	Topics   []string // their names; nil: a pattern says them
	Format   string
	Framing  string // what stands before each record; empty: nothing
	Schema   event.Schema
	Needs    []Need   // fields without which an event is rejected
	Columns  []string // of CSV, in their order
	Between  string   // what stands between values of CSV
	File     string   // the name of the schema's file that all records are of; empty: there is none
	Text     []byte   // that file
	Servers  []Server
}

// Need is a field that an event cannot do without.
type Need struct {
	Field string
	Why   string // as "part of the key of table scans"
}

// Server is a broker as it may be published: how to reach it, and nothing that is secret.
type Server struct {
	Address   string // host:port
	Encrypted bool
	Mechanism string // of SASL, as brine.yaml names it; empty: none
}

// ErrFormat says that records of the pipeline cannot be described in a language.
var ErrFormat = errors.New("")

// unfit makes an error that is ErrFormat.
func unfit(format string, args ...any) error {
	return fmt.Errorf("%w"+format, append([]any{ErrFormat}, args...)...)
}

// needs reports why an event cannot do without a field; empty: it can.
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

// tree is what records hold, by their keys.
type tree struct {
	key      string
	field    *event.Field // nil: on the way to fields
	why      string       // the field is needed; empty: it is not
	children []*tree
	texts    bool // a text that says the value is taken too
	column   bool // of a row, whose value a publisher may be unable to send
}

// part returns the tree of the fields that lie in one part of a record.
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

// at finds or adds what is at a path.
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

// elements reports whether all keys below n are indexes of an array.
func (n *tree) elements() bool {
	for _, m := range n.children {
		if _, ok := index(m.key); !ok {
			return false
		}
	}
	return len(n.children) > 0
}

// index reads a key that may be one of an array.
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

// each calls f for n and all below it.
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

// In describes the records in a language; empty: in that of their format. An error is ErrFormat where that language does not describe
// them.
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
