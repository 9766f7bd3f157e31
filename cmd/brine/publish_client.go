package main

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kversion"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"

	"brine/config"
)

// txnClient makes a client that publishes in transactions, which kafka-go cannot. See docs/adr/0016-publish-in-transactions.md.
func txnClient(k *config.Kafka, name string) (*kgo.Client, error) {
	o := k.Options()
	opts := []kgo.Opt{
		kgo.SeedBrokers(o.Brokers...), kgo.ClientID(o.ClientID), kgo.TransactionalID(name), kgo.TransactionTimeout(txnTimeout),
		kgo.RequiredAcks(kgo.AllISRAcks()), kgo.ProduceRequestTimeout(k.RequestTimeout),
		kgo.RetryTimeout(k.RequestTimeout), // who publishes is then told what is waited for: see patience
		kgo.MaxVersions(kversion.V3_6_0()), // offsets are added to transactions by a request of its own: later brokers take both ways
	}
	if o.TLS != nil {
		opts = append(opts, kgo.DialTLSConfig(o.TLS))
	}
	switch s := &k.SASL; s.Mechanism {
	case "plain":
		opts = append(opts, kgo.SASL(plain.Auth{User: s.User, Pass: s.Password}.AsMechanism()))
	case "scram-sha-256":
		opts = append(opts, kgo.SASL(scram.Auth{User: s.User, Pass: s.Password}.AsSha256Mechanism()))
	case "scram-sha-512":
		opts = append(opts, kgo.SASL(scram.Auth{User: s.User, Pass: s.Password}.AsSha512Mechanism()))
	}
	client, err := kgo.NewClient(opts...)
	if err != nil {
		return nil, usage(fmt.Errorf("kafka: %w", err))
	}
	return client, nil
}
