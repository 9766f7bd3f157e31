package simulate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"brine/ingest"
	"brine/ingest/control"
	"brine/internal/backoff"
	"brine/service/reload"
)

// meaning is what notes and marks call a filter.
func (f filter) meaning() string { return fmt.Sprintf("filter%d", f) }

// unknown is the filter of records of which the marks do not say by which one they are written.
const unknown filter = -1

func filterOf(meaning string) filter {
	for f := range filter(len(filters)) {
		if f.meaning() == meaning {
			return f
		}
	}
	return unknown
}

// admit is the loop's ingest.Options.Admit. As in the service, a partition that was read by the filter of a later reload waits, and one
// that was read by another filter gets a mark before its next record is read.
func (l *loop) admit(ctx context.Context, t ingest.Taken) (string, error) {
	was, now := reload.ParseReader(t.Reader), l.reads
	if was.Meaning != now.Meaning && was.Since.After(l.opened) {
		t.Held(ingest.OtherConfiguration, errors.New("it was read by the filter of a later reload"))
		<-ctx.Done()
		return "", ctx.Err()
	}
	if was.Meaning == now.Meaning && now.Since.IsZero() {
		now.Since = was.Since
	}
	if last := was.Last(); last != "" && last != now.Meaning {
		m := control.Mark{Group: group, Topic: t.Topic, Partition: t.Partition, Offset: t.Offset, Was: last, Is: now.Meaning, At: time.Now()}
		if t.Reach > t.Offset {
			m.Until = t.Reach
		}
		if spoil := l.process.world.bug.Mark; spoil != nil {
			spoil(&m)
		}
		if err := l.process.record(ctx, m); err != nil {
			return "", err
		}
	}
	return now.String(), nil
}

// record writes a mark, for as long as it takes.
func (p *Process) record(ctx context.Context, m control.Mark) error {
	for pauses := (backoff.Pauses{Base: 100 * time.Millisecond, Limit: 10 * time.Second}); ; {
		within, cancel := context.WithTimeout(ctx, requestTime)
		err := p.marks.Mark(within, []control.Mark{m})
		cancel()
		if err == nil {
			p.count(func(did *Counts) { did.Marks++ })
			return nil
		}
		if err := pauses.Wait(ctx); err != nil {
			return err
		}
	}
}

// agree gives all processes one filter that none of them has, by a restart: a reload of those that have another one could leave partitions
// to a process that waits for its own reload.
func (w *World) agree() {
	if !slices.ContainsFunc(w.plan.Faults, func(f Fault) bool { return f.Kind == ofReload+" filter" }) {
		return
	}
	by := filter(0)
	for slices.ContainsFunc(w.slots, func(s *slot) bool { return s.reads().filter == by }) {
		by++
	}
	for _, s := range w.slots {
		s.stop()
		s.reload(func(f *settings) { f.filter = by })
		s.start()
	}
}

// checkMarks checks that what each record was written by is what the marks in the control topic say, where they say anything: invariant 12.
func (w *World) checkMarks(ctx context.Context) {
	topic := w.controlOf(ingest.Kafka{Dial: w.net.NewAside("operator").Dial, ClientID: "operator"})
	defer topic.Close()
	all, _, err := topic.Marks(ctx)
	if err != nil {
		w.ledger.find("0: reading the marks: %v", err)
		return
	}
	marks := map[int][]control.Mark{}
	for _, m := range all {
		marks[m.Partition] = append(marks[m.Partition], m)
	}
	w.ledger.judge(marks, w.slots[0].reads().filter)
}

func (l *Ledger) judge(marks map[int][]control.Mark, now filter) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for partition, records := range l.records {
		for at, r := range records {
			by := inForce(marks[partition], int64(at), now)
			if by == unknown {
				l.unknown++
				continue
			}
			for _, s := range r.scans {
				switch by, was := by.keeps(s), r.by.keep(s); {
				case was && !by:
					l.note("12: partition %d: event %s at %d was written, and is left out by the filter that the marks name: %+v", partition, s.ID, at,
						marks[partition])
				case by && !was:
					l.note("12: partition %d: event %s at %d was not written, and is kept by the filter that the marks name: %+v", partition, s.ID, at,
						marks[partition])
				}
			}
		}
	}
}

// inForce returns the filter by which a record is written according to the marks of its partition, in order.
func inForce(marks []control.Mark, at int64, now filter) filter {
	after := slices.IndexFunc(marks, func(m control.Mark) bool { return m.Offset > at })
	if after < 0 {
		after = len(marks)
	}
	if slices.ContainsFunc(marks[:after], func(m control.Mark) bool { return m.Until > at }) {
		return unknown // both may have written it
	}
	is := now.meaning()
	if after < len(marks) {
		is = marks[after].Was
	}
	if after > 0 && marks[after-1].Is != is {
		return unknown // they do not follow each other
	}
	return filterOf(is)
}
