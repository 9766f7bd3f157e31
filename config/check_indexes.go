package config

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"brine/indexer"
)

func (l *loader) checkIndex(x *Index) {
	setting := join("indexes", x.Name)
	if !indexName(x.Name) {
		l.faultName(setting, Name, "is not a valid index name",
			"use lower-case letters, digits, \".\", \"_\" and \"-\", a letter first, at most 200")
	}
	for _, f := range x.Fields {
		switch at := join(setting+".fields", f.Name); {
		case !indexFieldName(f.Name):
			l.faultName(at, Name, "is not a valid document field name", "use letters, digits, \"_\" and \"-\", not \"_\" first")
		case f.Name == indexer.FieldDeleted && f.Type != "boolean" && f.Type != "":
			l.fault(at, FieldTypes, "searches skip documents in which this field is true, so it must be boolean", "give it another name")
		}
	}
}

// checkRouting checks that all pipelines that fill the index fill the routing field from the same key field, and that its value can be read
// back from the row key, so that a document's id determines its shard.
func (l *loader) checkRouting(c *Config, x *Index) {
	if x.Routing == "" {
		return
	}
	setting := join("indexes", x.Name) + ".routing"
	switch f := x.field(x.Routing); {
	case f == nil:
		names := make([]string, len(x.Fields))
		for i, f := range x.Fields {
			names[i] = f.Name
		}
		l.fault(setting, UnknownTarget, "the index has no field "+x.Routing, didYouMean(x.Routing, names, "name one of its fields"))
		return
	case f.Type == "text" || f.Type == "double":
		l.fault(setting, FieldTypes, "field "+f.Name+" is "+f.Type+", whose values can be written in more than one way",
			"name a keyword, long, boolean or date")
		return
	}
	var first, from string
	for _, p := range c.Pipelines {
		for i := range p.Documents {
			d := &p.Documents[i]
			if d.Index != x.Name {
				continue
			}
			key, ok := l.checkRoutingField(c, p, d, x, fmt.Sprintf("%s.documents[%d]", join("pipelines", p.Name), i))
			switch {
			case !ok:
			case first == "":
				first, from = key, p.Name
			case key != first:
				l.fault(setting, Routing, fmt.Sprintf("pipelines %s and %s take the ids of %s's documents from different row keys, so the shard "+
					"could not be read from the id", from, p.Name, x.Name),
					"give each pipeline its own index, or remove it")
			}
		}
	}
}

// checkRoutingField checks what one pipeline fills the routing field with. It returns the key and its field.
func (l *loader) checkRoutingField(c *Config, p *Pipeline, d *Documents, x *Index, setting string) (key string, ok bool) {
	at := slices.IndexFunc(d.Set, func(f DocumentField) bool { return f.Name == x.Routing })
	if at < 0 {
		l.fault(setting+".set", Routing, "does not fill "+x.Routing+", which determines a document's shard in "+x.Name,
			"set "+x.Routing+" from a field of the row key")
		return "", false
	}
	t, field := c.Table(cmp.Or(d.Table, p.firstTable())), d.Set[at].Field
	if t == nil || len(t.rowKeys) == 0 || p.field(field) == nil {
		return "", false // already reported
	}
	first, setting := t.rowKeys.First(), join(setting+".set", x.Routing)
	fix := "fill it from a field that the key holds whole, or remove routing from indexes." + x.Name
	switch {
	case len(t.rowKeys) > 1:
		l.fault(setting, Routing, "table "+t.Name+" has several keys, but a document's shard can be read from only one of them",
			"remove routing from indexes."+x.Name)
	case !slices.Contains(first.Fields(), field):
		l.fault(setting, Routing, "field "+field+" is not part of the key of "+t.Name+
			", so a document's shard could not be read from its id, and would change with the field", fix)
	case !first.Gives(field):
		l.fault(setting, Routing, "field "+field+" cannot be decoded unchanged from the key of "+t.Name+
			", so a document's shard could not be read from its id", fix)
	default:
		return field + " of " + first.String(), true
	}
	return "", false
}

