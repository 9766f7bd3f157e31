package indexer

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"

	"brine/rowkey"
)

// Routing is the field whose value determines the shard of a document. The value is read from the row key, which is the document's id, so a
// client that knows the id knows the shard, and an id never changes its shard. The index itself stores the Routing, in the form of its
// JSON.
type Routing struct {
	Field string            `json:"field"` // of the documents
	From  string            `json:"from"`  // the key's field that fills it
	Key   string            `json:"key"`   // in its normal form
	Types map[string]string `json:"types"` // of the key's fields
}

// newRouting returns the routing by field, a field of the documents that is filled with the key's field from.
func newRouting(field, from string, key *rowkey.Key) *Routing {
	r := &Routing{Field: field, From: from, Key: key.String(), Types: map[string]string{}}
	for _, f := range key.Bindable() {
		if slices.Contains(key.Fields(), f.Name) {
			r.Types[f.Name] = f.Type.String()
		}
	}
	return r
}

// Same reports whether both route every document to the same shard. Nil means no routing.
func (r *Routing) Same(o *Routing) bool {
	if r == nil || o == nil {
		return r == o
	}
	return r.Field == o.Field && r.From == o.From && r.Key == o.Key && maps.Equal(r.Types, o.Types)
}

func (r *Routing) String() string {
	if r == nil {
		return "by the whole id"
	}
	return fmt.Sprintf("by %s, which is %s of the key %s", r.Field, r.From, r.Key)
}

// Router computes the routing of documents from their ids. It is safe for concurrent use.
type Router struct {
	key *rowkey.Key
	at  int // the index of the field among the key's
}

// Router returns a Router. It returns an error if the key cannot be parsed, or does not yield the field.
func (r *Routing) Router() (*Router, error) {
	types := map[string]rowkey.Type{}
	for _, t := range []rowkey.Type{rowkey.Text, rowkey.Int, rowkey.Float, rowkey.Bool, rowkey.Time} {
		types[t.String()] = t
	}
	var fields []rowkey.Field
	for _, name := range slices.Sorted(maps.Keys(r.Types)) {
		t, ok := types[r.Types[name]]
		if !ok {
			return nil, fmt.Errorf("routing by %s: field %s of its key has type %q, which this brine does not know",
				r.Field, name, r.Types[name])
		}
		fields = append(fields, rowkey.Field{Name: name, Type: t})
	}
	key, err := rowkey.Parse(r.Key, fields)
	if err != nil {
		return nil, fmt.Errorf("routing by %s: the key %s: %w", r.Field, r.Key, err)
	}
	if !key.Gives(r.From) {
		return nil, fmt.Errorf("routing by %s: the key %s does not hold %s in a form that can be decoded", r.Field, r.Key, r.From)
	}
	return &Router{key: key, at: slices.Index(key.Fields(), r.From)}, nil
}

var errHashed = errors.New("it is the hash of a row key that is too long for an id, so the routing cannot be read from it")

// Of returns the routing of the document with an id.
func (r *Router) Of(id []byte) (string, error) {
	if hashedID(id) {
		return "", errHashed
	}
	row, err := ParseRowText(id)
	if err != nil {
		return "", err
	}
	values, err := r.key.Decode(row)
	if err != nil {
		return "", err
	}
	switch v := values[r.at]; v.Type {
	case rowkey.Text:
		return RoutingOf(string(v.Text)), nil
	case rowkey.Bool:
		return RoutingOf(v.Int != 0), nil
	default: // Int and Time
		return RoutingOf(v.Int), nil
	}
}

// RoutingOf returns the routing for a value of the routing field, in the form of a search: a string, int64 or bool. Search servers accept
// no empty routing, and split one at its commas. Two values with the same routing share a shard, which does no harm.
func RoutingOf(value any) string {
	switch v := value.(type) {
	case string:
		if v == "" {
			return "%"
		}
		return url.QueryEscape(v)
	case bool:
		return strconv.FormatBool(v)
	default:
		return fmt.Sprint(v)
	}
}

// CanTakePlaceOf returns the reason, if any, that an index cannot be built beside the live one and take its place. A pipeline that does not
// know of the change yet would place documents in the new index as in the former one. If the former one has no routing, the new one refuses
// such documents. If it has another routing, nothing would refuse them.
func (m Mapping) CanTakePlaceOf(live Mapping) error {
	if live.Routing == nil || live.Routing.Same(m.Routing) {
		return nil
	}
	return fmt.Errorf("index %s is routed %s and would become routed %s: a pipeline running at the same time would leave documents on two "+
		"shards; "+
		"declare it as it is, or write to a new index", live.Index, live.Routing, m.Routing)
}

func fixOfRouting(live *Routing) string {
	if live == nil {
		return "rebuild it with brine reindex, which sets the routing, or declare none"
	}
	return "declare it as it is, or write to a new index"
}

func (d *Document) validateRouting(bad func(string, ...any)) {
	if d.Routing == "" || d.Key == nil {
		return
	}
	at := slices.IndexFunc(d.Set, func(c Column) bool { return c.Name == d.Routing })
	switch {
	case at < 0:
		bad("routing: set does not fill %s", d.Routing)
	case d.Set[at].Type == Text || d.Set[at].Type == Double:
		bad("routing: %s is a %s; name a keyword, long, boolean or date", d.Routing, d.Set[at].Type)
	case !d.Key.Gives(d.Set[at].Field):
		bad("routing: from row key %s, field %s cannot be decoded, so a document's shard could not be read from its id; name a field that "+
			"the key holds whole", d.Key, d.Set[at].Field)
	}
}

// routing returns the routing of the document's index, or nil if there is none.
func (d *Document) routing() *Routing {
	at := slices.IndexFunc(d.Set, func(c Column) bool { return c.Name == d.Routing && c.Name != "" })
	if at < 0 {
		return nil
	}
	return newRouting(d.Routing, d.Set[at].Field, d.Key)
}
