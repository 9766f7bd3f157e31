package ingest

import "sync"

// watermark tracks which flights of a partition are settled. Below its low edge everything is. It numbers flights itself because Kafka's
// offsets have holes (compaction, transaction markers).
type watermark struct {
	mu    sync.Mutex
	low   int64  // where a successor starts to read: everything below is settled
	first int    // number of marks[0]
	marks []mark // of the flights from the oldest unsettled one on
	at    int64  // timestamp of the newest mark below low that has one
}

type mark struct {
	end     int64 // the offset after the flight and the holes that follow it
	at      int64 // timestamp of its first record; 0: none
	settled bool
}

// reset starts over at an offset and forgets all flights.
func (w *watermark) reset(offset int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.low = offset
	w.first += len(w.marks)
	w.marks = w.marks[:0]
}

// open adds the next flight, which ends before offset end and whose first record has the timestamp at, and returns its number.
func (w *watermark) open(end, at int64) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.marks = append(w.marks, mark{end: end, at: at})
	return w.first + len(w.marks) - 1
}

// settle marks a flight as settled. It returns the low edge, and whether it moved.
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
		if at := w.marks[n].at; at > 0 {
			w.at = at
		}
		n++
	}
	w.marks = append(w.marks[:0], w.marks[n:]...)
	w.first += n
	return w.low, n > 0
}

// oldest returns the timestamp of the first unsettled record. If none is pending, out is false and the timestamp is that of one settled
// last.
func (w *watermark) oldest() (at int64, out bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, m := range w.marks {
		if m.at > 0 {
			return m.at, true
		}
	}
	return w.at, false
}

// edge returns the low edge.
func (w *watermark) edge() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.low
}
