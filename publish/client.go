package publish

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/segmentio/kafka-go/sasl"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kversion"
	kgosasl "github.com/twmb/franz-go/pkg/sasl"

	"brine/ingest"
	"brine/internal/certs"
)

// Options say where to publish, and as whom.
type Options struct {
	Kafka          ingest.Kafka
	RequestTimeout time.Duration // longest wait for one answer of a broker
}

// mechanism adapts a mechanism of kafka-go to franz-go.
type mechanism struct{ of sasl.Mechanism }

func (m mechanism) Name() string { return m.of.Name() }

func (m mechanism) Authenticate(ctx context.Context, broker string) (kgosasl.Session, []byte, error) {
	ctx, cancel := context.WithTimeout(ctx, authenticateWithin)
	host, port, err := net.SplitHostPort(broker)
	n, bad := strconv.Atoi(port)
	if err = errors.Join(err, bad); err != nil {
		cancel()
		return nil, nil, err
	}
	state, first, err := m.of.Start(sasl.WithMetadata(ctx, &sasl.Metadata{Host: host, Port: n}))
	if err != nil {
		cancel()
		return nil, nil, err
	}
	return &session{state, ctx, cancel}, first, nil
}

// authenticateWithin bounds an authentication exchange with a broker, including requests to other servers.
const authenticateWithin = 20 * time.Second

// session is an authentication exchange with a broker.
type session struct {
	of     sasl.StateMachine
	ctx    context.Context //nolint:containedctx // of this exchange: franz-go passes none to its later steps
	cancel context.CancelFunc
}

func (s *session) Challenge(challenge []byte) (done bool, response []byte, err error) {
	done, response, err = s.of.Next(s.ctx, challenge)
	if done || err != nil {
		s.cancel()
	}
	return done, response, err
}

// newClient makes a client that publishes in transactions, which kafka-go cannot. See docs/adr/0016-publish-in-transactions.md.
func newClient(o *Options, transactions string) (*kgo.Client, error) {
	opts := []kgo.Opt{
		kgo.SeedBrokers(o.Kafka.Brokers...), kgo.ClientID(o.Kafka.ClientID), kgo.TransactionalID(transactions),
		kgo.TransactionTimeout(txnTimeout),
		kgo.RequiredAcks(kgo.AllISRAcks()), kgo.ProduceRequestTimeout(o.RequestTimeout),
		kgo.RetryTimeout(o.RequestTimeout), // then the publisher reports what it waits for: see Patience
		kgo.MaxVersions(kversion.V3_6_0()), // offsets are added to transactions by a separate request: later brokers accept both ways
	}
	if o.Kafka.TLS != nil {
		opts = append(opts, kgo.Dialer(certs.Dial((&net.Dialer{Timeout: 10 * time.Second}).DialContext, o.Kafka.TLS)))
	}
	if o.Kafka.SASL != nil {
		opts = append(opts, kgo.SASL(mechanism{o.Kafka.SASL}))
	}
	client, err := kgo.NewClient(opts...)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrOptions, err)
	}
	return client, nil
}
