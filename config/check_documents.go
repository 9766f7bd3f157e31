package config

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"brine/command"
	"brine/event"
	"brine/query"
	"brine/rowkey"
	"brine/sink"
)

// indexTypes maps each type of an index to the field types that it accepts.
var indexTypes = map[string][]event.Type{
	"keyword": {event.Text, event.Decimal, event.Bytes}, "text": {event.Text},
	"long": {event.Int, event.TimeUS, event.TimeNS}, "double": {event.Float},
	"boolean": {event.Bool}, "date": {event.TimeMS, event.TimeS, event.Time, event.Date},
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
			l.fault(setting+".index", Duplicate, "the pipeline already writes this document to "+d.Index, "put all fields into one entry")
		}
	}
	if d.Table != "" && !slices.ContainsFunc(p.Rows, func(r Rows) bool { return r.Table == d.Table }) {
		l.fault(setting+".table", UnknownTable, "the pipeline writes no rows to "+d.Table, "name one of the tables of its rows")
	}
	l.checkDocumentTable(p, cmp.Or(d.Table, p.firstTable()), setting)
	if p.imaged() && d.deleted(p) == "" {
		l.fault(setting, ImagesCode, "a change can give a document another id, and nothing would hide the old document",
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

// checkDocumentTable checks that the id of a document comes from the key of one row, over the event's own fields.
func (l *loader) checkDocumentTable(p *Pipeline, table, setting string) {
	all := p.entriesOf(table)
	if len(all) == 0 || len(all) == 1 && len(all[0].As)+len(all[0].Each) == 0 {
		return
	}
	at := setting
	if l.has(setting + ".table") {
		at += ".table"
	}
	l.fault(at, ManyRows, "a document belongs to one row, but an event's rows in "+table+" are renamed (as) or several (each)",
		"set table to one of the pipeline's tables whose rows have neither as nor each")
}

// checkAlike warns about rows that do not end as their source's, and about documents that do not end together with their rows.
func (l *loader) checkAlike(c *Config) {
	outlived := map[*Index]bool{}
	for _, p := range c.Pipelines {
		for i := range p.Rows {
			l.checkMerged(p, &p.Rows[i], c.Table(p.Rows[i].Table))
			l.checkEmptied(c, p, &p.Rows[i], c.Table(p.Rows[i].Table))
		}
		for i := range p.Documents {
			d := &p.Documents[i]
			r := p.rowsOf(cmp.Or(d.Table, p.firstTable()))
			t, x := c.Table(r.Table), c.Index(d.Index)
			l.checkTies(p, r, d, t)
			l.checkVersionsBeside(p, "index "+x.Name, func(other *Pipeline) bool { // without those that the table's check names
				into := func(o Documents) bool { return o.Index == x.Name }
				return slices.ContainsFunc(other.Documents, into) && len(other.entriesOf(t.Name)) == 0
			})
			if x.Every == "" && (t.keep() > 0 || r.TTL != "") && !outlived[x] {
				outlived[x] = true
				l.warn(join("indexes", x.Name)+".every", DocumentTTL, "rows of "+t.Name+
					" expire by their ttl, but their documents stay: searches find what is no longer in HBase",
					partsOrReindex(c, p, t, x))
			}
		}
	}
}

// checkTies warns about whole changes with the same version: for a field that is null in the last one applied, the row keeps the other
// change's value and the document does not.
func (l *loader) checkTies(p *Pipeline, r *Rows, d *Documents, t *Table) {
	counted, _ := p.untimed()
	if t.Row != rowEntity || p.Changes == changesPartial || r.Nulls != string(sink.NullsMerge) || counted != "" {
		return
	}
	field := inBoth(p, r, d, t.rowKeys.First().Fields())
	if field == "" {
		return
	}
	fix := "write version: seq(at, n) if the source counts such changes"
	if mayBePartial(p) {
		fix = "write changes: partial, so that the document keeps its value too"
	}
	l.warn(r.setting+".nulls", DocumentNulls, "if two changes share a version and "+field+
		" is null in the last one, the row keeps the other's value, but its document in "+d.Index+" has none",
		fix+", or make each record carry every field")
}

// inBoth returns a field that may be null and fills both a column and the document, or "" if there is none. Packed columns do not count,
// because they are replaced as a whole, as the document is.
func inBoth(p *Pipeline, r *Rows, d *Documents, key []string) string {
	fills := func(name string) bool {
		return d.deleted(p) == name || slices.ContainsFunc(d.Set, func(f DocumentField) bool { return f.Field == name })
	}
	for _, column := range p.nullable(r, key) {
		if fills(column.Field) {
			return column.Field
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

// partsOrReindex returns how to make documents end with their rows: by parts, if the index can have parts and the table has a TTL, else by
// reindexing.
func partsOrReindex(c *Config, p *Pipeline, t *Table, x *Index) string {
	names := t.rowKeys.First().Fields()
	i := slices.IndexFunc(names, func(name string) bool { return keyType(p, name) == rowkey.Time })
	if _, embedded := c.Search.Embedded(); embedded || i < 0 || t.keep() == 0 {
		return "run brine reindex " + x.Name + " --from hbase now and then, which leaves them out"
	}
	return "write every: month, and set time to a date filled with " + names[i] + " of the row key; if the index exists, do so in a new one"
}

// checkCommands reports what keeps the pipeline's commands from being ordinary changes.
func (l *loader) checkCommands(c *Config, p *Pipeline) {
	setting, s := join("pipelines", p.Name)+".commands", &p.Commands
	if !l.has(setting) {
		return
	}
	for _, must := range []struct{ name, value, example string }{
		{"state", s.State, "state: status"}, {"record_key", s.RecordKey, "record_key: order"},
		{"states", strings.Join(s.States, ""), "states: [created, paid], those that other producers' records set"},
		{"transitions", strings.Repeat("x", len(s.Transitions)), "transitions: { confirm: { from: [shipped], to: received, … } }"},
	} {
		if must.value == "" {
			l.fault(setting, Missing, "has no "+must.name, "write "+must.example)
			return
		}
	}
	if !l.checkCommandRecords(p, setting) {
		return
	}
	t, ok := l.checkCommandTable(c, p, setting)
	if !ok {
		return
	}
	l.checkCommandFields(p, t, setting)
	for i := range s.Transitions {
		l.checkTransition(p, t, &s.Transitions[i], join(setting+".transitions", s.Transitions[i].Name))
	}
	if l.problems.Err() == nil {
		l.checkStates(p.machine(t), p, setting)
	}
}

// checkCommandRecords checks that records can be commands: JSON, with a time as the version and the fields that a command changes.
func (l *loader) checkCommandRecords(p *Pipeline, setting string) bool {
	version, n := p.versionFields()
	f := p.field(version)
	problem := func(code Code, what, fix string) bool {
		l.fault(setting, code, what, fix)
		return false
	}
	switch {
	case p.Format != "json" || p.values.framed() || p.Envelope.Form != "" || p.imaged():
		return problem(CommandsCode, "a command is one plain JSON object, but the pipeline's records are in another format or wrapped",
			"publish changes as plain JSON, format: json, or remove the commands")
	case p.Changes != changesPartial:
		return problem(CommandsCode, "a command carries only the fields that it changes, but the pipeline takes each change as the whole row",
			"write changes: partial, or remove the commands")
	case version == "" || p.position() != nil || n != "":
		return problem(VersionType, "a command's version must be at least 1 ms after the row's, but the pipeline's version is not a time field",
			"set version to a field of type time_ms, or remove the commands")
	case f == nil || f.unit() != "" || !f.eventType().IsTime():
		return problem(VersionType, "a command's version must be at least 1 ms after the row's, but the pipeline's version is "+
			typeName(p, version),
			"declare "+version+" as time_ms, or remove the commands")
	case p.commandTopic() == "":
		return problem(CommandsCode, "the pipeline reads several topics, but commands go to one", "set topic to the one for commands")
	case !kafkaName(p.commandTopic()):
		return problem(Name, "topic "+quote(p.commandTopic())+" is not a valid topic name", topicNames)
	}
	return true
}

// checkCommandTable checks the rows that commands change.
func (l *loader) checkCommandTable(c *Config, p *Pipeline, setting string) (query.Table, bool) {
	problem := func(code Code, what, fix string) (query.Table, bool) {
		l.fault(setting, code, what, fix)
		return query.Table{}, false
	}
	name := p.commanded()
	entries := p.entriesOf(name)
	if len(entries) != 1 {
		return problem(CommandsCode, "the pipeline writes "+strconv.Itoa(len(entries))+" rows per event to table "+name+", not one",
			"set table to one of the tables of its rows")
	}
	r := entries[0]
	switch {
	case c.Table(name).Row != rowEntity:
		return problem(CommandsCode, "rows of "+name+" are events, which never change", "set table to one whose rows are entities")
	case r.When != "" || len(r.Each) > 0 || len(r.As) > 0 || r.TTL != "":
		return problem(CommandsCode, "rows of "+name+" have when, each, as or ttl, so a change may end up in another row or in none",
			"remove them, or the commands")
	case r.HardDeletes:
		return problem(HardDeletes, "rows of "+name+" are deleted hard, so nobody could see what a command has deleted",
			"only mark rows as deleted: hard_deletes: false")
	case slices.ContainsFunc(c.Pipelines, func(other *Pipeline) bool {
		return other != p && len(other.Commands.Transitions) > 0 && other.commanded() == name
	}):
		return problem(Duplicate, "another pipeline also has commands for "+name, "keep one of the two")
	}
	t, _ := c.Query(c.Table(name))
	return t, true
}

// checkCommandFields checks the fields that are read from a row to make a change of it.
func (l *loader) checkCommandFields(p *Pipeline, t query.Table, setting string) {
	s := &p.Commands
	switch f := p.field(s.State); {
	case f == nil:
		l.noField(p, setting+".state", s.State)
	case f.eventType() != event.Text:
		l.fault(setting+".state", FieldTypes, "field "+f.Name+" is declared "+f.Type, "a state must be a text")
	case !columnOf(t, s.State):
		l.fault(setting+".state", CommandsCode, "no column of "+t.Name+" holds field "+s.State, "set one from it")
	}
	if f := p.field(s.RecordKey); f == nil {
		l.noField(p, setting+".record_key", s.RecordKey)
		return
	} else if t := f.eventType(); t != event.Text && t != event.Int {
		l.fault(setting+".record_key", FieldTypes, "field "+f.Name+" is declared "+f.Type, "the record key must be a text or an int here")
	}
	version, _ := p.versionFields()
	for _, name := range append(p.carried(), s.State, version) {
		l.checkWritten(p, name, setting)
	}
	for _, name := range p.carried() {
		if f := p.field(name); f.Value == "" && !columnOf(t, name) && !t.Keys.Newest().Gives(name) {
			l.fault(setting, CommandsCode, "every change carries "+name+", but rows of "+t.Name+" do not hold it",
				"set a column from it, so that a command can carry it too")
		}
	}
}

func columnOf(t query.Table, field string) bool {
	return slices.ContainsFunc(t.Columns, func(c query.Column) bool { return c.Field == field && !c.Members })
}

// checkWritten checks that a command can write a field.
func (l *loader) checkWritten(p *Pipeline, name, setting string) {
	if f := p.field(name); f != nil {
		of := f.event()
		if err := command.Writes(&of); err != nil {
			l.fault(setting, CommandsCode, "a command cannot write field "+name+": "+err.Error(),
				"declare it the way records hold it, or leave it out")
		}
	}
}

// roles are the roles of accounts.
var roles = []string{"customer", "support", "operator", "admin"}

func (l *loader) checkTransition(p *Pipeline, t query.Table, x *Transition, setting string) {
	if !viewNames.MatchString(x.Name) {
		l.faultName(setting, Name, "is not a valid command name", "use lower-case letters, digits, \"_\" and \"-\", a letter first")
	}
	if len(x.From) == 0 || slices.Contains(x.From, x.To) && len(x.Set)+len(x.Take) == 0 {
		l.fault(setting+".from", CommandsCode, "the command has no state to start from, or changes nothing", "name states other than "+x.To)
	}
	if len(x.Roles) == 0 {
		l.fault(setting+".roles", CommandsCode, "nobody may send the command", "name one of "+oneOf(roles))
	}
	for i, role := range x.Roles {
		if !slices.Contains(roles, role) {
			l.fault(setting+".roles["+strconv.Itoa(i)+"]", Choice, quote(role)+" is not a role", didYouMean(role, roles, "write "+oneOf(roles)))
		}
	}
	var names []string
	for _, v := range x.Set {
		names = append(names, v.Name)
	}
	version, _ := p.versionFields()
	for _, name := range append(names, x.Take...) {
		f, at := p.field(name), setting
		switch {
		case f == nil:
			l.noField(p, at, name)
		case name == p.Commands.State, name == version, slices.Contains(p.carried(), name):
			l.fault(at, CommandsCode, "field "+name+" is the state, the version or part of a key", "remove it")
		case f.eventType() == event.Nested:
			l.fault(at, FieldTypes, "field "+name+" is json, which commands cannot set", "remove it")
		case name == t.Deleted && slices.Contains(x.Take, name):
			l.fault(at, CommandsCode, "field "+name+" deletes the row, which the caller may not choose", "put it under set")
		default:
			l.checkWritten(p, name, at)
		}
	}
	for _, v := range x.Set {
		if f := p.field(v.Name); f != nil {
			if _, err := f.given(v.Value); err != nil {
				l.fault(join(setting+".set", v.Name), FieldTypes, "is "+quote(string(v.Value))+", but the field is declared "+f.Type,
					"write a value of that type")
			}
		}
		if slices.Contains(x.Take, v.Name) {
			l.fault(join(setting+".set", v.Name), Duplicate, "field "+v.Name+" is also under take", "keep one of the two")
		}
	}
}

// checkStates checks that each state that a command starts from is reachable.
func (l *loader) checkStates(m command.Machine, p *Pipeline, setting string) {
	reached := command.Reachable(p.Commands.States, m.Commands)
	for i := range m.Commands {
		x := &m.Commands[i]
		for _, from := range x.From {
			at := join(setting+".transitions", x.Name) + ".from"
			switch {
			case !slices.Contains(reached, from):
				l.fault(at, CommandsCode, "no row ever becomes "+quote(from)+": no transition leads there from "+strings.Join(p.Commands.States, ", "),
					didYouMean(from, reached, "add it to states, if other producers' records set it"))
			case m.OnlyDeleted(from, p.Commands.States) && !m.Restores(x):
				l.fault(at, CommandsCode, "rows in state "+quote(from)+" are deleted, so nobody would see what a command changes in them",
					"write set: { "+m.Table.Deleted+": false }, or leave the state out")
			}
		}
	}
}
