package pipeline

// fifo is a queue of entries that reuses its memory: the space of entries that have left the front is used for entries that return to the
// front or join at the back.
type fifo struct {
	all  []entry
	head int // all[:head] have left
}

const keptEntries = 1 << 14 // memory kept by an empty queue

func (q *fifo) len() int        { return len(q.all) - q.head }
func (q *fifo) items() []entry  { return q.all[q.head:] }
func (q *fifo) at(i int) *entry { return &q.all[q.head+i] }

func (q *fifo) push(e entry) {
	if len(q.all) == cap(q.all) && q.head > len(q.all)/2 {
		q.replace(q.items())
	}
	q.all = append(q.all, e)
}

// pushFront puts entries back in front of everything queued meanwhile.
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

// cut removes the first n entries and appends them to dst.
func (q *fifo) cut(dst []entry, n int) []entry {
	dst = append(dst, q.items()[:n]...)
	clear(q.items()[:n]) // do not keep their flights alive
	if q.head += n; q.head == len(q.all) {
		q.all, q.head = q.all[:0], 0
		if cap(q.all) > keptEntries {
			q.all = nil
		}
	}
	return dst
}

// replace leaves only es, which must be entries of the queue in their order.
func (q *fifo) replace(es []entry) {
	n := copy(q.all, es)
	clear(q.all[n:])
	q.all, q.head = q.all[:n], 0
}
