package config

import (
	"cmp"
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"brine/derive"
	"brine/event"
	"brine/ingest"
	"brine/lookup"
)

func (l *loader) checkPipeline(c *Config, p *Pipeline) {
	setting := join("pipelines", p.Name)
	if !pipelineNames.MatchString(p.Name) {
		l.faultName(setting, Name, "is not a valid pipeline name",
			"use letters, digits, \"_\" and \"-\", since consumer groups are named after it")
	}
	l.checkTopics(c, p, setting)
	l.checkFields(p, setting)
	l.checkFormats(c, p, setting)
	l.checkExpressions(p, setting)
	l.checkOwnVersion(p, setting)
	l.checkVersion(p, setting)
	l.checkLateness(p, setting)
	l.checkHotFields(p, setting+".hot_fields")
	for i, m := range p.Mask {
		if p.field(m.Field) == nil {
			l.noField(p, setting+".mask["+strconv.Itoa(i)+"]", m.Field)
		}
		l.checkRoles(setting+".mask["+strconv.Itoa(i)+"].shown_to", m.ShownTo)
	}
	l.checkImages(p, setting+".images")
	isMapping := l.near(setting).value.Kind == yaml.MappingNode // otherwise already reported
	if len(p.Rows)+len(p.Documents) == 0 && isMapping && !l.has(setting+".rows") && !l.has(setting+".documents") {
		l.faultName(setting, NothingToWrite, "it has neither rows nor documents", "write rows: [ { table: …, set: { … } } ]")
	}
	for i := range p.Rows {
		l.checkRows(c, p, i)
	}
	for i := range p.Documents {
		l.checkDocuments(c, p, i, p.documentSetting(i))
	}
	l.checkStores(c, p, setting)
	l.checkWrite(c, p, setting+".write")
}

const topicNames = "use letters, digits, \".\", \"_\" and \"-\", at most 249"

func (l *loader) checkTopics(c *Config, p *Pipeline, setting string) {
	for name, topic := range map[string]string{".topic": p.Topic, ".dead_letters": p.DeadLetters} {
		if topic != "" && !kafkaName(topic) {
			l.fault(setting+name, Name, "is not a valid topic name", topicNames)
		}
	}
	l.checkWhichTopics(setting)
	switch {
	case p.Topic == "":
	case p.DeadLetters == p.Topic:
		l.fault(setting+".dead_letters", DeadLetterTopic, "is the topic that the pipeline reads, so each dead letter would be read again",
			"name another topic, or remove it to use "+p.Topic+ingest.DeadLetterSuffix)
	case c.holdsDeadLetters(p.Topic):
		l.readsDeadLetters(setting+".topic", p.Topic)
	}
	if control := c.Kafka.Control(); p.DeadLetters == control || slices.Contains(p.Named(), control) {
		l.fault(setting, ControlTopic, "names "+control+", where brine keeps pauses and limits of pipelines",
			"name another topic, or another kafka.control_topic")
	}
	l.checkNamedTopics(c, p, setting)
	l.checkTopicPattern(c, p, setting)
}

// checkWhichTopics checks that a pipeline has exactly one of the settings that name its topics.
func (l *loader) checkWhichTopics(setting string) {
	var there []string
	for _, name := range []string{"topic", "topics", "topic_pattern"} {
		if l.has(setting + "." + name) {
			there = append(there, name)
		}
	}
	switch isMapping := l.near(setting).value.Kind == yaml.MappingNode; { // otherwise already reported
	case len(there) == 0 && isMapping:
		l.fault(setting+".topic", Missing, "is missing", "write topic: courier.scans, or topics or topic_pattern")
	case len(there) > 1:
		l.fault(setting+"."+there[1], Duplicate, "is set together with "+there[0], "keep one of topic, topics and topic_pattern")
	}
}

// readsDeadLetters reports a topic that holds no events.
func (l *loader) readsDeadLetters(setting, topic string) {
	l.fault(setting, DeadLetterTopic, "topic "+topic+" holds dead letters, not events, as do all whose names end in "+ingest.DeadLetterSuffix+
		" and those in dead_letters of any pipeline", "name the topic that the records came from; brine deadletters replay writes them again")
}

