package elastic_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"brine/indexer"
	"brine/indexer/elastic"
	"brine/indexer/indexertest"
	"brine/internal/testenv"
)

func open(t testing.TB, address string) *elastic.Engine {
	t.Helper()
	e, err := elastic.Open(elastic.Options{Addresses: []string{address}, Replicas: elastic.NoReplicas})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

func TestConformanceOfRealElasticsearch(t *testing.T) {
	address := testenv.Elasticsearch(t)
	e := open(t, address)
	t.Cleanup(func() { deleteIndexes(t, address) })
	indexertest.Run(t, func(*testing.T) indexer.Engine { return e })
}

// deleteIndexes deletes what the tests have made.
func deleteIndexes(t *testing.T, address string) {
	resp, err := http.Get(address + "/_alias/" + indexertest.Prefix + "*")
	if err != nil {
		t.Error(err)
		return
	}
	defer resp.Body.Close()
	var indexes map[string]any
	if err := json.NewDecoder(resp.Body).Decode(&indexes); err != nil {
		t.Error(err)
	}
	for name := range indexes {
		if !strings.HasPrefix(name, indexertest.Prefix) {
			continue
		}
		req, _ := http.NewRequest("DELETE", address+"/"+name, nil)
		if resp, err := http.DefaultClient.Do(req); err != nil {
			t.Error(err)
		} else {
			resp.Body.Close()
		}
	}
}
