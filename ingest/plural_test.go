package ingest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"brine/event"
)

// several are Canal's records of many rows: each row is an event.
var several = (&event.Envelope{Form: event.Canal}).Wrap(event.Schema{Version: -1, Fields: []event.Field{{Name: "id", Type: event.Int}}})

// sendRows appends a record of that many rows from first on; it may be empty.
func (b *fakeKafka) sendRows(first int, rows int) {
	b.t.Helper()
	var data []string
	for i := range rows {
		data = append(data, fmt.Sprintf(`{"id":"%d"}`, first+i))
	}
	value := fmt.Sprintf(`{"type":"INSERT","data":[%s]}`, strings.Join(data, ","))
	if rows == 0 {
		value = `{"type":"ALTER","data":null}`
	}
	b.send(&kgo.Record{Topic: topic, Value: []byte(value)})
	b.sent[0]++
}

// rowStore is a Writer in memory that knows rows, not records. decide decides the outcome of a row.
type rowStore struct {
	mu      sync.Mutex
	written map[int64]int
	decide  func(id int64) (event.Verdict, bool)
}

type rowFlight struct {
	of   *rowStore
	rows []int64 // −1: writes nothing
}

func (s *rowStore) Release() {}
func (s *rowStore) Hurry()   {}

func (s *rowStore) Submit(_ context.Context, b *event.Batch) event.Flight {
	f := &rowFlight{of: s}
	for i := range b.Events {
		id := int64(-1)
		if b.Events[i].LeftOut == "" {
			id = b.Events[i].Values[0].Int()
		}
		f.rows = append(f.rows, id)
	}
	return f
}

func (f *rowFlight) Wait(context.Context, event.Until) (event.Outcome, error) {
	s := f.of
	s.mu.Lock()
	defer s.mu.Unlock()
	var failures []event.Failure
	for i, id := range f.rows {
		if id < 0 {
			continue
		}
		if s.decide != nil {
			if v, fails := s.decide(id); fails {
				failures = append(failures, event.Failure{Index: i, Verdict: v, Reason: event.Unavailable, Err: errors.New("as the test wants it")})
				continue
			}
		}
		s.written[id]++
	}
	return event.Outcome{Failures: failures}, nil
}

// wantRows checks that each row except those in but was written.
func (s *rowStore) wantRows(t *testing.T, n int, but ...int64) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for id := range int64(n) {
		lost := false
		for _, b := range but {
			lost = lost || b == id
		}
		if (s.written[id] == 0) != lost {
			t.Errorf("row %d was written %d times", id, s.written[id])
		}
	}
}

// TestSeveralEventsOfARecord: of one record, one event is written, one is retried and one is rejected. The record becomes a dead letter
// once, and its other events are written.
func TestSeveralEventsOfARecord(t *testing.T) {
	b := newBroker(t, 1)
	for i := range 20 {
		b.sendRows(3*i, 3)
		b.sendRows(0, 0)
	}
	s := &rowStore{written: map[int64]int{}}
	tried := map[int64]int{}
	s.decide = func(id int64) (event.Verdict, bool) {
		tried[id]++
		switch {
		case id == 31:
			return event.Reject, true
		case id == 32:
			return event.Reject, true // both of record 20 are rejected
		case id%3 == 1 && tried[id] < 3:
			return event.Retry, true
		}
		return 0, false
	}
	dead := &letters{}
	o := b.options(s)
	o.Schema, o.DeadLetters, o.MaxBatchRecords = several, dead, 7
	var written, leftOut, why, buried atomic.Int64
	o.Hooks.Wrote = func(i WroteInfo) {
		written.Add(int64(i.Records))
		leftOut.Add(int64(i.LeftOut))
		for reason, n := range i.Events {
			if reason == event.SchemaChange {
				why.Add(int64(n))
			}
		}
	}
	o.Hooks.DeadLettered = func(i DeadLetteredInfo) { buried.Add(int64(i.Records)) }
	l := start(t, o)
	eventually(t, "all settled", func() bool { return b.committedOffset(0) == 40 })
	l.stop()
	s.wantRows(t, 60, 31, 32)
	if !dead.has(place{0, 20}) || dead.count() != 1 || buried.Load() != 1 {
		t.Errorf("dead letters %v, %d counted; expected offset 20 once", dead.got, buried.Load())
	}
	if written.Load() != 19 || leftOut.Load() != 20 || why.Load() != 20 {
		t.Errorf("%d written, %d left out, %d of them schema changes; expected 19, 20 and 20", written.Load(), leftOut.Load(), why.Load())
	}
}

// TestSeveralEventsWhileARegionFails: a record with some rows in a failing region waits, holds up no other, and is written whole.
func TestSeveralEventsWhileARegionFails(t *testing.T) {
	b := newBroker(t, 1)
	for i := range 60 {
		b.sendRows(3*i, 3)
	}
	var failing atomic.Bool
	failing.Store(true)
	s := &rowStore{written: map[int64]int{}}
	s.decide = func(id int64) (event.Verdict, bool) { return event.Retry, id%30 == 4 && failing.Load() }
	o := b.options(s)
	o.Schema, o.DeadLetters, o.MaxBatchRecords, o.Window = several, &letters{}, 10, 2
	l := start(t, o)
	eventually(t, "it waits", func() bool {
		all := l.Status().Partitions
		return len(all) > 0 && all[0].State == Retrying
	})
	eventually(t, "all other rows are written", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return len(s.written) == 180-6
	})
	if got := b.committedOffset(0); got > 1 {
		t.Errorf("committed %d while offset 1 waits", got)
	}
	failing.Store(false)
	eventually(t, "all settled", func() bool { return b.committedOffset(0) == 60 })
	l.stop()
	s.wantRows(t, 180)
}

// TestOnlyTheFailedEventsOfARecordAreRetried: the other events of a record are written once, so that none of them is written behind a later
// change of its row with the same version.
func TestOnlyTheFailedEventsOfARecordAreRetried(t *testing.T) {
	b := newBroker(t, 1)
	for i := range 20 {
		b.sendRows(3*i, 3)
	}
	s := &rowStore{written: map[int64]int{}}
	tried := map[int64]int{}
	s.decide = func(id int64) (event.Verdict, bool) {
		tried[id]++
		return event.Retry, id%3 > 0 && tried[id] <= int(id%3) // of each record the second event fails once, and the third twice
	}
	o := b.options(s)
	o.Schema, o.DeadLetters, o.MaxBatchRecords = several, &letters{}, 7
	l := start(t, o)
	eventually(t, "all settled", func() bool { return b.committedOffset(0) == 20 })
	l.stop()
	for id := range int64(60) {
		if s.written[id] != 1 {
			t.Errorf("row %d was written %d times", id, s.written[id])
		}
	}
}
