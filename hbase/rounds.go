package hbase

import (
	"bytes"
	"context"
	"slices"
	"sync"
)

// rounds keep look-ups few when many regions of a table are looked for at once. A table has one round of look-ups at a time:
// who comes meanwhile is in the next round, which reads hbase:meta backwards from the greatest row that is asked for, as many
// regions as are asked for and some more, and again only for those whose region was not among them.
type rounds struct {
	mu   sync.Mutex
	next map[string][]*ask // by table; a table that is listed has a round under way
}

// ask is one row whose region is looked for. The answer may be read when done is closed: the regions found, descending from the row.
type ask struct {
	wanted
	done  chan struct{}
	found []*Region
	err   error
}

// wanted is a row to look up, and what else hbase:meta is asked for in the same read.
type wanted struct {
	row  []byte
	from []byte // behind row, where the read begins, backwards; nil: at the row
	more int    // regions from there on that are wanted as well
}

const maxPrefetch = 1000

// ask has a row's region looked up. The look-up goes on when the caller leaves.
func (l *locator) ask(ctx context.Context, table string, w wanted) ([]*Region, error) {
	a := &ask{wanted: w, done: make(chan struct{})}
	a.row = bytes.Clone(w.row)
	l.rounds.mu.Lock()
	if l.rounds.next == nil {
		l.rounds.next = make(map[string][]*ask)
	}
	waiting, busy := l.rounds.next[table]
	l.rounds.next[table] = append(waiting, a)
	l.rounds.mu.Unlock()
	if !busy {
		go l.goRound(table) // ends with its last asker's answer, and its calls with the client
	}
	select {
	case <-a.done:
		return a.found, a.err
	case <-ctx.Done():
		return nil, l.unanswered(ctx)
	}
}

// goRound answers round after round until nobody asks.
func (l *locator) goRound(table string) {
	for {
		l.rounds.mu.Lock()
		asks := l.rounds.next[table]
		if len(asks) == 0 {
			delete(l.rounds.next, table)
			l.rounds.mu.Unlock()
			return
		}
		l.rounds.next[table] = nil
		l.rounds.mu.Unlock()
		l.answer(table, asks)
	}
}

// answer is one round. What keeps hbase:meta from being read is the answer to all that are left.
func (l *locator) answer(table string, asks []*ask) {
	slices.SortFunc(asks, func(a, b *ask) int { return bytes.Compare(b.row, a.row) })
	var found []*Region // by the round's last look-up, from the row on
	var failed error
	for i, a := range asks {
		found = startingAt(found, a.row)
		r := l.cache.find(table, a.row)
		switch {
		case r != nil:
			a.found = []*Region{r}
		case len(found) > 0: // it is on no server, or in none of them
			a.found = found
		case failed != nil:
			a.err = failed
		default:
			found, a.err = l.lookupFor(table, a.wanted, len(asks)-i-1)
			a.found, failed = found, a.err
		}
		close(a.done)
	}
}

// lookupFor looks up what is wanted, and as many regions before it as others want.
func (l *locator) lookupFor(table string, w wanted, others int) (found []*Region, err error) {
	rows := min(prefetch+w.more+others, maxPrefetch)
	if w.from != nil {
		found, err = l.lookup(table, metaKey(table, w.from, greatestID), rows)
		if found = startingAt(found, w.row); err != nil || len(found) > 0 {
			return found, err
		} // else the read ended before the row: regions have been split
	}
	return l.lookup(table, metaKey(table, w.row, greatestID), rows)
}

// startingAt cuts off descending regions that start behind a row.
func startingAt(found []*Region, row []byte) []*Region {
	for len(found) > 0 && bytes.Compare(found[0].Start, row) > 0 {
		found = found[1:]
	}
	return found
}
