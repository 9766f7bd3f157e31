package embedded

import "sync"

// maxConns is how many connections a server has. With one more, the one that was answered the longest ago goes.
const maxConns = 1024

// room is what a connection's answers hold, from their first cell until the client has them.
type room struct {
	mu    sync.Mutex
	freed sync.Cond
	held  int
	limit int
}

func newRoom(limit int) *room {
	r := &room{limit: limit}
	r.freed.L = &r.mu
	return r
}

// add counts n bytes more, or fewer.
func (r *room) add(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.held += n; r.held <= r.limit {
		r.freed.Broadcast()
	}
}

// full reports whether the client has to read before it gets more.
func (r *room) full() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.held > r.limit
}

// wait waits until the client has read enough. It is released by what ends the connection too: an answer that cannot be written is let go.
func (r *room) wait() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.held > r.limit {
		r.freed.Wait()
	}
}

// hold counts n bytes more of the call's answer, for its connection and for all.
func (k *call) hold(n int) {
	k.held += n
	k.conn.room.add(n)
	_ = k.conn.member.Hold(n) // a connection that is cut off meets the end when it writes
}

// release counts the call's answer off.
func (k *call) release() {
	if k.held != 0 {
		k.hold(-k.held)
	}
}
