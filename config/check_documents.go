package config

import (
	"cmp"
	"fmt"
	"slices"

	"brine/event"
	"brine/rowkey"
	"brine/sink"
)

// indexTypes says which of an index's types take which of a pipeline's.
var indexTypes = map[string][]event.Type{
	"keyword": {event.Text}, "text": {event.Text}, "long": {event.Int}, "double": {event.Float},
	"boolean": {event.Bool}, "date": {event.TimeMS, event.TimeS, event.Time},
}

func (l *loader) checkDocuments(c *Config, p *Pipeline, i int, setting string) {
	d := &p.Documents[i]
	x := c.Index(d.Index)
	if x == nil && d.Index != "" {
		names := make([]string, len(c.Indexes))
		for i, x := range c.Indexes {
			names[i] = x.Name
		}
		l.fault(setting+".index", UnknownIndex, "indexes has no "+d.Index,
			didYouMean(d.Index, names, "add it: indexes: { "+d.Index+": { fields: { … } } }"))
	}
	for j := range p.Documents[:i] {
		if p.Documents[j].Index == d.Index && d.Index != "" {
			l.fault(setting+".index", Duplicate, "the pipeline writes this document to "+d.Index+" already", "put all fields into one entry")
		}
	}
	if d.Table != "" && !slices.ContainsFunc(p.Rows, func(r Rows) bool { return r.Table == d.Table }) {
		l.fault(setting+".table", UnknownTable, "the pipeline writes no row to "+d.Table, "name one of the tables of its rows")
	}
	l.checkDocumentTable(p, cmp.Or(d.Table, p.firstTable()), setting)
	if p.imaged() && d.deleted(p) == "" {
		l.fault(setting, ImagesCode, "a change can move a document away from its id, and nothing would hide what it leaves",
			"name a bool field: images: { …, deleted: gone }, or deleted: here")
	}
	if f := p.field(d.Deleted); d.Deleted != "" && f == nil {
		l.noField(p, setting+".deleted", d.Deleted)
	} else if f != nil && f.eventType() != event.Bool && f.eventType() != 0 {
		l.fault(setting+".deleted", FieldTypes, "field "+f.Name+" is "+f.Type, "only a bool can say that a document is deleted")
	}
	l.checkHiding(c, p, d, setting)
	for _, f := range d.Set {
		l.checkDocumentField(p, x, f, join(setting+".set", f.Name))
	}
}

func (l *loader) checkDocumentField(p *Pipeline, x *Index, f DocumentField, setting string) {
	source := p.field(f.Field)
	if source == nil && f.Field != "" {
		l.noField(p, setting, f.Field)
	}
	if x == nil {
		return
	}
	target := x.field(f.Name)
	if target == nil {
		names := make([]string, len(x.Fields))
		for i, f := range x.Fields {
			names[i] = f.Name
		}
		l.faultName(setting, UnknownTarget, "index "+x.Name+" has no field "+f.Name,
			didYouMean(f.Name, names, "add it to indexes."+x.Name+".fields"))
		return
	}
	if want := target.Type; source != nil && source.eventType() != 0 && want != "" && !slices.Contains(indexTypes[want], source.eventType()) {
		l.fault(setting, FieldTypes, fmt.Sprintf("field %s is %s, and index %s takes %s here", source.Name, source.Type, x.Name, want),
			"change one of the two types")
	}
}

// checkDocumentTable: a document's id is made of the key of one row, by the event's own fields.
func (l *loader) checkDocumentTable(p *Pipeline, table, setting string) {
	all := p.entriesOf(table)
	if len(all) == 0 || len(all) == 1 && len(all[0].As)+len(all[0].Each) == 0 {
		return
	}
	at := setting
	if l.has(setting + ".table") {
		at += ".table"
	}
	l.fault(at, ManyRows, "a document stands beside one row, and an event's rows in "+table+" have keys by other names, or are several",
		"write table: and one of rows without as and each")
}

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
				l.warn(join("indexes", x.Name)+".every", DocumentTTL, "rows of "+t.Name+
					" end by their ttl, and the documents beside them stay: searches find what is no longer in HBase",
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
	l.warn(r.setting+".nulls", DocumentNulls, "where two changes have one version, and the last has "+field+
		" null, the row keeps the other's and its document in "+d.Index+" has none",
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
		if name := column.Field; name != at && name != p.Images.Deleted && !slices.Contains(key, name) && fills(name) && !p.always(name) {
			return name
		}
	}
	return ""
}

// mayBePartial reports whether no setting of the pipeline needs whole changes.
func mayBePartial(p *Pipeline) bool {
	return !p.imaged() && !slices.ContainsFunc(p.Rows, func(r Rows) bool {
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