// checkParts checks what an index in parts requires of itself and of every pipeline that fills it.
func (l *loader) checkParts(c *Config, x *Index) {
	setting := join("indexes", x.Name)
	switch f := x.field(x.Time); {
	case x.Every == "" && x.Time == "":
		return
	case x.Every == "":
		if !l.has(setting + ".every") { // otherwise already reported
			l.fault(setting+".time", Parts, "says which part a document belongs to, but the index has no parts", "write every: month, or remove it")
		}
		return
	case x.Time == "":
		l.fault(setting+".every", Parts, "nothing says which part a document belongs to", "set time to the name of a date field")
		return
	case f == nil:
		names := make([]string, len(x.Fields))
		for i, f := range x.Fields {
			names[i] = f.Name
		}
		l.fault(setting+".time", UnknownTarget, "the index has no field "+x.Time, didYouMean(x.Time, names, "name one of its date fields"))
		return
	case f.Type != "date" && f.Type != "":
		l.fault(setting+".time", FieldTypes, "field "+f.Name+" is "+f.Type, "name a date")
		return
	}
	for _, p := range c.Pipelines {
		for i := range p.Documents {
			if p.Documents[i].Index == x.Name {
				l.checkPartTime(c, p, &p.Documents[i], x, fmt.Sprintf("%s.documents[%d]", join("pipelines", p.Name), i))
			}
		}
	}
}

// checkPartTime checks that the pipeline fills the index's date with a field of the row key.
func (l *loader) checkPartTime(c *Config, p *Pipeline, d *Documents, x *Index, setting string) {
	at := slices.IndexFunc(d.Set, func(f DocumentField) bool { return f.Name == x.Time })
	if at < 0 {
		l.fault(setting+".set", Parts, "does not fill "+x.Time+", which says which part of "+x.Name+" a document belongs to",
			"set "+x.Time+" from a time of the row key")
		return
	}
	t := c.Table(cmp.Or(d.Table, p.firstTable()))
	if t == nil || len(t.rowKeys) == 0 || d.Set[at].Field == "" {
		return // already reported
	}
	if !slices.Contains(t.rowKeys.First().Fields(), d.Set[at].Field) {
		l.fault(join(setting+".set", x.Time), Parts, "field "+d.Set[at].Field+" is not part of the key of "+t.Name+
			", so it could change and leave the document in two parts",
			"fill it from a time of the key, or remove every and time from indexes."+x.Name)
	}
}

// checkPurge checks whether documents of the index may be removed by the age of their delete.
func (l *loader) checkPurge(c *Config, x *Index) {
	if x.PurgeDeletesAfter == 0 {
		return
	}
	at, deletes := join("indexes", x.Name)+".purge_deletes_after", false
	for _, p := range c.Pipelines {
		for i := range p.Documents {
			d := &p.Documents[i]
			if d.Index != x.Name {
				continue
			}
			deletes = deletes || d.deleted(p) != "" || d.fills(indexer.FieldDeleted)
			const orMark = ", or remove it, so that deleted documents stay and are only marked"
			if what, fix := p.untimed(); what != "" {
				l.fault(at, HardDeletes, fmt.Sprintf("the age of a delete is counted from its version, but in pipeline %s %s", p.Name, what),
					fix+orMark)
			} else if what, fix := p.unbounded(); what != "" {
				l.fault(at, HardDeletes, what, fix+orMark)
			}
		}
	}
	if !deletes {
		l.warn(at, Unused, "does nothing, since no pipeline deletes documents of the index", "name a bool field in its documents: deleted: gone")
	}
}

// fills reports whether the entry fills a field of the document.
func (d *Documents) fills(name string) bool {
	for i := range d.Set {
		if d.Set[i].Name == name {
			return true
		}
	}
	return false
}

var viewNames = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,99}$`)

// checkView reports what keeps a view from being answered.
func (l *loader) checkView(c *Config, v *View) {
	setting := join("views", v.Name)
	if !viewNames.MatchString(v.Name) {
		l.faultName(setting, Name, "is not a valid view name", "use lower-case letters, digits, \"_\" and \"-\", a letter first")
	}
	for _, t := range c.Tables {
		if _, short, _ := strings.Cut(t.Name, ":"); t.Name == v.Name || short == v.Name {
			l.faultName(setting, Duplicate, "table "+t.Name+" has the same name, and brine query takes both views and tables",
				"give the view another name")
		}
	}
	for _, named := range []struct{ at, table string }{{".table", v.Table}, {".get", v.Get}} {
		if _, err := c.readable(named.table); named.table != "" && err != nil {
			message, fix := advise(err, "see docs/queries.md")
			l.fault(setting+named.at, UnknownTable, message, fix)
			return
		}
	}
	q, err := v.Query(c)
	if err == nil {
		err = q.Check()
	}
	if err != nil {
		message, fix := advise(err, "see docs/queries.md")
		l.faultName(setting, ViewCode, message, fix)
	}
}
