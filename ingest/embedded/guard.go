package embedded

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"brine/internal/sockets"
)

// Limits of one client's requests, and of all clients together.
const (
	maxConns      = 512
	maxHeld       = 24 << 20 // of requests and answers
	maxProduce    = 12 << 20 // of a request with records
	maxRequest    = 1 << 20  // of any other request
	maxFetch      = 1 << 20  // of records in an answer, or one batch
	maxPartitions = 10_000   // of a topic
	firstRead     = 64 << 10 // of a request, before its bytes have arrived
	frameTime     = 30 * time.Second
)

// ListenFn is kfake's, with a guard on every connection: kfake allocates what a client announces, and a request that it cannot decode ends
// the process. The guard passes on only whole requests that kfake can decode, and bounds the memory of all of them.
func ListenFn(listen Listen) kfake.Opt { return listenFn(listen, nil) }

func listenFn(listen Listen, acks *acknowledgements) kfake.Opt {
	return kfake.ListenFn(func(network, addr string) (net.Listener, error) {
		l, err := listen(network, addr)
		if err != nil {
			return nil, err
		}
		warn := func(err error) { slog.Warn("the embedded Kafka closed a connection", "error", err) }
		return &guard{Listener: l, limiter: sockets.NewLimiter(maxConns, maxHeld, warn), warn: sockets.Seldom(warn), acks: acks}, nil
	})
}

// versions returns the versions of a released broker, except for Produce: in version 13, where topics go by id, a request with a partition
// of each of two unknown topics ends kfake and the process.
func versions() *kversion.Versions {
	v := kversion.Stable()
	v.SetMaxKeyVersion(int16(kmsg.Produce), 12)
	return v
}

// guard is a listener whose connections pass on only requests that kfake can decode.
type guard struct {
	net.Listener
	limiter *sockets.Limiter
	warn    func(error)       // called for a connection that was closed because of what it sent
	acks    *acknowledgements // nil in memory
}

func (g *guard) Accept() (net.Conn, error) {
	c, err := g.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &guarded{Conn: c, guard: g, member: g.limiter.Join(c)}, nil
}

// guarded is a connection from which kfake reads only checked requests. It charges the limiter for what kfake holds for it: the unanswered
// requests, at most two, and the buffer of its largest answer, which kfake keeps.
type guarded struct {
	net.Conn
	guard  *guard
	member *sockets.Member
	frame  []byte // a checked request, for kfake to read

	mu      sync.Mutex // guards the fields below: kfake writes while it reads
	pending []int      // bytes of the requests without an answer
	kept    int        // bytes of the largest answer
	asked   []asked    // requests whose answers acknowledged.go waits for, oldest first
}

func (c *guarded) Read(b []byte) (int, error) {
	if len(c.frame) == 0 {
		if err := c.next(); err != nil {
			return 0, err
		}
	}
	n := copy(b, c.frame)
	if c.frame = c.frame[n:]; len(c.frame) == 0 {
		c.frame = nil
	}
	return n, nil
}

// next reads a request, and refuses the connection if kfake could not decode it.
func (c *guarded) next() error {
	c.settle(1) // kfake reads on once it has answered all but the last
	frame, err := c.read()
	if err == nil {
		frame, err = c.check(frame)
	}
	if err != nil {
		if errors.As(err, new(refusal)) {
			c.guard.warn(fmt.Errorf("%v: %w", c.RemoteAddr(), err))
		}
		return err
	}
	c.frame = frame
	c.member.Progress()
	return nil
}

// read reads a request with its length. The buffer grows as the bytes arrive.
func (c *guarded) read() ([]byte, error) {
	head := make([]byte, headLen)
	if _, err := io.ReadFull(c.Conn, head[:1]); err != nil {
		return nil, err
	}
	if err := c.SetReadDeadline(time.Now().Add(frameTime)); err != nil {
		return nil, err
	}
	if _, err := io.ReadFull(c.Conn, head[1:]); err != nil {
		return nil, err
	}
	size, err := frameLen(head)
	if err != nil {
		return nil, err
	}
	c.begin()
	frame := head
	for len(frame) < size {
		step := min(size-len(frame), max(firstRead, len(frame)))
		if err := c.grow(step); err != nil {
			return nil, err
		}
		frame = append(frame, make([]byte, step)...)
		if _, err := io.ReadFull(c.Conn, frame[len(frame)-step:]); err != nil {
			return nil, err
		}
	}
	return frame, c.SetReadDeadline(time.Time{})
}

// begin counts a new request; grow counts bytes of the latest one.
func (c *guarded) begin() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pending = append(c.pending, 0)
}

func (c *guarded) grow(n int) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pending[len(c.pending)-1] += n
	return c.member.Hold(n)
}

// settle releases the oldest requests, all but left.
func (c *guarded) settle(left int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.pending) > left {
		_ = c.member.Hold(-c.pending[0]) // cannot fail: it only releases
		c.pending = c.pending[1:]
	}
}

// Write writes a whole answer: kfake does not write parts.
func (c *guarded) Write(b []byte) (int, error) {
	if err := c.keep(len(b)); err != nil {
		return 0, err
	}
	if c.guard.acks != nil {
		c.acknowledge(b)
	}
	if err := c.SetWriteDeadline(time.Now().Add(frameTime)); err != nil {
		return 0, err
	}
	n, err := c.Conn.Write(b)
	if err != nil {
		return n, err
	}
	c.member.Progress()
	return n, nil
}

