package hbase

import "time"

// hold lets a mutation of size bytes wait in its lane, which is empty or held back already. w.mu is held.
func (w *writer) hold(l *lane, m *Mutator, size int) {
	if l.holder != m {
		l.holder = m
		m.held = append(m.held, l)
	}
	m.bytes += size
	if m.timer == nil {
		w.holding[m] = struct{}{}
		m.round++
		round := m.round
		m.timer = time.AfterFunc(m.opts.Linger, func() { w.lingered(m, round) })
	}
}

// lingered flushes when the first mutation that is held back has waited for as long as it may. A timer that comes too late,
// when its mutations have left and others wait, does nothing.
func (w *writer) lingered(m *Mutator, round int) {
	w.mu.Lock()
	bytes := 0
	if m.round == round {
		bytes = w.release(m)
	}
	w.mu.Unlock()
	m.announce(FlushInfo{FlushLinger, bytes})
}

// release lets the lanes go that a mutator holds back, and tells how many bytes it had gathered. w.mu is held.
func (w *writer) release(m *Mutator) (bytes int) {
	if m.timer == nil {
		return 0
	}
	m.timer.Stop()
	m.timer = nil
	delete(w.holding, m)
	for _, l := range m.held {
		l.holder = nil
	}
	w.wake(m.held...)
	bytes = m.bytes
	clear(m.held)
	m.held, m.bytes = m.held[:0], 0
	return bytes
}

// holdNothing keeps every lane from being held back until the given function is called: while a Submit waits for room,
// nothing that takes room may wait for anything but the servers.
func (w *writer) holdNothing() (end func()) {
	type flushed struct {
		m     *Mutator
		bytes int
	}
	var all []flushed
	w.mu.Lock()
	w.blocked++
	for m := range w.holding {
		all = append(all, flushed{m, w.release(m)})
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
