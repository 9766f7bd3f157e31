package config

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"brine/event"
)

const (
	rowEvent       = "event"
	rowEntity      = "entity"
	changesPartial = "partial"
)

func (l *loader) checkPipeline(c *Config, p *Pipeline) {
	setting := join("pipelines", p.Name)
	if !pipelineNames.MatchString(p.Name) {
		l.faultName(setting, Name, "is no name of a pipeline", "use letters, digits, \"_\" and \"-\", since consumer groups are named after it")
	}
	l.checkTopics(p, setting)
	l.checkFields(p, setting)
	l.checkVersion(p, setting)
	l.checkLateness(p, setting)
	l.checkHotFields(p, setting+".hot_fields")
	l.checkImages(p, setting+".images")
	isMapping := l.near(setting).value.Kind == yaml.MappingNode // else reported already
	if len(p.Rows)+len(p.Documents) == 0 && isMapping && !l.has(setting+".rows") && !l.has(setting+".documents") {
		l.faultName(setting, NothingToWrite, "it has neither rows nor documents", "write rows: [ { table: …, set: { … } } ]")
	}
	for i := range p.Rows {
		l.checkRows(c, p, i)
	}
	for i := range p.Documents {
		l.checkDocuments(c, p, i, setting+".documents["+strconv.Itoa(i)+"]")
	}
	l.checkStores(c, p, setting)
	l.checkWrite(c, p, setting+".write")
}

func (l *loader) checkTopics(p *Pipeline, setting string) {
	for name, topic := range map[string]string{".topic": p.Topic, ".dead_letters": p.DeadLetters} {
		if topic != "" && !kafkaName(topic) {
			l.fault(setting+name, Name, "is no name of a topic", "use letters, digits, \".\", \"_\" and \"-\", at most 249")
		}
	}
	if p.DeadLetters != "" && p.DeadLetters == p.Topic {
		l.fault(setting+".dead_letters", DeadLetterTopic, "is the topic that the pipeline reads, so each dead letter would be read again",
			"write another topic, or leave it away for "+p.Topic+".dead")
	}
}

func (l *loader) checkFields(p *Pipeline, setting string) {
	for i := range p.Fields {
		f := &p.Fields[i]
		at := join(setting+".fields", f.Name)
		if !fieldNames.MatchString(f.Name) {
			l.faultName(at, Name, "is no name of a field", "use letters, digits and \"_\", not a digit first; where the record calls it otherwise, give its path: "+
				"my_name: { type: text, path: "+f.Name+" }")
		}
		for j := range p.Fields[:i] {
			if l.checkPaths(f, &p.Fields[j], at) {
				break
			}
		}
		l.checkFieldType(f, at)
	}
}

// checkFieldType holds a field to the settings that its type has.
func (l *loader) checkFieldType(f *Field, setting string) {
	t := f.eventType()
	switch _, err := event.ParseTimeFormat(f.Format, f.Zone); {
	case t == event.Time && err != nil:
		at := setting + ".format"
		if l.has(setting + ".zone") {
			at = setting + ".zone"
		}
		what, fix := cutFix(err.Error())
		l.fault(at, FieldTypes, what, fix)
	case t != event.Time && f.Format != "":
		l.fault(setting+".format", FieldTypes, "is how a time is written, and the field is declared "+f.Type, "declare it time, or remove the format")
	case t != event.Time && f.Zone != "":
		l.fault(setting+".zone", FieldTypes, "is that of times without one, and the field is declared "+f.Type, "declare it time, or remove the zone")
	}
	if f.From != "" && t != event.Text && t != 0 {
		l.fault(setting+".from", FieldTypes, "makes a text of numbers, and the field is declared "+f.Type, "declare it text, or remove it")
	}
}

// checkPaths reports a field whose path is that of an earlier one, or one of which lies inside the other.
func (l *loader) checkPaths(f, earlier *Field, setting string) (found bool) {
	switch a, b := f.path(), earlier.path(); {
	case slices.Equal(a, b):
		l.fault(setting, Duplicate, "has the path of field "+earlier.Name, "keep one: a field can be used in many places")
	case inside(a, b):
		l.fault(setting, FieldTypes, "lies inside field "+earlier.Name+", which is declared "+earlier.Type+" and so is taken as a whole", "fix one of the two paths")
	case inside(b, a):
		l.fault(setting, FieldTypes, "holds field "+earlier.Name+", but is declared "+f.Type+" and so is no object", "fix one of the two paths")
	default:
		return false
	}
	return true
}

// inside reports whether path a goes through path b.
func inside(a, b []string) bool { return len(a) > len(b) && slices.Equal(a[:len(b)], b) }

