package config

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"brine/event"
	"brine/lookup"
	"brine/rowkey"
	"brine/sink"
)

// bind links pipelines and their rows to what they are part of.
func (c *Config) bind() {
	c.shared = new(sharedRegistry)
	for _, p := range c.Pipelines {
		p.config, p.KeyFrom.table = c, c.Table(p.KeyFrom.Table)
		for i := range p.Rows {
			p.Rows[i].pipeline, p.Rows[i].setting = p, join("pipelines", p.Name)+".rows["+strconv.Itoa(i)+"]"
		}
	}
}

const (
	rowEvent       = "event"
	rowEntity      = "entity"
	changesPartial = "partial"
)

// Schema is the pipeline's fields as the decoder needs them.
func (p *Pipeline) Schema() event.Schema {
	at, n := p.versionFields()
	s := event.Schema{Version: slices.IndexFunc(p.Fields, func(f Field) bool { return f.Name == at }), Sequence: n,
		Lateness: p.AllowedLateness, Format: p.format, Position: p.position(),
		Images: event.Images{Before: p.Images.Before, After: p.Images.After, Deleted: p.Images.Deleted}}
	for i := range p.Fields {
		f := &p.Fields[i]
		s.Fields = append(s.Fields, event.Field{Name: f.Name, Type: f.eventType(), Path: f.Path, Format: f.Format, Zone: f.Zone,
			Numbers: f.From == "number", Decimal: f.From == "decimal", Scale: f.Scale, Made: f.made})
	}
	for _, name := range p.asked {
		s.Fields = append(s.Fields, event.Field{Name: name, Type: event.Bool, Made: true})
	}
	if p.rules != nil {
		s.Derive = p.rules
	}
	if e := p.envelope(); e != nil {
		return e.Wrap(s)
	}
	return s
}

// envelope is how records wrap rows; nil: they do not.
func (p *Pipeline) envelope() *event.Envelope {
	s := &p.Envelope
	if s.Form == "" {
		return nil
	}
	e := &event.Envelope{Form: event.EnvelopeForm(s.Form), Unwrapped: s.Unwrapped, Partial: p.Changes == changesPartial}
	if p.knowsKeyOnly() {
		e.Keys = append([]string{}, s.Key...)
	}
	if s.Truncate == refuse {
		e.Refused = append(e.Refused, event.Truncate)
	}
	if s.Message == refuse {
		e.Refused = append(e.Refused, event.Message)
	}
	return e
}

const refuse = "reject" // of truncate and message

// knowsKeyOnly reports whether records hold no more of a row before a change than its primary key.
func (p *Pipeline) knowsKeyOnly() bool {
	return p.Envelope.Form != "" && (p.Envelope.Before == "key" || p.Envelope.Unwrapped)
}

// imaged reports whether records say which row they change, or end, so that a change can leave a row behind.
func (p *Pipeline) imaged() bool { return len(p.Images.Before) > 0 || p.Envelope.Form != "" }

// Sink returns the options of the pipeline's HBase half; its hooks are the caller's to add.
func (p *Pipeline) Sink() sink.Options {
	out := sink.Options{Schema: p.Schema(), MaxCellBytes: int(p.config.Cluster.MaxCellBytes)}
	for i := range p.Rows {
		out.Rows = append(out.Rows, p.Rows[i].sink())
	}
	return out
}

// DeadLetterTopic is where the pipeline's dead letters go.
func (p *Pipeline) DeadLetterTopic() string { return cmp.Or(p.DeadLetters, p.Topic+".dead") }

func (p *Pipeline) field(name string) *Field {
	if i := slices.IndexFunc(p.Fields, func(f Field) bool { return f.Name == name }); i >= 0 {
		return &p.Fields[i]
	}
	return nil
}

// eventType is 0 while the type is missing or unknown, which is reported by itself.
func (f *Field) eventType() event.Type {
	t, err := event.ParseType(f.Type)
	if err != nil {
		return 0
	}
	return t
}

// unit is the span that a time is exact to, as second; empty if it may be exact to a millisecond, or is not a time.
func (f *Field) unit() string {
	switch f.eventType() {
	case event.TimeS:
		return "second"
	case event.Time:
		if format, err := event.ParseTimeFormat(f.Format, f.Zone); err == nil {
			return format.Unit()
		}
	}
	return ""
}

// path is where the record holds the field.
func (f *Field) path() []string {
	if len(f.Path) == 0 {
		return []string{f.Name}
	}
	return f.Path
}

var keyTypes = map[event.Type]rowkey.Type{
	event.Text: rowkey.Text, event.Int: rowkey.Int, event.Float: rowkey.Float, event.Bool: rowkey.Bool,
	event.TimeMS: rowkey.Time, event.TimeS: rowkey.Time, event.Time: rowkey.Time,
}

func keyType(p *Pipeline, field string) rowkey.Type {
	if f := p.field(field); f != nil {
		return keyTypes[f.eventType()]
	}
	return 0
}

