package config

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"brine/event"
	"brine/hbase"
	"brine/rowkey"
	"brine/sink"
)

// HBase returns the client's options. Connect is as the user wrote it: where Embedded says so, the caller starts that server
// and puts its address there.
func (c *Config) HBase() hbase.Options {
	h := &c.Cluster
	loops, _ := c.loops()
	return hbase.Options{
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

// Table finds a table by name; nil if there is none.
func (c *Config) Table(name string) *Table {
	return byName(c.Tables, func(t *Table) bool { return t.Name == name })
}

// Index finds an index by name; nil if there is none.
func (c *Config) Index(name string) *Index {
	return byName(c.Indexes, func(x *Index) bool { return x.Name == name })
}

// Pipeline finds a pipeline by name; nil if there is none.
func (c *Config) Pipeline(name string) *Pipeline {
	return byName(c.Pipelines, func(p *Pipeline) bool { return p.Name == name })
}

func byName[T any](all []*T, is func(*T) bool) *T {
	if i := slices.IndexFunc(all, is); i >= 0 {
		return all[i]
	}
	return nil
}

// RowKeys are the table's keys; none when no pipeline writes the table, since their fields' types come from there.
func (t *Table) RowKeys() rowkey.Keys { return t.rowKeys }

// HBase describes the table as HBase knows it.
func (t *Table) HBase() hbase.Table {
	out := hbase.Table{Name: t.Name, Values: map[string]string{}}
	for i := range t.Families {
		out.Families = append(out.Families, t.Families[i].hbase())
	}
	if t.MaxFileSize > 0 {
		out.Values["MAX_FILESIZE"] = strconv.FormatInt(int64(t.MaxFileSize), 10)
	}
	if t.MemstoreFlushSize > 0 {
		out.Values["MEMSTORE_FLUSHSIZE"] = strconv.FormatInt(int64(t.MemstoreFlushSize), 10)
	}
	if t.Durability != "" {
		out.Values["DURABILITY"] = strings.ToUpper(t.Durability)
	}
	return out
}

// forever is how HBase writes that there is no TTL: the largest 32-bit integer of seconds.
const forever = "2147483647"

// purgeDeletes is HBase's own name of purge_deletes_after, in milliseconds.
const purgeDeletes = "hbase.hstore.time.to.purge.deletes"

func (f *Family) hbase() hbase.Family {
	ttl := forever
	if f.TTL > 0 {
		ttl = strconv.FormatInt(int64(f.TTL/time.Second), 10)
	}
	values := map[string]string{
		"TTL": ttl, "VERSIONS": strconv.Itoa(f.Versions), "MIN_VERSIONS": strconv.Itoa(f.MinVersions),
		"COMPRESSION": strings.ToUpper(f.Compression), "BLOOMFILTER": strings.ToUpper(f.Bloom),
		"BLOCKSIZE": strconv.FormatInt(int64(f.BlockSize), 10), "BLOCKCACHE": strconv.FormatBool(f.BlockCache),
		"DATA_BLOCK_ENCODING": strings.ToUpper(f.Encoding), "IN_MEMORY": strconv.FormatBool(f.InMemory),
	}
	if f.PurgeDeletesAfter > 0 {
		values[purgeDeletes] = strconv.FormatInt(f.PurgeDeletesAfter.Milliseconds(), 10)
	}
	if f.StoragePolicy != "" {
		values["STORAGE_POLICY"] = strings.ToUpper(f.StoragePolicy)
	}
	if scope, ok := replicationScopes[f.Replication]; ok {
		values["REPLICATION_SCOPE"] = scope
	}
	if f.MOB > 0 {
		values["IS_MOB"], values["MOB_THRESHOLD"] = "true", strconv.FormatInt(int64(f.MOB), 10)
	}
	return hbase.Family{Name: f.Name, Values: values}
}

var replicationScopes = map[string]string{"local": "0", "global": "1"}

// sink describes the table as the sink needs it.
func (t *Table) sink() sink.Table {
	ttl := map[string]time.Duration{}
	for _, f := range t.Families {
		if f.TTL > 0 {
			ttl[f.Name] = f.TTL
		}
	}
	return sink.Table{Name: t.Name, Row: sink.RowKind(t.Row), Keys: t.rowKeys, TTL: ttl}
}

// Schema is the pipeline's fields as the decoder needs them.
func (p *Pipeline) Schema() event.Schema {
	at, n := p.versionFields()
	s := event.Schema{Version: slices.IndexFunc(p.Fields, func(f Field) bool { return f.Name == at }), Sequence: n, Lateness: p.AllowedLateness,
		Images: event.Images{Before: p.Images.Before, After: p.Images.After, Deleted: p.Images.Deleted}}
	for i := range p.Fields {
		f := &p.Fields[i]
		s.Fields = append(s.Fields, event.Field{Name: f.Name, Type: f.eventType(), Path: f.Path, Format: f.Format, Zone: f.Zone, Numbers: f.From == "number"})
	}
	return s
}

// Sink returns the options of the pipeline's HBase half; its hooks are the caller's to add.
func (p *Pipeline) Sink() sink.Options {
	out := sink.Options{Schema: p.Schema(), MaxCellBytes: int(p.config.Cluster.MaxCellBytes)}
	for i := range p.Rows {
		out.Rows = append(out.Rows, p.Rows[i].sink())
	}
	return out
}

// DeadLetterTopic is where the pipeline's dead letters go.
func (p *Pipeline) DeadLetterTopic() string { return cmp.Or(p.DeadLetters, p.Topic+".dead") }

// field finds a field of the index; nil if there is none.
func (x *Index) field(name string) *IndexField {
	if i := slices.IndexFunc(x.Fields, func(f IndexField) bool { return f.Name == name }); i >= 0 {
		return &x.Fields[i]
	}
	return nil
}

func (p *Pipeline) field(name string) *Field {
	if i := slices.IndexFunc(p.Fields, func(f Field) bool { return f.Name == name }); i >= 0 {
		return &p.Fields[i]
	}
	return nil
}

// eventType is 0 while the type is missing or unknown, which is reported by itself.
func (f *Field) eventType() event.Type {
	t, err := event.ParseType(f.Type)
	if err != nil {
		return 0
	}
	return t
}

// unit is the span that a time is exact to, as second; empty if it may be exact to a millisecond, or is no time.
func (f *Field) unit() string {
	switch f.eventType() {
	case event.TimeS:
		return "second"
	case event.Time:
		if format, err := event.ParseTimeFormat(f.Format, f.Zone); err == nil {
			return format.Unit()
		}
	}
	return ""
}

// path is where the record holds the field.
func (f *Field) path() []string {
	if len(f.Path) == 0 {
		return []string{f.Name}
	}
	return f.Path
}
