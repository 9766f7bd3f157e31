package config

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"time"

	"brine/hbase"
	"brine/rowkey"
	"brine/sink"
)

// Table returns a table by name, or nil if there is none.
func (c *Config) Table(name string) *Table {
	return byName(c.Tables, func(t *Table) bool { return t.Name == name })
}

// Index returns an index by name, or nil if there is none.
func (c *Config) Index(name string) *Index {
	return byName(c.Indexes, func(x *Index) bool { return x.Name == name })
}

// Pipeline returns a pipeline by name, or nil if there is none.
func (c *Config) Pipeline(name string) *Pipeline {
	return byName(c.Pipelines, func(p *Pipeline) bool { return p.Name == name })
}

// HasDocuments reports whether any pipeline writes documents.
func (c *Config) HasDocuments() bool {
	return slices.ContainsFunc(c.Pipelines, func(p *Pipeline) bool { return len(p.Documents) > 0 })
}

// View returns a view by name, or nil if there is none.
func (c *Config) View(name string) *View {
	return byName(c.Views, func(v *View) bool { return v.Name == name })
}

func byName[T any](all []*T, is func(*T) bool) *T {
	if i := slices.IndexFunc(all, is); i >= 0 {
		return all[i]
	}
	return nil
}

// keyList returns keys, or key as a list of one.
func (t *Table) keyList() []TableKey {
	if len(t.Keys) == 0 && t.Key != "" {
		return []TableKey{{Key: t.Key}}
	}
	return t.Keys
}

// keySetting returns the setting that holds the key with index i of keyList.
func (t *Table) keySetting(i int) string {
	setting := join("tables", t.Name)
	if len(t.Keys) > 0 {
		return setting + ".keys[" + strconv.Itoa(i) + "].key"
	}
	return setting + ".key"
}

// RowKeys returns the table's keys. It returns none if no pipeline writes the table, because the pipelines define the types of the fields.
func (t *Table) RowKeys() rowkey.Keys { return t.rowKeys }

// SplitPoints returns the points at which to split a new table; none for one region. They are those of the newest key and need a pipeline
// that writes the table, because it defines the types of the fields.
func (t *Table) SplitPoints() ([][]byte, error) {
	if len(t.Splits) > 0 {
		return explicitSplits(t.Splits)
	}
	if t.Regions < 2 {
		return nil, nil
	}
	if len(t.rowKeys) == 0 {
		return nil, &flaw{SplitPoints, "no pipeline writes table " + t.Name + ", so the types of its key are unknown",
			"give splits, or write regions: 1"}
	}
	return t.rowKeys.Newest().Splits(t.Regions)
}

func explicitSplits(texts []string) ([][]byte, error) {
	var points [][]byte
	for i, s := range texts {
		point, err := rowkey.ParseBinary(s)
		if err != nil {
			return nil, &flaw{SplitPoints, quote(s) + ` has a \x without two hex digits`, `write \x0a for the byte 10`}
		}
		if i > 0 && bytes.Compare(points[i-1], point) >= 0 {
			return nil, &flaw{SplitPoints, quote(s) + " does not come after " + quote(texts[i-1]), "write the points in ascending order"}
		}
		points = append(points, point)
	}
	return points, nil
}

// family returns a family of the table, or nil if there is none.
func (t *Table) family(name string) *Family {
	if i := slices.IndexFunc(t.Families, func(f Family) bool { return f.Name == name }); i >= 0 {
		return &t.Families[i]
	}
	return nil
}

// keep returns how long the table's rows are kept, which is the longest ttl of its families; 0 means forever.
func (t *Table) keep() time.Duration {
	var longest time.Duration
	for _, f := range t.Families {
		if f.TTL == 0 || f.MinVersions > 0 {
			return 0
		}
		longest = max(longest, f.TTL)
	}
	return longest
}

// HBase describes the table for HBase.
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

// Forever is how HBase writes that there is no TTL: the largest 32-bit integer, in seconds.
const Forever = "2147483647"

// purgeDeletes is HBase's own name for purge_deletes_after, in milliseconds.
const purgeDeletes = "hbase.hstore.time.to.purge.deletes"

func (f *Family) hbase() hbase.Family {
	ttl := Forever
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

// sink describes the table for the sink.
func (t *Table) sink() sink.Table {
	ttl := map[string]time.Duration{}
	for _, f := range t.Families {
		if f.TTL > 0 {
			ttl[f.Name] = f.TTL
		}
	}
	return sink.Table{Name: t.Name, Row: sink.RowKind(t.Row), Keys: t.rowKeys, TTL: ttl}
}

// field returns a field of the index, or nil if there is none.
func (x *Index) field(name string) *IndexField {
	if i := slices.IndexFunc(x.Fields, func(f IndexField) bool { return f.Name == name }); i >= 0 {
		return &x.Fields[i]
	}
	return nil
}

// Rename renames tables, also in the pipelines that write them.
func (c *Config) Rename(into map[string]string) {
	for _, p := range c.Pipelines {
		for i := range p.Rows {
			if to := into[p.Rows[i].Table]; to != "" {
				p.Rows[i].Table = to
			}
		}
	}
	for _, t := range c.Tables {
		if to := into[t.Name]; to != "" {
			t.Name = to
		}
	}
}
