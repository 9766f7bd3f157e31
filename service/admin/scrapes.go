package admin

import (
	"bytes"
	"maps"
	"net/http"
	"net/url"
	"sync"
)

// scrapes makes one scrape at a time. Requests for the same form that arrive during a scrape share its answer, so that many clients cost as
// much as one.
type scrapes struct {
	metrics http.Handler
	making  sync.Mutex

	mu      sync.Mutex // guards pending
	pending map[form]*scrape
}

// form is what an answer depends on.
type form struct{ query, accept, encoding string }

// scrape is an answer, which is complete once done is closed. It is an http.ResponseWriter.
type scrape struct {
	done   chan struct{}
	code   int
	header http.Header
	body   bytes.Buffer
}

func newScrapes(metrics http.Handler) *scrapes {
	return &scrapes{metrics: metrics, pending: map[form]*scrape{}}
}

func (s *scrapes) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	answer := s.answer(form{r.URL.RawQuery, r.Header.Get("Accept"), r.Header.Get("Accept-Encoding")})
	select {
	case <-r.Context().Done():
		return
	case <-answer.done:
	}
	maps.Copy(w.Header(), answer.header)
	w.WriteHeader(answer.code)
	_, _ = w.Write(answer.body.Bytes()) // an error means that the client is gone
}

// answer returns the pending scrape of a form, or starts one.
func (s *scrapes) answer(f form) *scrape {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a := s.pending[f]; a != nil {
		return a
	}
	a := &scrape{done: make(chan struct{}), code: http.StatusOK, header: http.Header{}}
	s.pending[f] = a
	go s.make(f, a)
	return a
}

func (s *scrapes) make(f form, a *scrape) {
	defer close(a.done)
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.pending, f)
	}()
	s.making.Lock()
	defer s.making.Unlock()
	s.metrics.ServeHTTP(a, &http.Request{
		Method: http.MethodGet, URL: &url.URL{RawQuery: f.query}, Header: http.Header{"Accept": {f.accept}, "Accept-Encoding": {f.encoding}},
	})
}

func (a *scrape) Header() http.Header         { return a.header }
func (a *scrape) WriteHeader(code int)        { a.code = code }
func (a *scrape) Write(p []byte) (int, error) { return a.body.Write(p) }
