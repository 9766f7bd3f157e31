package broker

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol/listoffsets"
	meta "github.com/segmentio/kafka-go/protocol/metadata"
	"github.com/segmentio/kafka-go/sasl"

	"brine/internal/sockets"
)

// Kafka is how to reach the brokers.
type Kafka struct {
	Brokers  []string           // host:port of one or more; brine learns the others from them
	TLS      func() *tls.Config // of a connection that is made now; nil: no TLS
	SASL     sasl.Mechanism     // nil: no authentication
	ClientID string             // the name in the brokers' logs; default "brine"

	// Dial opens the connections, for proxies and tests; default a net.Dialer.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Failed is called when a connection could not be made or broke. failures is the number of times since a broker last answered. It must be
	// quick and safe for concurrent use; nil: no call.
	Failed func(address string, failures int, err error)
}

// EnsureDefaults sets zero fields to their defaults.
func (k *Kafka) EnsureDefaults() {
	k.ClientID = cmp.Or(k.ClientID, "brine")
	if k.Dial == nil {
		k.Dial = sockets.Dial(&net.Dialer{Timeout: 5 * time.Second})
	}
}

// Cluster is our access to the brokers. It knows every connection that it has opened, so that Close can end them all.
type Cluster struct {
	kafka     Kafka
	timeout   time.Duration
	transport *kafka.Transport
	client    *kafka.Client
	topicIDs  atomic.Bool  // these brokers have topic ids
	consumers atomic.Int32 // version of the consumer protocol's heartbeats that we share with these brokers, or noConsumers

	mu       sync.Mutex
	conns    map[*trackedConn]struct{}
	closed   bool
	failures int   // connections that could not be made or broke since a broker last answered
	fault    error // of the last of them, with its address
	faulty   string
}

// New returns a cluster that is not connected yet. An answer may take up to timeout. It learns early when a leader of the topics moves.
func New(k Kafka, timeout time.Duration, topics ...string) *Cluster {
	k.EnsureDefaults()
	c := &Cluster{kafka: k, timeout: timeout, conns: map[*trackedConn]struct{}{}}
	c.transport = k.transport(c.dial, c.failed)
	c.transport.MetadataTTL = 2 * time.Second // how soon we learn that a leader moved
	c.transport.MetadataTopics = topics
	c.client = &kafka.Client{Addr: kafka.TCP(k.Brokers...), Transport: c, Timeout: timeout}
	return c
}

// RoundTrip makes a request. If its deadline or its caller ended it, the error includes what failed last.
func (c *Cluster) RoundTrip(ctx context.Context, addr net.Addr, request kafka.Request) (kafka.Response, error) {
	response, err := c.transport.RoundTrip(ctx, addr, request)
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case err == nil && c.fault != nil && unanswered(response):
		err = c.fault
	case err == nil:
		if _, cached := request.(*meta.Request); !cached { // the transport answers those itself
			c.failures, c.fault = 0, nil
		}
	case refusesUs(err):
		err = fmt.Errorf("%w: %w", ErrDenied, err)
	case wrongAnswer(err) && wrongAnswer(c.fault):
		err = c.fault
	case ended(err) && ended(c.fault) && WantsTLS(err):
		err = fmt.Errorf("%s: %w", c.faulty, err)
	case ended(err) && ended(c.fault):
		err = c.fault
	case !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, context.Canceled):
	case c.fault != nil:
		err = fmt.Errorf("%w; last: %w", err, c.fault)
	default:
		err = fmt.Errorf("%s has not answered: %w", addr, err)
	}
	return response, err
}

// unanswered reports whether a broker has not answered its part of a request about offsets: kafka-go then makes up an answer, the error
// Unknown for each partition.
func unanswered(response kafka.Response) bool {
	r, ok := response.(*listoffsets.Response)
	if !ok {
		return false
	}
	for _, t := range r.Topics {
		if slices.ContainsFunc(t.Partitions, func(p listoffsets.ResponsePartition) bool { return p.ErrorCode == int16(kafka.Unknown) }) {
			return true
		}
	}
	return false
}

// wrongAnswer reports whether what arrived cannot be the answer of a broker.
func wrongAnswer(err error) bool { return errors.Is(err, ErrNotKafka) || errors.Is(err, ErrMalformed) }

// ended reports whether a connection ended where more was to be read.
func ended(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }

// WantsTLS reports whether kafka-go recognized a TLS alert in what came before the end. Its error has no type.
func WantsTLS(err error) bool { return err != nil && strings.Contains(err.Error(), "expecting TLS") }

// failed notes the failure of a connection, with its address.
func (c *Cluster) failed(address string, err error) {
	c.mu.Lock()
	c.failures++
	c.fault, c.faulty = fmt.Errorf("%s: %w", address, err), address
	failures := c.failures
	c.mu.Unlock()
	if c.kafka.Failed != nil {
		c.kafka.Failed(address, failures, err)
	}
}

// trackedConn leaves the cluster's list when it is closed.
type trackedConn struct {
	net.Conn
	cluster *Cluster
}

func (t *trackedConn) Read(b []byte) (int, error) {
	n, err := t.Conn.Read(b)
	if err != nil && !errors.Is(err, net.ErrClosed) {
		t.cluster.failed(t.RemoteAddr().String(), err)
	}
	return n, err
}

func (t *trackedConn) Close() error {
	t.cluster.mu.Lock()
	delete(t.cluster.conns, t)
	t.cluster.mu.Unlock()
	return t.Conn.Close()
}

func (c *Cluster) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := c.kafka.Dial(ctx, network, address)
	if err != nil {
		if !errors.Is(err, context.Canceled) {
			c.failed(address, err)
		}
		return nil, err
	}
	t := &trackedConn{conn, c}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		conn.Close()
		return nil, net.ErrClosed
	}
	c.conns[t] = struct{}{}
	return t, nil
}

// Close cuts every connection and refuses new ones. Calls that wait for an answer fail at once.
func (c *Cluster) Close() {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.Cut()
	c.transport.CloseIdleConnections()
}

// Cut closes every connection.
func (c *Cluster) Cut() {
	c.mu.Lock()
	conns := c.conns
	c.conns = map[*trackedConn]struct{}{}
	c.mu.Unlock()
	for t := range conns {
		t.Conn.Close()
	}
}
