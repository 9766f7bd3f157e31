package elastic_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"brine/indexer/indexertest"
	"brine/internal/testenv"
)

func TestTombstonesAreForgotten(t *testing.T) { forgetsTombstones(t, testenv.Elasticsearch(t)) }

func TestTombstonesAreForgottenByOpenSearch(t *testing.T) {
	forgetsTombstones(t, testenv.OpenSearch(t))
}

// forgetsTombstones shows why documents are not deleted by version: the server remembers deletes in memory only, however long
// index.gc_deletes is. If this fails, ADR 22 has lost its reason.
func forgetsTombstones(t *testing.T, address string) {
	t.Parallel()
	index := fmt.Sprintf("%stombstones-%d", indexertest.Prefix, time.Now().UnixNano())
	ask := func(method, path, body string) int {
		t.Helper()
		return ask(t, method, address+"/"+index+path, body)
	}
	t.Cleanup(http.DefaultClient.CloseIdleConnections)
	ask("PUT", "", `{"settings":{"number_of_replicas":0,"index.gc_deletes":"1d"}}`)
	defer ask("DELETE", "", "")
	older := func() int { return ask("PUT", "/_doc/a?version=7&version_type=external_gte", `{}`) }
	ask("PUT", "/_doc/a?version=5&version_type=external_gte", `{}`)
	ask("DELETE", "/_doc/a?version=10&version_type=external_gte", "")
	if got := older(); got != http.StatusConflict {
		t.Fatalf("an older write after a delete is answered with %d", got)
	}
	ask("POST", "/_close", "")
	ask("POST", "/_open?wait_for_active_shards=1", "")
	if got := older(); got != http.StatusCreated {
		t.Errorf("after the index was closed and opened an older write is answered with %d: its delete was remembered", got)
	}
}
