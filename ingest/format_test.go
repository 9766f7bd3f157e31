package ingest

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"brine/event"
)

// scriptedFormat reads the tests' JSON, and fails as a test demands.
type scriptedFormat struct {
	event.Format
	read    func(rec *event.Record) *event.Error
	resolve func(rec *event.Record) error
}

// NewReader implements event.Format.
func (f scriptedFormat) NewReader(root *event.Node) event.Reader {
	return &scriptedReader{f: f, root: root}
}

type scriptedReader struct {
	f    scriptedFormat
	root *event.Node
}

func (r *scriptedReader) Read(rec *event.Record, b *event.Builder) *event.Error {
	if r.f.read != nil {
		if err := r.f.read(rec); err != nil {
			return err
		}
	}
	for _, n := range r.root.Children() {
		var err *event.Error
		if n.Type() == event.Text {
			err = b.Text(n, []byte("x"))
		} else {
			err = b.Int(n, rec.Offset)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *scriptedReader) Resolve(_ context.Context, rec *event.Record) error {
	if r.f.resolve == nil {
		return nil
	}
	return r.f.resolve(rec)
}

// TestARecordThatHaltsIsNoDeadLetter: a record at which the decoder halts is neither buried nor passed, everything before it is settled,
// and the partition goes on once the record can be decoded.
func TestARecordThatHaltsIsNoDeadLetter(t *testing.T) {
	inBubble(t, 2, func(t *testing.T, b *fakeKafka) {
		b.produce(40, 0, 1)
		s, dead := newStore(), &letters{}
		var fixed atomic.Bool
		o := b.options(s)
		o.MaxBatchRecords, o.DeadLetters = 10, dead
		o.Schema.Format = scriptedFormat{read: func(rec *event.Record) *event.Error {
			if rec.Partition == 0 && rec.Offset == 15 && !fixed.Load() {
				return &event.Error{Reason: event.BadVersion, Detail: "no epoch", Halts: true}
			}
			return nil
		}}
		l := start(t, o)
		eventually(t, "the other partition goes on", func() bool { return b.committedOffset(1) == 40 })
		eventually(t, "it says so", func() bool {
			problems := l.Status().Problems(time.Now(), time.Minute)
			return len(problems) == 1 && strings.Contains(problems[0], "bad_version: offset 15: bad_version: no epoch")
		})
		eventually(t, "what came before is written", func() bool { return b.committedOffset(0) == 15 })
		b.neverCommits(t, 0, 16, 20*time.Millisecond)
		if n := dead.count(); n != 0 {
			t.Errorf("%d dead letters", n)
		}
		fixed.Store(true)
		eventually(t, "all committed", func() bool { return b.committedOffset(0) == 40 })
		l.stop()
	})
}

// TestARecordWaitsForItsSchema: while what decoding needs is unavailable, the partition is waiting, reports the reason, and commits nothing
// beyond; if it is refused, the partition halts. Nothing becomes a dead letter, and everything is written once it is available.
func TestARecordWaitsForItsSchema(t *testing.T) {
	for name, failure := range map[string]error{
		"retry":   &event.Unresolved{Verdict: event.Retry, Reason: event.Unavailable, Err: errors.New("the registry does not answer")},
		"halt":    &event.Unresolved{Verdict: event.Halt, Reason: event.Denied, Err: errors.New("the registry refuses the password")},
		"unknown": errors.New("whatever it is"),
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, 2, func(t *testing.T, b *fakeKafka) {
				b.produce(40, 0, 1)
				s, dead := newStore(), &letters{}
				var there atomic.Bool
				var tries atomic.Int64
				o := b.options(s)
				o.MaxBatchRecords, o.DeadLetters = 10, dead
				o.Schema.Format = scriptedFormat{resolve: func(rec *event.Record) error {
					if rec.Partition == 0 && rec.Offset >= 15 && !there.Load() {
						tries.Add(1)
						return failure
					}
					return nil
				}}
				l := start(t, o)
				eventually(t, "the other partition goes on", func() bool { return b.committedOffset(1) == 40 })
				eventually(t, "it tries again", func() bool { return tries.Load() >= 3 })
				eventually(t, "it says why", func() bool {
					problems := strings.Join(l.Status().Problems(time.Now().Add(time.Hour), time.Minute), "\n")
					return strings.Contains(problems, errors.Unwrap(wrapped(failure)).Error())
				})
				eventually(t, "what came before is written", func() bool { return b.committedOffset(0) == 15 })
				b.neverCommits(t, 0, 16, 20*time.Millisecond)
				there.Store(true)
				eventually(t, "all committed", func() bool { return b.committedOffset(0) == 40 })
				l.stop()
				if n := dead.count(); n != 0 {
					t.Errorf("%d dead letters", n)
				}
				synctest.Wait()
			})
		})
	}
}

// wrapped is an error around another, whichever it is.
func wrapped(err error) error {
	if errors.Unwrap(err) != nil {
		return err
	}
	return &event.Unresolved{Err: err}
}
