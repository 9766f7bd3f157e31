package sqlconsole_test

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"

	"brine/config"
	"brine/event"
	"brine/indexer"
	"brine/indexer/elastic"
	bleve "brine/indexer/embedded"
	"brine/indexer/indexertest"
	"brine/internal/testenv"
	"brine/query"
)

// engine is a search engine, as pipelines write to it and as statements query it.
type engine struct {
	indexer.Engine
	address string // of one that outlives the test; otherwise empty
}

// TestWordsOnEngines compares MATCH with the rows themselves on each available engine: what it finds by words, with conditions that the
// index can test and others, in its order, and after rows were deleted or changed.
func TestWordsOnEngines(t *testing.T) {
	elsewhere := func(address func(testing.TB) string) func(*testing.T) engine {
		return func(t *testing.T) engine {
			at := address(t)
			e, err := elastic.Open(elastic.Options{Addresses: []string{at}, Replicas: elastic.NoReplicas})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { e.Close() })
			return engine{e, at}
		}
	}
	for name, open := range map[string]func(*testing.T) engine{
		"embedded": func(t *testing.T) engine {
			e, err := bleve.Open(bleve.Options{Dir: t.TempDir()})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { e.Close() })
			return engine{Engine: e}
		},
		"Elasticsearch": elsewhere(testenv.Elasticsearch), "Elasticsearch 9": elsewhere(testenv.Elasticsearch9), "OpenSearch": elsewhere(testenv.OpenSearch),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // it mostly waits for the creation of indexes
			e := open(t)
			x := newTable(t, embeddedHBase(t), rand.New(rand.NewPCG(3, 3)))
			x.index(t, e)
			x.checkWords(t)
			x.checkChanges(t, e)
		})
	}
}

// index writes documents for the rows of a table.
func (x *table) index(t *testing.T, e engine) {
	t.Helper()
	name := indexertest.Prefix + "sql-" + x.name
	source := fmt.Sprintf(visits, x.name) + fmt.Sprintf(`search: { connect: "http://localhost:9200" }
indexes:
  %s: { fields: { s: text, n: long, user: keyword, when: date } }
`, name)
	source = strings.Replace(source, `"e:phone": phone } } ]`, fmt.Sprintf(`"e:phone": phone }, deleted: gone } ]
    changes: partial
    documents: [ { index: %s, set: { s: s, n: n, user: user, when: at }, deleted: gone } ]`, name), 1)
	cfg, problems := config.Parse("visits.yaml", []byte(source), func(string) (string, bool) { return "", false })
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	var err error
	if x.catalog, err = cfg.Catalog(); err != nil {
		t.Fatal(err)
	}
	x.pipeline = cfg.Pipelines[0]
	for _, m := range x.pipeline.Indexer().Mappings() {
		if err := e.EnsureIndex(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
	if e.address != "" {
		t.Cleanup(func() { e.delete(t, name) })
	}
	x.store = query.Selector{Client: x.store.Client, Docs: e}
	x.writeDocuments(t, e, x.records)
}

// delete deletes an index, by the name after our prefix.
func (e engine) delete(t *testing.T, index string) {
	defer http.DefaultClient.CloseIdleConnections()
	var list map[string]any
	if err := json.Unmarshal(e.ask(t, http.MethodGet, index+"/_settings"), &list); err != nil || len(list) == 0 {
		t.Errorf("there is no %s: %v", index, err)
	}
	for name := range list {
		e.ask(t, http.MethodDelete, name)
	}
}

func (e engine) ask(t *testing.T, method, path string) []byte {
	req, err := http.NewRequest(method, e.address+"/"+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Errorf("%s %s: %s %s %v", method, path, resp.Status, text, err)
	}
	return text
}

func (x *table) writeDocuments(t *testing.T, e engine, records []string) {
	t.Helper()
	w, err := indexer.New(e, x.pipeline.Indexer())
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	d, b := event.NewDecoder(x.pipeline.Schema()), new(event.Batch)
	for i, record := range records {
		if err := d.Decode(&event.Record{Offset: int64(i), Timestamp: 1 << 40, Value: []byte(record)}, b); err != nil {
			t.Fatal(err)
		}
	}
	if failed, err := event.Settle(t.Context(), w.Submit(t.Context(), b)); err != nil || len(failed) > 0 {
		t.Fatal(err, failed)
	}
	for _, m := range x.pipeline.Indexer().Mappings() {
		if err := e.Refresh(t.Context(), m.Index); err != nil {
			t.Fatal(err)
		}
	}
}

// checkWords runs random statements.
func (x *table) checkWords(t *testing.T) {
	t.Helper()
	random := rand.New(rand.NewPCG(4, 4))
	for range 40 {
		word, c := []string{"a", "ab", "abc", "ba"}[random.IntN(4)], aClause(random)
		where := fmt.Sprintf("FROM %s WHERE MATCH(s, '%s') AND %s", x.name, word, c.text)
		var got, want, ordered, byTime []string
		for _, row := range x.run(t, "SELECT user, at, id, n, f, b, s "+where).Rows {
			got = append(got, line(row))
		}
		for _, v := range x.rows {
			if v["s"] == word && c.holds(v) {
				want = append(want, v.line("user", "at", "id", "n", "f", "b", "s"))
				byTime = append(byTime, v.line("at"))
			}
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Fatalf("%s\nhas %d rows %q\nnot %d %q", where, len(got), got, len(want), want)
		}
		for _, row := range x.run(t, "SELECT at "+where+" ORDER BY at LIMIT 1000").Rows {
			ordered = append(ordered, line(row))
		}
		if slices.Sort(byTime); !slices.Equal(ordered, byTime) {
			t.Fatalf("%s ORDER BY at\nhas %q\nnot %q", where, ordered, byTime)
		}
	}
}

// checkChanges checks that a row is found by its present words, and a deleted one by none.
func (x *table) checkChanges(t *testing.T, e engine) {
	t.Helper()
	change := func(records ...string) {
		x.write(t, records)
		x.writeDocuments(t, e, records)
	}
	found := func(words string) (out []string) {
		for _, row := range x.run(t, fmt.Sprintf("SELECT id FROM %s WHERE MATCH(s, '%s')", x.name, words)).Rows {
			out = append(out, line(row))
		}
		return out
	}
	const row = `"user":"u1","at":9000000,"id":"changed"`
	change(`{` + row + `,"v":10,"s":"Zebra crossing, 12"}`)
	if got := found("ZEBRA 12"); !slices.Equal(got, []string{"changed"}) {
		t.Errorf("by its words: %q", got)
	}
	change(`{` + row + `,"v":11,"s":"okapi"}`)
	if old, now := found("zebra"), found("okapi"); len(old) != 0 || !slices.Equal(now, []string{"changed"}) {
		t.Errorf("changed: %q by the former words, %q by the new ones", old, now)
	}
	change(`{` + row + `,"v":12,"gone":true}`)
	if got := found("okapi"); len(got) != 0 {
		t.Errorf("deleted: %q", got)
	}
}
