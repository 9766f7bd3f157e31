package avro

import (
	"encoding/json"
	"fmt"
	"strings"

	twmb "github.com/twmb/avro"
)

// Schema is a schema that records were written with. It is immutable.
type Schema struct{ root *typ }

// kind is the encoding of a value.
type kind uint8

const (
	null kind = iota + 1
	boolean
	integer
	long
	float
	double
	bytes
	text
	record
	enum
	array
	mapping
	fixed
	union
)

var kinds = map[string]kind{"null": null, "boolean": boolean, "int": integer, "long": long, "float": float, "double": double,
	"bytes": bytes, "string": text, "record": record, "error": record, "enum": enum, "array": array, "map": mapping, "fixed": fixed,
	"union": union}

// typ is a type of a schema. Types may be recursive.
type typ struct {
	kind     kind
	name     string // of a record, enum or fixed, with its namespace
	logical  logical
	scale    int      // of a decimal
	size     int      // of a fixed
	least    int      // fewest bytes of a value; 0: no value takes any
	fields   []field  // of a record
	symbols  [][]byte // of an enum
	branches []*typ   // of a union
	items    *typ     // of an array or a map
}

type field struct {
	name    string
	aliases []string
	quoted  []byte // the name as a member of a JSON object, with its colon
	typ     *typ
}

// Parse parses a schema and the schemas that it refers to. Each of these must come after those that it refers to itself.
func Parse(schema string, references ...string) (*Schema, error) {
	var cache twmb.SchemaCache
	for _, r := range references {
		if _, err := parse(&cache, r); err != nil {
			return nil, err
		}
	}
	s, err := parse(&cache, schema)
	if err != nil {
		return nil, err
	}
	r := resolver{names: map[string]*typ{}}
	root, err := r.typ(s.Root(), "", 0)
	if err != nil {
		return nil, err
	}
	seen := map[*typ]bool{}
	for _, t := range r.records {
		if _, err := t.fewest(seen); err != nil {
			return nil, err
		}
	}
	return &Schema{root}, nil
}

// parse accepts names with any characters, as registries do, and defaults that do not fit their fields: nothing reads them.
func parse(cache *twmb.SchemaCache, schema string) (*twmb.Schema, error) {
	s, err := cache.Parse(schema, twmb.WithLaxNames(nil))
	if err == nil {
		return s, nil
	}
	var tree any
	if json.Unmarshal([]byte(schema), &tree) != nil || !withoutDefaults(tree) {
		return nil, err
	}
	bare, fault := json.Marshal(tree)
	if fault != nil {
		return nil, err
	}
	if s, fault = cache.Parse(string(bare), twmb.WithLaxNames(nil)); fault != nil {
		return nil, err
	}
	return s, nil
}

// withoutDefaults removes the fields' defaults, and reports whether there were any.
func withoutDefaults(tree any) (found bool) {
	switch t := tree.(type) {
	case []any:
		for _, e := range t {
			found = withoutDefaults(e) || found
		}
	case map[string]any:
		if _, ok := t["default"]; ok {
			delete(t, "default") // an enum's too: it is for readers
			found = true
		}
		for name, e := range t {
			if name == "type" || name == "fields" || name == "items" || name == "values" {
				found = withoutDefaults(e) || found
			}
		}
	}
	return found
}

// resolver makes types of a parsed schema, in which names stand for types defined before.
type resolver struct {
	names   map[string]*typ
	records []*typ
}

// maxNesting bounds the nesting of types, and of values of recursive types.
const maxNesting = 500

func (r *resolver) typ(n *twmb.SchemaNode, space string, depth int) (*typ, error) {
	k, builtIn := kinds[n.Type]
	switch {
	case depth > maxNesting:
		return nil, fmt.Errorf("the schema's types are nested more than %d levels deep", maxNesting)
	case !builtIn:
		for _, name := range []string{qualified(n.Type, space), n.Type} {
			if t := r.names[name]; t != nil {
				return t, nil
			}
		}
		return nil, fmt.Errorf("the schema has no type %q", n.Type)
	}
	t := &typ{kind: k, size: n.Size, scale: n.Scale}
	if n.Name != "" {
		t.name, space = qualified(n.Name, n.Namespace), n.Namespace
		r.names[t.name] = t
	}
	connect, _ := n.Props["connect.name"].(string)
	t.setLogical(n.LogicalType, connect)
	for _, s := range n.Symbols {
		t.symbols = append(t.symbols, []byte(s))
	}
	return t, r.within(t, n, space, depth+1)
}

// within sets what t is made of.
func (r *resolver) within(t *typ, n *twmb.SchemaNode, space string, depth int) (err error) {
	switch t.kind {
	case array:
		t.items, err = r.typ(n.Items, space, depth)
	case mapping:
		t.items, err = r.typ(n.Values, space, depth)
	case union:
		for i := range n.Branches {
			b, err := r.typ(&n.Branches[i], space, depth)
			if err != nil {
				return err
			}
			t.branches = append(t.branches, b)
		}
	case record:
		r.records = append(r.records, t)
		for i := range n.Fields {
			f := &n.Fields[i]
			of, err := r.typ(&f.Type, space, depth)
			if err != nil {
				return err
			}
			quoted, err := json.Marshal(f.Name)
			if err != nil {
				return err
			}
			t.fields = append(t.fields, field{f.Name, f.Aliases, append(quoted, ':'), of.lifted(f)})
		}
		t.setVariable()
	}
	t.setLeast()
	return err
}

// lifted returns the type with the logical type that was written beside the field's type instead of in it, a common mistake.
func (t *typ) lifted(f *twmb.SchemaField) *typ {
	name, _ := f.Props["logicalType"].(string)
	if name == "" || name == "decimal" || t.logical != plain || t.kind != integer && t.kind != long {
		return t
	}
	of := *t
	of.setLogical(name, "")
	return &of
}

func qualified(name, space string) string {
	if space == "" || strings.Contains(name, ".") {
		return name
	}
	return space + "." + name
}

// setLeast sets the fewest bytes of every type except records, whose fields may not be complete yet.
func (t *typ) setLeast() {
	switch t.kind {
	case null, record:
	case fixed:
		t.least = t.size
	case float:
		t.least = 4
	case double:
		t.least = 8
	default:
		t.least = 1
	}
}

// fewest returns least, and sets it in a record and the records in it. A record that contains itself, other than in a union, an array or a
// map, has no values. seen are the records that it was called for; true: it has returned.
func (t *typ) fewest(seen map[*typ]bool) (int, error) {
	if t.kind != record {
		return t.least, nil
	}
	if done, begun := seen[t]; done {
		return t.least, nil
	} else if begun {
		return 0, fmt.Errorf("type %s contains itself, so its values never end", t.name)
	}
	seen[t] = false
	for i := range t.fields {
		n, err := t.fields[i].typ.fewest(seen)
		if err != nil {
			return 0, err
		}
		t.least = min(t.least+n, 1<<30)
	}
	seen[t] = true
	return t.least, nil
}
