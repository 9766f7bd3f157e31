package ingest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/segmentio/kafka-go"
)

// Errors that a Run can begin with; they are in the chain of what it returns.
var (
	ErrUnreachable = errors.New("no broker can be reached")
	ErrNoTopic     = errors.New("no such topic")
	ErrNoPartition = errors.New("no such partition")
	ErrOtherReplay = errors.New("the name of this replay is taken")
	ErrDenied      = errors.New("access denied")
)

// cluster is our way to the brokers. It knows every connection it has opened, so that an end can be made of all of them.
type cluster struct {
	kafka     Kafka
	timeout   time.Duration
	transport *kafka.Transport
	client    *kafka.Client
	topicIDs  bool // brokers give topics an id

	mu     sync.Mutex
	conns  map[*trackedConn]struct{}
	closed bool
	fault  error // of the last connection that could not be made or broke, since a broker answered
}

func newCluster(k Kafka, timeout time.Duration, topics ...string) *cluster {
	c := &cluster{kafka: k, timeout: timeout, conns: map[*trackedConn]struct{}{}}
	c.transport = &kafka.Transport{
		Dial:           c.dial,
		TLS:            k.TLS,
		SASL:           k.SASL,
		ClientID:       k.ClientID,
		MetadataTTL:    2 * time.Second, // how soon we learn of a leader's move
		MetadataTopics: topics,
	}
	c.client = &kafka.Client{Addr: kafka.TCP(k.Brokers...), Transport: c, Timeout: timeout}
	return c
}

// RoundTrip makes a request. One that time or its caller ended says what failed last.
func (c *cluster) RoundTrip(ctx context.Context, addr net.Addr, request kafka.Request) (kafka.Response, error) {
	response, err := c.transport.RoundTrip(ctx, addr, request)
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case err == nil:
		c.fault = nil
	case !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, context.Canceled):
	case c.fault != nil:
		err = fmt.Errorf("%w; last: %w", err, c.fault)
	default:
		err = fmt.Errorf("%s has not answered: %w", addr, err)
	}
	return response, err
}

// failed notes what befell a connection, with its address.
func (c *cluster) failed(address string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fault = fmt.Errorf("%s: %w", address, err)
}

// trackedConn leaves the cluster's list as it is closed.
type trackedConn struct {
	net.Conn
	cluster *cluster
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

func (c *cluster) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := c.kafka.Dial(ctx, network, address)
	if err != nil {
		c.failed(address, err)
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

// close cuts every connection and refuses new ones; what was waiting for an answer fails at once.
func (c *cluster) close() {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.cut()
	c.transport.CloseIdleConnections()
}

// cut closes every connection.
func (c *cluster) cut() {
	c.mu.Lock()
	conns := c.conns
	c.conns = map[*trackedConn]struct{}{}
	c.mu.Unlock()
	for t := range conns {
		t.Conn.Close()
	}
}

// partitions returns the partitions of a topic. Its errors say what is missing and how it is fixed.
func (c *cluster) partitions(ctx context.Context, topic string) ([]kafka.Partition, error) {
	m, err := c.client.Metadata(ctx, &kafka.MetadataRequest{Topics: []string{topic}})
	if err != nil {
		return nil, c.unreachable(err)
	}
	t := m.Topics[0]
	return t.Partitions, c.topicError(topic, t.Error, len(t.Partitions))
}

// unreachable words that the brokers give no answer at all.
func (c *cluster) unreachable(err error) error {
	if errors.Is(err, kafka.SASLAuthenticationFailed) {
		return fmt.Errorf("kafka brokers %v: %w: %w; correct the user or the password", c.kafka.Brokers, ErrDenied, err)
	}
	return fmt.Errorf("kafka brokers %v: %w: %w", c.kafka.Brokers, ErrUnreachable, err)
}

// topicError words what a broker says of a topic, and how it is fixed; nil when the topic is there.
func (c *cluster) topicError(topic string, err error, partitions int) error {
	switch {
	case errors.Is(err, kafka.UnknownTopicOrPartition), err == nil && partitions == 0:
		return fmt.Errorf("topic %q: %w on %v; create it, or correct the pipeline's topic", topic, ErrNoTopic, c.kafka.Brokers)
	case errors.Is(err, kafka.TopicAuthorizationFailed):
		return fmt.Errorf("topic %q: %w; the user needs DESCRIBE and READ on it", topic, ErrDenied)
	case err != nil:
		return fmt.Errorf("topic %q: %w", topic, err)
	}
	return nil
}

// patiently makes an attempt at the start again while no broker answers, or one says that this may pass, until the request
// time-out is over.
func (c *cluster) patiently(ctx context.Context, attempt func() error) error {
	for end, pauses := time.Now().Add(c.timeout), (&pauses{base: 50 * time.Millisecond, limit: time.Second}); ; {
		err := attempt()
		if mayPass(err) {
			err = c.unreachable(err)
		}
		if !errors.Is(err, ErrUnreachable) || time.Now().After(end) || pauses.wait(ctx) != nil {
			return err
		}
	}
}

// mayPass reports whether an error is that of a broker that is about to end, or has just begun.
func mayPass(err error) bool {
	var answer kafka.Error // which is a net.Error too
	var network net.Error
	switch {
	case errors.Is(err, ErrUnreachable), errors.Is(err, ErrNoTopic):
		return false
	case errors.As(err, &answer):
		return answer.Temporary() || answer == kafka.BrokerNotAvailable // which is what kafka-go says when it knows of no broker yet
	}
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &network)
}

// Timestamps that ask for a log's ends.
const (
	oldest = kafka.FirstOffset
	newest = kafka.LastOffset
)

// offset asks for the offset of the first record at or after a time in ms since 1970, or of an end of the log: oldest,
// newest (of what is committed). When there is no such record it is the newest.
func (c *cluster) offset(ctx context.Context, topic string, partition int, timestamp int64) (int64, error) {
	r, err := c.client.ListOffsets(ctx, &kafka.ListOffsetsRequest{
		IsolationLevel: kafka.ReadCommitted,
		Topics:         map[string][]kafka.OffsetRequest{topic: {{Partition: partition, Timestamp: timestamp}}},
	})
	if err != nil {
		return 0, err
	}
	if len(r.Topics[topic]) != 1 {
		return 0, fmt.Errorf("partition %d: no answer about its offsets", partition)
	}
	p := r.Topics[topic][0]
	switch {
	case p.Error != nil:
		return 0, p.Error
	case timestamp == oldest:
		return p.FirstOffset, nil
	case timestamp == newest:
		return p.LastOffset, nil
	}
	for offset := range p.Offsets {
		if offset >= 0 {
			return offset, nil
		}
	}
	return c.offset(ctx, topic, partition, newest)
}
