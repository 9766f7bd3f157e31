package serve_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"brine/hbase"
	"brine/hbase/embedded"
	"brine/serve"
	"brine/serve/client"
)

// waybills is the number of waybills of a benchmark, with two scans each, as in the sample data.
const waybills = 2000

func waybill(i int) string { return fmt.Sprintf("UA-%d-20130101-EWR", i%waybills) }

// stored is a shop on an embedded HBase with waybills.
func stored(b *testing.B) *shop {
	b.Helper()
	server, err := embedded.Start(embedded.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { server.Close() })
	rows, err := hbase.Open(b.Context(), hbase.Options{Connect: "rpc://" + server.Addr()})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { rows.Close() })
	if err := rows.CreateNamespace(b.Context(), "centre"); err != nil {
		b.Fatal(err)
	}
	if err := rows.CreateTable(b.Context(), hbase.Table{Name: "centre:scans", Families: []hbase.Family{{Name: "e"}}}, nil); err != nil {
		b.Fatal(err)
	}
	s := newShop(b, func(o *serve.Options) { o.Rows = rows })
	batch := hbase.NewBatch("centre:scans")
	for i := range 2 * waybills {
		at := fmt.Sprintf("2013-01-01T%02d:00:00Z", 8+i/waybills)
		keys, err := s.scans.RowsOf(map[string]string{"waybill": waybill(i), "at": at, "action": "DEPART"})
		if err != nil {
			b.Fatal(err)
		}
		batch.Mutate(keys[0])
		batch.Put([]byte("e"), []byte("c"), 7, []byte("N14228"))
		batch.Put([]byte("e"), []byte("s"), 9, []byte("EWR"))
	}
	if failed, err := rows.Submit(b.Context(), batch).Wait(b.Context()); err != nil || failed != nil {
		b.Fatal(failed, err)
	}
	return s
}

// answer answers a request without the network.
func (s *shop) answer(b *testing.B, method, target string, body []byte) {
	r := httptest.NewRequest(method, target, bytes.NewReader(body))
	r.Host = "127.0.0.1:8090"
	r.Header.Set("Content-Type", jsonBody)
	r.Header.Set("Accept-Encoding", "gzip")
	w := httptest.NewRecorder()
	if s.ServeHTTP(w, r); w.Code != 200 || w.Body.Len() < 100 {
		b.Fatalf("%s: %d %s", target, w.Code, w.Body)
	}
}

func BenchmarkTimeline(b *testing.B) {
	s := stored(b)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		s.answer(b, http.MethodGet, "/api/v1/views/waybill?waybill="+waybill(i), nil)
	}
}

func BenchmarkLatestOf100(b *testing.B) {
	s := stored(b)
	var q client.Questions
	for i := range 100 {
		q.Questions = append(q.Questions, map[string]client.Values{"waybill": {waybill(7 * i)}})
	}
	body, err := json.Marshal(q)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		s.answer(b, http.MethodPost, latest, body)
	}
}

// BenchmarkPage is a page of 100 rows without HBase.
func BenchmarkPage(b *testing.B) {
	s := newShop(b, nil)
	for i := range 100 {
		s.scan(b, s.scans, "W9", fmt.Sprintf("2013-01-%02dT%02d:00:00Z", 1+i/24, i%24), "DEPART", "EWR")
	}
	b.ReportAllocs()
	for b.Loop() {
		s.answer(b, http.MethodGet, "/api/v1/views/waybill?waybill=W9", nil)
	}
}
