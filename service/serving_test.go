package service_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"brine/publish"
	"brine/serve/client"
)

// served is lines with a table that anybody may read through a view.
var served = strings.Replace(lines, "moving: { row: entity,", "moving: { row: entity, public: exact-key,", 1) + `
views: { one: { table: moving, where: [id] } }
serve: { public_rate: 100000, cache: { max_age: 1h } }
`

// TestPipelinesAndTheAPIInOneProcess checks that watchers see what the pipelines write without waiting for the next query, which is a
// second away, and that no cached answer is used once one of its rows is settled, although answers may be an hour old.
func TestPipelinesAndTheAPIInOneProcess(t *testing.T) {
	t.Parallel()
	r := startLines(t, served)
	api, err := r.API(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() {
		if err := api.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	c, asks := &client.Client{Base: api.URL()}, url.Values{"id": {"K1"}}
	seen := make(chan string, 10)
	running.Go(func() {
		err := c.Watch(ctx, "one", asks, func(page client.Page, stale *client.Problem) error {
			seen <- fmt.Sprintf("%s %v", shownOf(page), stale)
			return nil
		})
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
	defer func() { cancel(); running.Wait() }()
	if got := <-seen; got != "none <nil>" {
		t.Fatalf("before anything is written: %s", got)
	}
	const n = 30
	quickest := time.Hour // a busy machine may take long for any other
	for i := range n {
		began := time.Now()
		r.change("K1", i)
		for want := fmt.Sprint(i, " <nil>"); ; {
			if got := <-seen; got == want {
				quickest = min(quickest, time.Since(began))
				break
			} else if i == 0 || got != fmt.Sprint(i-1, " <nil>") {
				t.Fatalf("%s was seen, want %s", got, want)
			}
		}
		r.settled("moving.rows", int64(i+1))
		for range 2 {
			page, err := c.Ask(t.Context(), "one", asks)
			if got := shownOf(page); err != nil || got != fmt.Sprint(i) {
				t.Fatalf("settled is %d, and the answer %s, %v", i, got, err)
			}
		}
	}
	if quickest > time.Second*2/3 { // by queries alone: about a second each
		t.Errorf("the quickest of %d changes was seen after %v", n, quickest)
	}
	if hits := r.counter("brine_serve_cache_requests_total", "hit"); hits < n {
		t.Errorf("%v answers were given again, of %d", hits, n)
	}
}

// shownOf returns the content of a page's only row.
func shownOf(p client.Page) string {
	if len(p.Rows) == 0 {
		return "none"
	}
	return fmt.Sprint(p.Rows[0].Fields["n"])
}

// change publishes a change of one row.
func (r *reloadable) change(id string, n int) {
	r.t.Helper()
	k := &r.Config().Kafka
	sender := publish.NewSender(k.Options(), k.RequestTimeout)
	defer sender.Close()
	value := fmt.Sprintf(`{"id":%q,"at":%d,"n":%d}`, id, 1700000000000+int64(n), n)
	if _, err := sender.Send(r.t.Context(), "moving", 0, []publish.Record{{Key: []byte(id), Value: []byte(value)}}, "", nil); err != nil {
		r.t.Fatal(err)
	}
}

// counter returns the value of a counter with one label.
func (r *reloadable) counter(metric, label string) (n float64) {
	families, err := r.Registry().Gather()
	if err != nil {
		r.t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() == metric && m.GetLabel()[0].GetValue() == label {
				n += m.GetCounter().GetValue()
			}
		}
	}
	return n
}
