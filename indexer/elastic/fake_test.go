package elastic_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"brine/indexer"
)

// server is a search server's _bulk and _mget, with a fault for a chosen call.
type server struct {
	*httptest.Server

	mu    sync.Mutex
	calls int
	docs  map[string]*stored

	routing  *indexer.Routing // the routing that it requires; nil: none
	foreign  bool             // its mapping does not describe the routing
	mappings int              // requests for the mapping
	indexes  any              // its answer about its indexes, whatever the request; nil: mapping's
	puts     []string         // everything that was put, except documents

	// fault is called for every call, with its number; nil means no fault. It answers in place of the server, which it may call.
	fault func(call int, path string, body []byte) fault
}

// fault answers a call itself: apply makes the server execute the request, and returns its answer.
type fault func(w http.ResponseWriter, apply func() []byte)

type stored struct {
	source       json.RawMessage
	version, seq int64
}

func newServer(t testing.TB) *server {
	s := inside()
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

// inside returns a server without a socket, for a synctest bubble: it has any URL.
func inside() *server { return &server{docs: map[string]*stored{}} }

// RoundTrip passes the request to the server.
func (s *server) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w.Result(), nil
}

// heal ends the faults.
func (s *server) heal() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = nil
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.Method == http.MethodGet {
		if s.indexes != nil {
			_, _ = w.Write(mustJSON(s.indexes))
			return
		}
		_, _ = w.Write(s.mapping())
		return
	}
	if r.Method == http.MethodPut {
		s.puts = append(s.puts, r.URL.Path+" "+string(body))
		_, _ = w.Write([]byte("{}"))
		return
	}
	apply := func() []byte {
		if r.URL.Path == "/_mget" {
			return s.mget(body)
		}
		return s.bulk(body)
	}
	call := s.calls
	s.calls++
	if s.fault != nil {
		if f := s.fault(call, r.URL.Path, body); f != nil {
			f(w, apply)
			return
		}
	}
	_, _ = w.Write(apply())
}

type bulkAction struct {
	ID      string `json:"_id"`
	Routing string `json:"routing"`
	Version *int64 `json:"version"`
	SeqNo   *int64 `json:"if_seq_no"`
}

func (s *server) bulk(body []byte) []byte {
	var items []any
	lines := bufio.NewScanner(bytes.NewReader(body))
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var line map[string]bulkAction
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			panic(err)
		}
		lines.Scan()
		for kind, a := range line {
			items = append(items, s.write(kind, a, bytes.Clone(lines.Bytes())))
		}
	}
	return mustJSON(map[string]any{"items": items})
}

func (s *server) write(kind string, a bulkAction, source []byte) any {
	if fault := s.unrouted(a.ID, a.Routing); fault != nil {
		return map[string]any{kind: map[string]any{"_id": a.ID, "status": 400, "error": fault}}
	}
	place := s.place(a.ID, a.Routing)
	doc := s.docs[place]
	status, why, reason := 200, "", ""
	switch {
	case bytes.Contains(source, []byte(`"status":"refused"`)):
		status, why, reason = 400, "document_parsing_exception", "failed to parse field [status]"
	case bytes.Contains(source, []byte(`"status":"odd"`)): // of an unknown kind
		status, why, reason = 400, "illegal_argument_exception", "immense term"
	case a.Version != nil && doc != nil && *a.Version < doc.version,
		kind == "create" && doc != nil,
		a.SeqNo != nil && (doc == nil || *a.SeqNo != doc.seq):
		status, reason = 409, "version conflict"
	case doc == nil:
		status = 201
		doc = &stored{}
		s.docs[place] = doc
	}
	answer := map[string]any{"_id": a.ID, "status": status}
	if reason != "" {
		answer["error"] = map[string]any{"type": why, "reason": reason}
	} else {
		doc.source, doc.seq = source, doc.seq+1
		if a.Version != nil {
			doc.version = *a.Version
		}
		answer["_index"], answer["_seq_no"], answer["_primary_term"] = "orders-000001", doc.seq, 1
	}
	return map[string]any{kind: answer}
}

func (s *server) mget(body []byte) []byte {
	var request struct {
		Docs []struct {
			ID      string `json:"_id"`
			Routing string `json:"routing"`
		} `json:"docs"`
	}
	if err := json.Unmarshal(body, &request); err != nil {
		panic(err)
	}
	var docs []any
	for _, d := range request.Docs {
		doc := s.docs[s.place(d.ID, d.Routing)]
		if fault := s.unrouted(d.ID, d.Routing); fault != nil {
			docs = append(docs, map[string]any{"_id": d.ID, "error": fault})
		} else if doc != nil {
			docs = append(docs, map[string]any{"_id": d.ID, "found": true, "_seq_no": doc.seq, "_primary_term": 1, "_source": doc.source})
		} else {
			docs = append(docs, map[string]any{"_id": d.ID, "found": false})
		}
	}
	return mustJSON(map[string]any{"docs": docs})
}

func mustJSON(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return text
}

// document returns a document's own fields, as JSON with sorted keys.
func (s *server) document(id string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	doc := s.docs[id]
	if doc == nil {
		return "none"
	}
	var fields map[string]any
	if err := json.Unmarshal(doc.source, &fields); err != nil {
		return err.Error()
	}
	for name := range fields {
		if strings.HasPrefix(name, "_") && name != indexer.FieldVersion {
			delete(fields, name)
		}
	}
	return string(mustJSON(fields))
}

// The faults.

func status(code int, body string) fault {
	return func(w http.ResponseWriter, _ func() []byte) {
		w.WriteHeader(code)
		fmt.Fprint(w, body)
	}
}

// instead changes the answer of a call that was executed.
func instead(change func(answer map[string][]map[string]map[string]any)) fault {
	return func(w http.ResponseWriter, apply func() []byte) {
		var answer map[string][]map[string]map[string]any
		if err := json.Unmarshal(apply(), &answer); err != nil { // an answer of _mget
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		change(answer)
		_, _ = w.Write(mustJSON(answer))
	}
}

// cut sends half of the answer. With reset it breaks the connection there, otherwise the answer looks complete.
func cut(reset bool) fault {
	return func(w http.ResponseWriter, apply func() []byte) {
		answer := apply()
		if reset {
			w.Header().Set("Content-Length", fmt.Sprint(len(answer)))
		}
		_, _ = w.Write(answer[:len(answer)/2])
		if reset {
			panic(http.ErrAbortHandler)
		}
	}
}

// drop breaks the connection before the call is executed.
func drop(http.ResponseWriter, func() []byte) { panic(http.ErrAbortHandler) }

// refused returns the items of an answer that refuses every document of a bulk call; none is written.
func refused(body []byte, code int, kind string) (items []any) {
	lines := bytes.SplitAfter(body, []byte("\n"))
	for i := 0; i+1 < len(lines); i += 2 {
		id := bytes.Split(lines[i], []byte(`"_id":"`))[1]
		items = append(items, map[string]any{"index": map[string]any{
			"_id": string(id[:bytes.IndexByte(id, '"')]), "status": code, "error": map[string]any{"type": kind, "reason": "why"},
		}})
	}
	return items
}

func refuseAll(body []byte, code int, kind string) []byte {
	return mustJSON(map[string]any{"items": refused(body, code, kind)})
}
