package config

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"brine/event"
	"brine/ingest"
	"brine/lookup"
	"brine/mask"
	"brine/sink"
)

// bind links pipelines and their rows to their parents.
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
	deletesMarked  = "marked"
	breakingHalts  = "halt"
)

// Schema returns the pipeline's fields as the decoder needs them.
func (p *Pipeline) Schema() event.Schema {
	at, n := p.versionFields()
	s := event.Schema{Version: slices.IndexFunc(p.Fields, func(f Field) bool { return f.Name == at }), Sequence: n,
		Lateness: p.AllowedLateness, Format: p.values.reads, Position: p.position(), KeyFormat: p.keys.reads,
		Images:     event.Images{Before: p.Images.Before, After: p.Images.After, Deleted: p.Images.Deleted},
		Tombstones: p.tombstones()}
	for i := range p.Fields {
		f := p.Fields[i].event()
		if f.Place == event.WholeKey && bySchema(p.KeyFormat) {
			f.Place = event.InKey
		}
		s.Fields = append(s.Fields, f)
	}
	for _, name := range p.asked {
		s.Fields = append(s.Fields, event.Field{Name: name, Type: event.Bool, Made: true})
	}
	if p.rules != nil {
		s.Derive = p.rules
	}
	s.Masked = p.masked()
	s.HaltBreaking = p.BreakingSchema == breakingHalts
	for _, n := range p.needs() {
		if i := slices.IndexFunc(s.Fields, func(f event.Field) bool { return f.Name == n.Field }); i >= 0 && !slices.Contains(s.Needed, i) {
			s.Needed = append(s.Needed, i)
		}
	}
	if e := p.envelope(); e != nil {
		return e.Wrap(s)
	}
	return s
}

