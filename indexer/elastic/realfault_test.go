package elastic_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"brine/event"
	"brine/indexer"
	"brine/indexer/indexertest"
	"brine/internal/testenv"
)

func TestFaultsOfRealElasticsearch(t *testing.T) { faults(t, testenv.Elasticsearch(t)) }

func TestFaultsOfRealElasticsearch9(t *testing.T) { faults(t, testenv.Elasticsearch9(t)) }

func TestFaultsOfRealOpenSearch(t *testing.T) { faults(t, testenv.OpenSearch(t)) }

// faults puts an index into states that operators meet. What is written meanwhile waits or halts, nothing becomes a dead letter, and when
// the state has ended everything is there.
func faults(t *testing.T, address string) {
	t.Parallel()
	ask := func(method, path, body string) {
		t.Helper()
		if status := ask(t, method, address+path, body); status >= 300 {
			t.Fatalf("%s %s: status %d", method, path, status)
		}
	}
	t.Cleanup(func() { http.DefaultClient.CloseIdleConnections() })
	settings := func(text string) func(index string) {
		return func(index string) { ask("PUT", "/"+index+"/_settings", text) }
	}
	properties := `{"mappings":{"dynamic":"strict","properties":{"_row":{"type":"keyword"},"_ver":{"type":"long"},"_vers":{"type":"object","enabled":false},` +
		`"status":{"type":"long"}}},"aliases":{%q:{"is_write_index":true}}}`
	const patient = time.Hour // with a server that has to do with others too
	for _, c := range []struct {
		name         string
		begin, end   func(index string)
		verdict      event.Verdict
		reason       event.Reason
		says         string
		someRejected bool
	}{
		{"read only", settings(`{"index.blocks.write":true}`), settings(`{"index.blocks.write":null}`), event.Halt, event.Denied, "write block", false},
		{"full", settings(`{"index.blocks.read_only_allow_delete":true}`), settings(`{"index.blocks.read_only_allow_delete":null}`), event.Retry, event.Unavailable, "429", false},
		{"closed", func(index string) { ask("POST", "/"+index+"/_close", "") }, func(index string) { ask("POST", "/"+index+"/_open", "") },
			event.Halt, event.NoTable, "open the index", false},
		{"without its alias", func(index string) { ask("DELETE", "/"+index+"-000001/_alias/"+index, "") },
			func(index string) { ask("PUT", "/"+index+"-000001/_alias/"+index, `{"is_write_index":true}`) }, event.Halt, event.NoTable, "brine tables apply", false},
		{"an alias of two", func(index string) {
			ask("PUT", "/"+index+"-000002", "{}")
			ask("POST", "/_aliases", fmt.Sprintf(`{"actions":[{"add":{"index":"%[1]s-000001","alias":%[1]q,"is_write_index":false}},{"add":{"index":"%[1]s-000002","alias":%[1]q,"is_write_index":false}}]}`, index))
		}, func(index string) {
			ask("DELETE", "/"+index+"-000002", "")
			ask("PUT", "/"+index+"-000001/_alias/"+index, `{"is_write_index":true}`)
		}, event.Halt, event.Unknown, "no other document", false},
		{"made again by hand, with other types", func(index string) {
			ask("DELETE", "/"+index+"-000001", "")
			ask("PUT", "/"+index+"-000001", fmt.Sprintf(properties, index))
		}, nil, event.Halt, event.MappingRefused, "brine tables plan", true},
	} {
		for _, changes := range []indexer.Changes{indexer.Whole, indexer.Partial} {
			t.Run(c.name+"/"+string(changes), func(t *testing.T) {
				t.Parallel()
				e := open(t, address)
				index := fmt.Sprintf("%sfault-%d", indexertest.Prefix, time.Now().UnixNano())
				t.Cleanup(func() { deleteIndexes(t, address, index) })
				opts := indexertest.Options(t, index, changes)
				opts.Pause, opts.MaxPause = 50*time.Millisecond, 100*time.Millisecond
				if err := e.EnsureIndex(t.Context(), opts.Mappings()[0]); err != nil {
					t.Fatal(err)
				}
				write := func(n int, retryFor time.Duration) []event.Failure {
					opts.RetryFor = retryFor
					w, err := indexer.New(e, opts)
					if err != nil {
						t.Fatal(err)
					}
					defer w.Close()
					var events []event.Event
					for i := range n {
						events = append(events, indexertest.Event(int64(n), fmt.Sprint("o", i), "paid"))
					}
					failures, err := event.Settle(t.Context(), w.Submit(t.Context(), &event.Batch{Events: events}))
					if err != nil {
						t.Fatal(err)
					}
					return failures
				}
				if failures := write(3, patient); len(failures) > 0 {
					t.Fatal(failures[0].Err)
				}
				c.begin(index)
				failures, rejected := write(10, 500*time.Millisecond), 0
				for _, f := range failures {
					if c.someRejected && f.Verdict == event.Reject && f.Reason == c.reason {
						rejected++
					} else if f.Verdict != c.verdict || f.Reason != c.reason || !strings.Contains(f.Err.Error(), c.says) {
						t.Errorf("verdict %d, reason %s: %v", f.Verdict, f.Reason, f.Err)
					}
				}
				if len(failures) != 10 || rejected > 3 {
					t.Errorf("%d of 10 failed, %d are dead letters", len(failures), rejected)
				}
				if c.end == nil {
					return
				}
				c.end(index)
				if failures := write(10, patient); len(failures) > 0 {
					t.Errorf("afterwards: %v", failures[0].Err)
				}
			})
		}
	}
}
