package verify_test

import (
	"fmt"
	"strings"
	"testing"

	"brine/event"
	"brine/hbase"
	"brine/indexer"
	"brine/verify"
)

// writers returns the world's writers, by source.
func (w *world) writers() []event.Writer {
	w.t.Helper()
	out := []event.Writer{w.sink()}
	if w.docs != nil {
		docs, err := indexer.New(w.engine, *w.docs)
		if err != nil {
			w.t.Fatal(err)
		}
		w.t.Cleanup(func() { docs.Close() })
		out = append(out, docs)
	}
	return out
}

// repaired verifies, repairs and returns the findings before and after, and the number of records written again.
func (w *world) repaired(o verify.Options, extra bool) (before, after string, records int64) {
	w.t.Helper()
	c, r := w.verify(o)
	before = found(r)
	var err error
	if records, err = c.Repair(w.t.Context(), w.writers()); err != nil {
		w.t.Fatal(err)
	}
	if extra {
		if _, err := c.DeleteExtra(w.t.Context()); err != nil {
			w.t.Fatal(err)
		}
	}
	if r, err = c.Again(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	return before, found(r), records
}

// TestRepairFixesWhatCanBeFixed damages rows and documents, and repairs them: what is missing, stale or different is restored from exactly
// the records that hold it, and what is newer or extra stays.
func TestRepairFixesWhatCanBeFixed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, embeddedHBase)
	w.indexed(indexer.Partial)
	w.send(someOrders[:6]...)
	w.write() // none of the others
	w.send(someOrders[6:]...)
	w.put("o5", "f", "total", 0, "33")
	w.put("o6", "f", "total", 9, "newer")
	w.put("o9", "f", "total", 9, "extra")
	w.putDocument("o4", 0, `"status":"lost"`)
	before, after, records := w.repaired(w.options(), false)
	left := "newer row o6 f:total found 9: no record has this version\nextra row o9  found 9: no record accounts for it\n"
	if after != left {
		t.Errorf("after the repair\n%sis found, expected\n%s", after, left)
	}
	if !strings.Contains(before, "different row o5 f:total") || !strings.Contains(before, "missing row o2 g:note") || !strings.Contains(before, "missing document o4 total") {
		t.Errorf("before the repair\n%s", before)
	}
	if want := int64(4 + 4); records != want { // three changes and o5; three changes and o4
		t.Errorf("%d records were written again, expected %d", records, want)
	}
	before, after, records = w.repaired(w.options(), true)
	if left := "newer row o6 f:total found 9: no record has this version\n"; before != "newer row o6 f:total found 9: no record has this version\nextra row o9  found 9: no record accounts for it\n" || after != left || records != 0 {
		t.Errorf("before\n%safter\n%s%d records", before, after, records)
	}
}

// TestWhatADeleteHidesIsReportedAsStillMissing deletes a row by hand, with a marker of a later version: no write of the event's own version
// is visible before a compaction removes the marker, and verify does not claim otherwise.
func TestWhatADeleteHidesIsReportedAsStillMissing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, embeddedHBase)
	w.send(someOrders...)
	w.write()
	w.delete(hbase.DeleteFamily, "o4", "f", "", 1000)
	before, after, _ := w.repaired(w.options(), false)
	if want := "missing row o4  expected 0 0@1: all of it is missing; a delete marker of version 1714550401000 hides it, so a repair shows only after a major compaction has dropped that\n"; before != want || after != want {
		t.Errorf("before\n%safter\n%s", before, after)
	}
	if err := w.client.CompactTable(t.Context(), w.table, true); err != nil {
		t.Fatal(err)
	}
	w.awaitNoMarkers()
	if _, after, _ = w.repaired(w.options(), false); after != "" {
		t.Errorf("after the compaction\n%s", after)
	}
}

// TestRepairOfMoreThanIsListedWritesEverythingAgain has more findings than it may keep.
func TestRepairOfMoreThanIsListedWritesEverythingAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, embeddedHBase)
	for i := range 60 {
		w.send(change(fmt.Sprintf("o%d", i), 0, `"status":"created"`))
	}
	o := w.options()
	o.MaxFindings = 7
	c, r := w.verify(o)
	if len(r.Findings) != 7 || r.Tables[0].Found[verify.Missing] != 60 {
		t.Fatalf("%d findings of %v", len(r.Findings), r.Tables)
	}
	if n, err := c.Repair(t.Context(), w.writers()); err != nil || n != 60 {
		t.Fatalf("%d records written again, error %v", n, err)
	}
	if r, err := c.Again(t.Context()); err != nil || r.Problems() != 0 || r.Tables[0].Rows != 60 {
		t.Fatalf("after the repair %v, error %v", r, err)
	}
}

// TestRowsOfOthersAreNotExtra checks that in a table that others wrote too, from topics that are not read, nothing that no record accounts
// for counts as extra, and nothing is deleted. What the sources wrote is still judged.
func TestRowsOfOthersAreNotExtra(t *testing.T) {
	t.Parallel()
	w := newWorld(t, embeddedHBase)
	w.send(someOrders...)
	w.write()
	w.put("o55", "f", "status", 5, "x") // a row of theirs
	w.put("o6", "g", "note", 5, "x")    // a cell of theirs
	o := w.options()
	o.Tables[0].Others = []string{"pipeline orders from topic orders.2012"}
	c, r := w.verify(o)
	if got := found(r); got != "" || r.Others() != 2 || r.Tables[0].Unjudged != 2 {
		t.Errorf("found\n%s, %d cells of others", got, r.Others())
	}
	if n, err := c.DeleteExtra(t.Context()); n != 0 || err == nil || !strings.Contains(err.Error(), "pipeline orders from topic orders.2012") {
		t.Errorf("%d rows were deleted, %v", n, err)
	}
	w.put("o5", "f", "total", 0, "33")
	if r := w.check(o); r.Problems() != 1 || r.Count(verify.Different) != 1 {
		t.Errorf("found\n%s", found(r))
	}
	o.Tables[0].Others = nil
	if r := w.check(o); r.Count(verify.Extra) != 2 || r.Others() != 0 {
		t.Errorf("without others, found\n%s", found(r))
	}
}

// TestDeleteOfARowOfOthersIsRepaired has a row of others deleted by a record whose delete was lost. Whoever wrote the cells, they should have
// gone: verify finds and repairs that, while it leaves alone what others wrote after the delete.
func TestDeleteOfARowOfOthersIsRepaired(t *testing.T) {
	t.Parallel()
	w := newWorld(t, embeddedHBase)
	shapes["hard deletes"](t, w.rows)
	w.schema = w.rows.Schema
	w.send(someOrders...)
	w.write()
	w.put("o7", "f", "status", 5, "x")
	w.put("o8", "f", "status", 30, "y") // newer than the delete
	w.send(change("o7", 20, `"gone":true`), change("o8", 20, `"gone":true`))
	o := w.options()
	o.Tables[0].Others = []string{"pipeline orders from topic orders.2012"}
	before, after, records := w.repaired(o, false)
	if want := "stale row o7 f:status expected 20 found 5 0@3: a newer change, which is missing, deletes it\n"; before != want {
		t.Errorf("found\n%s, want\n%s", before, want)
	}
	if after != "" || records != 1 {
		t.Errorf("after the repair of %d records, found\n%s", records, after)
	}
	if r := w.check(o); r.Others() != 1 {
		t.Errorf("%d cells of others are left, want the one of o8", r.Others())
	}
}