// checkNamedTopics checks each of several topics, and that none holds dead letters.
func (l *loader) checkNamedTopics(c *Config, p *Pipeline, setting string) {
	names := p.Named()
	for i, t := range p.Topics {
		at := setting + ".topics[" + strconv.Itoa(i) + "]"
		switch {
		case t.Name == "":
		case !kafkaName(t.Name):
			l.fault(at, Name, quote(t.Name)+" is not a valid topic name", topicNames)
		case slices.Contains(names[:i], t.Name):
			l.fault(at, Duplicate, "topic "+t.Name+" is listed twice", "keep one of the two")
		case t.Name == p.DeadLetters,
			p.DeadLetters == "" && slices.ContainsFunc(names, func(n string) bool { return n+ingest.DeadLetterSuffix == t.Name }):
			l.fault(at, DeadLetterTopic, "topic "+t.Name+" is where the pipeline's dead letters go, so each would be read again",
				"remove it, or name another topic in dead_letters")
		case c.holdsDeadLetters(t.Name):
			l.readsDeadLetters(at, t.Name)
		}
		l.checkStart(at+".start", t.Start)
	}
}

// checkTopicPattern compiles the pattern. The retention of topics created while brine runs is not checked.
func (l *loader) checkTopicPattern(c *Config, p *Pipeline, setting string) {
	if p.TopicPattern == "" {
		return
	}
	setting += ".topic_pattern"
	if _, err := regexp.Compile(p.TopicPattern); err != nil { // alone: the text put around it must not complete it
		l.fault(setting, Expression, "is not a regular expression: "+err.Error(), "write it in RE2 syntax; \\. is a dot: \"shop\\\\..*\"")
		return
	}
	p.match = regexp.MustCompile(`\A(?:` + p.TopicPattern + `)\z`)
	purges := slices.ContainsFunc(p.Documents, func(d Documents) bool { x := c.Index(d.Index); return x != nil && x.PurgeDeletesAfter > 0 })
	if purges || slices.ContainsFunc(p.Rows, func(r Rows) bool { return r.HardDeletes }) {
		l.fault(setting, HardDeletes, "the pipeline forgets deletes, but a topic created later may keep older changes for longer",
			"name the topics: topics: [ … ]; or remove hard_deletes and purge_deletes_after")
	}
}

func (l *loader) checkFields(p *Pipeline, setting string) {
	for i := range p.Fields {
		f := &p.Fields[i]
		at := join(setting+".fields", f.Name)
		if !fieldNames.MatchString(f.Name) {
			l.faultName(at, Name, "is not a valid field name",
				"use letters, digits and \"_\", not a digit first; if the record uses another name, give the path: "+
					"my_name: { type: text, path: "+f.Name+" }")
		}
		for j := range p.Fields[:i] {
			if l.checkPaths(f, &p.Fields[j], at) {
				break
			}
		}
		l.checkFieldType(f, at)
		l.checkPlace(p, f, at)
		l.checkConversion(p, f, at)
	}
}

// checkFieldType checks a field for settings that its type does not have.
func (l *loader) checkFieldType(f *Field, setting string) {
	t := f.eventType()
	switch _, err := event.ParseTimeFormat(f.Format, f.Zone); {
	case t == event.Time && err != nil:
		at := setting + ".format"
		if l.has(setting + ".zone") {
			at = setting + ".zone"
		}
		what, fix := advise(err, "see docs/configuration.md")
		l.fault(at, FieldTypes, what, fix)
	case t != event.Time && f.Format != "":
		l.fault(setting+".format", FieldTypes, "says how a time is written, but the field is declared "+f.Type,
			"declare it time, or remove the format")
	case t != event.Time && f.Zone != "":
		l.fault(setting+".zone", FieldTypes, "is for times without a zone, but the field is declared "+f.Type,
			"declare it time, or remove the zone")
	}
	l.checkDecimal(f, t, setting)
	if f.From == "number" && t != event.Text && t != 0 {
		l.fault(setting+".from", FieldTypes, "turns numbers into text, but the field is declared "+f.Type, "declare it text, or remove it")
	}
}

