package explain

import (
	"context"
	"fmt"
	"testing"
	"time"
)

// log is a topic of partitions in which a record of each offset arrived that many minutes after 1970-01-03.
type log struct{ starts, ends []int64 }

var third = time.Unix(2*24*3600, 0)

func (l log) Starts(context.Context, string) ([]int64, error)     { return l.starts, nil }
func (l log) StableEnds(context.Context, string) ([]int64, error) { return l.ends, nil }

func (l log) At(_ context.Context, _ string, at time.Time) (out []int64, _ error) {
	if at.UnixMilli() < 0 {
		return nil, fmt.Errorf("%s has a meaning of its own to brokers", at)
	}
	for p := range l.starts {
		n := max(int64(at.Sub(third)/time.Minute), l.starts[p])
		if n >= l.ends[p] {
			n = -1
		}
		out = append(out, n)
	}
	return out, nil
}

// The ranges where a record may be are read in the order of their likelihood, and it is known what the topic has dropped.
func TestWhereARecordMayLie(t *testing.T) {
	for _, tt := range []struct {
		name string
		log  log
		at   time.Time
		want string
		gone bool
	}{
		{"in the middle", log{[]int64{0}, []int64{10_000}}, third.Add(5000 * time.Minute), "[[4999-5060] [5060-10000] [3560-4999]]", false},
		{"the log begins later", log{[]int64{4000}, []int64{10_000}}, third.Add(5000 * time.Minute), "[[4999-5060] [5060-10000] [4000-4999]]", true},
		{"all of it is gone", log{[]int64{9000}, []int64{10_000}}, third.Add(5000 * time.Minute), "[[9000-9000] [9000-10000] [9000-9000]]", true},
		{"newer than the log", log{[]int64{0}, []int64{100}}, third.Add(5000 * time.Minute), "[[100-100] [100-100] [100-100]]", false},
		{"a version that is hardly a time", log{[]int64{0}, []int64{100}}, time.UnixMilli(1), "[[0-0] [0-100] [0-0]]", false},
		{"an empty partition", log{[]int64{7}, []int64{7}}, third.Add(5000 * time.Minute), "[[7-7] [7-7] [7-7]]", true},
		{"no time", log{[]int64{0, 5}, []int64{10, 20}}, time.Time{}, "[[0-10 5-20]]", true},
	} {
		k := &seeker{opts: &SeekOptions{At: tt.at, Offsets: tt.log}, out: &Sought{}}
		spans, err := k.spans(t.Context(), &SeekSource{Topic: "t"})
		var got [][]string
		for _, turn := range spans {
			var list []string
			for _, s := range turn {
				list = append(list, fmt.Sprintf("%d-%d", s.from, s.to))
			}
			got = append(got, list)
		}
		if err != nil || fmt.Sprint(got) != tt.want || k.gone != tt.gone {
			t.Errorf("%s: %v, gone %v, %v; want %s", tt.name, got, k.gone, err, tt.want)
		}
	}
}

func TestWhatASearchSays(t *testing.T) {
	one := []FoundRecord{{Topic: "t", Offset: 7}}
	for _, tt := range []struct {
		records []FoundRecord
		whole   bool
		gone    bool
		want    string
	}{
		{one, false, true, SoughtFound}, {append(one, one...), true, false, SoughtAmbiguous}, {nil, true, true, SoughtExpired},
		{nil, true, false, SoughtMissing}, {nil, false, true, SoughtUnread},
	} {
		k := &seeker{out: &Sought{Records: tt.records, Ranges: []ReadRange{{From: 3, To: 13}}}, gone: tt.gone}
		k.out.Outcome = k.outcome(tt.whole)
		if says := k.out.Says(); k.out.Outcome != tt.want || says == "" {
			t.Errorf("%+v: %s, %s", tt, k.out.Outcome, says)
		}
	}
}
