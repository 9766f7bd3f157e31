package indexer_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"brine/event"
	"brine/indexer"
	"brine/indexer/indexertest"
)

// quoting is an engine that answers each write with a status, and quotes the document.
type quoting struct {
	*memory
	status int
}

func (q *quoting) Bulk(_ context.Context, ops []indexer.Op, results []indexer.Result) error {
	for i := range ops {
		results[i] = indexer.Result{Status: q.status, Kind: "unavailable_shards_exception",
			Reason: fmt.Sprintf("containing [index {[orders][%s], source[%s]}]", ops[i].ID, ops[i].Source)}
	}
	return nil
}

func (q *quoting) Purge(context.Context, string, int64) (int, error) {
	return 0, &indexer.RequestError{Status: q.status, Kind: "unavailable_shards_exception", Reason: "containing [delete {[orders][secret]}]"}
}

// TestMaskedDocumentsAreNotQuoted checks that no failure names a document whose id is masked, nor repeats what an index says about the
// documents of a pipeline that masks fields.
func TestMaskedDocumentsAreNotQuoted(t *testing.T) {
	const of = "status %d: unavailable_shards_exception"
	for _, c := range []struct {
		status int
		masked []int // positions in the schema
		want   string
	}{
		{503, nil, `index orders: document secret: status 503: containing [index {[orders][secret]`},
		{503, []int{0}, `index orders: document ***: ` + of},
		{503, []int{1}, `index orders: document secret: ` + of},
		{403, []int{0}, `index orders: document ***: ` + of + `; grant`},
		{404, []int{0}, `index orders: document ***: ` + of + `; create`},
		{400, []int{0}, `index orders: document ***: ` + of},
	} {
		synctest.Test(t, func(t *testing.T) {
			var mu sync.Mutex // two goroutines call the hooks
			var hooked []error
			called := func(err error) {
				mu.Lock()
				defer mu.Unlock()
				hooked = append(hooked, err)
			}
			w := newWriter(t, &quoting{newMemory(), c.status}, indexer.Whole, func(o *indexer.Options) {
				o.Schema.Masked, o.RetryFor = c.masked, time.Second
				o.Documents[0].Purge = time.Hour
				o.Hooks.Retry = func(i indexer.RetryInfo) { called(i.Err) }
				o.Hooks.Purged = func(i indexer.PurgedInfo) { called(i.Err) }
			})
			failures, err := event.Settle(t.Context(), submit(w, indexertest.Event(1, "secret", "secret")))
			synctest.Wait()
			w.Close()
			if err != nil || len(failures) != 1 {
				t.Fatal(failures, err)
			}
			want := c.want
			if strings.Contains(want, "%d") {
				want = fmt.Sprintf(want, c.status)
			}
			if got := failures[0].Err.Error(); !strings.HasPrefix(got, want) || c.masked != nil && strings.Contains(got, "source") {
				t.Errorf("%d, masked %v: %s", c.status, c.masked, got)
			}
			if refused := (*indexer.RequestError)(nil); !errors.As(failures[0].Err, &refused) || refused.Status != c.status {
				t.Errorf("%d: the status is lost: %v", c.status, failures[0].Err)
			}
			for _, err := range hooked {
				if c.masked != nil && err != nil && strings.Contains(err.Error(), "secret") {
					t.Errorf("%d, masked %v: a hook has %v", c.status, c.masked, err)
				}
			}
			if len(hooked) == 0 {
				t.Errorf("%d: no hook was called", c.status)
			}
		})
	}
}