// checkPaths reports a field whose path equals that of an earlier field, or lies inside or around it.
func (l *loader) checkPaths(f, earlier *Field, setting string) (found bool) {
	switch a, b := f.path(), earlier.path(); {
	case f.Value != "" || earlier.Value != "":
		return false
	case slices.Equal(a, b):
		l.fault(setting, Duplicate, "has the same path as field "+earlier.Name, "keep one: a field can be used in several places")
	case inside(a, b):
		l.fault(setting, FieldTypes, "lies inside field "+earlier.Name+", which is declared "+earlier.Type+" and read as a whole",
			"fix one of the two paths")
	case inside(b, a):
		l.fault(setting, FieldTypes, "contains field "+earlier.Name+", but is declared "+f.Type+", which is not an object",
			"fix one of the two paths")
	default:
		return false
	}
	return true
}

// inside reports whether path a leads through path b.
func inside(a, b []string) bool { return len(a) > len(b) && slices.Equal(a[:len(b)], b) }

// checkHotFields checks the fields whose values are counted.
func (l *loader) checkHotFields(p *Pipeline, setting string) {
	for i, name := range p.HotFields {
		at := setting + "[" + strconv.Itoa(i) + "]"
		switch f := p.field(name); {
		case f == nil:
			l.noField(p, at, name)
		case f.eventType() != event.Text:
			l.fault(at, FieldTypes, "field "+name+" is declared "+f.Type, "name fields declared text: only their values are counted")
		}
	}
}

// checkImages checks where records hold the values before and after a change.
func (l *loader) checkImages(p *Pipeline, setting string) {
	i := &p.Images
	switch {
	case p.Envelope.Form != "":
		l.checkEnvelope(p, join("pipelines", p.Name)+".envelope", setting)
		return
	case !l.has(setting):
		return
	case len(i.Before) == 0 && p.tombstones() && len(i.After) == 0:
		if i.Deleted != "" {
			l.checkDeletedField(p, i.Deleted, setting+".deleted")
		}
		return
	case len(i.Before) == 0:
		if !l.has(setting + ".before") {
			l.fault(setting+".before", Missing, "is missing", "write before: before")
		}
		return
	}
	if p.Changes == changesPartial {
		l.fault(setting, ImagesCode, "a change that moves a row carries the whole row, but the pipeline has changes: partial",
			"write changes: whole if each after-image has every field, or remove images")
	}
	found := false
	for n := range p.Fields {
		f := &p.Fields[n]
		if f.Name == i.Deleted || f.made || f.beside() {
			continue
		}
		if slices.Equal(f.path(), i.Before) || inside(f.path(), i.Before) {
			l.fault(join(join("pipelines", p.Name)+".fields", f.Name), ImagesCode,
				"is in the before-image, which is read anyway for every field of the after-image", "remove it, or give it a path in the after-image")
		}
		found = found || inside(f.path(), i.After)
	}
	if !found {
		l.fault(setting+".after", ImagesCode, "no field is in "+strings.Join(i.After, "."),
			"give fields their paths: { type: text, path: "+strings.Join(i.After, ".")+".name }")
	}
	if i.Deleted == "" {
		return
	}
	if l.checkDeletedField(p, i.Deleted, setting+".deleted"); len(i.After) == 0 {
		l.fault(setting+".deleted", ImagesCode, "every record is an after-image, so none is a delete",
			"name the after-images' path in after, or remove it")
	}
}

func (l *loader) checkDeletedField(p *Pipeline, name, setting string) {
	if f := p.field(name); f == nil {
		l.noField(p, setting, name)
	} else if f.eventType() != event.Bool && f.eventType() != 0 {
		l.fault(setting, FieldTypes, "field "+f.Name+" is "+f.Type, "only a bool can say that an event is a delete")
	}
}

// durabilityLosses describe what each durability loses, and when.
var durabilityLosses = map[string]string{
	"unsafe_async_wal": "a region server that dies LOSES ROWS that it acknowledged in the last moments, and their offsets are " +
		"committed",
	"unsafe_skip_wal": "a region server that dies LOSES ALL ROWS that it acknowledged but had not flushed, up to hours of them, and their " +
		"offsets are committed; " +
		"replication to other clusters never sees any of them",
}

