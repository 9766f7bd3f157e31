package ingest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// parseSpan parses a span as commands do.
func parseSpan(from, to string, partitions []int) (Span, error) {
	begin, err := ParsePosition(from, time.Now())
	if err != nil {
		return Span{}, err
	}
	end, err := ParsePosition(to, time.Now())
	return NewSpan(begin, end, partitions), err
}

func spanName(s Span) string {
	return (&ReplayOptions{From: s.From, To: s.To, Partitions: s.Partitions}).RangeName()
}

func TestSpans(t *testing.T) {
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
		if err != nil || spanName(s) != c.want || !slices.Equal(s.Partitions, c.reads) {
			t.Errorf("%s to %s: name %q, partitions %v, error %v; expected %q, %v", c.from, c.to, spanName(s), s.Partitions, err, c.want, c.reads)
		}
	}
	now := time.Date(2026, 1, 31, 8, 59, 59, 0, time.UTC)
	for text, want := range map[string]string{"1h": "2026-01-31T07:59:59", "30m": "2026-01-31T08:29:59"} {
		if p, err := ParsePosition(text, now); err != nil || !strings.HasPrefix(p.String(), want) {
			t.Errorf("%s ago: %v, %v; expected %s", text, p, err, want)
		}
	}
	for text, fault := range map[string]string{
		"":           `"" is not partition:offset`,
		"yesterday":  "write earliest, latest, a time such as",
		"0:1,0:2":    "partition 0 is named twice",
		"0:-1":       `"0:-1" is not partition:offset`,
		"0:1:2":      `"0:1:2" is not partition:offset`,
		"1969-01-01": "before 1970",
	} {
		if _, err := ParsePosition(text, time.Now()); err == nil || !strings.Contains(err.Error(), fault) {
			t.Errorf("%q: error %v, expected %q", text, err, fault)
		}
	}
}

// TestRangeNames: what a replay reads and where it writes determine a unique name, and with many offsets it still fits a group's name.
func TestRangeNames(t *testing.T) {
	o := ReplayOptions{Keys: [][]byte{[]byte("A/1"), []byte("B")}, Into: "x:y"}
	if name := o.RangeName(); name != "earliest_earliest_kA-1_kB_into_x-y" {
		t.Errorf("name %q", name)
	}
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
		return spanName(s)
	}
	a, b := name(",200:1"), name(",200:2")
	if len(a) != 150 || len(b) != 150 || a == b || a != name(",200:1") {
		t.Errorf("names %q and %q", a, b)
	}
}
