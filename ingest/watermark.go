package ingest

import "sync"

// watermark follows which flights of a partition are settled. Below its low edge everything is. It numbers the flights
// itself, since Kafka's offsets have holes: compaction, transaction markers.
type watermark struct {
	mu    sync.Mutex
	low   int64  // next offset to read for a successor: everything below is settled
	first int    // number of marks[0]
	marks []mark // of the flights from the oldest unsettled one on
}

type mark struct {
	end     int64 // the offset after the flight, holes behind it included
	settled bool
}

// reset begins anew at an offset, forgetting all flights.
func (w *watermark) reset(offset int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.low = offset
	w.first += len(w.marks)
	w.marks = w.marks[:0]
}

// open enters the next flight, which ends before offset end, and gives its number.
func (w *watermark) open(end int64) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.marks = append(w.marks, mark{end: end})
	return w.first + len(w.marks) - 1
}

// settle marks a flight as settled and gives the low edge, and whether that moved it.
func (w *watermark) settle(number int) (low int64, moved bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if number < w.first {
		return w.low, false // from before a reset
	}
	w.marks[number-w.first].settled = true
	n := 0
	for n < len(w.marks) && w.marks[n].settled {
		w.low = w.marks[n].end
		n++
	}
	w.marks = append(w.marks[:0], w.marks[n:]...)
	w.first += n
	return w.low, n > 0
}

// edge is the low edge.
func (w *watermark) edge() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.low
}