// envelope returns how records wrap rows, or nil if they do not.
func (p *Pipeline) envelope() *event.Envelope {
	s := &p.Envelope
	if s.Form == "" {
		return nil
	}
	e := &event.Envelope{Form: event.EnvelopeForm(s.Form), Unwrapped: s.Unwrapped, Partial: p.Changes == changesPartial,
		MarkedDeletes: p.Deletes == deletesMarked}
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

const refuse = "reject" // for truncate and message

// knowsKeyOnly reports whether records hold only the primary key of a row before a change.
func (p *Pipeline) knowsKeyOnly() bool {
	return p.Envelope.Form != "" && (p.Envelope.Before == "key" || p.Envelope.Unwrapped)
}

// imaged reports whether records name the row that they change or end, so that a change can leave a row behind.
func (p *Pipeline) imaged() bool { return len(p.Images.Before) > 0 || p.Envelope.Form != "" }

// tombstones reports whether a record without a value is a delete.
func (p *Pipeline) tombstones() bool { return p.Deletes == "tombstone" }

// unwrapped reports whether records are rows that Debezium's ExtractNewRecordState has taken out of their envelope.
func (p *Pipeline) unwrapped() bool {
	return p.Envelope.Unwrapped && p.Envelope.Form == string(event.Debezium)
}

// masked returns the positions of the fields that are masked for callers without a role: those of the setting, and those computed from
// them.
func (p *Pipeline) masked() (out []int) { return p.maskedFrom("") }

// maskedFrom returns the positions of the fields that are masked for a role.
func (p *Pipeline) maskedFrom(role string) (out []int) {
	masks := func(name string) bool {
		return slices.ContainsFunc(p.Mask, func(m Masked) bool { return m.Field == name && !slices.Contains(m.ShownTo, role) })
	}
	for i := range p.Fields {
		f := &p.Fields[i]
		is := masks(f.Name)
		if !is && f.made && p.rules != nil {
			is = slices.ContainsFunc(p.rules.Sources(f.Name), func(from int) bool {
				return from < len(p.Fields) && masks(p.Fields[from].Name)
			})
		}
		if is {
			out = append(out, i)
		}
	}
	return out
}

// Mask returns what the pipelines mask.
func (c *Config) Mask() *mask.Rules { return c.maskFrom("") }

// maskFrom returns what is masked for a role.
func (c *Config) maskFrom(role string) *mask.Rules {
	out := &mask.Rules{}
	for _, p := range c.Pipelines {
		for _, i := range p.maskedFrom(role) {
			p.mask(out, p.Fields[i].Name)
		}
	}
	return out
}

// Unmask turns off all masking.
func (c *Config) Unmask() {
	for _, p := range c.Pipelines {
		p.Mask = nil
	}
}

// mask masks a field of the pipeline in every place where it is written.
func (p *Pipeline) mask(out *mask.Rules, field string) {
	out.Field(p.Name, field)
	for i := range p.Rows {
		r := &p.Rows[i]
		for _, c := range r.Set {
			if c.Field == field {
				out.Place(r.Table, c.Name)
				out.Place(r.Table, field)
			}
		}
		for j := range r.Pack {
			for _, f := range p.packedFields(&r.Pack[j]) {
				if f.Field == field {
					out.Place(r.Table, r.Pack[j].Name)
					out.Place(r.Table, f.Field)
					out.Place(r.Table, f.Name)
				}
			}
		}
		t := p.config.Table(r.Table)
		if t == nil {
			continue
		}
		for _, name := range t.rowKeys.Fields() {
			if r.eventField(name) == field || r.isWord(name) && r.takesWordsOf(name, field) {
				out.Key(r.Table, name)
				out.Place(r.Table, name)
			}
		}
	}
	for _, d := range p.Documents {
		for _, f := range d.Set {
			if f.Field == field {
				out.Place(d.Index, f.Name)
			}
		}
		if table := cmp.Or(d.Table, p.firstTable()); out.MasksKey(table) {
			out.Key(d.Index, "")
		}
	}
}

// takesWordsOf reports whether the key's word of this name may come from a field.
func (r *Rows) takesWordsOf(name, field string) bool {
	return slices.ContainsFunc(r.Each, func(e Each) bool {
		return e.Name == name && slices.ContainsFunc(e.texts(), func(text string) bool {
			of, _, _ := strings.Cut(text, ".")
			return of == field
		})
	})
}

// Identity maps each field that identifies rows and documents to what it is part of: a key or the version. Changing such a field's value
// writes another row, or another version of the row.
func (p *Pipeline) Identity() map[string]string {
	out := map[string]string{}
	var part func(name, of string)
	part = func(name, of string) {
		if f := p.field(name); f != nil && out[name] == "" {
			if out[name] = of; f.made && p.rules != nil {
				for _, i := range p.rules.Sources(name) {
					part(p.Fields[i].Name, of)
				}
			}
		}
	}
	for i := range p.Rows {
		r := &p.Rows[i]
		for _, name := range p.config.Table(r.Table).rowKeys.Fields() {
			part(r.eventField(name), "the row key of "+r.Table)
		}
		for _, e := range r.Each {
			for _, text := range e.texts() {
				name, _, _ := strings.Cut(text, ".")
				part(name, "the row key of "+r.Table)
			}
		}
	}
	for _, d := range p.Documents {
		for _, name := range p.config.Table(cmp.Or(d.Table, p.firstTable())).rowKeys.First().Fields() {
			part(name, "the ids of "+d.Index)
		}
	}
	if t := p.KeyFrom.table; t != nil {
		for _, name := range t.rowKeys.Fields() {
			part(name, "the key that finds the others")
		}
	}
	at, n := p.versionFields()
	names := []string{at, n}
	if in := p.position(); in != nil {
		names = append(names, in.LSN, in.File, in.Pos, in.Source)
	}
	for _, name := range names {
		part(name, "the version")
	}
	return out
}

// Sink returns the options of the pipeline's HBase half. The caller adds the hooks.
func (p *Pipeline) Sink() sink.Options {
	out := sink.Options{Schema: p.Schema(), MaxCellBytes: int(p.config.Cluster.MaxCellBytes)}
	for i := range p.Rows {
		out.Rows = append(out.Rows, p.Rows[i].sink())
	}
	return out
}

// DeadLetterTopic returns the topic of the pipeline's dead letters, or "" if each of several topics has its own.
func (p *Pipeline) DeadLetterTopic() string {
	if p.Several() {
		return p.DeadLetters
	}
	return cmp.Or(p.DeadLetters, p.Topic+ingest.DeadLetterSuffix)
}

// Several reports whether the pipeline reads several topics, or may do so.
func (p *Pipeline) Several() bool { return len(p.Topics) > 0 || p.TopicPattern != "" }

// Part reports whether the pipeline stands for one of several topics.
func (p *Pipeline) Part() bool { return p.one }

// On returns the pipeline as it is on one of its topics.
func (p *Pipeline) On(topic string) *Pipeline {
	part := *p
	part.Topic, part.Topics, part.TopicPattern, part.one = topic, nil, "", p.one || p.Several()
	return &part
}

// Named returns the topics that the pipeline names; none if it has a pattern.
func (p *Pipeline) Named() (names []string) {
	if p.Topic != "" {
		return []string{p.Topic}
	}
	for _, t := range p.Topics {
		names = append(names, t.Name)
	}
	return names
}

// Reads reports whether the pipeline reads a topic. A pattern matches neither dead letter topics nor the internal topics of Kafka and
// brine.
func (p *Pipeline) Reads(topic string) bool {
	if p.match == nil {
		return slices.Contains(p.Named(), topic)
	}
	return p.match.MatchString(topic) && !strings.HasPrefix(topic, "__") && topic != p.config.Kafka.Control() &&
		!p.config.holdsDeadLetters(topic)
}

// holdsDeadLetters reports whether a topic is one of dead letters, by its name or by the setting of a pipeline. The control topic is
// refused for itself.
func (c *Config) holdsDeadLetters(topic string) bool {
	named := func(p *Pipeline) bool { return p.DeadLetters == topic && topic != c.Kafka.Control() }
	return strings.HasSuffix(topic, ingest.DeadLetterSuffix) || slices.ContainsFunc(c.Pipelines, named)
}

// TopicText returns the pipeline's topics as text.
func (p *Pipeline) TopicText() string {
	if p.TopicPattern != "" {
		return "topic_pattern " + p.TopicPattern
	}
	return strings.Join(p.Named(), ", ")
}

// readTopics returns the topics of a loop, or nil if it reads Topic alone.
func (p *Pipeline) readTopics() *ingest.Topics {
	if !p.Several() {
		return nil
	}
	t := &ingest.Topics{Names: p.Named(), Start: map[string]ingest.Position{}, Refresh: p.config.Kafka.TopicRefresh}
	for _, of := range p.Topics {
		if of.Start != "" {
			t.Start[of.Name] = position(of.Start)
		}
	}
	if p.match != nil {
		t.Match = p.Reads
	}
	return t
}

var sequences = regexp.MustCompile(`^seq\( *([A-Za-z0-9_]+) *, *([A-Za-z0-9_]+) *\)$`)

var positions = regexp.MustCompile(`^(?:lsn\( *([A-Za-z0-9_]+) *\)|binlog\( *([A-Za-z0-9_]+) *(?:, *([A-Za-z0-9_]+) *)?\))$`)

// position returns the version lsn(at), binlog(file, pos) or binlog(position), or nil if it is another.
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

// versionFields returns the fields of the version: at, or seq(at, n). Empty means none.
func (p *Pipeline) versionFields() (at, n string) {
	if p.position() != nil {
		return "", ""
	}
	if m := sequences.FindStringSubmatch(p.Version); m != nil {
		return m[1], m[2]
	}
	return p.Version, ""
}

// VersionKind is what versions count.
type VersionKind int

// The kinds of version.
const (
	Milliseconds VersionKind = iota // since 1970
	Sequence                        // a thousand per millisecond: seq(at, n)
	Number                          // a whole number that is not a time
)

// Versions returns the kind of versions of the table's cells, on which all pipelines that write it agree.
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

// versionTimes are the versions of most pipelines: milliseconds since 1970, of a field or of the record itself.
const versionTimes = "times"

// versionsAre returns in words what versions are, or "" if the configuration is wrong about it. Different ones cannot be compared.
func (p *Pipeline) versionsAre() string {
	at, n := p.versionFields()
	f := p.field(at)
	switch in := p.position(); {
	case in != nil && in.LSN != "":
		return "log sequence numbers"
	case in != nil:
		return "positions in a binlog"
	case at == "":
		return versionTimes
	case f == nil || f.eventType() == 0:
		return ""
	case n != "":
		return "times with a count"
	case f.eventType() == event.Int:
		return "whole numbers"
	}
	return versionTimes
}

// untimed returns why the pipeline's versions are not milliseconds since 1970, and the fix, or "" if they are.
func (p *Pipeline) untimed() (what, fix string) {
	at, n := p.versionFields()
	switch f := p.field(at); {
	case p.position() != nil:
		return "versions " + p.Version + " are positions in a log, not timestamps", "write a version that is a time if the records have one"
	case n != "":
		return "versions " + p.Version + " are not timestamps", "write version: " + at + " if a row never changes twice within a millisecond"
	case f != nil && f.eventType() == event.Int:
		return "field " + f.Name + ", the version, is not a timestamp", "declare it as time_ms if it is one"
	}
	return "", ""
}

// unbounded returns why changes older than a delete may arrive at any time, and the fix, or "" if their lateness is bounded.
func (p *Pipeline) unbounded() (what, fix string) {
	if p.Version == "" || p.AllowedLateness > 0 {
		return "", ""
	}
	return "nothing limits how late changes of pipeline " + p.Name +
			" may arrive, and one that arrives after its delete is forgotten would undo it",
		"write allowed_lateness: 1d in the pipeline, so that later ones become dead letters"
}

// Lookup returns how the pipeline's events are completed before they are written. It returns false if they are not.
func (p *Pipeline) Lookup() (lookup.Options, bool) {
	t := p.KeyFrom.table
	if t == nil {
		return lookup.Options{}, false
	}
	return lookup.Options{Schema: p.Schema(), Table: t.Name, Keys: t.rowKeys, Fields: p.lookedUp(), Wait: p.KeyFrom.Wait}, true
}

// lookedUp returns the key fields of the pipeline's rows for which the table of key_from has a column. The fields of that table's own key
// are known.
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

// columnOf returns the column of the table that is filled from a field of this name, and the entry that fills it.
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

// checkOwnVersion checks that the fields that order changes come from the record itself.
func (l *loader) checkOwnVersion(p *Pipeline, setting string) {
	at, n := p.versionFields()
	of := []string{at, n}
	if place := p.position(); place != nil {
		of = []string{place.LSN, place.File, place.Pos, place.Source}
	}
	for i := range p.Fields {
		f := &p.Fields[i]
		place, _ := f.place()
		switch {
		case f.Name == "" || !slices.Contains(of, f.Name):
		case !place.Replayable():
			l.fault(setting+".version", VersionType, f.moves(), "use a field of the record's content")
		case f.Name != n && (f.Default != "" || f.Value != ""):
			l.fault(setting+".version", VersionType, "field "+f.Name+" has a default or fixed value, which orders nothing",
				"use one that every record has, and remove its default or value")
		case f.Name == n && (f.Value != "" || f.made && p.rules != nil && len(p.rules.Sources(n)) == 0):
			l.fault(setting+".version", VersionType, "field "+f.Name+" has a fixed value, so it tells no changes of one millisecond apart",
				"read it from the record; or write version: "+at+" and a new table, as versions of "+at+" alone are smaller than the stored ones")
		case f.Name == n && f.Default != "":
			l.warn(setting+".version", VersionTies, "changes that lack "+f.Name+" share its default, so two of them within one millisecond tie, "+
				"and the last one applied wins", "remove the default, unless the source omits only this one value of "+f.Name)
		}
	}
}
