package serve

import (
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"brine/query"
	"brine/serve/client"
)

// maxFacetValues is the most values that are listed per field.
const maxFacetValues = 100

// hasFacets reports whether a view counts its matching rows by values of fields.
func hasFacets(v *query.View) bool { return len(v.Counts) > 0 && v.Table.Index != nil }

// facetRoute returns the route that counts what the view would show.
func facetRoute(v *query.View, params []param) *endpoint {
	on := viewSubject(v, false)
	on.counts = true
	params = slices.DeleteFunc(slices.Clone(params), func(p param) bool { return p.name == query.PageToken || p.name == query.PageSize })
	return &endpoint{method: http.MethodGet, path: viewPath(v.Name) + "/facets", id: "facets_" + v.Name,
		about:  "Count the rows of the view " + v.Name + ", in all and for each value of " + strings.Join(v.Counts, ", ") + ".",
		params: params, answer: client.Facets{}, on: on, handle: func(c *call) error { return c.facets(v) }}
}

// facetsOf returns the fields that a view counts by for the caller, without masked ones.
func (c *call) facetsOf(v *query.View) []string {
	out := []string{}
	on := viewSubject(v, false)
	on.counts = true
	if !hasFacets(v) || !c.may(c.id, "", on).open {
		return out
	}
	counted := v.Counted()
	for _, name := range v.Counts {
		f := counted[name]
		if rules := c.masks(c.id); !masked(rules, &v.Table, f.Name) && !masked(rules, &v.Table, f.Field) {
			out = append(out, name)
		}
	}
	return out
}

func (c *call) facets(v *query.View) error {
	fields := c.facetsOf(v)
	t, err := v.Facets(c.ctx, c.opts.Docs, query.Request{Given: c.own(given(c.values))}, fields, maxFacetValues+1)
	if err != nil {
		return err
	}
	out := client.Facets{Rows: t.Rows, Facets: []client.Facet{}}
	for _, counted := range t.Values {
		f := client.Facet{Field: counted.Field, Values: []client.FacetValue{}, More: len(counted.Counts) > maxFacetValues}
		for _, n := range counted.Counts[:min(len(counted.Counts), maxFacetValues)] {
			f.Values = append(f.Values, client.FacetValue{Value: n.Value, Rows: n.N})
		}
		out.Facets = append(out.Facets, f)
	}
	return c.json(out)
}

// sizeOf returns about how many bytes of JSON a row has, and not less than its texts have, which are the large part.
func sizeOf(r *client.Row) int {
	const rest = 150 // names and punctuation around them, and numbers
	n := rest + textSize(r.Row)
	for name, v := range r.Fields {
		n += len(name) + 30
		switch v := v.(type) {
		case string:
			n += textSize(v)
		case interface{ MarshalJSON() ([]byte, error) }:
			if b, err := v.MarshalJSON(); err == nil {
				n += len(b)
			}
		}
	}
	for name, spans := range r.Highlights {
		n += len(name) + 30*len(spans)
	}
	return n
}

// textSize returns the number of bytes of a text in JSON.
func textSize(s string) int {
	n := len(s)
	for i, r := range s {
		switch {
		case r == '"' || r == '\\':
			n++
		case r < ' ' || r == '\u2028' || r == '\u2029':
			n += 5
		case r == utf8.RuneError && s[i] != '\xef': // an invalid byte
			n += 5
		}
	}
	return n
}
