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
	for _, p := range c.Pipelines {
		for _, r := range p.Rows {
			if r.Table != t.Name {
				continue
			}
			for _, column := range r.Set {
				if f := p.field(column.Field); f != nil && !seen[column.Name] {
					seen[column.Name] = true
					family, qualifier, _ := strings.Cut(column.Name, ":")
					out.Columns = append(out.Columns, query.Column{Family: family, Qualifier: qualifier, Field: column.Field, Type: f.eventType()})
				}
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
	for _, p := range c.Pipelines {
		for _, r := range p.Rows {
			if r.Table != t.Name {
				continue
			}
			for _, name := range t.rowKey.Fields() {
				if f := p.field(name); f != nil {
					types[name] = keyTypes[f.eventType()]
				}
			}
		}
	}
	return types
}
