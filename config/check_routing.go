package config

import (
	"cmp"
	"fmt"
	"slices"
)

// checkRouting checks that every pipeline that fills the index fills the routing field with what the row key gives back, so that a document's shard
// follows from its id, and with the same of the same key.
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
		l.fault(setting, FieldTypes, "field "+f.Name+" is "+f.Type+", which has no one spelling", "name a keyword, long, boolean or date")
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
				l.fault(setting, Routing, fmt.Sprintf("pipelines %s and %s name documents of %s by different row keys, so the shard could not be told from the id", from, p.Name, x.Name),
					"give each an index of its own, or remove it")
			}
		}
	}
}

// checkRoutingField checks what one pipeline fills the routing field with. It gives the key and its field.
func (l *loader) checkRoutingField(c *Config, p *Pipeline, d *Documents, x *Index, setting string) (key string, ok bool) {
	at := slices.IndexFunc(d.Set, func(f DocumentField) bool { return f.Name == x.Routing })
	if at < 0 {
		l.fault(setting+".set", Routing, "does not fill "+x.Routing+", which says on which shard of "+x.Name+" a document is", "add "+x.Routing+": and a field of the row key")
		return "", false
	}
	t, field := c.Table(cmp.Or(d.Table, p.firstTable())), d.Set[at].Field
	if t == nil || len(t.rowKeys) == 0 || p.field(field) == nil {
		return "", false // reported already
	}
	first, setting := t.rowKeys.First(), join(setting+".set", x.Routing)
	fix := "fill it with a field that the key holds whole, or remove routing from indexes." + x.Name
	switch {
	case len(t.rowKeys) > 1:
		l.fault(setting, Routing, "table "+t.Name+" has several keys, and the shard of a document would be read by one of them", "remove routing from indexes."+x.Name)
	case !slices.Contains(first.Fields(), field):
		l.fault(setting, Routing, "field "+field+" is not part of the key of "+t.Name+", so the shard of a document could not be told from its id, and would change with it", fix)
	case !first.Gives(field):
		l.fault(setting, Routing, "the key of "+t.Name+" does not give field "+field+" back as it was, so the shard of a document could not be told from its id", fix)
	default:
		return field + " of " + first.String(), true
	}
	return "", false
}
