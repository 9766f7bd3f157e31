package verify_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"brine/event"
	"brine/indexer"
	"brine/indexer/elastic"
	"brine/internal/testenv"
	"brine/verify"
)

// searchServers are the engines for the tests' indexes.
var searchServers = map[string]func(w *world, changes indexer.Changes){
	"embedded": func(w *world, changes indexer.Changes) {
		w.openIndex()
		w.declare(changes)
	},
	"elasticsearch": (*world).indexedReally,
}

// indexedReally creates the index in a real Elasticsearch.
func (w *world) indexedReally(changes indexer.Changes) {
	w.t.Helper()
	address := testenv.Elasticsearch(w.t)
	w.declare(changes)
	engine, err := elastic.Open(elastic.Options{Addresses: []string{address}, Replicas: elastic.NoReplicas, Transport: &http.Transport{}})
	if err != nil {
		w.t.Fatal(err)
	}
	w.engine = engine
	w.docs.Documents[0].Index = strings.ToLower(w.table)
	w.t.Cleanup(func() {
		for _, part := range []string{"", "-2024.05", "-2024.06", "-2024.07"} {
			req, _ := http.NewRequest(http.MethodDelete, address+"/"+w.docs.Documents[0].Index+part+"-000001", nil)
			if resp, err := http.DefaultClient.Do(req); err == nil { // most do not exist
				resp.Body.Close()
			}
		}
		http.DefaultClient.CloseIdleConnections()
		_ = engine.Close()
	})
}

// ensure creates the declared index.
func (w *world) ensure() {
	w.t.Helper()
	if err := w.engine.EnsureIndex(w.t.Context(), w.docs.Mappings()[0]); err != nil {
		w.t.Fatal(err)
	}
}

// documentOptions returns options for the documents alone.
func (w *world) documentOptions() verify.Options {
	o := w.options()
	o.Sources, o.Tables = o.Sources[1:], o.Tables[1:]
	d := &w.docs.Documents[0]
	part := func(id []byte) string {
		row, err := indexer.ParseRowText(id)
		if err != nil {
			w.t.Fatal(err)
		}
		values, err := d.Key.Decode(row)
		if err != nil {
			w.t.Fatal(err)
		}
		return d.Every.Part(d.Index, values[1].Int)
	}
	if d.Every == "" {
		part = nil
	}
	o.Tables[0].Name, o.Tables[0].Store = d.Index, verify.Index(w.engine, d.Index, part)
	return o
}

// parted keeps the world's index in parts by month of the time in its key.
func (w *world) parted() {
	d := &w.docs.Documents[0]
	d.Key, d.Every, d.Time = key(w.t, `id + "|" + asc(at, ms)`), indexer.Month, "at"
	d.Set = append(d.Set, indexer.Column{Name: "at", Field: "at"})
}

// direct puts a document directly, bypassing the pipelines.
func (w *world) direct(index, id, fields string) {
	w.t.Helper()
	results := make([]indexer.Result, 1)
	op := indexer.Op{Kind: indexer.Put, Index: index, ID: []byte(id), Version: base.UnixMilli(), Source: fmt.Appendf(nil, `{"_row":%q,"_ver":%d,%s}`, id, base.UnixMilli(), fields)}
	if err := w.engine.Bulk(w.t.Context(), []indexer.Op{op}, results); err != nil || results[0].Status >= 300 {
		w.t.Fatal(err, results)
	}
}

const (
	day   = int64(24 * time.Hour / time.Millisecond)
	month = 31 * day // of May
)

// TestPartsAreVerified checks that in an index with parts, documents of all parts are verified, and reported as missing, different and
// extra in their part; that extra ones can be removed, and that the rest can be written again.
func TestPartsAreVerified(t *testing.T) {
	t.Parallel()
	for name, indexed := range searchServers {
		for _, changes := range []indexer.Changes{indexer.Whole, indexer.Partial} {
			t.Run(name+"/"+string(changes), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, embeddedHBase)
				indexed(w, changes)
				w.parted()
				w.schema, w.docs.Schema = orders, orders
				w.ensure()
				index := w.docs.Documents[0].Index
				w.skip = `"o2"`
				w.sendAt(2*month, change("o1", 0, `"status":"created"`), change("o2", month, `"status":"created"`), change("o3", 0, `"status":"paid"`), change("o4", 2*month, `"total":1`))
				w.indexAll()
				if r := w.check(w.documentOptions()); r.Tables[0].Rows != 4 || r.Tables[0].Found[verify.Missing] != 1 || len(r.Findings) != 1 {
					t.Fatalf("with a document missing: %+v", r)
				}
				w.skip = ""
				w.indexAll()
				if r := w.check(w.documentOptions()); r.Tables[0].Rows != 4 || r.Problems() != 0 || r.Tables[0].Digest != r.Tables[0].Expected {
					t.Fatalf("of four documents in three parts: %+v", r)
				}
				extra := rowText(t, w, "o9", base.UnixMilli()+month)
				w.direct(indexer.Month.Part(index, base.UnixMilli()+month), extra, `"status":"?"`)
				c, r := w.verify(w.documentOptions())
				if len(r.Findings) != 1 || r.Findings[0].Kind != verify.Extra || string(r.Findings[0].Key) != extra {
					t.Fatalf("with an extra document: %+v", r)
				}
				if n, err := c.DeleteExtra(t.Context()); n != 1 || err != nil {
					t.Errorf("%d documents removed, %v", n, err)
				}
				if r, err := c.Again(t.Context()); err != nil || r.Problems() != 0 {
					t.Errorf("afterwards: %+v, %v", r, err)
				}
				if r := w.check(w.documentOptions()); r.Problems() != 0 || r.Tables[0].Compared != 4 {
					t.Errorf("looked at again: %+v", r)
				}
			})
		}
	}
}

