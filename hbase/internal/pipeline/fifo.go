package pipeline

// fifo is a queue of entries that gives its memory back to itself: what has left at the front is room for what goes back
// there, or for what comes in behind.
type fifo struct {
	all  []entry
	head int // all[:head] has left
}

const keptEntries = 1 << 14 // memory of an empty queue

func (q *fifo) len() int        { return len(q.all) - q.head }
func (q *fifo) items() []entry  { return q.all[q.head:] }
func (q *fifo) at(i int) *entry { return &q.all[q.head+i] }

func (q *fifo) push(e entry) {
	if len(q.all) == cap(q.all) && q.head > len(q.all)/2 {
		q.replace(q.items())
	}
	q.all = append(q.all, e)
}

// pushFront puts entries back before everything that has queued meanwhile.
func (q *fifo) pushFront(es []entry) {
	if len(es) > q.head {
		rest := q.items()
		all := make([]entry, len(es)+len(rest), len(es)+2*len(rest))
		copy(all[len(es):], rest)
		q.all, q.head = all, len(es)
	}
	q.head -= len(es)
	copy(q.all[q.head:], es)
}

// cut appends the first n entries to dst and takes them off.
func (q *fifo) cut(dst []entry, n int) []entry {
	dst = append(dst, q.items()[:n]...)
	clear(q.items()[:n]) // their flights are not the queue's to keep
	if q.head += n; q.head == len(q.all) {
		q.all, q.head = q.all[:0], 0
		if cap(q.all) > keptEntries {
			q.all = nil
		}
	}
	return dst
}

// replace leaves only es, some of the queue's entries in their order.
func (q *fifo) replace(es []entry) {
	n := copy(q.all, es)
	clear(q.all[n:])
	q.all, q.head = q.all[:n], 0
}
