package config

import (
	"cmp"
	"strings"

	"brine/indexer"
	"brine/indexer/elastic"
	"brine/ingest"
)

// Options say how to reach the brokers.
func (k *Kafka) Options() ingest.Kafka {
	return ingest.Kafka{Brokers: k.Brokers, ClientID: k.ClientID, TLS: k.tls, SASL: k.sasl}
}

// RowsGroup is the consumer group of the loop that writes the pipeline's rows.
func (p *Pipeline) RowsGroup() string { return p.config.Kafka.Group + "." + p.Name + ".rows" }

// DocumentsGroup is the consumer group of the loop that writes the pipeline's documents.
func (p *Pipeline) DocumentsGroup() string { return p.config.Kafka.Group + "." + p.Name + ".documents" }

// Ingest returns the options of one of the pipeline's loops: RowsGroup, DocumentsGroup or a replay's own group says which. Each
// call makes a budget of the loop's share of memory. Writer, Hooks and Logger are the caller's to add.
func (c *Config) Ingest(p *Pipeline, group string) ingest.Options {
	k := &c.Kafka
	return ingest.Options{
		Kafka: k.Options(), Topic: p.Topic, Group: group, Schema: p.Schema(), Budget: ingest.NewBudget(c.share()),
		Start: k.start(), OutOfRange: outOfRange[k.OutOfRange],
		InstanceID: k.InstanceID, SessionTimeout: k.SessionTimeout, RebalanceTimeout: k.RebalanceTimeout, CommitInterval: k.CommitInterval,
		RequestTimeout: k.RequestTimeout, StopTimeout: k.StopTimeout, MaxFetchBytes: int64(k.MaxFetchBytes),
		MaxBatchRecords: p.Read.MaxBatchRecords, MaxBatchBytes: int64(p.Read.MaxBatchBytes), Window: p.Read.Window,
		RecordsPerSecond: float64(p.Read.Rate), RetryMax: p.Read.MaxPause, HaltPause: p.Read.HaltPause, HaltAfterRejects: p.HaltAfterRejects, DeadLetterTopic: p.DeadLetterTopic(),
	}
}

var outOfRange = map[string]ingest.Policy{"stop": ingest.StopAndSay, "earliest": ingest.FromEarliest, "latest": ingest.FromLatest}

// start is checked to be one of these or a time.
func (k *Kafka) start() ingest.Position {
	switch k.Start {
	case "earliest":
		return ingest.Earliest
	case "latest":
		return ingest.Latest
	}
	t, _ := startTime(k.Start)
	return ingest.At(t)
}

// Indexer returns the options of the pipeline's documents half; its hooks are the caller's to add.
func (p *Pipeline) Indexer() indexer.Options {
	s := &p.config.Search
	out := indexer.Options{
		Schema: p.Schema(), Calls: s.Calls, MaxBulkDocuments: s.MaxBulkDocuments, MaxBulkBytes: int(s.MaxBulkBytes),
		MaxDocumentBytes: int(s.MaxDocumentBytes), MaxBufferedBytes: p.config.share(),
		MaxRecentBytes: int(min(24<<20, p.config.share()*3/4)), CallTimeout: s.CallTimeout, RetryFor: s.RetryFor, Pause: s.Pause, MaxPause: s.MaxPause, ProbeEvery: s.Probe,
	}
	for _, d := range p.Documents {
		x := p.config.Index(d.Index)
		doc := indexer.Document{Index: d.Index, Key: p.config.Table(cmp.Or(d.Table, p.Rows[0].Table)).rowKeys.First(),
			Changes: indexer.Changes(p.Changes), Deleted: d.deleted(p), Purge: x.PurgeDeletesAfter}
		if x.Every != "" {
			doc.Every, doc.Keep = indexer.Every(x.Every), p.config.Table(cmp.Or(d.Table, p.Rows[0].Table)).keep()
		}
		if _, embedded := s.Embedded(); !embedded {
			doc.Routing = x.Routing
		}
		for _, f := range d.Set {
			if f.Name == x.Time {
				doc.Time = f.Field
			}
			doc.Set = append(doc.Set, indexer.Column{Name: f.Name, Field: f.Field, Type: indexer.Type(x.field(f.Name).Type)})
		}
		out.Documents = append(out.Documents, doc)
	}
	return out
}

// Elastic returns the options of a client for the search engine. Where Embedded says so, there is no such engine.
func (s *Search) Elastic() elastic.Options {
	out := elastic.Options{Username: s.User, Password: s.Password, APIKey: s.APIKey, CACert: s.ca,
		Analyzer: s.Analyzer, Shards: s.Shards, Replicas: s.Replicas, Refresh: s.Refresh, Patience: s.patience, MaxAnswerBytes: s.answer}
	for node := range strings.SplitSeq(s.Connect, ",") {
		out.Addresses = append(out.Addresses, strings.TrimSpace(node))
	}
	return out
}