// rowText returns the id of the document for a row of the parted index.
func rowText(t *testing.T, w *world, id string, at int64) string {
	t.Helper()
	d := &w.docs.Documents[0]
	preview, err := indexer.NewPreview(*w.docs)
	if err != nil {
		t.Fatal(err)
	}
	ev := event.Event{Record: &event.Record{Timestamp: at}, Version: at, Values: make([]event.Value, len(orders.Fields))}
	ev.Values[0], ev.Values[1], ev.Values[2] = event.TextValue(id), event.TimeValue(at), event.TextValue("x")
	out := ""
	if failure := preview.Changes(&ev, func(c indexer.Change) { out = string(c.ID) }); failure != nil {
		t.Fatal(d.Index, failure.Err)
	}
	return out
}

// TestExtraFieldsOfDocumentsAreRemoved checks that a field that no record accounts for is removed, and that the document keeps its version,
// so that its records still have the same effect; that a document without a record is removed as a whole; and that what is written
// meanwhile stays.
func TestExtraFieldsOfDocumentsAreRemoved(t *testing.T) {
	t.Parallel()
	for name, indexed := range searchServers {
		for _, changes := range []indexer.Changes{indexer.Whole, indexer.Partial} {
			t.Run(name+"/"+string(changes), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, embeddedHBase)
				indexed(w, changes)
				w.ensure()
				index := w.docs.Documents[0].Index
				w.send(change("o1", 0, `"status":"created","total":4`), change("o2", 0, `"status":"created"`))
				w.indexAll()
				w.putIn(index, "o1", 0, `"status":"created","total":4,"note":"?"`)
				w.putIn(index, "o7", 0, `"status":"?"`)
				w.putIn(index, "o8", 0, `"status":"?"`)
				c, _ := w.verify(w.documentOptions())
				w.putIn(index, "o8", 5, `"status":"written meanwhile"`)
				if n, err := c.DeleteExtra(t.Context()); n != 3 || err != nil {
					t.Errorf("%d rid of what is extra, %v", n, err)
				}
				r := w.check(w.documentOptions())
				if got, want := found(r), "extra document o8  found 5: no record accounts for it\n"; got != want {
					t.Errorf("left are\n%swant\n%s", got, want)
				}
				w.send(change("o1", 1, `"status":"paid"`))
				w.indexAll()
				if r := w.check(w.documentOptions()); len(r.Findings) != 1 {
					t.Errorf("after a change of the fixed document: %s", found(r))
				}
			})
		}
	}
}

// TestPurgedDocumentsAreNotMissing checks that documents deleted longer ago than the index keeps them may or may not exist, and that
// younger ones must.
func TestPurgedDocumentsAreNotMissing(t *testing.T) {
	t.Parallel()
	for name, indexed := range searchServers {
		for _, changes := range []indexer.Changes{indexer.Whole, indexer.Partial} {
			t.Run(name+"/"+string(changes), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, embeddedHBase)
				indexed(w, changes)
				w.schema.Fields = append(slices.Clone(orders.Fields), event.Field{Name: "gone", Type: event.Bool})
				w.docs.Schema, w.docs.Documents[0].Deleted, w.docs.Documents[0].Purge = w.schema, "gone", time.Hour
				w.ensure()
				var records []string
				for i, gone := range []bool{true, true, false} {
					records = append(records, change(fmt.Sprint("o", i), int64(i)*7_200_000, fmt.Sprintf(`"status":"x","gone":%t`, gone)))
				}
				w.sendAt(day, records...)
				w.now = base.Add(2 * time.Hour)
				w.indexAll()
				if n, err := w.engine.Purge(t.Context(), w.docs.Documents[0].Index, w.now.Add(-time.Hour).UnixMilli()); n != 1 || err != nil {
					t.Fatalf("%d purged, %v", n, err)
				}
				o := w.documentOptions()
				if r := w.check(o); r.Tables[0].Found[verify.Missing] != 1 {
					t.Errorf("where nothing is purged: %+v", r)
				}
				o.Tables[0].Purge = time.Hour
				if r := w.check(o); r.Problems() != 0 || r.Tables[0].Expired != 1 {
					t.Errorf("with a purged document: %+v", r)
				}
				if n, err := w.engine.Purge(t.Context(), w.docs.Documents[0].Index, w.now.Add(time.Hour).UnixMilli()); n != 1 || err != nil {
					t.Fatalf("%d purged, %v", n, err)
				}
				if r := w.check(o); r.Tables[0].Found[verify.Missing] != 1 {
					t.Errorf("with one purged too early: %+v", r)
				}
			})
		}
	}
}
