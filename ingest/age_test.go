package ingest

import (
	"testing"
	"time"

	"brine/event"
)

func TestAgeIsThatOfTheOldestRecordThatIsNotSettled(t *testing.T) {
	now := time.UnixMilli(1_700_000_000_000)
	ago := func(d time.Duration) int64 { return now.Add(-d).UnixMilli() }
	for _, c := range []struct {
		name string
		part PartitionStatus
		want time.Duration
	}{
		{"nothing before it", PartitionStatus{Watermark: 5, End: 5, oldest: ago(time.Hour)}, 0},
		{"the start is not known", PartitionStatus{Watermark: -1, End: 5}, 0},
		{"a flight is out", PartitionStatus{Watermark: 5, End: 9, oldest: ago(time.Minute), out: true, caughtUp: now.Add(-time.Second)}, time.Minute},
		{"a backlog between two flights", PartitionStatus{Watermark: 5, End: 9, oldest: ago(time.Hour)}, time.Hour},
		{"the first record after a quiet hour", PartitionStatus{Watermark: 5, End: 6, oldest: ago(time.Hour), caughtUp: now.Add(-time.Second)}, time.Second},
		{"nothing was ever settled", PartitionStatus{Watermark: 5, End: 6, Since: now.Add(-time.Minute)}, time.Minute},
		{"nothing was ever settled, and all was seen", PartitionStatus{Watermark: 5, End: 6, Since: now.Add(-time.Minute), caughtUp: now.Add(-time.Second)}, time.Second},
		{"a producer's clock is ahead", PartitionStatus{Watermark: 5, End: 6, oldest: ago(-time.Hour), out: true}, 0},
	} {
		if got := c.part.Age(now); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestTheWatermarkKnowsTheOldestRecord(t *testing.T) {
	var w watermark
	w.reset(0)
	first, second := w.open(10, 100), w.open(20, 200)
	w.open(30, 0) // only markers
	for _, step := range []struct {
		settle int
		at     int64
		out    bool
	}{{-1, 100, true}, {second, 100, true}, {first, 200, false}} {
		if step.settle >= 0 {
			w.settle(step.settle)
		}
		if at, out := w.oldest(); at != step.at || out != step.out {
			t.Errorf("after %d: %d, %v; want %d, %v", step.settle, at, out, step.at, step.out)
		}
	}
}

// Each record of a flight is reported once, however the flight is narrowed down before it lands.
func TestEachRecordIsReportedOnce(t *testing.T) {
	reported := map[int64]int{}
	s := &stream{partition: &partition{runner: &runner{Options: &Options{}}}}
	s.Hooks.ensureDefaults()
	s.Hooks.Durable = func(i DurableInfo) {
		if want := TimesOf(i.Records); i.Times != want {
			t.Errorf("reported %+v, want %+v", i.Times, want)
		}
		for _, r := range i.Records {
			reported[r.Offset]++
		}
	}
	records := make([]event.Record, 10)
	for i := range records {
		records[i].Offset, records[i].Timestamp = int64(i), 100+int64(i*i)
	}
	f := &flight{records: records, times: TimesOf(records)}
	left := []*event.Record{&records[0], &records[4], &records[5], &records[9]}
	s.durable(f, left)
	kept := []event.Record{*left[0], *left[1], *left[2], *left[3]}
	f.records, f.times = kept, TimesOf(kept)
	s.durable(f, []*event.Record{&kept[2]})
	f.records, f.times = kept[2:3], TimesOf(kept[2:3])
	s.durable(f, nil)
	for i := range records {
		if n := reported[int64(i)]; n != 1 {
			t.Errorf("record %d was reported %d times", i, n)
		}
	}
}
