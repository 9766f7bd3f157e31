package verify_test

import (
	"fmt"
	"testing"
	"time"

	"brine/indexer"
)

// putDocument writes a document directly, bypassing the pipelines, whatever exists; version is relative to base.
func (w *world) putDocument(id string, version int64, fields string) {
	w.t.Helper()
	w.putIn(w.table, id, version, fields)
}

// putIn is putDocument for any index.
func (w *world) putIn(index, id string, version int64, fields string) {
	w.t.Helper()
	at := base.UnixMilli() + version
	ref, stored := []indexer.Ref{{Index: index, ID: []byte(id)}}, make([]indexer.Stored, 1)
	if err := w.engine.Get(w.t.Context(), ref, stored); err != nil {
		w.t.Fatal(err)
	}
	op := indexer.Op{Kind: indexer.Create, Index: index, ID: []byte(id), Source: fmt.Appendf(nil, `{"_row":%q,"_ver":%d,%s}`, id, at, fields), Version: at}
	if stored[0].Found {
		op.Kind, op.SeqNo, op.PrimaryTerm = indexer.Replace, stored[0].SeqNo, stored[0].PrimaryTerm
	}
	results := make([]indexer.Result, 1)
	if err := w.engine.Bulk(w.t.Context(), []indexer.Op{op}, results); err != nil || results[0].Status >= 300 {
		w.t.Fatal(err, results)
	}
}

// TestEachDamageOfDocumentsIsNamed is TestEachDamageIsNamed for documents, with events that replace their document and events that are
// merged into it.
func TestEachDamageOfDocumentsIsNamed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name           string
		skip           string
		damage         func(w *world)
		whole, partial string
		window         string // what a window of everything finds; "=": the same
	}{
		{"none", "", func(*world) {}, "", "", "="},
		{"a document is gone", `"o4"`, func(*world) {},
			"missing document o4  expected 0 0@1: all of it is missing\n", "missing document o4  expected 0 0@1: all of it is missing\n", "="},
		{"a change is not in it", `"gift"`, func(*world) {},
			"missing document o2 note expected 10 1@2: it is missing\nstale document o2 status expected 10 found 0 1@2: a newer change is missing\n" +
				"stale document o2 total expected 10 found 0 1@2: a newer change, which is missing, deletes it\n",
			"missing document o2 note expected 10 1@2: it is missing\nstale document o2 status expected 10 found 0 1@2: a newer change is missing\n", "-"},
		{"another value", "", func(w *world) { w.putDocument("o5", 0, `"status":"paid","total":3`) },
			"different document o5 status expected 0 found 0 1@1: the version is right, but the value is not\n",
			"different document o5 status expected 0 found 0 1@1: the version is right, but the value is not\n", "="},
		{"a newer one", "", func(w *world) { w.putDocument("o6", 5, `"status":"created","total":4`) },
			"newer document o6 status found 5: no record has this version\nnewer document o6 total found 5: no record has this version\n",
			"newer document o6 status found 5: no record has this version\nnewer document o6 total found 5: no record has this version\n", ""},
		{"an extra one", "", func(w *world) { w.putDocument("o7", 5, `"status":"created"`) },
			"extra document o7  found 5: no record accounts for it\n", "extra document o7  found 5: no record accounts for it\n", ""},
		{"an extra field", "", func(w *world) { w.putDocument("o6", 0, `"status":"created","total":4,"note":"?"`) },
			"extra document o6 note found 0: no record accounts for this cell\n", "extra document o6 note found 0: no record accounts for this cell\n", ""},
	} {
		for changes, want := range map[indexer.Changes]string{indexer.Whole: c.whole, indexer.Partial: c.partial} {
			t.Run(c.name+"/"+string(changes), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, embeddedHBase)
				w.indexed(changes)
				w.skip = c.skip
				w.send(someOrders...)
				w.write()
				c.damage(w)
				o := w.options()
				if got := found(w.check(o)); got != want {
					t.Errorf("full mode finds\n%sexpected\n%s", got, want)
				}
				if c.window == "-" {
					return
				}
				o.Full = false
				if c.window != "=" {
					want = c.window
				}
				if got := found(w.check(o)); got != want {
					t.Errorf("a window of everything finds\n%sexpected\n%s", got, want)
				}
			})
		}
	}
}

// TestDocumentsPastTheirTimeAreNotCounted lets some documents expire with their rows.
func TestDocumentsPastTheirTimeAreNotCounted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, embeddedHBase)
	w.indexed(indexer.Whole)
	w.skip = "created"
	w.send(change("o1", 0, `"status":"created"`), change("o2", 7_200_000, `"status":"created"`), change("o3", 0, `"status":"paid"`))
	w.write()
	o := w.options()
	o.Tables[1].TTL = map[string]time.Duration{"": time.Hour}
	w.now = base.Add(time.Hour + time.Minute)
	want := "missing document o2  expected 7200000 1@0: all of it is missing\n"
	r := w.check(o)
	if got := found(r); got != want {
		t.Errorf("found\n%sexpected\n%s", got, want)
	}
	if r.Tables[1].Expired != 1 {
		t.Errorf("%d documents are past their time, expected 1", r.Tables[1].Expired)
	}
}
