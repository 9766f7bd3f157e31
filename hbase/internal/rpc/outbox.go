package rpc

import (
	"bufio"
	"fmt"
	"net"
	"sync"
	"time"
)

const (
	writeBuffer = 64 << 10
	smallFrame  = 4 << 10 // longer frames are written by the writer
	mostRounds  = 4       // of writes that a caller makes for others
)

// outbox writes the frames of a connection to its socket, in the order in which calls arrive.
//
// A small frame is queued, and its caller writes the queue itself unless somebody else is writing, who then writes it too: so requests that
// come together are sent together, and a lone one needs no other goroutine. Such a write never waits: what the socket has no room for is
// left to the writer, the only one that waits for a socket. All other frames go to the writer, and so do the frames behind them.
type outbox struct {
	socket  net.Conn
	timeout time.Duration                 // of a write that waits
	try     func([]byte) (n int, _ error) // writes what the socket has room for; nil: the socket has no such thing
	send    chan *call                    // to the writer; nil wakes it. Never closed: when the connection ends, everyone leaves

	mu      sync.Mutex // guards the fields below; taken after writing, if both are
	queued  []byte     // whole small frames
	sending int        // calls that go through send and are not written yet

	writing sync.Mutex // held by whoever writes to the socket; guards the fields below
	rest    []byte     // of queued frames: written before anything else, by the writer, which has been woken
	spare   []byte     // buffer for queued
}

func newOutbox(socket net.Conn, timeout time.Duration) *outbox {
	return &outbox{socket: socket, timeout: timeout, try: tryWrite(socket), send: make(chan *call, 64)}
}

// queue queues a copy of a frame, to be written by flush. It returns false if the frame must go through send, which the caller then must
// report to sent.
func (o *outbox) queue(frame []byte) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.try == nil || len(frame) > smallFrame || o.sending > 0 || len(o.queued)+len(frame) > writeBuffer {
		o.sending++
		return false
	}
	o.queued = append(o.queued, frame...)
	return true
}

// sent reports that a call that went through send is written or will never be.
func (o *outbox) sent() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.sending--
}

// flush writes the queued frames, or leaves them to whoever is writing. It does not wait.
//
// No frame stays behind: whoever holds writing looks at the queue again after releasing it, or has woken the writer.
func (o *outbox) flush() error {
	for range mostRounds {
		if o.isEmpty() || !o.writing.TryLock() {
			return nil
		}
		left, err := o.tryQueued()
		o.writing.Unlock()
		if left || err != nil {
			return err
		}
	}
	o.wake()
	return nil
}

func (o *outbox) isEmpty() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.queued) == 0
}

// take returns the queued frames. They may be used until the next call. The caller holds o.writing.
func (o *outbox) take() []byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	frames := o.queued
	o.queued, o.spare = o.spare[:0], frames
	return frames
}

// tryQueued writes the queued frames and reports whether it left the writer something to do. The caller holds o.writing.
func (o *outbox) tryQueued() (left bool, err error) {
	if len(o.rest) > 0 {
		return true, nil
	}
	frames := o.take()
	n, err := o.try(frames)
	if err != nil || n == len(frames) {
		return false, err
	}
	o.rest = append(o.rest, frames[n:]...)
	o.wake()
	return true, nil
}

// wake makes the writer write what is left and queued.
func (o *outbox) wake() {
	select {
	case o.send <- nil:
	default: // it has calls to come for
	}
}

// write writes what is left to it until the connection ends or fails.
func (o *outbox) write(ended <-chan struct{}) error {
	w := bufio.NewWriterSize(o.socket, writeBuffer)
	for {
		select {
		case <-ended:
			return nil
		case q := <-o.send:
			err := o.burst(w, q)
			if err == nil {
				err = o.flush()
			}
			if err != nil {
				return fmt.Errorf("write: %w", err)
			}
		}
	}
}

// burst writes everything that waits. Small frames that wait together are sent together.
func (o *outbox) burst(w *bufio.Writer, q *call) error {
	o.writing.Lock()
	defer o.writing.Unlock()
	if err := o.socket.SetWriteDeadline(time.Now().Add(o.timeout)); err != nil {
		return err
	}
	if _, err := w.Write(o.rest); err != nil {
		return err
	}
	o.rest = o.rest[:0]
	for {
		if _, err := w.Write(o.take()); err != nil {
			return err
		}
		if q != nil {
			if _, err := w.Write(q.frame); err != nil {
				return err
			}
			q.written.Store(true)
			o.sent()
		}
		select {
		case q = <-o.send:
		default:
			return w.Flush()
		}
	}
}