func (l *loader) checkWrite(c *Config, p *Pipeline, setting string) {
	l.checkRetries(setting+".retries", p.Write.Retries)
	if p.Write.WriteBuffer > c.Memory/4 && l.has(setting+".write_buffer") {
		l.fault(setting+".write_buffer", Buffer, "is more than a quarter of memory, which is "+c.Memory.String(),
			"write at most "+(c.Memory/4).String())
	}
	if losses, unsafe := durabilityLosses[p.Write.Durability]; unsafe {
		l.warn(setting+".durability", UnsafeWrites, losses,
			"write table, unless brine replay can restore the rows because the topic still holds their records")
	}
	if !p.Write.Autoflush {
		return
	}
	for _, name := range []string{".write_buffer", ".linger"} {
		if l.has(setting + name) {
			l.warn(setting+name, Unused, "does nothing if autoflush is true", "write autoflush: false, or remove it")
		}
	}
}

func (l *loader) checkVersion(p *Pipeline, setting string) {
	if p.Version == "" {
		return
	}
	l.checkEpochs(p, setting+".epochs")
	setting += ".version"
	if p.position() != nil {
		l.checkPosition(p, setting)
		return
	}
	at, n := p.versionFields()
	f := p.field(at)
	switch {
	case strings.HasPrefix(p.Version, "lsn(") || strings.HasPrefix(p.Version, "binlog("):
		l.fault(setting, VersionType, quote(p.Version)+" is not a valid log position",
			"write version: lsn(at), with an int field, version: binlog(file, pos), with a text and an int field, or version: "+
				"binlog(position), with a text of both")
	case strings.HasPrefix(p.Version, "seq") && n == "":
		l.fault(setting, VersionType, quote(p.Version)+" is not a valid version of two fields",
			"write version: seq(at, n), where at is a time and n counts within its millisecond, 0 to 999")
	case f == nil:
		l.noField(p, setting, at)
	case f.eventType() != 0 && !f.eventType().Orders():
		l.fault(setting, VersionType, "field "+f.Name+" is declared "+f.Type, "use a time, or a whole number that only grows")
	case n != "" && f.eventType() == event.Int:
		l.fault(setting, VersionType, "field "+f.Name+" is declared int, but "+n+" counts within a time",
			"declare it as a time, or write version: "+at)
	case n != "":
		l.checkSequence(p, n, setting)
	}
	if f != nil {
		l.checkPublished(p, f, setting)
	}
}

// checkPosition checks the fields of a version that is a position in a log.
func (l *loader) checkPosition(p *Pipeline, setting string) {
	in := p.position()
	for _, part := range []struct {
		name  string
		types []event.Type
		want  string
	}{
		{in.LSN, []event.Type{event.Int}, "an int"}, {in.File, []event.Type{event.Text}, "a text"}, {in.Pos, []event.Type{event.Int}, "an int"},
		{in.Source, []event.Type{event.Text, event.Int}, "a text or an int"},
	} {
		switch f := p.field(part.name); {
		case part.name == "":
		case f == nil:
			l.noField(p, setting, part.name)
		case f.eventType() != 0 && !slices.Contains(part.types, f.eventType()):
			l.fault(setting, VersionType, "field "+f.Name+" is declared "+f.Type, "this part of a log position must be "+part.want)
		}
	}
	if p.ofCanal() && p.Envelope.Database != "mysql" && p.comesFrom(in.File, "$file") {
		l.fault(setting, VersionType, "Canal names earlier files of a MariaDB's log after it has begun another one, so later changes can have "+
			"smaller versions", "write database: mysql in the envelope if the log is MySQL's; otherwise use a time, such as $es, as the version, "+
			"and write ties: accept there")
	}
}

