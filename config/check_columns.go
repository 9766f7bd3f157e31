package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"brine/contract"
	"brine/event"
	"brine/internal/when"
	"brine/sink"
)

var rowsDefinitions, _ = definitionsOf(reflect.TypeFor[Rows]())

func (l *loader) checkColumns(c *Config, p *Pipeline, r *Rows, t *Table) {
	columns := l.has(r.setting+".set") || l.has(r.setting+".pack")
	switch at := r.setting + ".empty"; {
	case columns && r.Empty != "":
		l.fault(at, Duplicate, "the row has columns, so it needs no empty cell",
			"remove it: empty is for rows without columns")
	case r.Empty != "":
		l.checkColumnName(t, r.Empty+":", at)
	case !columns && l.near(r.setting).value.Kind == yaml.MappingNode:
		l.fault(r.setting, Missing, "has neither set nor pack", "write set: "+exampleOf(find(rowsDefinitions, "set"))+
			", or, if the key says everything, set empty to a family")
	}
	for i := range r.Set {
		l.checkColumn(c, p, r, &r.Set[i], join(r.setting+".set", r.Set[i].Name))
	}
	for i := range r.Pack {
		l.checkPack(c, p, r, &r.Pack[i], join(r.setting+".pack", r.Pack[i].Name))
	}
}

func (l *loader) checkColumnName(t *Table, name, setting string) {
	family, qualifier, ok := strings.Cut(name, ":")
	switch {
	case !ok || family == "":
		l.faultName(setting, Name, "is not a valid column", "write \"family:qualifier\"")
	case t != nil && len(t.Families) > 0 && !slices.ContainsFunc(t.Families, func(f Family) bool { return f.Name == family }):
		names := make([]string, len(t.Families))
		for i, f := range t.Families {
			names[i] = f.Name
		}
		l.faultName(setting, UnknownFamily, "table "+t.Name+" has no family "+family, didYouMean(family, names, "use "+oneOf(names)))
	case len(qualifier) > longQualifier:
		l.warnName(setting, LongName, fmt.Sprintf("the qualifier's %d bytes are stored in every cell", len(qualifier)), "a few letters do")
	}
}

func (l *loader) checkColumn(c *Config, p *Pipeline, r *Rows, column *Column, setting string) {
	l.checkColumnName(c.Table(r.Table), column.Name, setting)
	_, members := column.members()
	f := p.field(column.Field)
	switch {
	case column.Field == "" || members && column.Field == wholeRecord:
	case column.Field == wholeRecord:
		l.fault(setting, Members, "one column cannot hold the members of the record", "write \"family:*\": \"*\" for one column per member")
	case f == nil:
		l.noField(p, setting, column.Field)
	case members && f.eventType() != event.Nested && f.eventType() != 0:
		l.fault(setting, Members, "field "+f.Name+" is declared "+f.Type+", which has no members",
			"declare it as json, or give the column a name instead of *")
	}
	if members {
		l.checkPrefix(r, column, setting)
	}
	for _, name := range []string{".except", ".limit"} {
		if !members && l.has(setting+name) {
			l.fault(setting+name, Members, "does nothing for a single column", "remove it, or write \"family:*\" for one column per member")
		}
	}
	if i := slices.IndexFunc(r.As, func(k KeyField) bool { return k.Name == column.Field && k.Field != column.Field }); i >= 0 {
		l.fault(setting, KeyNames, "field "+column.Field+" has the same name as a field of this entry's key, which is filled from "+r.As[i].Field+
			", so a query could not show both",
			"give the key's field its own name, such as owner: "+r.As[i].Field)
	}
	l.checkSameColumn(c, p, r, column, setting)
}

