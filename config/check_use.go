package config

import (
	"slices"
)

// checkUse warns of what is declared and not used.
func (l *loader) checkUse(c *Config) {
	for _, t := range c.Tables {
		if len(writers(c, t.Name)) == 0 {
			l.warnName(join("tables", t.Name), Unused, "no pipeline writes rows to it", "remove it, or name it in a pipeline's rows")
		}
	}
	for _, x := range c.Indexes {
		used := slices.ContainsFunc(c.Pipelines, func(p *Pipeline) bool {
			return slices.ContainsFunc(p.Documents, func(d Documents) bool { return d.Index == x.Name })
		})
		if !used {
			l.warnName(join("indexes", x.Name), Unused, "no pipeline writes documents to it", "remove it, or name it in a pipeline's documents")
		}
	}
	for _, p := range c.Pipelines {
		used := usedFields(c, p)
		for i := range p.Fields {
			if name := p.Fields[i].Name; !used[name] {
				l.warnName(join(join("pipelines", p.Name)+".fields", name), Unused, "nothing uses this field", "remove it, or set a column from it")
			}
		}
	}
}

// usedFields are the fields that a version, key, column or document reads.
func usedFields(c *Config, p *Pipeline) map[string]bool {
	at, n := p.versionFields()
	used := map[string]bool{at: true, n: true, p.Images.Deleted: true}
	if p.KeyFrom.table != nil {
		for _, name := range p.KeyFrom.table.rowKeys.Fields() {
			used[name] = true
		}
	}
	for i := range p.Rows {
		r := &p.Rows[i]
		for _, name := range c.Table(r.Table).rowKeys.Fields() {
			used[r.eventField(name)] = true
		}
		for _, e := range r.Each {
			for _, text := range e.texts() {
				used[textField(text).Field] = true
			}
		}
		used[r.TTL], used[r.deleted()] = true, true
		for _, column := range r.Set {
			used[column.Field] = true
		}
		for i := range r.Pack {
			for _, f := range p.packedFields(&r.Pack[i]) {
				used[f.Field] = true
			}
		}
	}
	for _, d := range p.Documents {
		used[d.deleted(p)] = true
		for _, f := range d.Set {
			used[f.Field] = true
		}
	}
	return used
}
