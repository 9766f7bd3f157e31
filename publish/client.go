package publish

import (
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kversion"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"

	"brine/ingest"
)

// Options say where to publish, and as whom.
type Options struct {
	Kafka          ingest.Kafka // its SASL is not used: Credentials are
	Credentials    Credentials
	RequestTimeout time.Duration // longest wait for one answer of a broker
}

// Credentials prove to the brokers who we are.
type Credentials struct {
	Mechanism, User, Password string // Mechanism: none, plain, scram-sha-256 or scram-sha-512; empty means none
}

func (c Credentials) mechanism() sasl.Mechanism {
	switch c.Mechanism {
	case "plain":
		return plain.Auth{User: c.User, Pass: c.Password}.AsMechanism()
	case "scram-sha-256":
		return scram.Auth{User: c.User, Pass: c.Password}.AsSha256Mechanism()
	case "scram-sha-512":
		return scram.Auth{User: c.User, Pass: c.Password}.AsSha512Mechanism()
	}
	return nil
}

// newClient makes a client that publishes in transactions, which kafka-go cannot. See docs/adr/0016-publish-in-transactions.md.
func newClient(o *Options, transactions string) (*kgo.Client, error) {
	opts := []kgo.Opt{
		kgo.SeedBrokers(o.Kafka.Brokers...), kgo.ClientID(o.Kafka.ClientID), kgo.TransactionalID(transactions),
		kgo.TransactionTimeout(txnTimeout),
		kgo.RequiredAcks(kgo.AllISRAcks()), kgo.ProduceRequestTimeout(o.RequestTimeout),
		kgo.RetryTimeout(o.RequestTimeout), // whoever publishes then says what is waited for: see Patience
		kgo.MaxVersions(kversion.V3_6_0()), // offsets are added to transactions by a request of its own: later brokers take both ways
	}
	if o.Kafka.TLS != nil {
		opts = append(opts, kgo.DialTLSConfig(o.Kafka.TLS))
	}
	if m := o.Credentials.mechanism(); m != nil {
		opts = append(opts, kgo.SASL(m))
	}
	client, err := kgo.NewClient(opts...)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrOptions, err)
	}
	return client, nil
}