// checkPrefix checks that the columns of two fields' members differ in their prefixes.
func (l *loader) checkPrefix(r *Rows, column *Column, setting string) {
	for i := range r.Set {
		o := &r.Set[i]
		if o == column {
			return
		}
		if _, members := o.members(); members && (strings.HasPrefix(column.Name, strings.TrimSuffix(o.Name, "*")) ||
			strings.HasPrefix(o.Name, strings.TrimSuffix(column.Name, "*"))) {
			l.faultName(setting, Members, "a member of "+o.Field+" can go to the same column, under "+o.Name,
				"give the two names different prefixes, as in \"f:a_*\" and \"f:b_*\", or use two families")
		}
	}
}

// checkSameColumn compares a column with the same column of earlier entries, because readers take both for one.
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
			l.fault(setting, ColumnDiffers, fmt.Sprintf("field %s is %s, and %s fills this column of %s from %s, which is %s", a.Name, a.Type,
				other.name(p), r.Table, b.Name, b.Type),
				"give one of them its own column")
		case other.pipeline == p && a.Name != b.Name:
			l.warn(setting, ColumnDiffers, fmt.Sprintf("%s fills this column of %s from %s, so brine query shows both as %s", other.name(p),
				r.Table, b.Name, b.Name),
				"give one of them its own column")
		}
	}
}

// checkPack checks a packed column.
func (l *loader) checkPack(c *Config, p *Pipeline, r *Rows, column *PackedColumn, setting string) {
	l.checkColumnName(c.Table(r.Table), column.Name, setting)
	if p.Changes == changesPartial {
		l.faultName(setting, PartialPack, "one cell holds all its fields, so a change that carries only some of them would drop the others",
			"write changes: whole if each record carries every field, or give each field a column under set")
	}
	if r.sets(column.Name) {
		l.faultName(setting, Duplicate, "is also set on its own, under set", "keep one of the two")
	}
	for _, f := range column.Fields {
		if f.Field != "" && p.field(f.Field) == nil {
			l.noField(p, join(setting+".fields", f.Name), f.Field)
		}
	}
	for _, other := range writers(c, r.Table) {
		if other == r {
			return // later entries compare with this one
		}
		its := other.packed(column.Name)
		if other.sets(column.Name) || its != nil && !sameCells(p.pack(column), other.pipeline.pack(its)) {
			l.faultName(setting, PackDiffers, other.name(p)+" packs this cell of "+r.Table+
				" differently, so each would drop what the other wrote",
				"pack the same fields under the same names in both, or use another column")
		}
	}
}

// sameCells reports whether readers find the same in the cells of two packs.
func sameCells(a, b *event.Pack) bool {
	missing := func(f event.PackedField) bool { return !slices.Contains(b.Fields, f) }
	return a.Packing == b.Packing && len(a.Fields) == len(b.Fields) && !slices.ContainsFunc(a.Fields, missing)
}

// sets reports whether the row has the column of its own, not packed.
func (r *Rows) sets(column string) bool {
	return slices.ContainsFunc(r.Set, func(c Column) bool { return c.Name == column })
}

// checkNulls checks what null fields do to rows.
func (l *loader) checkNulls(c *Config, p *Pipeline, r *Rows, setting string) {
	policy, t := sink.NullPolicy(r.Nulls), c.Table(r.Table)
	if policy != sink.NullsStore && !policy.Deletes() || t == nil {
		return
	}
	if t.Row == rowEvent {
		l.warn(setting, Unused, "does nothing in "+t.Name+", whose rows are events and are written only once", "remove it")
	}
	if p.Changes == changesPartial && (policy.Deletes() || !p.saysWhatItLacks()) {
		l.fault(setting, PartialNulls, "a field that a change does not carry would count as null, and its column would be emptied",
			"write changes: whole if each record carries every field, or nulls: merge")
	}
	if policy == sink.NullsStore {
		l.checkStored(p, r)
		return
	}
	if what, fix := p.untimed(); what != "" {
		l.fault(setting, VersionType, "it writes delete markers, which HBase orders by time, but "+what, fix+", or write nulls: store")
	}
	if policy == sink.NullsDelete {
		l.checkNoMembers(r)
	}
	for _, other := range writers(c, t.Name) {
		// all entries of one pipeline have the same version
		if shared := sharedFamily(r, other); other.pipeline != p && shared != "" && policy == sink.NullsReplace {
			l.fault(setting, SharedFamily,
				fmt.Sprintf("pipeline %s also writes family %s of %s, and its cells would vanish with each row that this one replaces",
					other.pipeline.Name, shared, t.Name),
				"give each pipeline its own family, or write nulls: delete")
		}
	}
}

