package elastic_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"brine/indexer/elastic"
)

// endless answers every request with an endless JSON text, and counts the bytes that are read of it.
type endless struct {
	announced int64 // the declared length of the answer; -1: none
	read      int64
}

func (e *endless) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, ContentLength: e.announced, Body: io.NopCloser(e), Request: r,
		Header: http.Header{"Content-Type": {"application/json"}, "X-Elastic-Product": {"Elasticsearch"}}}, nil
}

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	e.read += int64(len(p))
	return len(p), nil
}

// TestAnswersAreBounded checks that an answer whose declared or actual length exceeds the limit is an error with the server's address.
func TestAnswersAreBounded(t *testing.T) {
	const limit = 64 << 10
	for name, announced := range map[string]int64{"announced": 1 << 40, "found out": -1} {
		server := &endless{announced: announced}
		e, err := elastic.Open(elastic.Options{Addresses: []string{"http://10.0.0.1:9200"}, Transport: server, MaxAnswerBytes: limit})
		if err != nil {
			t.Fatal(err)
		}
		_, err = e.Mapping(t.Context(), "orders")
		if err == nil || !strings.Contains(err.Error(), "10.0.0.1:9200") || !strings.Contains(err.Error(), "limit 65536") {
			t.Errorf("%s: %v", name, err)
		}
		if server.read > 2*limit {
			t.Errorf("%s: %d bytes were read, limit %d", name, server.read, limit)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
}
