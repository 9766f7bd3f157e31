package embedded

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"brine/hbase/embedded/internal/store"
	"brine/hbase/hbasepb"

	"google.golang.org/protobuf/proto"
)

// familyDefaults are the attributes that HBase's Java client gives a family, in its order. A family created by a client that omits some
// gets them too, so that every client reads the same description.
var familyDefaults = []struct{ key, value string }{
	{"VERSIONS", "1"}, {"MIN_VERSIONS", "0"}, {"TTL", "2147483647"}, {"KEEP_DELETED_CELLS", "FALSE"}, {"BLOCKSIZE", "65536"},
	{"COMPRESSION", "NONE"}, {"BLOOMFILTER", "ROW"}, {"DATA_BLOCK_ENCODING", "NONE"}, {"INDEX_BLOCK_ENCODING", "NONE"},
	{"IN_MEMORY", "false"}, {"BLOCKCACHE", "true"}, {"REPLICATION_SCOPE", "0"},
}

const ttlForever = 1<<31 - 1 // seconds

// attribute returns an attribute or configuration value of a family or table.
func attribute(attributes []*hbasepb.BytesBytesPair, configuration []*hbasepb.NameStringPair, key string) (string, bool) {
	for _, a := range attributes {
		if string(a.First) == key {
			return string(a.Second), true
		}
	}
	for _, c := range configuration {
		if c.GetName() == key {
			return c.GetValue(), true
		}
	}
	return "", false
}

// withDefaults returns a schema with completed and sorted families; it does not change s.
func withDefaults(s *hbasepb.TableSchema) *hbasepb.TableSchema {
	s = proto.Clone(s).(*hbasepb.TableSchema)
	slices.SortFunc(s.ColumnFamilies, func(a, b *hbasepb.ColumnFamilySchema) int { return bytes.Compare(a.Name, b.Name) })
	for _, f := range s.ColumnFamilies {
		for _, d := range familyDefaults {
			if _, ok := attribute(f.Attributes, f.Configuration, d.key); !ok {
				f.Attributes = append(f.Attributes, &hbasepb.BytesBytesPair{First: []byte(d.key), Second: []byte(d.value)})
			}
		}
	}
	return s
}

// checkSchema returns the families of a schema for the store, or an exception if the schema is invalid.
func checkSchema(s *hbasepb.TableSchema) (store.Schema, error) {
	if len(s.GetColumnFamilies()) == 0 {
		return nil, final(classDoNotRetry, "Table should have at least one column family.")
	}
	if _, err := replicationOf(s); err != nil {
		return nil, err
	}
	var families store.Schema
	for _, c := range s.ColumnFamilies {
		f, err := familyOf(c)
		if err != nil {
			return nil, err
		}
		if families.Find(f.Name) != nil {
			return nil, final(classIllegalArgument, "Family '%s' already exists so cannot be added", f.Name)
		}
		families = append(families, f)
	}
	return families, nil
}

func familyOf(c *hbasepb.ColumnFamilySchema) (*store.Family, error) {
	if !legalFamily(c.Name) {
		return nil, final(classIllegalArgument, "Illegal column family name %q", c.Name)
	}
	f := &store.Family{Name: c.Name}
	var err error
	number := func(key string, least, fallback int64) int64 {
		text, ok := attribute(c.Attributes, c.Configuration, key)
		if !ok || err != nil {
			return fallback
		}
		n, e := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
		if e != nil || n < least {
			err = final(classDoNotRetry, "%s of column family %s must be a number of at least %d, not %q", key, c.Name, least, text)
		}
		return n
	}
	f.MaxVersions = int(number("VERSIONS", 1, 1))
	f.MinVersions = int(number("MIN_VERSIONS", 0, 0))
	if ttl := number("TTL", 1, ttlForever); ttl < ttlForever {
		f.TTL = ttl * 1000
	}
	f.PurgeDeletesAfter = number("hbase.hstore.time.to.purge.deletes", 0, 0)
	if err != nil {
		return nil, err
	}
	if f.MinVersions > f.MaxVersions {
		return nil, final(classDoNotRetry, "MIN_VERSIONS of column family %s are more than its VERSIONS", c.Name)
	}
	keep, _ := attribute(c.Attributes, c.Configuration, "KEEP_DELETED_CELLS")
	f.KeepDeleted = strings.EqualFold(keep, "TRUE")
	if strings.EqualFold(keep, "TTL") {
		return nil, unsupported("KEEP_DELETED_CELLS => TTL (column family %s)", c.Name)
	}
	if v, _ := attribute(c.Attributes, c.Configuration, "NEW_VERSION_BEHAVIOR"); strings.EqualFold(v, "true") {
		return nil, unsupported("NEW_VERSION_BEHAVIOR (column family %s)", c.Name)
	}
	return f, nil
}

// legalFamily reports whether HBase accepts the name: not empty, no leading dot, nothing unprintable, no colon, slash or backslash, and not
// the folder of recovered edits.
func legalFamily(name []byte) bool {
	if len(name) == 0 || len(name) > 127 || name[0] == '.' || string(name) == "recovered.edits" {
		return false
	}
	for _, b := range name {
		if b < 0x20 || b == 0x7F || b == ':' || b == '/' || b == '\\' || b == 0xFF {
			return false
		}
	}
	return true
}

// legalTable returns what is wrong with a table's name, or "" if nothing is.
func legalTable(t tableName) string {
	word := func(s, more string) bool {
		const usual = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
		return s != "" && strings.IndexFunc(s, func(r rune) bool { return !strings.ContainsRune(usual+more, r) }) < 0
	}
	switch {
	case !word(t.namespace, ""):
		return "Illegal namespace name " + strconv.Quote(t.namespace)
	case !word(t.qualifier, "-.") || t.qualifier[0] == '.' || t.qualifier[0] == '-':
		return "Illegal table qualifier " + strconv.Quote(t.qualifier)
	}
	return ""
}

// nameOf returns the table name of a message.
func nameOf(t *hbasepb.TableName) tableName {
	return tableName{namespace: string(t.GetNamespace()), qualifier: string(t.GetQualifier())}
}

// tableName is the name of a table.
type tableName struct{ namespace, qualifier string }

const defaultNamespace = "default"

func (t tableName) String() string {
	if t.namespace == defaultNamespace || t.namespace == "" {
		return t.qualifier
	}
	return fmt.Sprintf("%s:%s", t.namespace, t.qualifier)
}

// parseTableName parses namespace:name, or name in the default namespace.
func parseTableName(s string) tableName {
	if namespace, name, ok := strings.Cut(s, ":"); ok {
		return tableName{namespace, name}
	}
	return tableName{defaultNamespace, s}
}

func (t tableName) message() *hbasepb.TableName {
	return &hbasepb.TableName{Namespace: []byte(t.namespace), Qualifier: []byte(t.qualifier)}
}
