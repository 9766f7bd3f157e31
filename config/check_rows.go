package config

import (
	"fmt"
	"reflect"
	"slices"

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
	case p.rowsOf(r.Table) == r: // otherwise already reported
		l.checkRowOfTable(p, t, r.setting)
	}
	for j := range p.Rows[:i] {
		if o := &p.Rows[j]; o.Table == r.Table && r.Table != "" && reflect.DeepEqual(o.As, r.As) && reflect.DeepEqual(o.Each, r.Each) {
			l.fault(r.setting+".table", Duplicate, "the pipeline already writes this row to "+r.Table, "put all columns into one entry")
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
	l.checkOtherwise(p, r, t)
}

// checkAs checks the key fields that have names of their own.
func (l *loader) checkAs(p *Pipeline, r *Rows) {
	for _, f := range r.As {
		at := join(r.setting+".as", f.Name)
		switch {
		case !fieldNames.MatchString(f.Name):
			l.faultName(at, Name, "is not a valid field name", "use letters, digits and \"_\", not a digit first")
		case f.Field != "" && p.field(f.Field) == nil:
			l.noField(p, at, f.Field)
		}
	}
}

// checkEach checks where words come from.
func (l *loader) checkEach(p *Pipeline, r *Rows, i int) {
	e := &r.Each[i]
	at := join(r.setting+".each", e.Name)
	asToo := func(f KeyField) bool { return f.Name == e.Name }
	switch {
	case !fieldNames.MatchString(e.Name):
		l.faultName(at, Name, "is not a valid field name", "use letters, digits and \"_\", not a digit first")
	case i > 0:
		l.faultName(at, EachRow, "a row's key holds one word, and "+r.Each[0].Name+" already is it", "add another entry to rows for this one")
	case p.field(e.Name) != nil || slices.ContainsFunc(r.As, asToo):
		l.faultName(at, Duplicate, "the event already has a field of this name", "give the word another name, here and in the key")
	case len(e.Words) > 0 && len(e.CJK) > 0:
		l.fault(at+".cjk", Duplicate, "both words and cjk are set", "keep one: cjk finds words too")
	case len(e.texts()) == 0 && !l.has(at+".words") && !l.has(at+".cjk"):
		l.fault(at, Missing, "does not say where words come from", "write words: [items, brand], or cjk: [items, brand]")
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
		l.fault(setting, EachRow, "field "+f.Name+" is declared "+f.Type+", which has no members",
			"write just "+f.Name+", or declare it as json")
	default:
		l.fault(setting, EachRow, "field "+f.Name+" is declared "+f.Type+", which has no words", "use a text or json")
	}
}

// keyless maps each type that keys cannot use to its fix.
var keyless = map[event.Type]string{
	event.Nested: "use a text, number, bool or time of the record in the key",
	event.Decimal: "declare it { type: text, from: number }, so that the key holds its digits as text, or use an int of the smallest " +
		"unit, such as cents, which sorts correctly in a key",
	event.Bytes: "declare it text if the bytes are text, or use another field in the key",
}

// keyless returns the field of the event that fills a field of the key if keys cannot use its type; else nil.
func (r *Rows) keyless(name string) *Field {
	if f := r.pipeline.field(r.eventField(name)); f != nil && keyless[f.eventType()] != "" {
		return f
	}
	return nil
}

func (l *loader) checkKeyless(t *Table, r *Rows, f *Field) {
	l.fault(join(join("pipelines", r.pipeline.Name)+".fields", f.Name), FieldTypes,
		"the key of "+t.Name+" contains it, but it is "+f.Type+", which cannot be part of a key", keyless[f.eventType()])
}

// checkKeyFields checks the fields that entries of rows contribute to a table's key.
func (l *loader) checkKeyFields(c *Config, t *Table) {
	if len(t.rowKeys) == 0 {
		return
	}
	for _, r := range writers(c, t.Name) {
		for _, name := range t.rowKeys.Fields() {
			if f := r.keyless(name); f != nil {
				l.checkKeyless(t, r, f)
			} else if f := r.pipeline.field(r.eventField(name)); f != nil {
				if place, _ := f.place(); !place.Replayable() {
					l.fault(join(join("pipelines", r.pipeline.Name)+".fields", f.Name), FieldPath,
						"the key of "+t.Name+" contains it: "+f.moves(), "use a field of the record's content in the key")
				}
			}
		}
		for _, f := range r.As {
			if !slices.Contains(t.rowKeys.Fields(), f.Name) {
				l.faultName(join(r.setting+".as", f.Name), KeyNames, "the key of "+t.Name+" has no field of this name",
					didYouMean(f.Name, t.rowKeys.Fields(), "remove it, or add it to the key"))
			}
		}
		for _, e := range r.Each {
			if slices.ContainsFunc(t.rowKeys, func(k rowkey.KeyFrom) bool { return !slices.Contains(k.Key.Fields(), e.Name) }) {
				l.faultName(join(r.setting+".each", e.Name), EachRow, "the key of "+t.Name+
					" does not hold it, so all words of an event would go to one row", "add it to the key: + \"|\" + "+e.Name)
			}
		}
	}
}

// checkDeletes checks what happens to rows that are deleted or left behind.
func (l *loader) checkDeletes(p *Pipeline, r *Rows, t *Table) {
	if r.Deleted != "" {
		l.checkDeletedField(p, r.Deleted, r.setting+".deleted")
	}
	moves := (p.imaged() || p.tombstones()) && t != nil && t.Row == rowEntity
	fills := func(c Column) bool { return c.Field == r.deleted() }
	switch marked := r.deleted() != "" && slices.ContainsFunc(r.Set, fills); {
	case r.HardDeletes:
		l.checkHardDeletes(p, r, t, moves)
	case moves && !marked:
		l.fault(r.setting, ImagesCode, "a change can abandon or delete such a row, and no column would mark it as deleted",
			"set a column from a bool field that marks deletes: \"f:gone\": gone, with images: { …, deleted: gone }; or write "+
				"hard_deletes: true")
	case r.Deleted != "" && !marked && !r.packs(r.Deleted):
		l.fault(r.setting+".deleted", ImagesCode, "no column holds field "+r.Deleted+
			", so nothing would show that a row is deleted", "set a column from it")
	}
}

// packs reports whether a packed column of the entry holds the field.
func (r *Rows) packs(field string) bool {
	return slices.ContainsFunc(r.Pack, func(c PackedColumn) bool {
		return slices.ContainsFunc(r.pipeline.packedFields(&c), func(f PackedField) bool { return f.Field == field })
	})
}

func (l *loader) checkHardDeletes(p *Pipeline, r *Rows, t *Table, moves bool) {
	at := r.setting + ".hard_deletes"
	what, fix := p.untimed()
	late, bound := p.unbounded()
	switch {
	case t == nil: // reported separately
		return
	case t.Row == rowEvent:
		l.fault(at, HardDeletes, "rows of "+t.Name+" are events, which are never deleted", "write row: entity in the table, or remove it")
	case what != "":
		l.fault(at, HardDeletes, "HBase orders delete markers by time, but "+what, fix+", or only mark rows as deleted: hard_deletes: false")
	case r.TTL != "":
		l.fault(r.setting+".ttl", RowTTL, "it would also expire the delete markers of hard_deletes, and deleted rows would reappear",
			"set the family's ttl, or only mark rows as deleted: hard_deletes: false")
	case late != "":
		l.fault(at, HardDeletes, late, bound+", or only mark rows as deleted: hard_deletes: false")
	case r.deleted() == "" && !moves:
		l.warn(at, Unused, "does nothing: no field says that an event is a delete", "name a bool field: deleted: gone")
	}
	var reported []string
	for _, column := range r.columnNames() {
		f := t.family(familyOf(column))
		if f == nil || f.PurgeDeletesAfter > 0 || slices.Contains(reported, f.Name) {
			continue
		}
		reported = append(reported, f.Name)
		l.faultName(join(join("tables", t.Name)+".families", f.Name), HardDeletes,
			"it may drop delete markers at its next major compaction, and an older change that arrives late or in a replay would then bring a "+
				"deleted row back",
			"write purge_deletes_after: 16d there, or as long as changes of topic "+p.TopicText()+" can still be read after their versions")
	}
}

// checkKeyFrom checks where the pipeline looks up key fields.
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
			l.fault(at, LookUp, "no pipeline writes "+t.Name+", so nothing would be found there",
				"add it to the rows of the pipeline that creates the entities")
		}
		return
	}
	for _, name := range t.rowKeys.Fields() {
		switch f := p.field(name); {
		case f == nil:
			l.fault(at, LookUp, "the key of "+t.Name+" contains "+name+", which the pipeline does not declare, so no row could be found there",
				"declare it, if each change carries it")
		case keyTypes[f.eventType()] != writers(c, t.Name)[0].keyType(name):
			l.fault(join(join("pipelines", p.Name)+".fields", name), FieldTypes, "the key of "+t.Name+", where key_from looks, needs another type",
				"declare the same type in both")
		}
	}
	found := p.lookedUp()
	if len(found) == 0 {
		l.fault(at, LookUp, t.Name+" has no column of a field that the keys of the pipeline's rows take",
			"set one from it, under the same name, in the rows of the pipeline that creates the entities")
	}
	for _, f := range found {
		_, r := c.columnOf(t, f.Name)
		if a, b := p.field(f.Name), r.pipeline.field(f.Name); a != nil && b != nil && keyTypes[a.eventType()] != keyTypes[b.eventType()] {
			l.fault(join(join("pipelines", p.Name)+".fields", f.Name), FieldTypes,
				fmt.Sprintf("column %s:%s of %s, where it is looked up, comes from a field declared %s", f.Family, f.Qualifier, t.Name, b.Type),
				"declare the same type in both")
		}
	}
	for _, f := range found {
		if own := p.field(f.Name); own != nil && own.Default+own.Value != "" {
			l.fault(join(join("pipelines", p.Name)+".fields", f.Name), LookUp, "has a value even if a change lacks it, so it is never looked up",
				"remove its default or value")
		}
	}
	l.checkLastingKeys(c, p, at)
}

// checkLastingKeys checks that keys that are looked up never change, because an older change would otherwise go to the newer row.
func (l *loader) checkLastingKeys(c *Config, p *Pipeline, setting string) {
	tables := []string{p.KeyFrom.Table}
	for i := range p.Rows {
		tables = append(tables, p.Rows[i].Table)
	}
	for _, name := range tables {
		for _, r := range writers(c, name) {
			if r.pipeline.imaged() && !r.pipeline.knowsKeyOnly() {
				l.fault(setting, LookUp, fmt.Sprintf("pipeline %s moves rows of %s, and a change whose key is looked up would go to the "+
					"row's present key, not to its key at the change's version", r.pipeline.Name, name),
					"make each change carry its key's fields, or remove the images there if keys never change")
				return
			}
			if name == p.KeyFrom.Table && r.HardDeletes {
				l.fault(setting, LookUp, fmt.Sprintf("%s deletes rows of %s hard, so late changes of deleted rows would never find their keys",
					r.setting, name), "only mark rows as deleted there: hard_deletes: false")
				return
			}
		}
	}
}
