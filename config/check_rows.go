package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"brine/event"
	"brine/rowkey"
)

// checkRows checks an entry of a pipeline's rows.
func (l *loader) checkRows(c *Config, p *Pipeline, i int) {
	r := &p.Rows[i]
	t := c.Table(r.Table)
	switch {
	case r.Table == "":
	case t == nil:
		names := make([]string, len(c.Tables))
		for i, t := range c.Tables {
			names[i] = t.Name
		}
		l.fault(r.setting+".table", UnknownTable, "tables has no "+r.Table, didYouMean(r.Table, names, "add it to tables"))
	case p.rowsOf(r.Table) == r: // else it is told already
		l.checkRowOfTable(p, t, r.setting)
	}
	for j := range p.Rows[:i] {
		if o := &p.Rows[j]; o.Table == r.Table && r.Table != "" && reflect.DeepEqual(o.As, r.As) && reflect.DeepEqual(o.Each, r.Each) {
			l.fault(r.setting+".table", Duplicate, "the pipeline writes this row to "+r.Table+" already", "put all columns into one entry")
		}
	}
	l.checkColumns(c, p, r, t)
	l.checkAs(p, r)
	for i := range r.Each {
		l.checkEach(p, r, i)
	}
	l.checkNulls(c, p, r, r.setting+".nulls")
	l.checkRowTTL(p, r, t)
	l.checkDeletes(p, r, t)
}

func (l *loader) checkColumns(c *Config, p *Pipeline, r *Rows, t *Table) {
	columns := l.has(r.setting+".set") || l.has(r.setting+".pack")
	switch at := r.setting + ".empty"; {
	case columns && r.Empty != "":
		l.fault(at, Duplicate, "the row has columns, so it needs no empty cell", "remove it: brine writes an empty cell where a row would have none")
	case r.Empty != "":
		l.checkColumnName(t, r.Empty+":", at)
	case !columns && l.near(r.setting).value.Kind == yaml.MappingNode:
		l.fault(r.setting, Missing, "has neither set nor pack", "write set: "+exampleOf(find(rowsDefinitions, "set"))+", or, if its key says all, empty: and a family")
	}
	for i := range r.Set {
		l.checkColumn(c, p, r, &r.Set[i], join(r.setting+".set", r.Set[i].Name))
	}
	for i := range r.Pack {
		l.checkPack(c, p, r, &r.Pack[i], join(r.setting+".pack", r.Pack[i].Name))
	}
}

func (l *loader) checkColumn(c *Config, p *Pipeline, r *Rows, column *Column, setting string) {
	l.checkColumnName(c.Table(r.Table), column.Name, setting)
	_, members := column.members()
	f := p.field(column.Field)
	switch {
	case column.Field == "" || members && column.Field == wholeRecord:
	case column.Field == wholeRecord:
		l.fault(setting, Members, "one column cannot hold the members of the record", "write \"family:*\": \"*\" for a column of each")
	case f == nil:
		l.noField(p, setting, column.Field)
	case members && f.eventType() != event.Nested && f.eventType() != 0:
		l.fault(setting, Members, "field "+f.Name+" is declared "+f.Type+" and so has no members", "declare it as json, or give the column a name instead of *")
	}
	if members {
		l.checkPrefix(r, column, setting)
	}
	for _, name := range []string{".except", ".limit"} {
		if !members && l.has(setting+name) {
			l.fault(setting+name, Members, "does nothing for one column", "remove it, or write \"family:*\" for a column of each member")
		}
	}
	if i := slices.IndexFunc(r.As, func(k KeyField) bool { return k.Name == column.Field && k.Field != column.Field }); i >= 0 {
		l.fault(setting, KeyNames, "field "+column.Field+" is another one in the key of this entry, which has "+r.As[i].Field+" by this name, so a query could not show both",
			"give the key's field a name of its own, such as owner: "+r.As[i].Field)
	}
	l.checkSameColumn(c, p, r, column, setting)
}

// checkPrefix: the columns of two fields' members are told apart by what their names begin with.
func (l *loader) checkPrefix(r *Rows, column *Column, setting string) {
	for i := range r.Set {
		o := &r.Set[i]
		if o == column {
			return
		}
		if _, members := o.members(); members && (strings.HasPrefix(column.Name, strings.TrimSuffix(o.Name, "*")) || strings.HasPrefix(o.Name, strings.TrimSuffix(column.Name, "*"))) {
			l.faultName(setting, Members, "a member of "+o.Field+" can have the same column, under "+o.Name, "let the names of both begin differently, as in \"f:a_*\" and \"f:b_*\", or use two families")
		}
	}
}

