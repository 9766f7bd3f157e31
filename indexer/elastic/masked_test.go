package elastic_test

import (
	"net/http"
	"strings"
	"testing"

	"brine/indexer"
	"brine/indexer/elastic"
)

// An answer about another document than was asked for is an error that names neither, because ids may hold what is masked.
func TestAnAnswerAboutAnotherDocumentNamesNoID(t *testing.T) {
	s := newServer(t)
	s.fault = func(int, string, []byte) fault {
		return func(w http.ResponseWriter, _ func() []byte) {
			_, _ = w.Write([]byte(`{"docs":[{"_id":"13800138001","found":false}]}`))
		}
	}
	e, err := elastic.Open(elastic.Options{Addresses: []string{s.URL}, Transport: &http.Transport{}})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	err = e.Get(t.Context(), []indexer.Ref{{Index: "orders", ID: []byte("13800138000")}}, make([]indexer.Stored, 1))
	if err == nil || strings.Contains(err.Error(), "1380013800") || !strings.Contains(err.Error(), "document 1 of 1 is not the one that was requested") {
		t.Error(err)
	}
}
