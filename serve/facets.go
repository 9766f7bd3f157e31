package serve

import (
	"net/http"
	"slices"
	"strings"

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
