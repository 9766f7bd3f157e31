package config

import (
	"fmt"
	"slices"
	"strings"

	"brine/lookup"
)

// Lookup describes how the pipeline's events are completed before they are written; false if they are not.
func (p *Pipeline) Lookup() (lookup.Options, bool) {
	t := p.KeyFrom.table
	if t == nil {
		return lookup.Options{}, false
	}
	return lookup.Options{Schema: p.Schema(), Table: t.Name, Keys: t.rowKeys, Fields: p.lookedUp(), Wait: p.KeyFrom.Wait}, true
}

// lookedUp are the fields of the keys of the pipeline's rows that the table of key_from has a column of. Its own key's are known.
func (p *Pipeline) lookedUp() (out []lookup.Field) {
	t := p.KeyFrom.table
	for i := range p.Rows {
		r := &p.Rows[i]
		rows := p.config.Table(r.Table)
		if rows == nil {
			continue
		}
		for _, name := range rows.rowKeys.Fields() {
			field := r.eventField(name)
			column, _ := p.config.columnOf(t, field)
			known := slices.Contains(t.rowKeys.Fields(), field) || slices.ContainsFunc(out, func(f lookup.Field) bool { return f.Name == field })
			if column == nil || known {
				continue
			}
			family, qualifier, _ := strings.Cut(column.Name, ":")
			out = append(out, lookup.Field{Name: field, Family: family, Qualifier: qualifier})
		}
	}
	return out
}

// columnOf finds the column of the table that is filled from a field of this name, and the entry that fills it.
func (c *Config) columnOf(t *Table, field string) (*Column, *Rows) {
	for _, r := range writers(c, t.Name) {
		for i := range r.Set {
			if _, members := r.Set[i].members(); r.Set[i].Field == field && !members && field != "" {
				return &r.Set[i], r
			}
		}
	}
	return nil, nil
}

// checkKeyFrom checks where the pipeline looks up fields of keys.
func (l *loader) checkKeyFrom(c *Config, p *Pipeline) {
	at, t := join("pipelines", p.Name)+".key_from", p.KeyFrom.table
	if t == nil || len(t.rowKeys) == 0 {
		if p.KeyFrom.Table != "" && t == nil {
			names := make([]string, len(c.Tables))
			for i, t := range c.Tables {
				names[i] = t.Name
			}
			l.fault(at, UnknownTable, "tables has no "+p.KeyFrom.Table, didYouMean(p.KeyFrom.Table, names, "add it to tables"))
		} else if t != nil && len(writers(c, t.Name)) == 0 {
			l.fault(at, LookUp, "no pipeline writes "+t.Name+", so nothing would be found there", "add it to the rows of the pipeline of the creations")
		}
		return
	}
	for _, name := range t.rowKeys.Fields() {
		switch f := p.field(name); {
		case f == nil:
			l.fault(at, LookUp, "the key of "+t.Name+" takes "+name+", which the pipeline does not declare, so no row of it could be found", "declare it, if each change carries it")
		case keyTypes[f.eventType()] != writers(c, t.Name)[0].keyType(name):
			l.fault(join(join("pipelines", p.Name)+".fields", name), FieldTypes, "the key of "+t.Name+", where key_from looks, takes another type", "declare it alike in both")
		}
	}
	found := p.lookedUp()
	if len(found) == 0 {
		l.fault(at, LookUp, t.Name+" has no column of a field that the keys of the pipeline's rows take", "set one from it, under the same name, in the rows of the pipeline of the creations")
	}
	for _, f := range found {
		_, r := c.columnOf(t, f.Name)
		if a, b := p.field(f.Name), r.pipeline.field(f.Name); a != nil && b != nil && keyTypes[a.eventType()] != keyTypes[b.eventType()] {
			l.fault(join(join("pipelines", p.Name)+".fields", f.Name), FieldTypes, fmt.Sprintf("column %s:%s of %s, where it is looked up, is filled from a field declared %s", f.Family, f.Qualifier, t.Name, b.Type), "declare it alike in both")
		}
	}
	l.checkLastingKeys(c, p, at)
}

// checkLastingKeys: a key that is looked up must be what it always was, or an older change would go to the newer row.
func (l *loader) checkLastingKeys(c *Config, p *Pipeline, setting string) {
	tables := []string{p.KeyFrom.Table}
	for i := range p.Rows {
		tables = append(tables, p.Rows[i].Table)
	}
	for _, name := range tables {
		for _, r := range writers(c, name) {
			if len(r.pipeline.Images.Before) > 0 {
				l.fault(setting, LookUp, fmt.Sprintf("pipeline %s moves rows of %s, and a change that is looked up would go to where a row is, not to where it was at the change's version", r.pipeline.Name, name),
					"have each change carry its key's fields, or remove the images there if keys never change")
				return
			}
			if name == p.KeyFrom.Table && r.HardDeletes {
				l.fault(setting, LookUp, fmt.Sprintf("%s deletes rows of %s hard, and late changes of what is deleted would never find their keys", r.setting, name), "mark rows there: hard_deletes: false")
				return
			}
		}
	}
}
