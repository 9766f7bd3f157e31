package deadletter

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// scanOf returns a scan of the test's topic.
func scanOf(b *fakeKafka) *Scan {
	return &Scan{Topics: []Options{{Kafka: b.kafka(), RequestTimeout: time.Minute, Source: topic, Topic: topic + ".dead"}}}
}

// TestPurgeNeverChangesWhatStays: whatever the order of letters, repeats and marks, every remaining letter is as open or closed as before,
// only older letters are deleted, and what is deleted is the start of the log.
func TestPurgeNeverChangesWhatStays(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		b := newBroker(t, 2)
		d := openDead(t, b)
		start := time.UnixMilli(1_800_000_000_000)
		for range 30 {
			l := bad(rng.IntN(2), int64(rng.IntN(6)), "x")
			l.Time = start.Add(time.Duration(rng.IntN(40)) * time.Minute) // the clocks disagree
			if err := d.Write(t.Context(), []Letter{l}); err != nil {
				t.Fatal(err)
			}
			if kept := b.kept(t); rng.IntN(3) == 0 {
				if err := b.log(t).mark(t.Context(), []*Kept{&kept[rng.IntN(len(kept))]}, ""); err != nil {
					t.Fatal(err)
				}
			}
		}
		before := b.kept(t)
		limit := start.Add(time.Duration(rng.IntN(40)) * time.Minute)
		plans, err := scanOf(b).PlanPurge(t.Context(), limit, false)
		if err != nil {
			t.Fatal(err)
		}
		gone := 0
		for range 2 { // a second run deletes no more
			if err := plans[0].Run(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		after := b.kept(t)
		for _, l := range before {
			i := slices.IndexFunc(after, func(x Kept) bool { return x.Place == l.Place })
			switch {
			case i >= 0 && after[i].Replayed.IsZero() != l.Replayed.IsZero():
				t.Errorf("the letter at %v has changed its state", l.Place)
			case i < 0 && !l.Time.Before(limit):
				t.Errorf("the letter at %v of %v is gone, and not older than %v", l.Place, l.Time, limit)
			case i < 0:
				gone++
			}
		}
		if gone != plans[0].Letters || len(after) != len(before)-gone {
			t.Errorf("%d of %d letters are gone, %d are left; the plan said %+v", gone, len(before), len(after), plans[0])
		}
	}
}

func TestPurgeKeepsOpenLetters(t *testing.T) {
	b := newBroker(t, 1)
	if err := openDead(t, b).Write(t.Context(), []Letter{bad(0, 1, "x"), bad(0, 2, "x"), bad(0, 3, "x")}); err != nil {
		t.Fatal(err)
	}
	kept := b.kept(t)
	if err := b.log(t).mark(t.Context(), []*Kept{&kept[0], &kept[2]}, "n = n"); err != nil {
		t.Fatal(err)
	}
	later := time.UnixMilli(2_000_000_000_000)
	plans, err := scanOf(b).PlanPurge(t.Context(), later, true)
	if err != nil || plans[0].Letters != 1 || plans[0].Open != 0 || plans[0].Records != 1 {
		t.Fatalf("%+v, %v", plans, err)
	}
	if err := plans[0].Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, want := words(b.kept(t)), "0:2 undecodable, 0:3 undecodable replayed"; got != want {
		t.Errorf("letters %s, expected %s", got, want)
	}
	if l := b.kept(t)[1]; l.Let != "n = n" || !strings.Contains(l.Object("scans.rows", false).Let, "n = n") {
		t.Errorf("the mark says %q", l.Let)
	}
	plans, err = scanOf(b).PlanPurge(t.Context(), later, false)
	if err != nil || plans[0].Letters != 2 || plans[0].Open != 1 || plans[0].Records != 4 {
		t.Fatalf("%+v, %v", plans, err)
	}
	if err := plans[0].Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := words(b.kept(t)); got != "" {
		t.Errorf("letters %s are left", got)
	}
	if plans, err = scanOf(b).PlanPurge(t.Context(), later, false); err != nil || plans[0].Records != 0 {
		t.Errorf("%+v, %v", plans, err)
	}
}
