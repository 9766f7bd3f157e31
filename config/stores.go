package config

import (
	"crypto/tls"
	"strings"
	"time"

	"brine/hbase"
	"brine/indexer/elastic"
	"brine/ingest"
	"brine/registry"
)

// HBase returns the client's options. Connect is as the user wrote it: if Embedded returns true, the caller starts that server and sets
// Connect to its address.
func (c *Config) HBase() hbase.Options {
	h := &c.Cluster
	loops, _ := c.loops()
	return hbase.Options{
		TLS: h.tls(), ZooKeeperAuth: h.ZooKeeperAuth, Kerberos: h.kerberos(),
		Connect: h.Connect, User: h.User,
		Pause: h.Pause, PauseServerOverloaded: h.PauseServerOverloaded, Retries: h.Retries,
		RPCTimeout: h.RPCTimeout, OperationTimeout: h.OperationTimeout, ScannerTimeout: h.ScannerTimeout, DialTimeout: h.DialTimeout,
		Patience:     h.patience,
		TCPKeepAlive: h.TCPKeepAlive, TCPDelay: !h.TCPNoDelay,
		MaxRequestRows: h.MaxRequestRows, MaxRequestBytes: int(h.MaxRequestBytes), MaxServerCalls: h.MaxServerCalls,
		MaxCellBytes: int(h.MaxCellBytes), MaxBufferedBytes: int(c.share()) * max(loops, 1), Compression: h.Compression,
		MaxAnswerBytes: max(int(c.Memory)/4, leastAnswer+int(h.MaxCellBytes)), // two may exist while one is being released
	}
}

// tls returns the encryption of connections, or nil for plain text.
func (h *HBase) tls() *hbase.TLS {
	t := &h.TLS
	if !t.Enabled {
		return nil
	}
	return &hbase.TLS{CA: t.CA, Cert: t.Cert, Key: t.Key, ServerName: t.ServerName, MinVersion: tlsVersions[t.MinVersion],
		ZooKeeper: t.ZooKeeper}
}

// kerberos returns the Kerberos options, or nil for SIMPLE authentication.
func (h *HBase) kerberos() *hbase.Kerberos {
	k := &h.Kerberos
	if k.Keytab+k.TicketCache == "" {
		return nil
	}
	return &hbase.Kerberos{Principal: k.Principal, Keytab: k.Keytab, TicketCache: k.TicketCache, Krb5Conf: k.Krb5Conf,
		ServerPrincipal: k.ServerPrincipal, QOP: k.QOP}
}

var tlsVersions = map[string]uint16{"TLSv1.2": tls.VersionTLS12, "TLSv1.3": tls.VersionTLS13}

// leastAnswer is how large a store's response may be however little memory there is: for HBase in addition to a cell, for a search engine
// twice.
const leastAnswer = 8 << 20

// Mutator returns the options of the handle that writes the pipeline's rows. Absent retries and pause are those of the client.
func (p *Pipeline) Mutator() hbase.MutatorOptions {
	w := &p.Write
	durability, _ := hbase.ParseDurability(w.Durability) // already checked
	return hbase.MutatorOptions{
		Autoflush:   w.Autoflush,
		WriteBuffer: min(int(w.WriteBuffer), p.config.HBase().MaxBufferedBytes), // the client may round a quarter of memory down
		Linger:      w.Linger, Retries: w.Retries, Pause: w.Pause, Durability: durability,
	}
}

// LoopMemory returns half of memory, for the records of all loops that run in a process. The other half is for what they become.
func (c *Config) LoopMemory() *ingest.Memory { return ingest.NewMemory(int64(c.Memory) / 2) }

// share returns the equal share of a loop: in the half of memory that is for records, and again in the half for what they become. A loop
// alone with NewBudget has just that of records; those of one LoopMemory use what the others leave. The bounds of what records become do
// not move.
func (c *Config) share() int64 {
	rows, documents := c.loops()
	return int64(c.Memory) / 2 / int64(max(rows+documents, 1))
}

// loops returns the number of loops that write rows and of those that write documents.
func (c *Config) loops() (rows, documents int) {
	for _, p := range c.Pipelines {
		rows += min(len(p.Rows), 1)
		documents += min(len(p.Documents), 1)
	}
	return rows, documents
}

// Embedded returns the folder of an HBase inside this process, if connect asks for one.
func (h *HBase) Embedded() (dir string, ok bool) { return strings.CutPrefix(h.Connect, "embedded:") }

// Embedded returns the folder of a search engine inside this process, if connect asks for one.
func (s *Search) Embedded() (dir string, ok bool) { return strings.CutPrefix(s.Connect, "embedded:") }

// Elastic returns the options of a client for the search engine. There is no such engine if Embedded returns true.
func (s *Search) Elastic() elastic.Options {
	replicas := s.Replicas
	if replicas == 0 {
		replicas = elastic.NoReplicas // in the options, 0 means the default
	}
	out := elastic.Options{Username: s.User, Password: s.Password, APIKey: s.APIKey, Secrets: s.secrets, TLS: s.tls,
		Analyzer: s.Analyzer, Shards: s.Shards, Replicas: replicas, Refresh: s.Refresh, Patience: s.patience, MaxAnswerBytes: s.answer}
	for node := range strings.SplitSeq(s.Connect, ",") {
		out.Addresses = append(out.Addresses, strings.TrimSpace(node))
	}
	return out
}

// Patience returns the value set by Within, or 0 if it was not called.
func (c *Config) Patience() time.Duration { return c.Cluster.patience }

// Registry returns the options of a client for the schema registry. ok is false if the configuration names none.
func (c *Config) Registry() (o registry.Options, ok bool) {
	r := &c.Schemas
	if r.URL == "" {
		return registry.Options{}, false
	}
	o = registry.Options{Framing: registry.Framing(r.Framing), Username: r.User, Password: r.Password, Token: r.Token, Secrets: r.secrets,
		TLS:   r.tls,
		Cache: r.Cache, Timeout: r.Timeout, UnknownAfter: r.UnknownAfter, MaxBytes: min(max(int64(c.Memory)/4, leastAnswer), mostSchemas)}
	for u := range strings.SplitSeq(r.URL, ",") {
		o.URLs = append(o.URLs, strings.TrimRight(strings.TrimSpace(u), "/"))
	}
	return o, true
}

// mostSchemas is the maximum number of bytes of schemas in memory, however large memory is.
const mostSchemas = 64 << 20

// Within bounds how long the configuration's clients wait for one answer, including retries. Shorter settings stay. It is for commands
// whose user waits; a loop waits as long as it takes.
func (c *Config) Within(patience time.Duration) {
	c.Cluster.patience, c.Search.patience = patience, patience
	for _, d := range []*time.Duration{&c.Cluster.RPCTimeout, &c.Cluster.ScannerTimeout, &c.Cluster.DialTimeout, &c.Kafka.RequestTimeout,
		&c.Search.CallTimeout, &c.Schemas.Timeout} {
		*d = min(*d, patience)
	}
}
