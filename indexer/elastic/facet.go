package elastic

import (
	"encoding/json"
	"fmt"
	"strconv"

	"brine/search"
)

// bucket is one value of a terms aggregation. The key of a boolean is 0 or 1; its name is false or true.
type bucket struct {
	Key   json.RawMessage `json:"key"`
	Name  string          `json:"key_as_string"`
	Count int64           `json:"doc_count"`
}

// aggregations returns a terms aggregation for each facet, keyed by the facet's index.
func aggregations(facets []search.Facet) object {
	all := object{}
	for i, f := range facets {
		all[strconv.Itoa(i)] = object{"terms": object{
			"field": f.Field, "size": f.Limit(), "order": []object{{"_count": "desc"}, {"_key": "asc"}},
		}}
	}
	return all
}

func (a *answer) facets(q *search.Query) ([][]search.Count, error) {
	var all [][]search.Count
	for i, f := range q.Facets {
		counts := []search.Count{}
		for _, b := range a.Aggregations[strconv.Itoa(i)].Buckets {
			v, err := b.value()
			if err != nil {
				return nil, fmt.Errorf("index %s: facet of field %s: %w", q.Index, f.Field, err)
			}
			counts = append(counts, search.Count{Value: v, N: b.Count})
		}
		all = append(all, counts)
	}
	return all, nil
}

func (b *bucket) value() (any, error) {
	if b.Name == "true" || b.Name == "false" {
		return b.Name == "true", nil
	}
	if len(b.Key) > 0 && b.Key[0] == '"' {
		var text string
		err := json.Unmarshal(b.Key, &text)
		return text, err
	}
	return strconv.ParseInt(string(b.Key), 10, 64)
}
