package deadletter

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"brine/event"
)

// lines returns sums in short form.
func lines(sums []*Sum) string {
	var out []string
	for _, s := range sums {
		out = append(out, fmt.Sprintf("%s %s %s %s: %d, last %s, other %t", s.Group, s.Reason, s.Field, s.Schema, s.Letters, s.Example.InTopic(), s.Other))
	}
	return strings.Join(out, "\n")
}

func letters(n int, make func(i int) Letter) func(func(*Kept, error) bool) {
	return func(yield func(*Kept, error) bool) {
		for i := range n {
			if !yield(&Kept{Letter: make(i)}, nil) {
				return
			}
		}
	}
}

func TestSummaryByWhatItIsAskedFor(t *testing.T) {
	of := func(i int) Letter {
		l := bad(0, int64(i), "x")
		l.Field = fmt.Sprint("f", i%2)
		if i%3 == 0 {
			l.Reason = event.WrongType
		}
		return l
	}
	schema := func(l *Letter) string { return fmt.Sprint("id ", l.Record.Offset/4) }
	for _, c := range []struct {
		by   By
		want string
	}{
		{By{Reason: true}, "G undecodable  : 4, last 0:5, other false\nG wrong_type  : 2, last 0:3, other false"},
		{By{Field: true}, "G  f0 : 3, last 0:4, other false\nG  f1 : 3, last 0:5, other false"},
		{By{Schema: schema}, "G   id 0: 4, last 0:3, other false\nG   id 1: 2, last 0:5, other false"},
		{By{Reason: true, Field: true, Schema: schema, Most: 2}, "G undecodable f1 id 0: 1, last 0:1, other false\n" +
			"G wrong_type f0 id 0: 1, last 0:0, other false\n   : 4, last 0:5, other true"},
	} {
		sums, err := Summarize(letters(6, of), c.by)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := lines(sums), strings.ReplaceAll(c.want, "G", group); got != want {
			t.Errorf("%+v:\n%s\nexpected\n%s", c.by, got, want)
		}
		if first := sums[0].First; first.Before(time.UnixMilli(1_800_000_000_000)) || sums[0].Last.Before(first) {
			t.Errorf("from %v to %v", first, sums[0].Last)
		}
	}
}

// TestSummaryIsBounded checks that any number of kinds takes room for only MaxKinds, and that no letter is lost from the counts.
func TestSummaryIsBounded(t *testing.T) {
	const n = 3 * MaxKinds
	sums, err := Summarize(letters(n, func(i int) Letter {
		l := bad(0, int64(i), "x")
		l.Field = fmt.Sprint(i)
		return l
	}), By{Field: true})
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, s := range sums {
		total += s.Letters
	}
	if last := sums[len(sums)-1]; len(sums) != MaxKinds+1 || total != n || !last.Other || last.Letters != n-MaxKinds {
		t.Errorf("%d sums of %d letters, the last %+v", len(sums), total, *last)
	}
}

// TestMeterEndsWhereItSaid checks that nothing is left at the end, wherever the scan begins.
func TestMeterEndsWhereItSaid(t *testing.T) {
	b := newBroker(t, 2)
	if err := openDead(t, b).Write(t.Context(), []Letter{bad(0, 1, "x"), bad(0, 2, "x"), bad(1, 3, "x"), bad(0, 1, "x")}); err != nil {
		t.Fatal(err)
	}
	o := Options{Kafka: b.kafka(), RequestTimeout: time.Minute, Source: topic, Topic: topic + ".dead"}
	none := o
	none.Topic = "none.dead"
	for _, c := range []struct {
		after Place
		want  int64
	}{{Place{}, 8}, {Place{topic + ".dead", 0, 1}, 4}, {Place{topic + ".dead", 1, 0}, 0}} {
		s := Scan{Topics: []Options{none, o}, Meter: new(Meter)}
		for _, err := range s.Letters(t.Context(), c.after) {
			if err != nil {
				t.Fatal(err)
			}
			if done, left := s.Meter.Read(); done+left != c.want {
				t.Errorf("%d done and %d left, expected %d", done, left, c.want)
			}
		}
		if done, left := s.Meter.Read(); done != c.want || left != 0 {
			t.Errorf("behind %v: %d done and %d left at the end, expected %d", c.after, done, left, c.want)
		}
	}
}