// saysWhatItLacks reports whether a partial change of the pipeline says which fields it lacks, so that its nulls are values: a change of
// Debezium's has every column that the database sent. In Protobuf a null is a field that the message does not have.
func (p *Pipeline) saysWhatItLacks() bool {
	return event.EnvelopeForm(p.Envelope.Form) == event.Debezium && p.Format != contract.Protobuf
}

// checkMerged warns about columns that keep their former values when their fields become null, where a null surely is a value: in the
// changes of a database's rows.
func (l *loader) checkMerged(p *Pipeline, r *Rows, t *Table) {
	logged := p.Envelope.Form != "" || p.position() != nil || p.imaged()
	switch {
	case t.Row != rowEntity || r.Nulls != string(sink.NullsMerge):
		return
	case !logged || p.Changes == changesPartial && !p.saysWhatItLacks():
		return
	}
	var kept []string
	key := t.rowKeys.First().Fields()
	for _, column := range p.nullable(r, key) {
		if _, members := column.members(); !members && !slices.Contains(kept, column.Field) {
			kept = append(kept, column.Field)
		}
	}
	for i := range r.Pack { // one that becomes empty
		fields := p.packedFields(&r.Pack[i])
		if !slices.ContainsFunc(fields, func(f PackedField) bool { return p.neverNull(r, f.Field, key) }) {
			kept = append(kept, r.Pack[i].Name)
		}
	}
	if len(kept) > 0 {
		l.warn(r.setting+".nulls", KeptNulls, "a column keeps its former value when its field becomes null: "+strings.Join(kept, ", "),
			"write nulls: store")
	}
}

// checkEmptied warns about columns that an earlier entry fills as well, if both store nulls: a null of either empties what the other wrote.
// Entries of one pipeline that fill a column from one field agree about it.
func (l *loader) checkEmptied(c *Config, p *Pipeline, r *Rows, t *Table) {
	if t.Row != rowEntity || r.Nulls != string(sink.NullsStore) {
		return
	}
	key := t.rowKeys.First().Fields()
	for i := range r.Set {
		column, said := &r.Set[i], (*Pipeline)(nil)
		for _, other := range writers(c, t.Name) {
			if other == r {
				break
			}
			at := slices.IndexFunc(other.Set, func(o Column) bool { return o.Name == column.Name })
			if other.Nulls != r.Nulls || other.pipeline == said || at < 0 || other.pipeline == p && other.Set[at].Field == column.Field ||
				p.neverNull(r, column.Field, key) && other.pipeline.neverNull(other, other.Set[at].Field, key) {
				continue
			}
			said = other.pipeline
			l.warn(join(r.setting+".set", column.Name), SharedNulls, other.name(p)+" also fills this column of "+t.Name+
				" and stores nulls, so a change whose field is null or absent empties what the other wrote",
				"give each its own column, or write nulls: merge in one of them; leave it if both publish the same rows whole")
		}
	}
}

// nullable returns the columns whose fields may be null. Packed columns are not among them, because they are replaced as a whole.
func (p *Pipeline) nullable(r *Rows, key []string) (out []*Column) {
	for i := range r.Set {
		if !p.neverNull(r, r.Set[i].Field, key) {
			out = append(out, &r.Set[i])
		}
	}
	return out
}

