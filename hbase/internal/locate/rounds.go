package locate

import (
	"bytes"
	"context"
	"slices"
	"sync"
)

// rounds keep look-ups few when many regions of a table are looked for at once. A table has one round of look-ups at a time:
// callers that come meanwhile are in the next round, which reads hbase:meta backwards from the greatest row that is asked for, as many
// regions as are asked for and some more, and again only for those whose region was not among them.
type rounds struct {
	mu   sync.Mutex
	next map[string][]*question // by table; a table that is listed has a round under way
}

// question is one row whose region is looked for. The answer may be read when done is closed: the regions found, descending from the row.
type question struct {
	Wanted
	done  chan struct{}
	found []*Region
	err   error
}

// Wanted is a row to look up, and what else hbase:meta is asked for in the same read.
type Wanted struct {
	Row  []byte
	From []byte // behind row, where the read begins, backwards; nil: at the row
	More int    // regions from there on that are wanted as well
}

// MaxPrefetch bounds what one read of hbase:meta brings.
const MaxPrefetch = 1000

// readTogether looks up a row's region together with those of all other callers. The look-up goes on when the caller leaves.
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
		go l.readRounds(table) // ends with its last asker's answer, and its calls with the client
	}
	select {
	case <-a.done:
		return a.found, a.err
	case <-ctx.Done():
		return nil, l.unanswered(ctx)
	}
}

// readRounds answers round after round until nobody asks.
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

// readRound is one round. What keeps hbase:meta from being read is the answer to all that are left.
func (l *Locator) readRound(table string, questions []*question) {
	slices.SortFunc(questions, func(a, b *question) int { return bytes.Compare(b.Row, a.Row) })
	var found []*Region // by the round's last look-up, from the row on
	var failed error
	for i, a := range questions {
		found = startingAt(found, a.Row)
		r := l.cache.find(table, a.Row)
		switch {
		case r != nil:
			a.found = []*Region{r}
		case len(found) > 0: // it is on no server, or in none of them
			a.found = found
		case failed != nil:
			a.err = failed
		default:
			found, a.err = l.readWanted(table, a.Wanted, len(questions)-i-1)
			a.found, failed = found, a.err
		}
		close(a.done)
	}
}

// readWanted looks up what is wanted, and as many regions before it as others want.
func (l *Locator) readWanted(table string, w Wanted, others int) (found []*Region, err error) {
	rows := min(prefetch+w.More+others, MaxPrefetch)
	if w.From != nil {
		found, err = l.readBack(table, MetaKey(table, w.From, greatestID), rows)
		if found = startingAt(found, w.Row); err != nil || len(found) > 0 {
			return found, err
		} // else the read ended before the row: regions have been split
	}
	return l.readBack(table, MetaKey(table, w.Row, greatestID), rows)
}

// startingAt cuts off descending regions that start behind a row.
func startingAt(found []*Region, row []byte) []*Region {
	for len(found) > 0 && bytes.Compare(found[0].Start, row) > 0 {
		found = found[1:]
	}
	return found
}