// noField reports the name of a field that the pipeline does not declare.
func (l *loader) noField(p *Pipeline, setting, name string) {
	names := make([]string, len(p.Fields))
	for i := range p.Fields {
		names[i] = p.Fields[i].Name
	}
	fix := "declare it in pipelines." + p.Name + ".fields"
	if near := nearest(name, names); near != "" {
		fix = "did you mean " + near + "?"
	}
	l.fault(setting, UnknownField, "the pipeline declares no field "+name, fix)
}

func didYouMean(name string, names []string, otherwise string) string {
	if near := nearest(name, names); near != "" {
		return "did you mean " + near + "?"
	}
	return otherwise
}

// checkRowOfTable checks what a pipeline's changes mean to a table's rows.
func (l *loader) checkRowOfTable(p *Pipeline, t *Table, setting string) {
	if t.Row == rowEvent && p.Changes == changesPartial {
		l.warn(setting+".table", PartialEvent, "its rows are events, of which no part can change, and the pipeline has changes: partial",
			"write row: entity in the table, or changes: whole here")
	}
	l.checkVersionOf(p, t)
}

func (l *loader) checkColumnName(t *Table, name, setting string) {
	family, qualifier, ok := strings.Cut(name, ":")
	switch {
	case !ok || family == "":
		l.faultName(setting, Name, "is no column", "write \"family:qualifier\"")
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
		l.fault(setting+".index", UnknownIndex, "indexes has no "+d.Index, didYouMean(d.Index, names, "add it: indexes: { "+d.Index+": { fields: { … } } }"))
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
	if len(p.Images.Before) > 0 && d.deleted(p) == "" {
		l.fault(setting, ImagesCode, "a change can move a document away from its id, and nothing would hide what it leaves", "name a bool field: images: { …, deleted: gone }, or deleted: here")
	}
	if f := p.field(d.Deleted); d.Deleted != "" && f == nil {
		l.noField(p, setting+".deleted", d.Deleted)
	} else if f != nil && f.eventType() != event.Bool && f.eventType() != 0 {
		l.fault(setting+".deleted", FieldTypes, "field "+f.Name+" is "+f.Type, "only a bool can say that a document is deleted")
	}
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
		l.faultName(setting, UnknownTarget, "index "+x.Name+" has no field "+f.Name, didYouMean(f.Name, names, "add it to indexes."+x.Name+".fields"))
		return
	}
	if want := target.Type; source != nil && source.eventType() != 0 && want != "" && !slices.Contains(indexTypes[want], source.eventType()) {
		l.fault(setting, FieldTypes, fmt.Sprintf("field %s is %s, and index %s takes %s here", source.Name, source.Type, x.Name, want), "change one of the two types")
	}
}

func (l *loader) checkStores(c *Config, p *Pipeline, setting string) {
	if len(p.Rows) > 0 && c.Cluster.Connect == "" && !l.has("hbase.connect") {
		l.fault(setting+".rows", NoStore, "rows need an HBase, and hbase.connect is absent", "write hbase: { connect: \"rpc://localhost:16000\" }")
	}
	if len(p.Documents) > 0 && c.Search.Connect == "" && !l.has("search.connect") {
		l.fault(setting+".documents", NoStore, "documents need a search engine, and search.connect is absent", "write search: { connect: \"http://localhost:9200\" }")
	}
	if len(p.Documents) > 0 && len(p.Rows) == 0 {
		l.fault(setting+".documents", NothingToWrite, "a document's id comes from its row's key, and the pipeline has no rows", "write the pipeline's rows")
	}
}

// durabilityLosses say what is lost when.
var durabilityLosses = map[string]string{
	"unsafe_async_wal": "a region server that dies LOSES ROWS that it has acknowledged, those of the last moments, and their offsets are committed",
	"unsafe_skip_wal": "a region server that dies LOSES ALL ROWS that it has acknowledged and not flushed, up to hours of them, and their offsets are committed; " +
		"replication to other clusters never sees any of the rows",
}

func (l *loader) checkWrite(c *Config, p *Pipeline, setting string) {
	l.checkRetries(setting+".retries", p.Write.Retries)
	if p.Write.WriteBuffer > c.Memory/4 && l.has(setting+".write_buffer") {
		l.fault(setting+".write_buffer", Buffer, "is more than a quarter of memory, which is "+c.Memory.String(), "write at most "+(c.Memory/4).String())
	}
	if losses, unsafe := durabilityLosses[p.Write.Durability]; unsafe {
		l.warn(setting+".durability", UnsafeWrites, losses, "write table, unless the rows can be had again: by brine replay, while the topic still holds their records")
	}
	if !p.Write.Autoflush {
		return
	}
	for _, name := range []string{".write_buffer", ".linger"} {
		if l.has(setting + name) {
			l.warn(setting+name, Unused, "does nothing while autoflush is true", "write autoflush: false, or remove it")
		}
	}
}
