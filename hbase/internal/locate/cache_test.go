package locate

import (
	"bytes"
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

func anyRegion(t *rapid.T, table string, id int64) *Region {
	keys := []string{"", "b", "c", "d", "e", "f", "g"}
	i := rapid.IntRange(0, len(keys)-1).Draw(t, "start")
	end := ""
	if j := rapid.IntRange(i+1, len(keys)).Draw(t, "end"); j < len(keys) {
		end = keys[j]
	}
	return &Region{Table: table, ID: id, Start: []byte(keys[i]), End: []byte(end), Server: fmt.Sprint("s", id)}
}

// Whatever is added and dropped, in whatever order of age, no two cached regions overlap, and find returns a region that contains the row.
func TestCachedRegionsNeverOverlap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var c regionCache
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			r := anyRegion(t, "t", rapid.Int64Range(1, 9).Draw(t, "id"))
			c.add(r)
			if rapid.Bool().Draw(t, "drop") {
				if found := c.find("t", r.Start); found != nil {
					c.drop(found)
					if c.find("t", r.Start) == found {
						t.Fatalf("%v is dropped and still found", found)
					}
				}
			}
			all := c.tables["t"]
			for i := range all {
				for j := range all[:i] {
					if all[i].overlaps(all[j]) {
						t.Fatalf("%q–%q overlaps %q–%q", all[i].Start, all[i].End, all[j].Start, all[j].End)
					}
				}
				if i > 0 && bytes.Compare(all[i-1].Start, all[i].Start) >= 0 {
					t.Fatal("regions are out of order")
				}
			}
			for _, row := range []string{"", "a", "b", "bb", "f", "z"} {
				if found := c.find("t", []byte(row)); found != nil && !found.contains([]byte(row)) {
					t.Fatalf("%q is not in %q–%q", row, found.Start, found.End)
				}
				if found := c.findBefore("t", []byte(row)); found != nil &&
					(bytes.Compare(found.Start, []byte(row)) >= 0 || len(found.End) > 0 && bytes.Compare(found.End, []byte(row)) < 0) {
					t.Fatalf("%q–%q is not the region before %q", found.Start, found.End, row)
				}
			}
		}
	})
}

func TestOlderRegionDoesNotReplaceNewer(t *testing.T) {
	var c regionCache
	parent := &Region{Table: "t", ID: 1, Server: "old"}
	low := &Region{Table: "t", ID: 2, End: []byte("m"), Server: "new"}
	c.add(parent)
	c.add(low)
	if c.find("t", []byte("z")) != nil {
		t.Error("the parent outlives its daughter")
	}
	c.add(parent)
	if got := c.find("t", []byte("a")); got != low {
		t.Errorf("the stale parent came back: %v", got)
	}
	reopened := &Region{Table: "t", ID: 2, End: []byte("m"), Server: "newer", seq: 1}
	c.add(reopened)
	c.add(low)
	if got := c.find("t", []byte("a")); got != reopened {
		t.Errorf("an older opening came back: %v", got)
	}
}
