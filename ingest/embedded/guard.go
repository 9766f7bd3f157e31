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

// What a client may ask for at most, and all clients together.
const (
	maxConns      = 512
	maxHeld       = 24 << 20 // of requests, and of answers
	maxProduce    = 12 << 20 // of a request that brings records
	maxRequest    = 1 << 20  // of any other
	maxFetch      = 1 << 20  // of records in an answer, or one batch
	maxPartitions = 10_000   // of a topic
	firstRead     = 64 << 10 // of a request, before its bytes have come
	frameTime     = 30 * time.Second
)

// ListenFn is kfake's, with a guard on every connection: kfake allocates what a client announces, and a request that it cannot
// decode ends the process. The guard hands on whole requests only, which kfake decodes, and bounds what all of them take.
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

// versions are those of a broker of a release, but for Produce: in version 13, where topics go by their ids, kfake ends with the
// process when a request has one partition of two topics that it does not know.
func versions() *kversion.Versions {
	v := kversion.Stable()
	v.SetMaxKeyVersion(int16(kmsg.Produce), 12)
	return v
}

// guard is a listener whose connections hand on only requests that kfake can decode.
type guard struct {
	net.Listener
	limiter *sockets.Limiter
	warn    func(error)       // of a connection that was closed for what it sent
	acks    *acknowledgements // nil: nothing is kept
}

func (g *guard) Accept() (net.Conn, error) {
	c, err := g.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &guarded{Conn: c, guard: g, member: g.limiter.Join(c)}, nil
}

// guarded is a connection of which kfake reads only what was checked. It counts for the limiter what kfake holds for it: the requests that
// are not answered, at most two, and the buffer of its largest answer, which kfake keeps.
type guarded struct {
	net.Conn
	guard  *guard
	member *sockets.Member
	frame  []byte // checked, for kfake to read

	mu      sync.Mutex // guards what follows: kfake writes while it reads
	pending []int      // bytes of the requests without an answer
	kept    int        // bytes of the largest answer
	asked   []asked    // requests that acknowledged.go waits for the answers of, the oldest first
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

// next reads a request, and refuses the connection when kfake could not decode it.
func (c *guarded) next() error {
	c.settle(1) // kfake reads on when it has answered all but the last
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

// read reads a request with its length. It grows as the bytes come.
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

// begin counts a request, and grow the bytes of the one that began last.
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

// settle counts off the oldest requests, all but the given number.
func (c *guarded) settle(left int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.pending) > left {
		_ = c.member.Hold(-c.pending[0]) // nothing more is held
		c.pending = c.pending[1:]
	}
}

// Write writes an answer whole: kfake does not write parts.
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

// headLen is the length, the key, the version and the correlation id of a request.
const headLen = 4 + 2 + 2 + 4

// refusal is why a request is not handed on.
type refusal string

func (r refusal) Error() string { return string(r) }

func refuse(format string, args ...any) error { return refusal(fmt.Sprintf(format, args...)) }

// frameLen is the length of a request, the one that it announces included, by its head.
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

// request is an empty request of the key and version that are asked for. A version of ApiVersions that is not known yet is handed on: the
// answer says which are.
func request(head []byte) (kmsg.Request, error) {
	key, version := int16(binary.BigEndian.Uint16(head[4:])), int16(binary.BigEndian.Uint16(head[6:]))
	q := kmsg.RequestForKey(key)
	switch {
	case q == nil:
		return nil, refuse("a request with the unknown key %d: it is no Kafka client, or a newer one", key)
	case version < 0, version > q.MaxVersion() && kmsg.Key(key) != kmsg.ApiVersions:
		return nil, refuse("a request %s in the unknown version %d: versions up to %d are known", kmsg.NameForKey(key), version, q.MaxVersion())
	}
	q.SetVersion(version)
	return q, nil
}

// check refuses a request that kfake would decode wrongly or at any price, and limits what one asks for.
func (c *guarded) check(frame []byte) ([]byte, error) {
	q, err := request(frame)
	if err != nil {
		return nil, err
	}
	header := layout{{kind: text}}
	b := &body{src: frame[headLen:]}
	err = b.walk(header) // the client's id: it has a length of two bytes in all versions
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
// An answer that is full as a whole lacks the aborted transactions of the partition that filled it, whose records a reader of committed
// records would then take for committed. kfake leaves them out there, but not where a partition's own share is full. So such a reader
// gets the room shared out among its partitions, and no session, which has partitions that the request does not name.
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

// lower makes a number of partitions that is too high one that is refused in the answer.
func lower(partitions *int32) bool {
	if *partitions <= maxPartitions {
		return false
	}
	*partitions = 0
	return true
}
