package config

import (
	"cmp"
	"os"
	"strings"

	"github.com/segmentio/kafka-go/sasl"
	"github.com/segmentio/kafka-go/sasl/plain"
	"github.com/segmentio/kafka-go/sasl/scram"

	"brine/indexer"
	"brine/indexer/elastic"
	"brine/ingest"
)

// Options say how to reach the brokers. The error is SASL's, of a user or password that holds what no server takes.
func (k *Kafka) Options() (ingest.Kafka, error) {
	mechanism, err := k.SASL.mechanism()
	return ingest.Kafka{Brokers: k.Brokers, ClientID: k.ClientID, TLS: k.tls, SASL: mechanism}, err
}

func (s *SASL) mechanism() (sasl.Mechanism, error) {
	switch s.Mechanism {
	case "plain":
		return plain.Mechanism{Username: s.User, Password: s.Password}, nil
	case "scram-sha-256":
		return scram.Mechanism(scram.SHA256, s.User, s.Password)
	case "scram-sha-512":
		return scram.Mechanism(scram.SHA512, s.User, s.Password)
	}
	return nil, nil
}

// IngestRows gives the options of the loop that writes the pipeline's rows, IngestDocuments of the one that writes its
// documents. Writer, Budget (RecordBytes says how large), Hooks and Logger are the caller's to add.
func (p *Pipeline) IngestRows() (ingest.Options, error) { return p.ingest("rows") }

// IngestDocuments is IngestRows for the documents.
func (p *Pipeline) IngestDocuments() (ingest.Options, error) { return p.ingest("documents") }

func (p *Pipeline) ingest(half string) (ingest.Options, error) {
	k := &p.config.Kafka
	brokers, err := k.Options()
	return ingest.Options{
		Kafka: brokers, Topic: p.Topic, Group: k.Group + "." + p.Name + "." + half, Schema: p.Schema(),
		Start: k.start(), OutOfRange: outOfRange[k.OutOfRange],
		SessionTimeout: k.SessionTimeout, RebalanceTimeout: k.RebalanceTimeout, CommitInterval: k.CommitInterval,
		RequestTimeout: k.RequestTimeout, StopTimeout: k.StopTimeout, MaxFetchBytes: int64(k.MaxFetchBytes),
		MaxBatchRecords: p.Read.MaxBatchRecords, MaxBatchBytes: int64(p.Read.MaxBatchBytes), Window: p.Read.Window,
		RecordsPerSecond: float64(p.Read.Rate), DeadLetterTopic: p.DeadLetterTopic(),
	}, err
}

var outOfRange = map[string]ingest.Policy{"stop": ingest.StopAndSay, "earliest": ingest.FromEarliest, "latest": ingest.FromLatest}

// start is checked to be one of these or a time.
func (k *Kafka) start() ingest.Start {
	switch k.Start {
	case "earliest":
		return ingest.Earliest
	case "latest":
		return ingest.Latest
	}
	t, _ := startTime(k.Start)
	return ingest.At(t)
}

// Indexer gives the options of the pipeline's documents half; its hooks are the caller's to add.
func (p *Pipeline) Indexer() indexer.Options {
	s := &p.config.Search
	out := indexer.Options{
		Schema: p.Schema(), Calls: s.Calls, MaxBulkDocuments: s.MaxBulkDocuments, MaxBulkBytes: int(s.MaxBulkBytes),
		MaxDocumentBytes: int(s.MaxDocumentBytes), MaxBufferedBytes: p.config.RecordBytes() / int64(p.config.indexers()),
		CallTimeout: s.CallTimeout, RetryFor: s.RetryFor, Pause: s.Pause, MaxPause: s.MaxPause,
	}
	for _, d := range p.Documents {
		x := p.config.Index(d.Index)
		doc := indexer.Document{Index: d.Index, Key: p.config.Table(cmp.Or(d.Table, p.Rows[0].Table)).rowKey,
			Changes: indexer.Changes(p.Changes), Deleted: d.Deleted}
		for _, f := range d.Set {
			doc.Set = append(doc.Set, indexer.Column{Name: f.Name, Field: f.Field, Type: indexer.Type(x.field(f.Name).Type)})
		}
		out.Documents = append(out.Documents, doc)
	}
	return out
}

// indexers is how many pipelines write documents: each has a part of the memory for them.
func (c *Config) indexers() int {
	n := 0
	for _, p := range c.Pipelines {
		if len(p.Documents) > 0 {
			n++
		}
	}
	return max(n, 1)
}

// Elastic gives the options of a client for the search engine; the error is of the file of certificates. Where Embedded says
// so, there is no such engine.
func (s *Search) Elastic() (elastic.Options, error) {
	out := elastic.Options{Username: s.User, Password: s.Password, APIKey: s.APIKey,
		Analyzer: s.Analyzer, Shards: s.Shards, Replicas: s.Replicas, Refresh: s.Refresh}
	for node := range strings.SplitSeq(s.Connect, ",") {
		out.Addresses = append(out.Addresses, strings.TrimSpace(node))
	}
	if s.CA == "" {
		return out, nil
	}
	pem, err := os.ReadFile(s.CA)
	out.CACert = pem
	return out, err
}
