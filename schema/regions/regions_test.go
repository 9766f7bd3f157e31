package regions

import (
	"context"
	"errors"
	"strings"
	"testing"

	"brine/hbase"
)

func TestARegionIsFoundByNameAndByKey(t *testing.T) {
	table := &Table{Name: "t", Regions: []hbase.Region{
		{Encoded: "40001111aaaa", End: []byte("4000")},
		{Encoded: "abcd2222bbbb", Start: []byte("4000"), End: []byte("8\x00")},
		{Encoded: "abcd3333cccc", Start: []byte("8\x00")},
	}}
	for name, want := range map[string]string{
		"abcd2222bbbb": "abcd2222bbbb", "abcd3333": "abcd3333cccc", "key:abcd3333": "abcd3333cccc", "key:": "40001111aaaa", "3": "40001111aaaa",
		"key:4000": "abcd2222bbbb", `8\x00`: "abcd3333cccc", `7fff`: "abcd2222bbbb", "5000|AB": "abcd2222bbbb", "40001111": "40001111aaaa",
	} {
		if got, err := table.Find(name); err != nil || got.Encoded != want {
			t.Errorf("%s: %s, %v; want %s", name, got.Encoded, err, want)
		}
	}
	for name, want := range map[string]string{"4000": "write more of the name, or key:4000", "abcd": "write more of the name", `\x0`: "escape"} {
		if got, err := table.Find(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %s, %v; want an error with %q", name, got.Encoded, err, want)
		}
	}
}

// Each stops at the first server that does not answer, continues after other failures, and returns what was done.
func TestEachRegionKeepsWhatWasDone(t *testing.T) {
	some := []hbase.Region{{Encoded: "a"}, {Encoded: "b"}, {Encoded: "c"}, {Encoded: "d"}}
	for _, c := range []struct {
		failure error
		done    int
		want    string
	}{{context.DeadlineExceeded, 1, "2 regions not started"}, {errors.New("denied"), 3, "denied"}, {nil, 4, ""}} {
		done, err := Each(some, func(r hbase.Region) error {
			if r.Encoded == "b" {
				return c.failure
			}
			return nil
		})
		if len(done) != c.done || !errors.Is(err, c.failure) || err != nil && !strings.HasSuffix(err.Error(), c.want) {
			t.Errorf("%v: %d done, %v", c.failure, len(done), err)
		}
	}
}
