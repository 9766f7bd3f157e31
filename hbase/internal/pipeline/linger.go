package pipeline

import "time"

// linger makes a mutation of size bytes wait in its lane, which must be empty or lingering. The caller holds w.mu.
func (w *Writer) linger(l *lane, m *Mutator, size int) {
	if l.state != lingering || l.holder != m {
		l.state, l.holder = lingering, m
		m.lingering = append(m.lingering, l)
	}
	m.bytes += size
	if m.timer == nil {
		w.lingering[m] = struct{}{}
		m.round++
		round := m.round
		m.timer = time.AfterFunc(m.opts.Linger, func() { w.lingerOver(m, round) })
	}
}

// lingerOver flushes when the first lingering mutation has waited for its maximum time. A late timer, whose mutations have left while
// others wait, does nothing.
func (w *Writer) lingerOver(m *Mutator, round int) {
	w.mu.Lock()
	bytes := 0
	if m.round == round {
		bytes = w.endLinger(m)
	}
	w.mu.Unlock()
	m.announce(FlushInfo{FlushLinger, bytes})
}

// endLinger frees the lanes that linger for a mutator and returns the number of bytes it had gathered. The caller holds w.mu.
func (w *Writer) endLinger(m *Mutator) (bytes int) {
	if m.timer == nil {
		return 0
	}
	m.timer.Stop()
	m.timer = nil
	delete(w.lingering, m)
	for _, l := range m.lingering {
		l.leave(lingering)
	}
	w.schedule(m.lingering...)
	bytes = m.bytes
	clear(m.lingering)
	m.lingering, m.bytes = m.lingering[:0], 0
	return bytes
}

// suspendLinger keeps every lane from lingering until the returned function is called: while a Submit waits for room, whatever takes room
// may wait only for the servers.
func (w *Writer) suspendLinger() (end func()) {
	type flushed struct {
		m     *Mutator
		bytes int
	}
	var all []flushed
	w.mu.Lock()
	w.blocked++
	for m := range w.lingering {
		all = append(all, flushed{m, w.endLinger(m)})
	}
	w.mu.Unlock()
	for _, f := range all {
		f.m.announce(FlushInfo{FlushFull, f.bytes})
	}
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.blocked--
	}
}
