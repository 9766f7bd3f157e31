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

// ask is one row whose region is looked for. The answer may be read when done is closed; nil is on no server.
type ask struct {
	row    []byte
	more   int // regions before it that are wanted as well
	done   chan struct{}
	region *Region
	err    error
}

const maxPrefetch = 1000

// ask has a row's region looked up. The look-up goes on when the caller leaves.
func (l *locator) ask(ctx context.Context, table string, row []byte, more int) (*Region, error) {
	a := &ask{row: bytes.Clone(row), more: more, done: make(chan struct{})}
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
		return a.region, a.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
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
	var failed error
	for i, a := range asks {
		switch a.region = l.cache.find(table, a.row); {
		case a.region != nil:
		case failed != nil:
			a.err = failed
		default:
			rows := min(prefetch+max(a.more, len(asks)-i-1), maxPrefetch)
			a.region, a.err = l.lookup(table, metaKey(table, a.row, greatestID), rows)
			failed = a.err
		}
		close(a.done)
	}
}