// checkEpochs checks the epochs, which distinguish the sources of positions and need both a field and its values.
func (l *loader) checkEpochs(p *Pipeline, setting string) {
	if p.Epochs.From != "" && p.position() == nil {
		l.fault(setting, VersionType, "only versions that are log positions have epochs", "remove it, or write version: lsn(…) or binlog(…)")
	}
	if p.Epochs.From != "" && len(p.Epochs.Of) == 0 {
		l.fault(setting, VersionType, "no source has an epoch",
			"write of: { SOURCE: 0 }, and a higher number for each source that took over later")
	}
	if f := p.field(p.Epochs.From); f != nil && p.Envelope.Form != "" && p.position() != nil {
		fix := "publish each server's log to a topic of its own, and name a field with path: $topic"
		if p.Envelope.Form == string(event.Debezium) {
			fix = "give each server's connector a topic.prefix of its own, and name a field with path: $source.name"
		}
		if p.ofCanal() && p.comesFrom(f.Name, "$server") || p.comesFrom(f.Name, "$source.server_id") ||
			p.Envelope.Form == string(event.Maxwell) && p.comesFrom(f.Name, "$server_id") {
			l.fault(setting+".from", VersionType, "field "+f.Name+" names the server where a change was first made; a replica's log holds changes "+
				"of its source too, but at positions of its own", fix)
		}
	}
}

func (l *loader) checkSequence(p *Pipeline, n, setting string) {
	switch f := p.field(n); {
	case f == nil:
		l.noField(p, setting, n)
	case f.eventType() != event.Int && f.eventType() != 0:
		l.fault(setting, VersionType, "field "+f.Name+" is declared "+f.Type+", which cannot count",
			"name an int that the source increments within a millisecond")
	}
}

func (l *loader) checkLateness(p *Pipeline, setting string) {
	if p.AllowedLateness == 0 {
		return
	}
	setting += ".allowed_lateness"
	if what, fix := p.untimed(); what != "" {
		l.fault(setting, VersionType, "only a time shows how late an event is, but "+what, fix+", or remove it")
	}
	if p.Version == "" {
		l.warn(setting, Unused, "does nothing: the version is the Kafka record's own time, so no record is late", "remove it")
	}
}

const otherwiseDelete = "delete"

func (p *Pipeline) documentSetting(i int) string {
	return join("pipelines", p.Name) + ".documents[" + strconv.Itoa(i) + "]"
}

