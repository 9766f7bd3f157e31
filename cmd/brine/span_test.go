package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestSpan(t *testing.T) {
	for _, c := range []struct {
		from, to   string
		partitions []int
		want       string // as a name
		reads      []int
	}{
		{"earliest", "latest", nil, "earliest_latest", nil},
		{"2013-01-31T08:00:00Z", "2013-02-01", nil, "2013-01-31T08-00-00Z_2013-02-01T00-00-00Z", nil},
		{"2013-01-31T08:00:00+08:00", "latest", []int{3, 1, 1}, "2013-01-31T00-00-00Z_latest_p1-3", []int{1, 3}},
		{"1:900, 0:1200", "latest", nil, "0-1200-1-900_latest_p0-1", []int{0, 1}},
		{"earliest", "2:5", nil, "earliest_2-5_p2", []int{2}},
		{"0:1,1:1", "latest", []int{1}, "0-1-1-1_latest_p1", []int{1}},
	} {
		s, err := parseSpan(c.from, c.to, c.partitions)
		if err != nil || s.name() != c.want || !slices.Equal(s.partitions, c.reads) {
			t.Errorf("%s to %s: name %q, partitions %v, error %v; expected %q, %v", c.from, c.to, s.name(), s.partitions, err, c.want, c.reads)
		}
	}
	hour := time.Now().Add(-time.Hour).UTC().Format("2006-01-02T15")
	if s, err := parseSpan("1h", "30m", nil); err != nil || !strings.HasPrefix(s.from.String(), hour) || s.from.String() >= s.to.String() {
		t.Errorf("from an hour ago: %v to %v, %v", s.from, s.to, err)
	}
	for _, c := range []struct{ from, to, fault string }{
		{"", "latest", `"" is not partition:offset`},
		{"yesterday", "latest", "write earliest, latest, a time such as"},
		{"0:1,0:2", "latest", "partition 0 is named twice"},
		{"0:-1", "latest", `"0:-1" is not partition:offset`},
		{"0:1:2", "latest", `"0:1:2" is not partition:offset`},
		{"1969-01-01", "latest", "before 1970"},
		{"latest", "latest", "nothing comes after the latest record"},
		{"earliest", "earliest", "nothing comes before the earliest record"},
	} {
		if _, err := parseSpan(c.from, c.to, nil); err == nil || !strings.Contains(err.Error(), c.fault) {
			t.Errorf("%q to %q: error %v, expected %q", c.from, c.to, err, c.fault)
		}
	}
}

// TestLongNames: a range of many offsets has a name of its own that is not too long for a group's.
func TestLongNames(t *testing.T) {
	var all []string
	for p := range 200 {
		all = append(all, fmt.Sprintf("%d:123456", p))
	}
	manyOffsets := strings.Join(all, ",")
	name := func(last string) string {
		s, err := parseSpan(manyOffsets+last, "latest", nil)
		if err != nil {
			t.Fatal(err)
		}
		return s.name()
	}
	a, b := name(",200:1"), name(",200:2")
	if len(a) != 150 || len(b) != 150 || a == b || a != name(",200:1") {
		t.Errorf("names %q and %q", a, b)
	}
}