func (c *guarded) keep(n int) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	more := max(n-c.kept, 0)
	c.kept += more
	if len(c.pending) > 0 {
		more -= c.pending[0]
		c.pending = c.pending[1:]
	}
	return c.member.Hold(more)
}

func (c *guarded) Close() error {
	c.member.Leave()
	return c.Conn.Close()
}

// headLen is the size of a request's length, key, version and correlation id.
const headLen = 4 + 2 + 2 + 4

// refusal is why a request is not passed on.
type refusal string

func (r refusal) Error() string { return string(r) }

func refuse(format string, args ...any) error { return refusal(fmt.Sprintf(format, args...)) }

// frameLen returns the size of a request, including its length field, from its head.
func frameLen(head []byte) (int, error) {
	size, key := binary.BigEndian.Uint32(head), int16(binary.BigEndian.Uint16(head[4:]))
	q, err := request(head)
	if err != nil {
		return 0, err
	}
	most := uint32(maxRequest)
	if kmsg.Key(key) == kmsg.Produce {
		most = maxProduce
	}
	switch {
	case size > most:
		return 0, refuse("a request %s of %d bytes, more than %d", kmsg.NameForKey(q.Key()), size, most)
	case size < headLen-4:
		return 0, refuse("a request of %d bytes is too short", size)
	}
	return int(size) + 4, nil
}

// request returns an empty request of the head's key and version. An ApiVersions request of an unknown version is passed on: the answer
// lists the known ones.
func request(head []byte) (kmsg.Request, error) {
	key, version := int16(binary.BigEndian.Uint16(head[4:])), int16(binary.BigEndian.Uint16(head[6:]))
	q := kmsg.RequestForKey(key)
	switch {
	case q == nil:
		return nil, refuse("a request with the unknown key %d: not a Kafka client, or a newer one", key)
	case version < 0, version > q.MaxVersion() && kmsg.Key(key) != kmsg.ApiVersions:
		return nil, refuse("a request %s in the unknown version %d: versions up to %d are known", kmsg.NameForKey(key), version, q.MaxVersion())
	}
	q.SetVersion(version)
	return q, nil
}

// check refuses a request that kfake would decode wrongly or at any cost, and limits what a request asks for.
func (c *guarded) check(frame []byte) ([]byte, error) {
	q, err := request(frame)
	if err != nil {
		return nil, err
	}
	header := layout{{kind: text}}
	b := &body{src: frame[headLen:]}
	err = b.walk(header) // the client id: its length has two bytes in all versions
	if b.flexible = q.IsFlexible(); err == nil && b.flexible {
		err = b.tags()
	}
	at := len(frame) - len(b.src)
	if err == nil {
		err = layoutOf(q).check(b.src, b.flexible)
	}
	if err != nil {
		return nil, refuse("a request %s v%d of %d bytes: %v", kmsg.NameForKey(q.Key()), q.GetVersion(), len(frame), err)
	}
	if c.guard.acks != nil {
		c.ask(frame, q, frame[at:])
	}
	return limit(frame, at, q)
}

// limit lowers what a request asks for to what this process has room for. The body begins at byte at.
func limit(frame []byte, at int, q kmsg.Request) ([]byte, error) {
	switch q.(type) {
	case *kmsg.FetchRequest, *kmsg.CreateTopicsRequest, *kmsg.CreatePartitionsRequest:
	default:
		return frame, nil
	}
	if err := q.ReadFrom(frame[at:]); err != nil {
		return nil, refuse("a request %s v%d: %v", kmsg.NameForKey(q.Key()), q.GetVersion(), err)
	}
	changed := false
	switch q := q.(type) {
	case *kmsg.FetchRequest:
		changed = shareOut(q)
	case *kmsg.CreateTopicsRequest:
		for i := range q.Topics {
			changed = lower(&q.Topics[i].NumPartitions) || changed
		}
	case *kmsg.CreatePartitionsRequest:
		for i := range q.Topics {
			changed = lower(&q.Topics[i].Count) || changed
		}
	}
	if changed {
		frame = q.AppendTo(frame[:at:at])
		binary.BigEndian.PutUint32(frame, uint32(len(frame)-4))
	}
	return frame, nil
}

// shareOut lowers the bytes that a fetch asks for to what this process has room for, and reports whether it changed the request.
//
// If an answer reaches the limit of the whole request, it lacks the aborted transactions of the partition that filled it, whose records a
// reader of committed records would then take for committed. kfake omits them in that case, but not when a partition reaches its own limit.
// So such a reader gets the room divided among its partitions, and no session, because a session has partitions that the request does not
// name.
func shareOut(q *kmsg.FetchRequest) (changed bool) {
	room := min(q.MaxBytes, maxFetch)
	partitions := 0
	for _, t := range q.Topics {
		partitions += len(t.Partitions)
	}
	if q.IsolationLevel != readCommitted || partitions == 0 {
		changed = q.MaxBytes != room
		q.MaxBytes = room
		return changed
	}
	share := max(1, room/int32(partitions))
	for _, t := range q.Topics {
		for i := range t.Partitions {
			t.Partitions[i].PartitionMaxBytes = min(t.Partitions[i].PartitionMaxBytes, share)
		}
	}
	q.MaxBytes, q.SessionEpoch = math.MaxInt32, noSession
	return true
}

const (
	readCommitted = 1  // an isolation level
	noSession     = -1 // a session epoch
)

// lower replaces a number of partitions that is too high by one that the answer refuses.
func lower(partitions *int32) bool {
	if *partitions <= maxPartitions {
		return false
	}
	*partitions = 0
	return true
}
