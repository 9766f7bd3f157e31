package serve_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"brine/rowkey"
	"brine/serve"
)

func caching(o *serve.Options) { o.Cache = serve.Cache{MaxAge: 10 * time.Second} }

// change changes the newest event of W1.
func (s *shop) change(to string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.rows {
		if rowkey.Binary(s.store.rows[i].Row) == s.row {
			s.store.rows[i].Cells[1].Value = []byte(to)
		}
	}
}

// TestAnswersAreGivenAgain checks that answers are reused as long as they may be, with their Age, and no longer, but not for requests that
// wait for a change or ask whether something has changed.
func TestAnswersAreGivenAgain(t *testing.T) {
	var hits []bool
	s := newShop(t, func(o *serve.Options) {
		caching(o)
		o.Hooks.Cached = func(hit bool) { hits = append(hits, hit) }
	})
	synctest.Test(t, func(t *testing.T) {
		first := s.ask("GET", timeline, "")
		if first.Code != 200 || first.Header().Get("Age") != "" {
			t.Fatalf("%d %v", first.Code, first.Header())
		}
		s.change("BOS")
		time.Sleep(9 * time.Second)
		again := s.ask("GET", timeline, "")
		if again.Body.String() != first.Body.String() || again.Header().Get("Age") != "9" || again.Header().Get("Content-Type") != jsonBody {
			t.Errorf("%v %s", again.Header(), again.Body)
		}
		for name, header := range map[string][]string{"after a command": {"Brine-After", "x"}, "as lines": {"Accept", "application/x-ndjson"}} {
			if w := s.ask("GET", timeline, "", header...); !strings.Contains(w.Body.String(), "BOS") || w.Header().Get("Age") != "" {
				t.Errorf("%s: %v %s", name, w.Header(), w.Body)
			}
		}
		if w := s.ask("GET", timeline+"&page_size=1", ""); !strings.Contains(w.Body.String(), "BOS") {
			t.Errorf("another question: %s", w.Body)
		}
		time.Sleep(2 * time.Second)
		if w := s.ask("GET", timeline, ""); !strings.Contains(w.Body.String(), "BOS") || w.Header().Get("Age") != "" {
			t.Errorf("%v %s", w.Header(), w.Body)
		}
	})
	if fmt.Sprint(hits) != "[false true false false]" {
		t.Errorf("hits %v", hits)
	}
}

// TestWhatIsAskedByHowLongAgoIsNotKept checks that questions with relative times are not cached: the same words mean something else a
// moment later.
func TestWhatIsAskedByHowLongAgoIsNotKept(t *testing.T) {
	s := newShop(t, func(o *serve.Options) { o.Cache = serve.Cache{MaxAge: time.Hour} })
	for from, kept := range map[string]bool{"9999d": false, "2012-01-01": true} {
		for i := range 2 {
			if w := s.ask("GET", timeline+"&at.from="+from, ""); w.Code != 200 || (w.Header().Get("Age") != "") != (kept && i == 1) {
				t.Errorf("from %s, asked %d times: %d %v", from, i+1, w.Code, w.Header())
			}
		}
	}
}

// TestTwoRolesOneWarmCache checks that nobody gets another caller's cached answer, and that the audit has reads from the cache, too.
func TestTwoRolesOneWarmCache(t *testing.T) {
	g := newGuarded(t, caching)
	for range 2 {
		for _, name := range []string{"u1", "u2"} {
			w := g.as(name, "GET", "/api/v1/views/user-orders", "")
			if w.Code != 200 || !strings.Contains(w.Body.String(), "G-"+name) || strings.Count(w.Body.String(), `"row"`) != 1 {
				t.Fatalf("as %s: %d %s", name, w.Code, w.Body)
			}
		}
		if w := g.as("support", "GET", "/api/v1/views/user-orders?user=u1", "", "Brine-Reason", "case 1"); w.Code != 200 {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
	}
	if n := strings.Count(g.audited(t), "read GET /api/v1/views/user-orders user=u1"); n != 2 {
		t.Errorf("%d reads are in the audit: %s", n, g.audited(t))
	}
	if w := g.as("support", "GET", "/api/v1/views/user-orders?user=u1", ""); w.Code != 400 {
		t.Errorf("without a reason: %d %s", w.Code, w.Body)
	}
}

// TestFailuresAndLargeAnswersAreNotKept checks that failures and large answers are not cached.
func TestFailuresAndLargeAnswersAreNotKept(t *testing.T) {
	s := newShop(t, caching)
	s.fails = 1
	if w := s.ask("GET", timeline, ""); w.Code != 503 {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	s.fails = 0
	if w := s.ask("GET", timeline, ""); w.Code != 200 {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	small := newShop(t, func(o *serve.Options) { o.Cache = serve.Cache{MaxAge: time.Hour, Bytes: 1024} })
	small.ask("GET", timeline, "")
	small.change("BOS")
	if w := small.ask("GET", timeline, ""); !strings.Contains(w.Body.String(), "BOS") {
		t.Errorf("%s", w.Body)
	}
}

// TestTheCacheIsBounded checks that the least recently used answers are evicted when the cache is full.
func TestTheCacheIsBounded(t *testing.T) {
	s := newShop(t, func(o *serve.Options) { o.Cache = serve.Cache{MaxAge: time.Hour, Bytes: 16 << 10} })
	s.ask("GET", timeline, "")
	s.change("BOS")
	if w := s.ask("GET", timeline, ""); w.Header().Get("Age") == "" || strings.Contains(w.Body.String(), "BOS") {
		t.Errorf("nothing was kept: %v %s", w.Header(), w.Body)
	}
	for i := range 100 {
		s.ask("GET", fmt.Sprintf("/api/v1/views/waybill?waybill=none-%d", i), "")
	}
	if w := s.ask("GET", timeline, ""); !strings.Contains(w.Body.String(), "BOS") {
		t.Errorf("%s", w.Body)
	}
}