// neverNull reports whether a field has a value in every event that becomes a row with this key.
func (p *Pipeline) neverNull(r *Rows, name string, key []string) bool {
	if at := p.position(); at != nil && slices.Contains([]string{at.LSN, at.File, at.Pos, at.Source}, name) {
		return true
	}
	renamed := func(f KeyField) bool { return f.Field == name && slices.Contains(key, f.Name) }
	at, n := p.versionFields()
	return name == at || name == n || name == p.Images.Deleted || slices.Contains(key, name) || slices.ContainsFunc(r.As, renamed) ||
		p.always(name)
}

// checkStored checks rows whose nulls are stored.
func (l *loader) checkStored(p *Pipeline, r *Rows) {
	l.checkNoMembers(r)
	for _, column := range r.Set {
		f := p.field(column.Field)
		if f == nil || p.always(column.Field) {
			continue
		}
		if _, ok := event.NullCell(f.eventType()); !ok {
			l.faultName(join(r.setting+".set", column.Name), StoredNulls,
				"field "+f.Name+" is declared "+f.Type+", whose empty value would look like a null", "put it into pack, or give it a default")
		}
	}
}

// sharedFamily returns a family that both rows write, or "" if there is none.
func sharedFamily(a, b *Rows) string {
	has := map[string]bool{}
	for _, name := range a.columnNames() {
		has[familyOf(name)] = true
	}
	for _, name := range b.columnNames() {
		if has[familyOf(name)] {
			return familyOf(name)
		}
	}
	return ""
}

// checkNoMembers rejects member columns, because it is unknown which columns an event could have had, so none can be emptied.
func (l *loader) checkNoMembers(r *Rows) {
	for _, column := range r.Set {
		if _, ok := column.members(); ok {
			l.faultName(join(r.setting+".set", column.Name), MembersNulls,
				"nulls: "+r.Nulls+" cannot know for which columns an event lacks a member", "write nulls: replace, or nulls: merge")
		}
	}
}

// checkRowTTL checks how long an entry's cells are kept.
func (l *loader) checkRowTTL(p *Pipeline, r *Rows, t *Table) {
	at := r.setting + ".ttl"
	if r.TTL == "" {
		return
	}
	if what, fix := p.untimed(); what != "" {
		l.fault(at, RowTTL, "it is counted from the version, but "+what, fix+", or remove the ttl")
	}
	if policy := sink.NullPolicy(r.Nulls); policy.Deletes() {
		l.fault(at, RowTTL, "it would also expire the delete markers of nulls: "+r.Nulls+", and older cells would reappear",
			"set the family's ttl, or write nulls: merge")
	}
	d, fixed := r.ttlFor()
	if !fixed {
		l.checkUntil(p, r.TTL, at)
		return
	}
	if _, err := when.Duration(r.TTL); err != nil || d < time.Millisecond {
		l.fault(at, RowTTL, quote(r.TTL)+" is neither a time nor a field", "write ttl: 30d, or a field that is a time")
		return
	}
	for _, column := range r.columnNames() {
		if t == nil {
			break
		}
		if i := slices.IndexFunc(t.Families, func(f Family) bool { return f.Name == familyOf(column) }); i >= 0 && t.Families[i].TTL > 0 &&
			t.Families[i].TTL <= d {
			l.warn(at, Unused, "does nothing in family "+t.Families[i].Name+", whose own ttl is "+DurationText(t.Families[i].TTL),
				"write a shorter one, or a longer one there")
			break
		}
	}
}

// checkUntil checks a field that holds the time until which cells are kept.
func (l *loader) checkUntil(p *Pipeline, name, setting string) {
	f := p.field(name)
	switch {
	case f == nil:
		l.noField(p, setting, name)
	case f.eventType() != 0 && !f.eventType().IsTime():
		l.fault(setting, RowTTL, "field "+f.Name+" is declared "+f.Type, "name a field that holds the time of expiry: a time_ms, time_s or time")
	}
}
