package deadletter

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
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
		plans, err := scanOf(b).PlanPurge(t.Context(), limit, false, nil)
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
	if err := b.log(t).mark(t.Context(), []*Kept{&kept[0], &kept[2]}, ""); err != nil {
		t.Fatal(err)
	}
	later := time.UnixMilli(2_000_000_000_000)
	plans, err := scanOf(b).PlanPurge(t.Context(), later, true, nil)
	if err != nil || plans[0].Letters != 1 || plans[0].Open != 0 || plans[0].Records != 1 {
		t.Fatalf("%+v, %v", plans, err)
	}
	if err := plans[0].Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, want := words(b.kept(t)), "0:2 undecodable, 0:3 undecodable replayed"; got != want {
		t.Errorf("letters %s, expected %s", got, want)
	}
	plans, err = scanOf(b).PlanPurge(t.Context(), later, false, nil)
	if err != nil || plans[0].Letters != 2 || plans[0].Open != 1 || plans[0].Records != 4 {
		t.Fatalf("%+v, %v", plans, err)
	}
	if err := plans[0].Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := words(b.kept(t)); got != "" {
		t.Errorf("letters %s are left", got)
	}
	if plans, err = scanOf(b).PlanPurge(t.Context(), later, false, nil); err != nil || plans[0].Records != 0 {
		t.Errorf("%+v, %v", plans, err)
	}
}

// TestPurgeKeepsHowRecordsWereFixed: verify knows what a fixed record has become by its letter and its mark alone, for as long as the record
// can be read.
func TestPurgeKeepsHowRecordsWereFixed(t *testing.T) {
	b := newBroker(t, 1)
	for range 4 {
		b.send(&kgo.Record{Topic: topic, Value: []byte("x")})
	}
	elsewhere := bad(0, 0, "x")
	elsewhere.Record.Topic = "gone"
	beyond := bad(0, 3, "x")
	beyond.Record.Partition = 1
	for _, l := range []Letter{bad(0, 0, "x"), bad(0, 1, "whole"), bad(0, 2, "x"), elsewhere, beyond} {
		if err := openDead(t, b).Write(t.Context(), []Letter{l}); err != nil {
			t.Fatal(err)
		}
	}
	kept := b.kept(t)
	for i, let := range []string{"", "n = n", "", "n = n", "n = n"} {
		if i == 0 {
			continue // it stays open
		}
		if err := b.log(t).mark(t.Context(), []*Kept{&kept[i]}, let); err != nil {
			t.Fatal(err)
		}
	}
	later := time.UnixMilli(3_000_000_000_000)
	plan := func() Purge {
		t.Helper()
		plans, err := scanOf(b).PlanPurge(t.Context(), later, false, nil)
		if err != nil {
			t.Fatal(err)
		}
		return plans[0]
	}
	p := plan()
	if p.Letters != 4 || p.Open != 1 || p.Fixed != 1 || p.Records != 9 {
		t.Fatalf("%+v", p)
	}
	for range 2 { // as after a crash
		if err := p.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	left := b.kept(t)
	if len(left) != 1 || left[0].Let != "n = n" || left[0].Record.Offset != 1 || string(left[0].Record.Value) != "whole" ||
		left[0].Detail != kept[1].Detail || !left[0].Time.Equal(kept[1].Time) {
		t.Fatalf("%s are left: %+v", words(left), left)
	}
	if !strings.Contains(left[0].Object("scans.rows", false).Let, "n = n") {
		t.Errorf("it is shown as %+v", left[0].Object("scans.rows", false))
	}
	if p := plan(); p.Records != 0 || len(p.Partitions) != 0 {
		t.Errorf("what stays is to be deleted: %+v", p)
	}
	source := scanOf(b).Topics[0]
	c := source.cluster(topic)
	defer c.Close()
	if _, err := c.Trim(t.Context(), topic, 0, 2); err != nil {
		t.Fatal(err)
	}
	if p := plan(); p.Letters != 1 || p.Fixed != 0 || p.Records != 2 {
		t.Errorf("its record is gone: %+v", p)
	}
}

// TestPurgeNeverOpensWhatWasFixed: whenever a purge is stopped, a reader finds the fixed letter closed.
func TestPurgeNeverOpensWhatWasFixed(t *testing.T) {
	l := bad(0, 1, "x")
	l.Let = "n = n"
	records := l.carried()
	if len(records) != 2 {
		t.Fatalf("%d records", len(records))
	}
	letter, err := Read(&records[0])
	mark, fault := Read(&records[1])
	if err != nil || fault != nil || !letter.Replayed.IsZero() || mark.Replayed.IsZero() || mark.Let != "n = n" ||
		records[0].Timestamp != records[1].Timestamp {
		t.Errorf("%+v, %v, then %+v, %v", letter, err, mark, fault)
	}
}