// checkExpressions compiles the pipeline's expressions. From then on, the fields of lets are fields of the pipeline.
func (l *loader) checkExpressions(p *Pipeline, setting string) {
	b := derive.New(p.Schema().Fields)
	for i := range p.Let {
		b.Announce(p.Let[i].Name)
	}
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
			l.faultName(at, Duplicate, "fields already has a field of this name", "give it another name")
			sound = false
			continue
		}
		p.where = append(p.where, l.placeOf(at))
		typ, _ := event.ParseType(let.Type) // a valid type, or absent
		made, err := b.Let(let.Name, typ, at, let.Value)
		if err != nil {
			l.expression(at, let.Value, err)
			sound = false
		}
		p.Fields = append(p.Fields, Field{Name: let.Name, Type: cmp.Or(let.Type, made.String()), made: true})
	}
	if p.When != "" {
		p.where = append(p.where, l.placeOf(setting+".when"))
		if err := b.When(setting+".when", p.When); err != nil {
			l.expression(setting+".when", p.When, err)
			sound = false
		}
	}
	ask := func(text, at string) {
		if text == "" {
			return
		}
		p.asked, p.where = append(p.asked, at), append(p.where, l.placeOf(at))
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

// expression reports an error in an expression.
func (l *loader) expression(setting, text string, err error) {
	if text == "" || errors.Is(err, derive.ErrUnchecked) { // reported elsewhere
		return
	}
	if l.has(setting + ".value") {
		setting += ".value"
	}
	l.fault(setting, Expression, err.Error(), "see docs/filters.md")
}

// checkAsked rejects expressions over fields that are looked up. Expressions are evaluated before the lookup, and would see null.
func (l *loader) checkAsked(p *Pipeline) {
	found, looksUp := p.Lookup()
	if !looksUp || p.rules == nil {
		return
	}
	var made []string
	for i := range p.Let {
		made = append(made, p.Let[i].Name)
	}
	ask := func(expression, setting string) {
		for _, i := range p.rules.Sources(expression, made...) {
			if slices.ContainsFunc(found.Fields, func(f lookup.Field) bool { return f.Name == p.Fields[i].Name }) {
				l.fault(setting, Expression, "field "+p.Fields[i].Name+" is looked up in "+found.Table+
					" (key_from) only after the expressions have run, so they would see null", "use fields that every record has")
			}
		}
	}
	ask(derive.When, join("pipelines", p.Name)+".when")
	for _, name := range made {
		ask(name, join(join("pipelines", p.Name)+".let", name))
	}
	for _, setting := range p.asked {
		ask(setting, setting)
	}
}

// expressed returns the fields that lets and conditions use.
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

// checkOtherwise checks what an event does to a row if its condition is false.
func (l *loader) checkOtherwise(p *Pipeline, r *Rows, t *Table) {
	l.together(r.setting, "otherwise", "when")
	at := r.setting + ".otherwise"
	fills := func(c Column) bool { return c.Field == r.deleted() }
	switch {
	case r.Otherwise != otherwiseDelete || r.When == "" || t == nil:
	case t.Row == rowEvent:
		l.fault(at, OtherwiseCode, "rows of "+t.Name+" are events, which are never deleted", "write row: entity in the table, or otherwise: skip")
	case !r.HardDeletes && (r.deleted() == "" || !slices.ContainsFunc(r.Set, fills)):
		l.fault(at, OtherwiseCode, "no column would mark a deleted row",
			"write deleted: gone, with a column for it, \"f:gone\": gone, and, if records have no such field, let: { gone: \"false\" }; "+
				"or write hard_deletes: true")
	}
}

// checkHiding checks what an event does to a document if its condition is false.
func (l *loader) checkHiding(c *Config, p *Pipeline, d *Documents, setting string) {
	l.together(setting, "otherwise", "when")
	t := c.Table(cmp.Or(d.Table, p.firstTable()))
	switch {
	case d.Otherwise != otherwiseDelete || d.When == "" || t == nil:
	case t.Row == rowEvent:
		l.fault(setting+".otherwise", OtherwiseCode, "the document belongs to a row of "+t.Name+", whose rows are events and are never deleted",
			"write row: entity in the table, or otherwise: skip")
	case d.deleted(p) == "":
		l.fault(setting+".otherwise", OtherwiseCode, "no field says that a document is deleted",
			"write deleted: gone, and, if records have no such field, let: { gone: \"false\" }")
	}
}

// checkChangeable warns about conditions on fields outside the row's key, because their result may differ for another change of the row.
func (l *loader) checkChangeable(c *Config) {
	const fix = "use only fields of the row's key"
	for _, p := range c.Pipelines {
		warned := false
		for i := range p.Rows {
			r := &p.Rows[i]
			if t := c.Table(r.Table); t.Row == rowEntity {
				if name := p.changing(r, derive.When); name != "" && !warned {
					warned = true
					l.warn(join("pipelines", p.Name)+".when", Changeable, "field "+name+" can differ between two changes of one row of "+t.Name+
						", and what an accepted change has written stays", fix+", or move when to the rows, with otherwise: delete")
				}
				if name := p.changing(r, r.setting+".when"); name != "" && r.Otherwise != otherwiseDelete {
					l.warn(r.setting+".when", Changeable, "field "+name+" can differ between two changes of one row of "+t.Name+
						", and what a change has written while this was true stays", fix+", or write otherwise: delete")
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
					", and what a change has written while this was true stays", fix+", or write otherwise: delete")
			}
		}
	}
}

// changing returns the first field that a condition depends on and whose value can differ between two changes of one row, or "" if there
// is none. The row's key does not change, nor does what an envelope says of the row's table: where that is false, the change is one of
// another table's row of the same key, and must not delete anything here.
func (p *Pipeline) changing(r *Rows, condition string) string {
	if p.rules == nil {
		return ""
	}
	var key []string
	for _, name := range p.config.Table(r.Table).rowKeys.First().Fields() {
		key = append(key, r.eventField(name))
	}
	for _, i := range p.rules.Sources(condition, key...) {
		f := &p.Fields[i]
		if !slices.Contains(key, f.Name) && (p.envelope() == nil || !constant(f)) {
			return f.Name
		}
	}
	return ""
}
