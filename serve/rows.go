package serve

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"brine/query"
	"brine/rowkey"
	"brine/serve/client"
)

// rowText writes rows as JSON, each as a client.Row. It writes them directly, because putting values into a map first, for encoding/json to
// sort and to encode by reflection, takes several times as long.
type rowText struct {
	names []string // of the fields of the row before: those of a table's rows are mostly the same
	order []int    // positions of the names in ascending order; of equal names only the first
	key   []byte   // scratch
}

// append appends a row. question may be nil.
func (t *rowText) append(dst []byte, question *query.Question, f *query.Found) []byte {
	t.key = rowkey.AppendBinary(t.key[:0], f.Key)
	dst = quote(append(dst, `{"row":`...), t.key)
	dst = strconv.AppendInt(append(dst, `,"version":`...), f.Version, 10)
	if f.StateVersion != 0 {
		dst = strconv.AppendInt(append(dst, `,"state_version":`...), f.StateVersion, 10)
	}
	if f.State != "" {
		dst = quote(append(dst, `,"state":`...), f.State)
	}
	dst = append(dst, `,"fields":{`...)
	for i, at := range t.sorted(f.Fields) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(quote(dst, f.Fields[at].Name), ':')
		v := f.Fields[at].Value
		if v.Null() {
			v = f.Value(f.Fields[at].Name) // another column may have it
		}
		dst = query.AppendJSON(dst, v)
	}
	dst = append(dst, '}')
	if question != nil {
		dst = appendHighlights(dst, question, &f.Row)
	}
	return append(dst, '}')
}

// sorted returns the positions of the fields in the order of their names.
func (t *rowText) sorted(fields []query.Field) []int {
	if slices.EqualFunc(fields, t.names, func(f query.Field, name string) bool { return f.Name == name }) {
		return t.order
	}
	t.names, t.order = t.names[:0], t.order[:0]
	for i := range fields {
		t.names, t.order = append(t.names, fields[i].Name), append(t.order, i)
	}
	slices.SortStableFunc(t.order, func(a, b int) int { return strings.Compare(t.names[a], t.names[b]) })
	n := 0
	for i, at := range t.order {
		if i == 0 || t.names[at] != t.names[t.order[n-1]] {
			t.order[n] = at
			n++
		}
	}
	t.order = t.order[:n]
	return t.order
}

func appendHighlights(dst []byte, q *query.Question, row *query.Row) []byte {
	found := q.Highlights(row)
	if len(found) == 0 {
		return dst
	}
	out := map[string][]client.Span{}
	for name, spans := range found {
		for _, s := range spans {
			out[name] = append(out[name], client.Span(s))
		}
	}
	var text bytes.Buffer
	_ = encode(&text, out) // names and numbers have JSON
	return append(append(dst, `,"highlights":`...), bytes.TrimSpace(text.Bytes())...)
}

// quote appends a text as JSON, with the replacement character for what is not UTF-8.
func quote[Text ~string | ~[]byte](dst []byte, text Text) []byte {
	dst, _ = jsontext.AppendQuote(dst, text) // an error only says that something was replaced
	return dst
}

// page is a page of an answer, in JSON a client.Page.
type page struct {
	rows []byte // as JSON, with commas between them
	next string
}

func (p *page) append(dst []byte) []byte {
	const around = 64 // bytes, with the token when it is empty
	dst = slices.Grow(dst, len(p.rows)+len(p.next)+around)
	dst = append(append(dst, `{"rows":[`...), p.rows...)
	return append(quote(append(dst, `],"next_page_token":`...), p.next), '}')
}

// MarshalJSON implements json.Marshaler.
func (p *page) MarshalJSON() ([]byte, error) { return p.append(nil), nil }
