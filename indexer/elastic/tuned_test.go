package elastic_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"brine/indexer"
	"brine/indexer/elastic"
	"brine/indexer/indexertest"
	"brine/internal/testenv"
)

// like opens an engine that creates indexes with these settings.
func like(t *testing.T, address, analyzer string, replicas int, refresh time.Duration) *elastic.Engine {
	t.Helper()
	e, err := elastic.Open(elastic.Options{Addresses: []string{address}, Analyzer: analyzer, Replicas: replicas, Refresh: refresh, Transport: &http.Transport{}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

// properties returns what a server reports for an index with these fields, each a type, or text and its analyzer.
func properties(fields map[string][2]string) any {
	all := map[string]any{"_row": map[string]any{"type": "keyword"}}
	for name, f := range fields {
		p := map[string]any{}
		if f[0] != "" {
			p["type"] = f[0]
		}
		if f[1] != "" {
			p["analyzer"] = f[1]
		}
		all[name] = p
	}
	return map[string]any{"mappings": map[string]any{"properties": all}}
}

// TestFieldsAreComparedInAllParts checks that fields are compared with every index behind the name, including the analyzer.
func TestFieldsAreComparedInAllParts(t *testing.T) {
	type fields = map[string][2]string
	const fix = "; a field's type and analyzer cannot be changed in place: declare them as they are, or rebuild the index with brine reindex"
	for _, c := range []struct {
		name     string
		parts    []fields // -2026.01, -2026.02 …
		want     indexer.Field
		missing  bool
		conflict string
	}{
		{"alike", []fields{{"item": {"text"}}, {"item": {"text", "standard"}}}, indexer.Field{Name: "item", Type: indexer.Text, Analyzer: "standard"}, false, ""},
		{"whichever analyzer", []fields{{"item": {"text"}}}, indexer.Field{Name: "item", Type: indexer.Text}, false, ""},
		{"another analyzer", []fields{{"item": {"text"}}}, indexer.Field{Name: "item", Type: indexer.Text, Analyzer: "smartcn"}, false, "item is cut into words by standard, and search.analyzer is smartcn"},
		{"the analyzer of the server", []fields{{"item": {"text", "smartcn"}}}, indexer.Field{Name: "item", Type: indexer.Text, Analyzer: "standard"}, false, "item is cut into words by smartcn, and search.analyzer is standard"},
		{"another analyzer in a part", []fields{{"item": {"text", "smartcn"}}, {"item": {"text"}}}, indexer.Field{Name: "item", Type: indexer.Text, Analyzer: "smartcn"}, false,
			"item is cut into words by standard in orders-2026.02-000001, and search.analyzer is smartcn"},
		{"an analyzer of no text", []fields{{"item": {"keyword"}}}, indexer.Field{Name: "item", Type: indexer.Text, Analyzer: "smartcn"}, false, "item is keyword, not text"},
		{"missing", []fields{{}, {}}, indexer.Field{Name: "item", Type: indexer.Keyword}, true, ""},
		{"missing in the first", []fields{{}, {"item": {"keyword"}}}, indexer.Field{Name: "item", Type: indexer.Keyword}, true, ""},
		{"missing in the last", []fields{{"item": {"keyword"}}, {"item": {"keyword"}}, {}}, indexer.Field{Name: "item", Type: indexer.Keyword}, true, ""},
		{"another type in the first", []fields{{"item": {"long"}}, {"item": {"keyword"}}}, indexer.Field{Name: "item", Type: indexer.Keyword}, false, "item is long in orders-2026.01-000001, not keyword"},
		{"another type in the last", []fields{{"item": {"long"}}, {"item": {"keyword"}}}, indexer.Field{Name: "item", Type: indexer.Long}, false, "item is keyword in orders-2026.02-000001, not long"},
		{"missing and another type", []fields{{}, {"item": {"long"}}}, indexer.Field{Name: "item", Type: indexer.Keyword}, false, "item is long in orders-2026.02-000001, not keyword"},
		{"an object", []fields{{"item": {}}}, indexer.Field{Name: "item", Type: indexer.Keyword}, false, "item is object, not keyword"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newServer(t)
			parts := map[string]any{}
			for i, p := range c.parts {
				parts[fmt.Sprintf("orders-2026.%02d-000001", i+1)] = properties(p)
			}
			s.indexes = parts
			e := like(t, s.URL, "", 0, 0)
			want := indexer.Mapping{Index: "orders", Every: indexer.Month, Fields: []indexer.Field{c.want}}
			have, err := e.Mapping(t.Context(), "orders")
			if err != nil {
				t.Fatal(err)
			}
			missing, err := want.Missing(have)
			if c.conflict != "" {
				if err == nil || err.Error() != "index orders has fields that differ from the declaration: "+c.conflict+fix {
					t.Errorf("error %v, want %s", err, c.conflict)
				}
			} else if err != nil || slices.Contains(missing, c.want) != c.missing {
				t.Errorf("missing %v, error %v", missing, err)
			}
			if err := e.EnsureIndex(t.Context(), want); (err != nil) != (c.conflict != "") {
				t.Errorf("error %v", err)
			}
			var puts []string
			if c.missing {
				puts = []string{`/orders/_mapping {"properties":{"item":{"type":"keyword"}}}`} // the name stands for all parts
			}
			if !slices.Equal(s.puts, puts) {
				t.Errorf("put was %q, want %q", s.puts, puts)
			}
		})
	}
}

// TestSettingsAreCompared checks that a setting that differs in one of the indexes behind a name is reported once, and changed in all.
func TestSettingsAreCompared(t *testing.T) {
	type settings = map[string]string
	const refresh, replicas = `{"index":{"refresh_interval":"5000ms"}}`, `{"index":{"number_of_replicas":2}}`
	for _, c := range []struct {
		name    string
		indexes []settings
		want    string // setting: is → becomes
		put     string
	}{
		{"as configured", []settings{{"refresh_interval": "5000ms", "number_of_replicas": "2"}, {"refresh_interval": "5s", "number_of_replicas": "2"}}, "", ""},
		{"another refresh", []settings{{"refresh_interval": "1000ms", "number_of_replicas": "2"}}, "search.refresh: 1s → 5s; ", refresh},
		{"none set", []settings{{"number_of_replicas": "2"}}, "search.refresh: not set → 5s; ", refresh},
		{"none at all", []settings{{"refresh_interval": "-1", "number_of_replicas": "2"}}, "search.refresh: -1 → 5s; ", refresh},
		{"other replicas", []settings{{"refresh_interval": "5s", "number_of_replicas": "0"}}, "search.replicas: 0 → 2; ", replicas},
		{"replicas by the nodes", []settings{{"refresh_interval": "5s", "number_of_replicas": "0", "auto_expand_replicas": "0-1"}}, "", ""},
		{"shards", []settings{{"refresh_interval": "5s", "number_of_replicas": "2", "number_of_shards": "7"}}, "", ""},
		{"some", []settings{{"refresh_interval": "5s", "number_of_replicas": "2"}, {"refresh_interval": "30s", "number_of_replicas": "1"}, {"refresh_interval": "1s", "number_of_replicas": "0"},
			{"refresh_interval": "30s", "number_of_replicas": "1"}}, "search.refresh: 30s, 1s → 5s; search.replicas: 1, 0 → 2; ", `{"index":{"number_of_replicas":2,"refresh_interval":"5000ms"}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newServer(t)
			indexes := map[string]any{}
			for i, one := range c.indexes {
				indexes[fmt.Sprintf("orders-2026.%02d-000001", i+1)] = map[string]any{"settings": map[string]any{"index": one}}
			}
			s.indexes = indexes
			e := like(t, s.URL, "", 2, 5*time.Second)
			untuned, err := e.Untuned(t.Context(), "orders")
			got := ""
			for _, u := range untuned {
				got += u.Name + ": " + u.Is + " → " + u.Becomes + "; "
			}
			if err != nil || got != c.want {
				t.Fatalf("to be changed: %s, error %v; want %s", got, err, c.want)
			}
			if c.put == "" {
				return
			}
			if err := e.Tune(t.Context(), "orders", untuned); err != nil || !slices.Equal(s.puts, []string{"/orders/_settings " + c.put}) {
				t.Errorf("put was %q, error %v; want %s", s.puts, err, c.put)
			}
		})
	}
}

func TestTuningOfRealElasticsearch(t *testing.T) { tuning(t, testenv.Elasticsearch(t)) }

func TestTuningOfRealElasticsearch9(t *testing.T) { tuning(t, testenv.Elasticsearch9(t)) }

func TestTuningOfRealOpenSearch(t *testing.T) { tuning(t, testenv.OpenSearch(t)) }

// tuning checks that refresh and replicas are changed in every part. The analyzer stays as the index was created, and the server does not
// report its name.
func tuning(t *testing.T, address string) {
	t.Parallel()
	t.Cleanup(func() { deleteIndexes(t, address, indexertest.Prefix+"tuned-") })
	for _, every := range []indexer.Every{"", indexer.Month} {
		m := indexer.Mapping{Index: fmt.Sprintf("%stuned-%d", indexertest.Prefix, time.Now().UnixNano()), Every: every,
			Fields: []indexer.Field{{Name: "item", Type: indexer.Text}}}
		before, after := like(t, address, "", elastic.NoReplicas, time.Second), like(t, address, "whitespace", 1, 70*time.Second)
		if err := before.EnsureIndex(t.Context(), m); err != nil {
			t.Fatal(err)
		}
		if every != "" {
			if err := before.EnsurePart(t.Context(), m, m.Index+"-2024.01"); err != nil {
				t.Fatal(err)
			}
		}
		if untuned, err := before.Untuned(t.Context(), m.Index); err != nil || len(untuned) > 0 {
			t.Errorf("as it was made: to be changed %v, error %v", untuned, err)
		}
		want := []indexer.Setting{{Name: "search.refresh", Is: "1s", Becomes: "1m10s"}, {Name: "search.replicas", Is: "0", Becomes: "1"}}
		untuned, err := after.Untuned(t.Context(), m.Index)
		if err != nil || !slices.Equal(untuned, want) {
			t.Errorf("to be changed %v, error %v; want %v", untuned, err, want)
		}
		if err := after.Tune(t.Context(), m.Index, untuned); err != nil {
			t.Fatal(err)
		}
		if untuned, err := after.Untuned(t.Context(), m.Index); err != nil || len(untuned) > 0 {
			t.Errorf("once changed: to be changed %v, error %v", untuned, err)
		}
		for analyzer, ok := range map[string]bool{"": true, "standard": true, "whitespace": false} {
			m.Fields[0].Analyzer = analyzer
			if err := after.EnsureIndex(t.Context(), m); (err == nil) != ok {
				t.Errorf("every %q: declared with the analyzer %q: error %v", every, analyzer, err)
			}
		}
		m.Index += "-other"
		for _, analyzer := range []string{"", "whitespace"} {
			m.Fields[0].Analyzer = analyzer
			if err := after.EnsureIndex(t.Context(), m); err != nil {
				t.Error(err)
			}
		}
	}
}