func typeName(p *Pipeline, field string) string {
	if f := p.field(field); f != nil {
		return f.Type
	}
	return "absent"
}

var sequences = regexp.MustCompile(`^seq\( *([A-Za-z0-9_]+) *, *([A-Za-z0-9_]+) *\)$`)

var positions = regexp.MustCompile(`^(?:lsn\( *([A-Za-z0-9_]+) *\)|binlog\( *([A-Za-z0-9_]+) *, *([A-Za-z0-9_]+) *\))$`)

// position is version: lsn(at), or binlog(file, pos); nil: it is another.
func (p *Pipeline) position() *event.Position {
	m := positions.FindStringSubmatch(p.Version)
	if m == nil {
		return nil
	}
	out := &event.Position{LSN: m[1], File: m[2], Pos: m[3], Source: p.Epochs.From, Epochs: map[string]int64{}}
	for _, e := range p.Epochs.Of {
		out.Epochs[e.Name] = int64(e.Epoch)
	}
	return out
}

// versionFields are the fields of version: at, or seq(at, n). Empty means that there is none.
func (p *Pipeline) versionFields() (at, n string) {
	if p.position() != nil {
		return "", ""
	}
	if m := sequences.FindStringSubmatch(p.Version); m != nil {
		return m[1], m[2]
	}
	return p.Version, ""
}

// VersionKind says what versions count.
type VersionKind int

// The kinds of version.
const (
	Milliseconds VersionKind = iota // since 1970
	Sequence                        // a thousand a millisecond: seq(at, n)
	Number                          // a whole number that is not a time
)

// Versions are those of the table's cells: all pipelines that write it agree.
func (c *Config) Versions(t *Table) VersionKind {
	for _, r := range writers(c, t.Name) {
		at, n := r.pipeline.versionFields()
		switch f := r.pipeline.field(at); {
		case n != "":
			return Sequence
		case r.pipeline.position() != nil:
			return Number
		case f != nil && f.eventType() == event.Int:
			return Number
		}
	}
	return Milliseconds
}

// untimed words why the pipeline's versions are no milliseconds since 1970, and the fix; empty if they are.
func (p *Pipeline) untimed() (what, fix string) {
	at, n := p.versionFields()
	switch f := p.field(at); {
	case p.position() != nil:
		return "versions " + p.Version + " are places in a log and no timestamps", "write a version that is a time if the records have one"
	case n != "":
		return "versions " + p.Version + " are not timestamps", "write version: " + at + " if no two changes of a row are of one millisecond"
	case f != nil && f.eventType() == event.Int:
		return "field " + f.Name + ", the version, is not a timestamp", "declare it as time_ms if it is one"
	}
	return "", ""
}

// unbounded words why older changes than a delete may come however late, and the fix; empty if they may not.
func (p *Pipeline) unbounded() (what, fix string) {
	if p.Version == "" || p.AllowedLateness > 0 {
		return "", ""
	}
	return "nothing says how late changes of pipeline " + p.Name + " may come, and one that comes after the delete is forgotten would undo it",
		"write allowed_lateness: 1d in the pipeline, so that later ones become dead letters"
}

// Lookup describes how the pipeline's events are completed before they are written; false if they are not.
func (p *Pipeline) Lookup() (lookup.Options, bool) {
	t := p.KeyFrom.table
	if t == nil {
		return lookup.Options{}, false
	}
	return lookup.Options{Schema: p.Schema(), Table: t.Name, Keys: t.rowKeys, Fields: p.lookedUp(), Wait: p.KeyFrom.Wait}, true
}

// lookedUp are the fields of the keys of the pipeline's rows that the table of key_from has a column of. Its own key's are known.
func (p *Pipeline) lookedUp() (out []lookup.Field) {
	t := p.KeyFrom.table
	for i := range p.Rows {
		r := &p.Rows[i]
		rows := p.config.Table(r.Table)
		if rows == nil {
			continue
		}
		for _, name := range rows.rowKeys.Fields() {
			field := r.eventField(name)
			column, _ := p.config.columnOf(t, field)
			known := slices.Contains(t.rowKeys.Fields(), field) || slices.ContainsFunc(out, func(f lookup.Field) bool { return f.Name == field })
			if column == nil || known {
				continue
			}
			family, qualifier, _ := strings.Cut(column.Name, ":")
			out = append(out, lookup.Field{Name: field, Family: family, Qualifier: qualifier})
		}
	}
	return out
}

// columnOf finds the column of the table that is filled from a field of this name, and the entry that fills it.
func (c *Config) columnOf(t *Table, field string) (*Column, *Rows) {
	for _, r := range writers(c, t.Name) {
		for i := range r.Set {
			if _, members := r.Set[i].members(); r.Set[i].Field == field && !members && field != "" {
				return &r.Set[i], r
			}
		}
	}
	return nil, nil
}
