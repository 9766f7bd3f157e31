package config

import (
	"strings"

	"brine/query"
	"brine/rowkey"
)

// Query describes the table as it is read back: its key, and each column with the field that a pipeline fills it from. It
// is false while no pipeline writes the table.
func (c *Config) Query(t *Table) (query.Table, bool) {
	out := query.Table{Name: t.Name, Key: t.rowKey}
	if t.rowKey == nil {
		return out, false
	}
	seen := map[string]bool{}
	for _, p := range writers(c, t.Name) {
		for _, column := range p.rowsOf(t.Name).Set {
			if !seen[column.Name] {
				seen[column.Name] = true
				family, qualifier, _ := strings.Cut(column.Name, ":")
				out.Columns = append(out.Columns, query.Column{Family: family, Qualifier: qualifier, Field: column.Field, Type: p.field(column.Field).eventType()})
			}
		}
	}
	return out, true
}

// KeyTypes gives the types of the fields of the table's key.
func (c *Config) KeyTypes(t *Table) map[string]rowkey.Type {
	types := map[string]rowkey.Type{}
	if t.rowKey == nil {
		return types
	}
	for _, p := range writers(c, t.Name) { // whose types agree
		for _, name := range t.rowKey.Fields() {
			types[name] = keyType(p, name)
		}
	}
	return types
}
