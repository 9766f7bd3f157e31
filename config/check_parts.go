package config

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// checkParts checks what an index in parts needs, of itself and of every pipeline that fills it.
func (l *loader) checkParts(c *Config, x *Index) {
	setting := join("indexes", x.Name)
	switch f := x.field(x.Time); {
	case x.Every == "" && x.Time == "":
		return
	case x.Every == "":
		if !l.has(setting + ".every") { // else reported already
			l.fault(setting+".time", Parts, "says to which part a document belongs, and the index has no parts", "write every: month, or remove it")
		}
		return
	case x.Time == "":
		l.fault(setting+".every", Parts, "nothing says to which part a document belongs", "write time: and the name of a date field")
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

// checkPartTime: the date is filled, with a field of the row key.
func (l *loader) checkPartTime(c *Config, p *Pipeline, d *Documents, x *Index, setting string) {
	at := slices.IndexFunc(d.Set, func(f DocumentField) bool { return f.Name == x.Time })
	if at < 0 {
		l.fault(setting+".set", Parts, "does not fill "+x.Time+", which says to which part of "+x.Name+" a document belongs", "add "+x.Time+": and a time of the row key")
		return
	}
	t := c.Table(cmp.Or(d.Table, p.firstTable()))
	if t == nil || len(t.rowKeys) == 0 || d.Set[at].Field == "" {
		return // reported already
	}
	if !slices.Contains(t.rowKeys.First().Fields(), d.Set[at].Field) {
		l.fault(join(setting+".set", x.Time), Parts, "field "+d.Set[at].Field+" is not part of the key of "+t.Name+", so it could change, and the document would be in two parts",
			"fill it with a time of the key, or remove every and time from indexes."+x.Name)
	}
}

// keep is how long the table's rows are kept: as long as the family that is kept longest; 0 is for ever.
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
