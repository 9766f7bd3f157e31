package elastic_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"testing"

	"brine/indexer"
	"brine/indexer/elastic"
)

// peer answers every bulk call with the same answer, and does nothing.
type peer struct{ answer []byte }

func (p *peer) RoundTrip(r *http.Request) (*http.Response, error) {
	_, _ = io.Copy(io.Discard, r.Body)
	r.Body.Close()
	return &http.Response{StatusCode: 200, Body: io.NopCloser(bytes.NewReader(p.answer)), Request: r}, nil
}

// BenchmarkBulk measures one document of 200 bytes: encoding its lines, and reading its outcome.
func BenchmarkBulk(b *testing.B) {
	const n = 1000
	var ops []indexer.Op
	var answer bytes.Buffer
	answer.WriteString(`{"items":[`)
	for i := range n {
		id := fmt.Appendf(nil, `\x9F\x1Corder-%06d`, i)
		ops = append(ops, indexer.Op{Kind: indexer.Put, Index: "orders", ID: id, Version: 1700000000000, Source: bytes.Repeat([]byte("x"), 200)})
		if i > 0 {
			answer.WriteByte(',')
		}
		fmt.Fprintf(&answer, `{"index":{"_id":%q,"status":200}}`, id)
	}
	answer.WriteString(`]}`)
	e, err := elastic.Open(elastic.Options{Addresses: []string{"http://127.0.0.1:1"}, Transport: &peer{answer.Bytes()}})
	if err != nil {
		b.Fatal(err)
	}
	defer e.Close()
	results := make([]indexer.Result, n)
	b.ReportAllocs()
	b.SetBytes(int64(answer.Len()/n + 300))
	b.ResetTimer()
	for i := 0; i < b.N; i += n {
		if err := e.Bulk(b.Context(), ops, results); err != nil || results[n-1].Status != 200 {
			b.Fatal(err, results[n-1])
		}
	}
}
