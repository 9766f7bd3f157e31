package sink

import (
	"fmt"
	"math/bits"
	"slices"
	"time"

	"brine/event"
	"brine/hbase"
	"brine/rowkey"
)

// judge turns the mutations of one table that failed into failures of their events.
func (s *Sink) judge(p *part, now time.Time) []event.Failure {
	durable := append(p.durable(), p.before...)
	p.remember(durable, now)
	s.refusals.Settled(now, p.batch.Len())
	var failures []event.Failure
	for _, e := range p.errs {
		v, ok := verdicts[e.Kind]
		switch {
		case e.Kind == hbase.Refused:
			v.verdict, v.reason = s.refused(p, e.Index, durable, now), event.Refused
		case !ok:
			v.verdict, v.reason = event.Retry, event.Unknown
		}
		of := p.events[e.Index]
		failures = append(failures, event.Failure{Index: int(of.event), Verdict: v.verdict, Reason: v.reason, Err: p.describe(e),
			Rest: event.RestOf(int(of.write))})
	}
	return failures
}

// refused decides what a server's bare refusal of one mutation means. If the server accepted a neighbour, which is a mutation of the same
// table and families, this one is at fault and is rejected. The number of rejects is bounded, because a table that refuses many mutations
// is misconfigured and must not drain a topic into dead letters. If the server refused every neighbour, the table is at fault. If no
// neighbour has an answer, the next attempt decides.
func (s *Sink) refused(p *part, index int, durable []uint64, now time.Time) event.Verdict {
	wrote := p.wrote[index]
	covers := func(set uint64) bool { return set&wrote == wrote }
	switch {
	case slices.ContainsFunc(durable, covers):
	case p.alone(index, covers):
		if !p.wroteLately(wrote, now) {
			return event.Halt
		}
	case p.allRefused(covers):
		return event.Halt
	default:
		return event.Retry
	}
	if !s.refusals.Allow(now) {
		return event.Halt
	}
	return event.Reject
}

// durable returns the distinct sets of families of the mutations that the server accepted.
func (p *part) durable() []uint64 {
	var sets []uint64
	errs := p.errs
	for i, set := range p.wrote {
		if len(errs) > 0 && errs[0].Index == i {
			errs = errs[1:]
			continue
		}
		if !slices.Contains(sets, set) {
			sets = append(sets, set)
		}
	}
	return sets
}

// alone reports whether the mutation has no neighbour in its flight, so that only other flights can decide.
func (p *part) alone(index int, covers func(uint64) bool) bool {
	for i, set := range p.wrote {
		if i != index && covers(set) {
			return false
		}
	}
	return true
}

func (p *part) allRefused(covers func(uint64) bool) bool {
	return !slices.ContainsFunc(p.errs, func(e hbase.MutationError) bool {
		return e.Kind != hbase.Refused && covers(p.wrote[e.Index])
	})
}

const lately = time.Minute // for how long a success of another flight counts for the table

// remember records which families have just been written.
func (p *part) remember(durable []uint64, now time.Time) {
	for _, set := range durable {
		for ; set != 0; set &= set - 1 {
			p.places[bits.TrailingZeros64(set)].written.Store(now.UnixMilli())
		}
	}
}

// wroteLately reports whether all of these families have been written within the last minute.
func (p *part) wroteLately(set uint64, now time.Time) bool {
	for ; set != 0; set &= set - 1 {
		if now.UnixMilli()-p.places[bits.TrailingZeros64(set)].written.Load() > lately.Milliseconds() {
			return false
		}
	}
	return true
}

// describe returns the failure with the table, row, server, attempt and class that it concerns. Where rows are made of a masked field, it
// shows neither this row nor what the server says, which may quote others.
func (p *part) describe(e hbase.MutationError) error {
	row, cause := rowkey.Binary(p.batch.Row(e.Index)), e.Err
	if p.masked {
		row, cause = event.Hidden, event.Without(hbase.Unquoted(e.Server, e.Class, cause), row)
	}
	where := fmt.Sprintf("table %s, row %s", p.table.Name, row)
	if e.Server != "" {
		where += ", server " + e.Server
	}
	if e.Attempts > 0 {
		where += fmt.Sprintf(", attempt %d", e.Attempts)
	}
	if e.Class != "" {
		where += ", " + e.Class
	}
	return fmt.Errorf("%s: %w", where, cause)
}
