package hbase

import (
	"bytes"
	"maps"
	"slices"

	"brine/hbase/hbasepb"
	"brine/hbase/internal/locate"

	"google.golang.org/protobuf/proto"
)

// Table is the description of a table.
type Table struct {
	Name     string // "namespace:name", or "name" in the default namespace
	Families []Family
	Values   map[string]string // table attributes under HBase's own names (MAX_FILESIZE, DURABILITY …)
	Config   map[string]string // settings that override hbase-site.xml for this table
}

// Family is the description of a column family with HBase's own attribute names and values (TTL in seconds, VERSIONS, MIN_VERSIONS,
// COMPRESSION, BLOOMFILTER, BLOCKSIZE, BLOCKCACHE, DATA_BLOCK_ENCODING …).
type Family struct {
	Name   string
	Values map[string]string
	Config map[string]string // settings that override hbase-site.xml for this family
}

func (t *Table) schema() *hbasepb.TableSchema {
	s := &hbasepb.TableSchema{TableName: locate.TableName(t.Name), Attributes: pairs(t.Values), Configuration: settings(t.Config)}
	for _, f := range t.Families {
		s.ColumnFamilies = append(s.ColumnFamilies, f.schema())
	}
	return s
}

func (f *Family) schema() *hbasepb.ColumnFamilySchema {
	return &hbasepb.ColumnFamilySchema{Name: []byte(f.Name), Attributes: pairs(f.Values), Configuration: settings(f.Config)}
}

func tableOf(s *hbasepb.TableSchema) Table {
	t := Table{Name: locate.TableString(s.GetTableName()), Values: values(s.Attributes), Config: configOf(s.Configuration)}
	for _, f := range s.ColumnFamilies {
		t.Families = append(t.Families, Family{Name: string(f.Name), Values: values(f.Attributes), Config: configOf(f.Configuration)})
	}
	return t
}

func pairs(values map[string]string) []*hbasepb.BytesBytesPair {
	var out []*hbasepb.BytesBytesPair
	for k, v := range values {
		out = append(out, &hbasepb.BytesBytesPair{First: []byte(k), Second: []byte(v)})
	}
	slices.SortFunc(out, func(a, b *hbasepb.BytesBytesPair) int { return bytes.Compare(a.First, b.First) })
	return out
}

func values(pairs []*hbasepb.BytesBytesPair) map[string]string {
	out := make(map[string]string, len(pairs))
	for _, p := range pairs {
		out[string(p.First)] = string(p.Second)
	}
	return out
}

func settings(config map[string]string) []*hbasepb.NameStringPair {
	var out []*hbasepb.NameStringPair
	for _, name := range slices.Sorted(maps.Keys(config)) {
		out = append(out, &hbasepb.NameStringPair{Name: &name, Value: proto.String(config[name])})
	}
	return out
}

func configOf(pairs []*hbasepb.NameStringPair) map[string]string {
	if len(pairs) == 0 {
		return nil
	}
	out := make(map[string]string, len(pairs))
	for _, p := range pairs {
		out[p.GetName()] = p.GetValue()
	}
	return out
}
