package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"brine/indexer"
	"brine/indexer/elastic"
	bleve "brine/indexer/embedded"
	"brine/search"
)

// documents is the content of an index: the sources by the keys of their rows.
type documents map[string]map[string]any

// String returns the number of documents and a digest over all of them with their versions, in key order.
func (d documents) String() string {
	sum := sha256.New()
	for _, row := range slices.Sorted(maps.Keys(d)) {
		text, err := json.Marshal(d[row]) // fields in order
		if err != nil {
			panic("BUG: what was read as JSON can be written: " + err.Error())
		}
		fmt.Fprintf(sum, "%q %s\n", row, text)
	}
	return fmt.Sprintf("%d documents, SHA-256 %s", len(d), hex.EncodeToString(sum.Sum(nil))[:16])
}

// engine opens the job's search engine. No brine may have an embedded one open.
func (j *job) engine() indexer.Engine {
	j.t.Helper()
	var engine indexer.Engine
	var err error
	if dir, ok := strings.CutPrefix(j.search, "embedded:"); ok {
		engine, err = bleve.Open(bleve.Options{Dir: dir})
	} else {
		engine, err = elastic.Open(elastic.Options{Addresses: []string{j.search}})
	}
	if err != nil {
		j.t.Fatal(err)
	}
	return engine
}

// documents reads every document of the job's index: found by search, read by id.
func (j *job) documents() documents {
	j.t.Helper()
	ctx, engine := j.t.Context(), j.engine()
	defer engine.Close()
	if err := engine.Refresh(ctx, j.name); err != nil {
		j.t.Fatal(err)
	}
	docs := documents{}
	for q := (search.Query{Index: j.name, Size: 1000, Deleted: true}); ; {
		page, err := engine.Search(ctx, q)
		if err != nil {
			j.t.Fatal(err)
		}
		refs := make([]indexer.Ref, len(page.Hits))
		stored := make([]indexer.Stored, len(page.Hits))
		for i, hit := range page.Hits {
			refs[i] = indexer.Ref{Index: j.name, ID: indexer.AppendRowText(nil, hit.Row)}
		}
		if len(refs) > 0 {
			if err := engine.Get(ctx, refs, stored); err != nil {
				j.t.Fatal(err)
			}
		}
		for i, hit := range page.Hits {
			docs[string(hit.Row)] = decodeSource(j.t, stored[i])
		}
		if page.Next == "" {
			return docs
		}
		q.After = page.Next
	}
}

func decodeSource(t *testing.T, s indexer.Stored) map[string]any {
	t.Helper()
	var fields map[string]any
	d := json.NewDecoder(strings.NewReader(string(s.Source)))
	d.UseNumber()
	if err := d.Decode(&fields); err != nil || !s.Found {
		t.Fatalf("a document that search found cannot be read: found %v, %v", s.Found, err)
	}
	return fields
}

// compare fails the test for the first documents that differ.
func compare(t *testing.T, got, want documents) {
	t.Helper()
	if got.String() == want.String() {
		return
	}
	t.Errorf("the documents differ: %v, want %v", got, want)
	shown := 0
	for _, row := range slices.Sorted(maps.Keys(want)) {
		a, _ := json.Marshal(got[row]) // read as JSON
		b, _ := json.Marshal(want[row])
		if string(a) != string(b) {
			t.Errorf("row %q\n got %s\nwant %s", row, a, b)
			if shown++; shown == 3 {
				break
			}
		}
	}
	t.FailNow()
}

// deleteIndex deletes the job's index, and those beside it, from a server.
func (j *job) deleteIndex(ctx context.Context) {
	engine := j.engine().(*elastic.Engine)
	defer engine.Close()
	if err := engine.Discard(ctx, j.name); err != nil {
		j.t.Error(err)
	}
	names, err := engine.Behind(ctx, j.name)
	if err != nil {
		j.t.Error(err)
	}
	for _, name := range names {
		req, err := http.NewRequestWithContext(ctx, http.MethodDelete, j.search+"/"+name, nil)
		if err != nil {
			j.t.Error(err)
			return
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			j.t.Error(err)
			return
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			j.t.Errorf("delete index %s: %s", name, resp.Status)
		}
	}
}
