package locate

import (
	"bytes"
	"context"
	"slices"
	"sync"

	"brine/hbase/internal/remote"
)

// rounds limit the number of look-ups when many regions of a table are looked up at once. A table has one round of look-ups at a time.
// Callers that arrive meanwhile join the next round, which reads hbase:meta backwards from the greatest requested row. It reads as many
// regions as there are requests and some more, and reads again only for rows whose region was not among them.
type rounds struct {
	mu   sync.Mutex
	next map[string][]*question // by table; a listed table has a round in progress
}

// question is a row whose region is looked up. The answer may be read once done is closed: the regions found, descending from the row.
type question struct {
	Wanted
	done  chan struct{}
	found []*Region
	err   error
}

// Wanted is a row to look up, and what else to read from hbase:meta in the same call.
type Wanted struct {
	Row  []byte
	From []byte // after Row: where the backward read starts; nil: at Row
	More int    // number of further regions wanted from there on
}

// MaxPrefetch bounds the number of regions per read of hbase:meta.
const MaxPrefetch = 1000

// readTogether looks up a row's region together with those of all other callers. The look-up continues if the caller leaves.
func (l *Locator) readTogether(ctx context.Context, table string, w Wanted) ([]*Region, error) {
	a := &question{Wanted: w, done: make(chan struct{})}
	a.Row = bytes.Clone(w.Row)
	l.rounds.mu.Lock()
	if l.rounds.next == nil {
		l.rounds.next = make(map[string][]*question)
	}
	waiting, busy := l.rounds.next[table]
	l.rounds.next[table] = append(waiting, a)
	l.rounds.mu.Unlock()
	if !busy {
		go l.readRounds(table) // ends when all questions are answered; its calls end with the client
	}
	select {
	case <-a.done:
		return a.found, a.err
	case <-ctx.Done():
		return nil, l.unanswered(ctx)
	}
}

// readRounds runs rounds until there are no more questions.
func (l *Locator) readRounds(table string) {
	for {
		l.rounds.mu.Lock()
		questions := l.rounds.next[table]
		if len(questions) == 0 {
			delete(l.rounds.next, table)
			l.rounds.mu.Unlock()
			return
		}
		l.rounds.next[table] = nil
		l.rounds.mu.Unlock()
		l.readRound(table, questions)
	}
}

// readRound runs one round. If reading hbase:meta fails, the remaining questions get that error.
func (l *Locator) readRound(table string, questions []*question) {
	slices.SortFunc(questions, func(a, b *question) int { return bytes.Compare(b.Row, a.Row) })
	var found []*Region // by the last look-up of the round, from the current row on
	var failed error
	for i, a := range questions {
		found = startingAt(found, a.Row)
		r := l.cache.find(table, a.Row)
		switch {
		case r != nil:
			a.found = []*Region{r}
		case len(found) > 0: // the region is on no server, or none of them contains the row
			a.found = found
		case failed != nil:
			a.err = failed
		default:
			found, a.err = l.readWanted(table, a.Wanted, len(questions)-i-1)
			a.found, failed = found, a.err
			if failed == nil && len(found) == 0 {
				failed = remote.ErrHole // nothing is at or before this row, so nothing is before the next ones, which are smaller
			}
		}
		close(a.done)
	}
}

// readWanted looks up a row's region, and as many regions before it as others wait for.
func (l *Locator) readWanted(table string, w Wanted, others int) (found []*Region, err error) {
	rows := min(prefetch+w.More+others, MaxPrefetch)
	if w.From != nil {
		found, err = l.readBack(table, MetaKey(table, w.From, greatestID), rows)
		if found = startingAt(found, w.Row); err != nil || len(found) > 0 {
			return found, err
		} // otherwise the read stopped before the row, because regions were split
	}
	return l.readBack(table, MetaKey(table, w.Row, greatestID), rows)
}

// startingAt removes the regions from the front of a descending list that start after row.
func startingAt(found []*Region, row []byte) []*Region {
	for len(found) > 0 && bytes.Compare(found[0].Start, row) > 0 {
		found = found[1:]
	}
	return found
}
