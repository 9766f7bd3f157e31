package config

import (
	"crypto/tls"
	"strings"
	"time"

	"brine/hbase"
	"brine/indexer/elastic"
	"brine/registry"
)

// HBase returns the client's options. Connect is as the user wrote it: where Embedded says so, the caller starts that server
// and puts its address there.
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
		MaxAnswerBytes: max(int(c.Memory)/4, leastAnswer+int(h.MaxCellBytes)), // two may be there, while one is let go
	}
}

// tls returns how connections are encrypted; nil for plain text.
func (h *HBase) tls() *hbase.TLS {
	t := &h.TLS
	if !t.Enabled {
		return nil
	}
	return &hbase.TLS{CA: t.CA, Cert: t.Cert, Key: t.Key, ServerName: t.ServerName, MinVersion: tlsVersions[t.MinVersion],
		ZooKeeper: t.ZooKeeper}
}

// kerberos returns who we are by Kerberos; nil for SIMPLE authentication.
func (h *HBase) kerberos() *hbase.Kerberos {
	k := &h.Kerberos
	if k.Keytab+k.TicketCache == "" {
		return nil
	}
	return &hbase.Kerberos{Principal: k.Principal, Keytab: k.Keytab, TicketCache: k.TicketCache, Krb5Conf: k.Krb5Conf,
		ServerPrincipal: k.ServerPrincipal, QOP: k.QOP}
}

var tlsVersions = map[string]uint16{"TLSv1.2": tls.VersionTLS12, "TLSv1.3": tls.VersionTLS13}

// leastAnswer is how long an answer of a store may be however little memory there is: of HBase beside a cell, of a search engine twice.
const leastAnswer = 8 << 20

// Mutator returns the options of the handle that the pipeline's rows are written with. Absent retries and pause are the client's.
func (p *Pipeline) Mutator() hbase.MutatorOptions {
	w := &p.Write
	durability, _ := hbase.ParseDurability(w.Durability) // one of the known ones: checked
	return hbase.MutatorOptions{
		Autoflush:   w.Autoflush,
		WriteBuffer: min(int(w.WriteBuffer), p.config.HBase().MaxBufferedBytes), // a quarter of memory may be rounded down there
		Linger:      w.Linger, Retries: w.Retries, Pause: w.Pause, Durability: durability,
	}
}

// share is what one loop may hold: half of memory is for records and half for what they become, and all loops have the
// same of both, so that none that waits takes another's room.
func (c *Config) share() int64 {
	rows, documents := c.loops()
	return int64(c.Memory) / 2 / int64(max(rows+documents, 1))
}

// loops counts the loops that write rows and those that write documents.
func (c *Config) loops() (rows, documents int) {
	for _, p := range c.Pipelines {
		rows += min(len(p.Rows), 1)
		documents += min(len(p.Documents), 1)
	}
	return rows, documents
}

// Embedded returns the folder of an HBase inside this process, if that is what connect asks for.
func (h *HBase) Embedded() (dir string, ok bool) { return strings.CutPrefix(h.Connect, "embedded:") }

// Embedded returns the folder of a search engine inside this process, if that is what connect asks for.
func (s *Search) Embedded() (dir string, ok bool) { return strings.CutPrefix(s.Connect, "embedded:") }

// Elastic returns the options of a client for the search engine. Where Embedded says so, there is no such engine.
func (s *Search) Elastic() elastic.Options {
	replicas := s.Replicas
	if replicas == 0 {
		replicas = elastic.NoReplicas // of the options, 0 stands for their default
	}
	out := elastic.Options{Username: s.User, Password: s.Password, APIKey: s.APIKey, Secrets: s.secrets, CACert: s.ca,
		Analyzer: s.Analyzer, Shards: s.Shards, Replicas: replicas, Refresh: s.Refresh, Patience: s.patience, MaxAnswerBytes: s.answer}
	for node := range strings.SplitSeq(s.Connect, ",") {
		out.Addresses = append(out.Addresses, strings.TrimSpace(node))
	}
	return out
}

// Patience is what Within has set; 0: nothing has.
func (c *Config) Patience() time.Duration { return c.Cluster.patience }

// Registry returns the options of a client of the schema registry; ok is false when the configuration names none.
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

// mostSchemas is how many bytes of schemas are in memory however much of it there is.
const mostSchemas = 64 << 20

// Within bounds how long the clients of the configuration wait for one answer, with all of their tries; the settings that say less stay. It
// is for commands with somebody before them: a loop waits for as long as it takes.
func (c *Config) Within(patience time.Duration) {
	c.Cluster.patience, c.Search.patience = patience, patience
	for _, d := range []*time.Duration{&c.Cluster.RPCTimeout, &c.Cluster.ScannerTimeout, &c.Cluster.DialTimeout, &c.Kafka.RequestTimeout,
		&c.Search.CallTimeout, &c.Schemas.Timeout} {
		*d = min(*d, patience)
	}
}
