package config

import (
	"cmp"
	"slices"
	"strconv"

	"brine/derive"
	"brine/event"
)

const otherwiseDelete = "delete"

func (p *Pipeline) documentSetting(i int) string {
	return join("pipelines", p.Name) + ".documents[" + strconv.Itoa(i) + "]"
}

// checkExpressions compiles the pipeline's expressions; fields that a let makes are the pipeline's from then on.
func (l *loader) checkExpressions(p *Pipeline, setting string) {
	b := derive.New(p.Schema().Fields)
	sound := true
	for i := range p.Let {
		let := &p.Let[i]
		at := join(setting+".let", let.Name)
		if !fieldNames.MatchString(let.Name) {
			l.faultName(at, Name, "is not a valid field name", "use letters, digits and \"_\", not a digit first")
			sound = false
			continue
		}
		if p.field(let.Name) != nil {
			l.faultName(at, Duplicate, "fields has a field of this name", "give it another name")
			sound = false
			continue
		}
		typ, _ := event.ParseType(let.Type) // one of its choices, or absent
		made, err := b.Let(let.Name, typ, at, let.Value)
		if err != nil {
			l.expression(at, let.Value, err)
			sound = false
		}
		p.Fields = append(p.Fields, Field{Name: let.Name, Type: cmp.Or(let.Type, made.String()), made: true})
	}
	if !sound {
		return // what else is asked may name what was not made
	}
	if p.When != "" {
		if err := b.When(setting+".when", p.When); err != nil {
			l.expression(setting+".when", p.When, err)
			sound = false
		}
	}
	ask := func(text, at string) {
		if text == "" {
			return
		}
		p.asked = append(p.asked, at)
		if err := b.Condition(at, at, text); err != nil {
			l.expression(at, text, err)
			sound = false
		}
	}
	for i := range p.Rows {
		ask(p.Rows[i].When, p.Rows[i].setting+".when")
	}
	for i := range p.Documents {
		ask(p.Documents[i].When, p.documentSetting(i)+".when")
	}
	if asks := len(p.Let)+len(p.asked) > 0 || p.When != ""; asks && sound {
		p.rules = b.Rules()
	}
}

// expression reports what is wrong with one.
func (l *loader) expression(setting, text string, err error) {
	if text == "" { // reported as missing
		return
	}
	if l.has(setting + ".value") {
		setting += ".value"
	}
	l.fault(setting, Expression, err.Error(), "see docs/filters.md")
}

// expressed are the fields that lets and conditions name.
func (p *Pipeline) expressed() (names []string) {
	if p.rules == nil {
		return nil
	}
	for _, i := range p.rules.Named() {
		if i < len(p.Fields) {
			names = append(names, p.Fields[i].Name)
		}
	}
	return names
}

// checkOtherwise checks what an event does to a row that it does not become.
func (l *loader) checkOtherwise(p *Pipeline, r *Rows, t *Table) {
	l.together(r.setting, "otherwise", "when")
	at := r.setting + ".otherwise"
	fills := func(c Column) bool { return c.Field == r.deleted() }
	switch {
	case r.Otherwise != otherwiseDelete || r.When == "" || t == nil:
	case t.Row == rowEvent:
		l.fault(at, OtherwiseCode, "rows of "+t.Name+" are events, of which each stays", "write row: entity in the table, or otherwise: skip")
	case !r.HardDeletes && (r.deleted() == "" || !slices.ContainsFunc(r.Set, fills)):
		l.fault(at, OtherwiseCode, "no column would mark a row that is deleted",
			"write deleted: gone, with a column that it fills, \"f:gone\": gone, and, if no field of the record says so, let: { gone: \"false\" }; "+
				"or write hard_deletes: true")
	}
}

// checkHiding checks what an event does to a document that it does not become.
func (l *loader) checkHiding(c *Config, p *Pipeline, d *Documents, setting string) {
	l.together(setting, "otherwise", "when")
	t := c.Table(cmp.Or(d.Table, p.firstTable()))
	switch {
	case d.Otherwise != otherwiseDelete || d.When == "" || t == nil:
	case t.Row == rowEvent:
		l.fault(setting+".otherwise", OtherwiseCode, "rows of "+t.Name+", which the document stands beside, are events, of which each stays",
			"write row: entity in the table, or otherwise: skip")
	case d.deleted(p) == "":
		l.fault(setting+".otherwise", OtherwiseCode, "no field says that a document is deleted",
			"write deleted: gone, and, if no field of the record says so, let: { gone: \"false\" }")
	}
}

// checkChangeable warns of conditions that are not of the row's key alone: another change of the row may be answered otherwise.
func (l *loader) checkChangeable(c *Config) {
	const fix = "ask only for fields of the row's key"
	for _, p := range c.Pipelines {
		warned := false
		for i := range p.Rows {
			r := &p.Rows[i]
			if t := c.Table(r.Table); t.Row == rowEntity {
				if name := p.changing(r, derive.When); name != "" && !warned {
					warned = true
					l.warn(join("pipelines", p.Name)+".when", Changeable, "field "+name+" can differ between two changes of one row of "+t.Name+
						", and what a change that was kept has written stays", fix+", or write when: in the rows, with otherwise: delete")
				}
				if name := p.changing(r, r.setting+".when"); name != "" && r.Otherwise != otherwiseDelete {
					l.warn(r.setting+".when", Changeable, "field "+name+" can differ between two changes of one row of "+t.Name+
						", and what a change for which this was true has written stays", fix+", or write otherwise: delete")
				}
			}
		}
		for i := range p.Documents {
			d, at := &p.Documents[i], p.documentSetting(i)+".when"
			r := p.rowsOf(cmp.Or(d.Table, p.firstTable()))
			if r == nil || c.Table(r.Table).Row != rowEntity || d.Otherwise == otherwiseDelete {
				continue
			}
			if name := p.changing(r, at); name != "" {
				l.warn(at, Changeable, "field "+name+" can differ between two changes of one document of "+d.Index+
					", and what a change for which this was true has written stays", fix+", or write otherwise: delete")
			}
		}
	}
}

// changing is the first field that a condition follows from and of which the row's key does not hold the value; empty if there is none.
func (p *Pipeline) changing(r *Rows, condition string) string {
	if p.rules == nil {
		return ""
	}
	var key []string
	for _, name := range p.config.Table(r.Table).rowKeys.First().Fields() {
		key = append(key, r.eventField(name))
	}
	for _, i := range p.rules.Sources(condition, key...) {
		if name := p.Fields[i].Name; !slices.Contains(key, name) {
			return name
		}
	}
	return ""
}
