package config

import (
	"cmp"
	"slices"

	"brine/rowkey"
	"brine/sink"
)

// checkAlike warns of documents that do not end as the rows that they stand beside.
func (l *loader) checkAlike(c *Config) {
	outlived := map[*Index]bool{}
	for _, p := range c.Pipelines {
		for i := range p.Documents {
			d := &p.Documents[i]
			r := p.rowsOf(cmp.Or(d.Table, p.firstTable()))
			t, x := c.Table(r.Table), c.Index(d.Index)
			l.checkTies(p, r, d, t)
			if x.Every == "" && (t.keep() > 0 || r.TTL != "") && !outlived[x] {
				outlived[x] = true
				l.warn(join("indexes", x.Name)+".every", DocumentTTL, "rows of "+t.Name+" end by their ttl, and the documents beside them stay: searches find what is no longer in HBase",
					partsOrReindex(c, p, t, x))
			}
		}
	}
}

// checkTies: of whole changes of one version a row keeps what the last applied has null, and its document does not.
func (l *loader) checkTies(p *Pipeline, r *Rows, d *Documents, t *Table) {
	counted, _ := p.untimed()
	if t.Row != rowEntity || p.Changes == changesPartial || r.Nulls != string(sink.NullsMerge) || counted != "" {
		return
	}
	field := nullable(p, r, d, t.rowKeys.First().Fields())
	if field == "" {
		return
	}
	fix := "write version: seq(at, n) if the source counts such changes"
	if mayBePartial(p) {
		fix = "write changes: partial, so that the document keeps it too"
	}
	l.warn(r.setting+".nulls", DocumentNulls, "where two changes have one version, and the last has "+field+" null, the row keeps the other's and its document in "+d.Index+" has none",
		fix+", or have each record carry every field")
}

// nullable names a field that may be null and that a column and the document are both filled from; empty if there is none. What is packed
// is replaced as a whole, as the document is.
func nullable(p *Pipeline, r *Rows, d *Documents, key []string) string {
	at, _ := p.versionFields()
	fills := func(name string) bool {
		return d.deleted(p) == name || slices.ContainsFunc(d.Set, func(f DocumentField) bool { return f.Field == name })
	}
	for _, column := range r.Set {
		if name := column.Field; name != at && name != p.Images.Deleted && !slices.Contains(key, name) && fills(name) {
			return name
		}
	}
	return ""
}

// mayBePartial reports whether no setting of the pipeline needs whole changes.
func mayBePartial(p *Pipeline) bool {
	return len(p.Images.Before) == 0 && !slices.ContainsFunc(p.Rows, func(r Rows) bool {
		return len(r.Pack) > 0 || r.Nulls != string(sink.NullsMerge) || p.config.Table(r.Table).Row == rowEvent
	})
}

// partsOrReindex is how documents can end with their rows: by parts where there can be any and the table says when they are over.
func partsOrReindex(c *Config, p *Pipeline, t *Table, x *Index) string {
	names := t.rowKeys.First().Fields()
	i := slices.IndexFunc(names, func(name string) bool { return keyType(p, name) == rowkey.Time })
	if _, embedded := c.Search.Embedded(); embedded || i < 0 || t.keep() == 0 {
		return "now and then run brine reindex " + x.Name + " --from hbase, which leaves them out"
	}
	return "write every: month, and time: and a date filled with " + names[i] + " of the row key; if the index exists, in a new one"
}