// checkSameColumn compares a column with the same one of the entries before: readers take both for one.
func (l *loader) checkSameColumn(c *Config, p *Pipeline, r *Rows, column *Column, setting string) {
	for _, other := range writers(c, r.Table) {
		if other == r {
			return
		}
		i := slices.IndexFunc(other.Set, func(o Column) bool { return o.Name == column.Name })
		if i < 0 {
			continue
		}
		a, b := p.field(column.Field), other.pipeline.field(other.Set[i].Field)
		switch {
		case a == nil || b == nil || a.eventType() == 0 || b.eventType() == 0:
		case keyTypes[a.eventType()] != keyTypes[b.eventType()]:
			l.fault(setting, ColumnDiffers, fmt.Sprintf("field %s is %s, and %s fills this column of %s from %s, which is %s", a.Name, a.Type, other.name(p), r.Table, b.Name, b.Type),
				"give one of them a column of its own")
		case other.pipeline == p && a.Name != b.Name:
			l.warn(setting, ColumnDiffers, fmt.Sprintf("%s fills this column of %s from %s, and brine query shows both as %s", other.name(p), r.Table, b.Name, b.Name),
				"give one of them a column of its own")
		}
	}
}

// checkAs checks what the key calls otherwise.
func (l *loader) checkAs(p *Pipeline, r *Rows) {
	for _, f := range r.As {
		at := join(r.setting+".as", f.Name)
		switch {
		case !fieldNames.MatchString(f.Name):
			l.faultName(at, Name, "is no name of a field", "use letters, digits and \"_\", not a digit first")
		case f.Field != "" && p.field(f.Field) == nil:
			l.noField(p, at, f.Field)
		}
	}
}

// checkEach checks where words are taken from.
func (l *loader) checkEach(p *Pipeline, r *Rows, i int) {
	e := &r.Each[i]
	at := join(r.setting+".each", e.Name)
	asToo := func(f KeyField) bool { return f.Name == e.Name }
	switch {
	case !fieldNames.MatchString(e.Name):
		l.faultName(at, Name, "is no name of a field", "use letters, digits and \"_\", not a digit first")
	case i > 0:
		l.faultName(at, EachRow, "a row has one word in its key, and "+r.Each[0].Name+" is one already", "write another entry of rows for it")
	case p.field(e.Name) != nil || slices.ContainsFunc(r.As, asToo):
		l.faultName(at, Duplicate, "the event has a field of this name", "give the word another name, here and in the key")
	case len(e.Words) > 0 && len(e.CJK) > 0:
		l.fault(at+".cjk", Duplicate, "both words and cjk are set", "keep one: cjk finds words too")
	case len(e.texts()) == 0 && !l.has(at+".words") && !l.has(at+".cjk"):
		l.fault(at, Missing, "says not where words are taken from", "write words: [items, brand], or cjk: [items, brand]")
	}
	for _, text := range e.texts() {
		l.checkText(p, text, at)
	}
}

func (l *loader) checkText(p *Pipeline, text, setting string) {
	source := textField(text)
	f := p.field(source.Field)
	switch {
	case f == nil:
		l.noField(p, setting, source.Field)
	case f.eventType() == event.Nested, f.eventType() == event.Text && source.Path == nil, f.eventType() == 0:
	case source.Path != nil:
		l.fault(setting, EachRow, "field "+f.Name+" is declared "+f.Type+" and so has nothing inside", "write "+f.Name+" alone, or declare it as json")
	default:
		l.fault(setting, EachRow, "field "+f.Name+" is declared "+f.Type+", which has no words", "take a text or json")
	}
}

// checkKeyFields checks what entries of rows bring to a table's key.
func (l *loader) checkKeyFields(c *Config, t *Table) {
	if len(t.rowKeys) == 0 {
		return
	}
	for _, r := range writers(c, t.Name) {
		for _, name := range t.rowKeys.Fields() {
			if f := r.pipeline.field(r.eventField(name)); f != nil && f.eventType() == event.Nested {
				l.fault(join(join("pipelines", r.pipeline.Name)+".fields", f.Name), FieldTypes, "the key of "+t.Name+" takes it, and it is json, of which no key can be made",
					"take a text, number, bool or time of the record into the key")
			}
		}
		for _, f := range r.As {
			if !slices.Contains(t.rowKeys.Fields(), f.Name) {
				l.faultName(join(r.setting+".as", f.Name), KeyNames, "the key of "+t.Name+" has no field of this name", didYouMean(f.Name, t.rowKeys.Fields(), "remove it, or write it into the key"))
			}
		}
		for _, e := range r.Each {
			if slices.ContainsFunc(t.rowKeys, func(k rowkey.KeyFrom) bool { return !slices.Contains(k.Key.Fields(), e.Name) }) {
				l.faultName(join(r.setting+".each", e.Name), EachRow, "the key of "+t.Name+" does not hold it, so all words of an event would be one row", "write it into the key: + \"|\" + "+e.Name)
			}
		}
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
	l.fault(at, ManyRows, "a document stands beside one row, and an event's rows in "+table+" have keys by other names, or are several", "write table: and one of rows without as and each")
}
