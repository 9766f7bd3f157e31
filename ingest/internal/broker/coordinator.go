package broker

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"
)

// groupCall is a request to a group's coordinator, in version last at most: kafka-go does not write the flexible versions of the group's
// requests as brokers read them, and sends some of them to any broker. We need nothing that they add.
type groupCall struct {
	protocol.Message
	last        int16
	coordinator int32
	client      string

	version int16
}

// Broker routes the call to the coordinator.
func (g *groupCall) Broker(c protocol.Cluster) (protocol.Broker, error) {
	b, ok := c.Brokers[g.coordinator]
	if !ok {
		return b, fmt.Errorf("the group's coordinator, broker %d, is not in the cluster: %w", g.coordinator, kafka.BrokerNotAvailable)
	}
	return b, nil
}

// Required notes the version that the connection has negotiated.
func (g *groupCall) Required(versions map[protocol.ApiKey]int16) bool {
	g.version = min(versions[g.ApiKey()], g.last)
	return true
}

// RawExchange does what kafka-go does, in our version.
func (g *groupCall) RawExchange(rw io.ReadWriter) (protocol.Message, error) {
	switch m := g.Message.(type) {
	case *beatRequest:
		return m.exchange(rw, g.version, g.client)
	case flexible:
		return exchangeFlexible(rw, m, g.client)
	case protocol.PreparedMessage:
		m.Prepare(g.version)
	}
	return protocol.RoundTrip(rw, g.version, int32(g.ApiKey()), g.client, g.Message)
}

// coordinator sends calls to the broker that coordinates a group, and finds that broker. Only one goroutine at a time may use it.
type coordinator struct {
	*Cluster
	group string
	node  int32
	known bool
}

// call makes a call and waits for the answer, for at most wait.
func (c *coordinator) call(ctx context.Context, request protocol.Message, last int16, wait time.Duration) (protocol.Message, error) {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	if err := c.find(ctx); err != nil {
		return nil, err
	}
	answer, err := c.RoundTrip(ctx, c.client.Addr, &groupCall{Message: request, last: last, coordinator: c.node, client: c.kafka.ClientID})
	if err != nil {
		c.known = false
	}
	return answer, err
}

func (c *coordinator) find(ctx context.Context) error {
	if c.known {
		return nil
	}
	r, err := c.client.FindCoordinator(ctx, &kafka.FindCoordinatorRequest{Key: c.group, KeyType: kafka.CoordinatorKeyTypeConsumer})
	if err == nil {
		err = r.Error
	}
	if err != nil {
		return fmt.Errorf("looking for the group's coordinator: %w", err)
	}
	c.node, c.known = int32(r.Coordinator.NodeID), true
	return nil
}

// failure returns the error for an answer's code. After one which means that the broker does not coordinate the group, the next call looks
// for the coordinator again.
func (c *coordinator) failure(code int16) error {
	switch err := kafka.Error(code); err {
	case 0:
		return nil
	case kafka.NotCoordinatorForGroup, kafka.GroupCoordinatorNotAvailable:
		c.known = false
		return err
	default:
		return err
	}
}
