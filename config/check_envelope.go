package config

import (
	"slices"
	"strconv"
	"strings"

	"brine/event"
	"brine/lookup"
)

// checkEnvelope checks how records wrap rows, and the settings of images that remain beside an envelope.
func (l *loader) checkEnvelope(p *Pipeline, setting, images string) {
	e := &p.Envelope
	for _, name := range []string{".before", ".after"} {
		if l.has(images + name) {
			l.fault(images+name, ImagesCode, "the envelope already says where the images are", "remove it; deleted: may stay")
		}
	}
	if p.Images.Deleted != "" {
		l.checkDeletedField(p, p.Images.Deleted, images+".deleted")
	}
	switch {
	case e.Unwrapped && e.Form != string(event.Debezium):
		l.fault(setting+".unwrapped", EnvelopeCode, "only Debezium's rows can come without an envelope", "remove it")
	case !p.knowsKeyOnly() && p.Changes == changesPartial:
		l.fault(setting, EnvelopeCode, "a change that moves a row carries the whole row, but the pipeline has changes: partial",
			"write before: key and list the primary key's fields in key, if rows never move, or write changes: whole")
	case p.knowsKeyOnly() && len(e.Key) == 0:
		l.fault(setting, Missing, "does not say which fields form the database's primary key, and with before: key records hold nothing else "+
			"of the former row", "write key: [id] in the envelope")
	case !p.knowsKeyOnly() && len(e.Key) > 0:
		l.warn(setting+".key", Unused, "does nothing if records hold whole rows", "remove it, or write before: key")
	}
	row := false
	for i, name := range e.Key {
		f := p.field(name)
		if f == nil {
			l.noField(p, setting+".key["+strconv.Itoa(i)+"]", name)
		} else if strings.HasPrefix(f.path()[0], "$") && !p.inRecordKey(f) {
			l.fault(setting+".key", EnvelopeCode, "field "+name+" belongs to the envelope, not to the row", "name fields of the row")
		}
	}
	for i := range p.Fields {
		if f := &p.Fields[i]; p.ofCanal() && f.eventType() == event.Bytes && !strings.HasPrefix(f.path()[0], "$") {
			l.fault(join(join("pipelines", p.Name)+".fields", f.Name), FieldTypes, "Canal writes bytes as text in another encoding",
				"declare it text")
		}
		f := &p.Fields[i]
		row = row || f.Name != p.Images.Deleted && (!strings.HasPrefix(f.path()[0], "$") || p.inRecordKey(f))
	}
	if !row {
		l.fault(join("pipelines", p.Name)+".fields", EnvelopeCode, "none of them belongs to the row", "declare columns of the database's table")
	}
	for i := range p.Rows {
		l.checkEnvelopeRow(p, &p.Rows[i])
	}
}

// inRecordKey reports whether a field is a column of the primary key that is read from the record's key, because deletes have no value.
func (p *Pipeline) inRecordKey(f *Field) bool {
	place, _ := f.place()
	return p.tombstones() && p.unwrapped() && (place == event.InKey || place == event.WholeKey)
}

// ofCanal reports whether the pipeline's publisher is Canal.
func (p *Pipeline) ofCanal() bool {
	e := p.envelope()
	return e != nil && e.OfCanal()
}

// checkEnvelopeRow checks an entry of rows against what records hold.
func (l *loader) checkEnvelopeRow(p *Pipeline, r *Rows) {
	t := p.config.Table(r.Table)
	for _, c := range r.Set {
		if c.Field == wholeRecord {
			l.faultName(join(r.setting+".set", c.Name), Members, "the record's members are those of the envelope, not of the row",
				"name the row's columns one by one")
		}
	}
	if t == nil {
		return
	}
	if p.position() != nil || t.Row != rowEntity {
		return
	}
	l.checkCount(p, t)
	if p.timedByReading() {
		l.checkTimesOfReading(p, t)
	}
	if p.timedByConnect() && p.Envelope.Ties != "accept" {
		l.fault(join("pipelines", p.Name)+".envelope", EnvelopeCode, "versions are the times of records, which is when they were published: "+
			"a change that is published again would win over a newer one of its row of "+t.Name,
			placeOfDebezium+"; or, if you can accept that, write ties: accept in the envelope")
	}
	if !p.ofCanal() {
		return
	}
	at, n := p.versionFields()
	if at == "" || p.comesFrom(at, "$timestamp") {
		l.fault(join("pipelines", p.Name)+".envelope", EnvelopeCode, "versions are the times of records, which is when Canal published them: "+
			"a change that is published again would win over a newer one of its row of "+t.Name,
			"use version: binlog(file, pos) with canal_protobuf, or a time with path: $es, and ties: accept in the envelope")
		return
	}
	if p.comesFrom(n, "$row") {
		l.fault(join("pipelines", p.Name)+".version", EnvelopeCode, "each record counts its rows from 0, so if a row of "+
			t.Name+" changes twice within a second, the earlier change can have the larger version", "write version: "+at)
	}
	if p.Envelope.Ties != "accept" {
		l.fault(join("pipelines", p.Name)+".envelope", EnvelopeCode, "Canal's times are whole seconds, so changes of one row of "+t.Name+
			" can share a version, and the one written last wins",
			"use version: binlog(file, pos) with canal_protobuf, or another publisher; or, if you can accept that, write ties: accept in "+
				"the envelope")
	}
}

// timedByReading reports whether versions are times that for rows of a snapshot say when the publisher read them.
func (p *Pipeline) timedByReading() bool {
	at, _ := p.versionFields()
	switch event.EnvelopeForm(p.Envelope.Form) {
	case event.Maxwell:
		return at == "" || p.comesFrom(at, "$ts", "$timestamp")
	case event.Debezium:
		return p.comesFrom(at, "$source.ts_ms", "$source.ts_us", "$source.ts_ns")
	}
	return false
}

// timedByConnect reports whether versions, which are no positions, are the times of Debezium's records, which Kafka Connect's producer
// sets as it sends.
func (p *Pipeline) timedByConnect() bool {
	at, _ := p.versionFields()
	return p.Envelope.Form == string(event.Debezium) && (at == "" || p.comesFrom(at, "$timestamp"))
}

// sourcesOf returns the paths of the fields of a record that make a field: its own, or those that its let uses.
func (p *Pipeline) sourcesOf(name string) (paths []string) {
	f := p.field(name)
	switch {
	case f == nil:
	case !f.made:
		paths = append(paths, p.source(f))
	case p.rules != nil:
		for _, i := range p.rules.Sources(name) {
			paths = append(paths, p.source(&p.Fields[i]))
		}
	}
	return paths
}

// source returns a field's path. What unwrapped rows, or their headers, hold of the envelope has the path that it has in the envelope:
// __source_ts_ms is $source.ts_ms.
func (p *Pipeline) source(f *Field) string {
	path := strings.Join(f.path(), ".")
	own, found := strings.CutPrefix(strings.TrimPrefix(path, "$header."), "__")
	if !p.unwrapped() || !found {
		return path
	}
	if of, found := strings.CutPrefix(own, "source_"); found {
		own = "source." + of
	}
	return "$" + own
}

// comesFrom reports whether a field has one of these paths, or is made by a let from one that has.
func (p *Pipeline) comesFrom(name string, paths ...string) bool {
	return slices.ContainsFunc(p.sourcesOf(name), func(path string) bool { return slices.Contains(paths, path) })
}

// The versions to write instead.
const (
	placeOfDebezium = "use the change's place in the log, version: lsn(lsn) with path: $source.lsn, or binlog(file, pos) with " +
		"$source.file and $source.pos"
	placeOfMaxwell = "use version: binlog(position), with position: { type: text, path: $position } and output_binlog_position in Maxwell"
)

// counts holds, by form, the members of envelopes that count and start again, and when. They order nothing beyond that.
var counts = map[event.EnvelopeForm]map[string]string{
	event.Debezium: {"$source.pos": "in each file of the log", "$source.row": "in each event of the log"},
	event.Canal:    {"$pos": "in each file of the log", "$row": "in each record", "$id": "when Canal is started again"},
	event.Maxwell:  {"$xid": "when the server is started again", "$xoffset": "in each transaction"},
}

// checkCount refuses versions of entities that are made only of such counts.
func (l *loader) checkCount(p *Pipeline, t *Table) {
	at, n := p.versionFields()
	again, sources := counts[event.EnvelopeForm(p.Envelope.Form)], p.sourcesOf(at)
	if n != "" || len(sources) == 0 || slices.ContainsFunc(sources, func(path string) bool { return again[path] == "" }) {
		return
	}
	instead := "write version: binlog(file, pos) with both"
	if p.Envelope.Form == string(event.Maxwell) {
		instead = placeOfMaxwell
	}
	l.fault(join("pipelines", p.Name)+".version", EnvelopeCode, sources[0]+" starts again "+again[sources[0]]+
		", so newer changes of a row of "+t.Name+" would lose to older ones", instead)
}

// checkTimesOfReading refuses such times as versions of entities, unless they are accepted by name.
func (l *loader) checkTimesOfReading(p *Pipeline, t *Table) {
	at, n := p.versionFields()
	if p.comesFrom(n, "$xoffset") {
		l.fault(join("pipelines", p.Name)+".version", EnvelopeCode, "each transaction counts its rows from 0, so if a row of "+
			t.Name+" changes twice within a second, the earlier change can have the larger version", "write version: "+at)
	}
	if p.Envelope.Ties == "accept" {
		return
	}
	times, of := "Debezium's times can be whole seconds, within which changes of one row of ", "snapshot"
	instead := placeOfDebezium
	if p.Envelope.Form == string(event.Maxwell) {
		times, of = "Maxwell's times are whole seconds, within which changes of one row of ", "bootstrap"
		instead = placeOfMaxwell
	}
	l.fault(join("pipelines", p.Name)+".envelope", EnvelopeCode, times+t.Name+" tie; and a row of a "+of+
		" has the time when it was read, so it wins for good over a change that was made before that and is published later",
		instead+"; or, if you can accept that, write ties: accept in the envelope")
}

// published holds, by form, the members of envelopes whose time is that of the publisher and not that of the change, and what to use
// instead. See checkTimesOfReading for times that are the database's, except in snapshots.
var published = map[event.EnvelopeForm]struct {
	members     []string
	by, instead string
}{
	event.Debezium: {[]string{"$ts_ms", "$ts_us", "$ts_ns"}, "Debezium read the change",
		"use the change's place in the log: version: lsn(lsn) or binlog(file, pos)"},
	event.Canal:   {[]string{"$ts"}, "Canal published the change", "write path: $es, and ties: accept in the envelope"},
	event.Maxwell: {[]string{"$push_ts"}, "Maxwell published the change", "use version: binlog(position), with path: $position"},
}

// checkPublished refuses a version that is the time of the publisher: a change that is published again would win over newer ones.
func (l *loader) checkPublished(p *Pipeline, f *Field, setting string) {
	of := published[event.EnvelopeForm(p.Envelope.Form)]
	for _, path := range p.sourcesOf(f.Name) {
		if slices.Contains(of.members, path) {
			l.fault(setting, VersionType, "field "+f.Name+" ("+path+") is when "+of.by+
				", not when the database made it: a change that is published again would win over newer ones", of.instead)
		}
	}
}

// checkFormerKeys checks that keys of rows use only primary key fields if records hold nothing else of a row before a change.
func (l *loader) checkFormerKeys(p *Pipeline) {
	for i := range p.Rows {
		r := &p.Rows[i]
		t := p.config.Table(r.Table)
		if t == nil || len(t.rowKeys) == 0 || !p.knowsKeyOnly() {
			continue
		}
		for _, name := range t.rowKeys.Fields() {
			l.checkInKey(p, r, r.eventField(name), "the key of "+t.Name+" contains it")
		}
		for _, e := range r.Each {
			for _, text := range e.texts() {
				l.checkInKey(p, r, textField(text).Field, "the key of "+t.Name+" contains words of it")
			}
		}
	}
}

// checkInKey rejects a field whose old value is needed but unknown, because a change of it would leave its row behind.
func (l *loader) checkInKey(p *Pipeline, r *Rows, name, taken string) {
	f := p.field(name)
	if f == nil || slices.Contains(p.Envelope.Key, name) || len(p.Envelope.Key) == 0 || constant(f) {
		return
	}
	l.fault(join(join("pipelines", p.Name)+".fields", name), EnvelopeCode,
		taken+", but it is not part of the primary key, so records do not hold its value from before a change: the former row of "+r.Table+
			" would stay",
		"build row keys from the primary key's fields, and name all of these in envelope.key; or make the database log whole rows "+
			"(in Postgres REPLICA IDENTITY FULL) and write before: full")
}

// checkTombstones checks that fields outside the value identify the row that a record without a value deletes, and the version.
func (l *loader) checkTombstones(p *Pipeline) {
	setting := join("pipelines", p.Name)
	switch {
	case p.Deletes == "" && p.unwrapped() && p.writesEntities():
		l.warn(join("pipelines", p.Name)+".envelope", Tombstones, "records without a value become dead letters, because they may be the deletes "+
			"themselves or only follow rows that mark them",
			"write deletes: tombstone in the pipeline if they are the deletes (delete.tombstone.handling.mode: tombstone, Debezium's default), or "+
				"deletes: marked if __deleted or __op marks each delete (rewrite, rewrite-with-tombstone)")
		return
	case p.Deletes == deletesMarked && !p.unwrapped():
		l.fault(setting+".deletes", Tombstones, "only rows that ExtractNewRecordState has taken out of Debezium's envelope are marked so",
			"remove it, or write unwrapped: true in the envelope if records hold such rows")
		return
	case !p.tombstones():
		return
	case p.imaged() && !p.unwrapped():
		l.fault(setting+".deletes", Tombstones,
			"the images in records already say what is deleted, so a record without a value after a delete says nothing new",
			"remove it, or the envelope or images.before")
		return
	case p.Images.Deleted == "":
		l.fault(setting+".deletes", Missing, "does not say which field marks a delete",
			"declare a bool, gone: bool, and write images: { deleted: gone }")
	}
	at, n := p.versionFields()
	of := []string{at, n}
	if in := p.position(); in != nil {
		of = []string{in.LSN, in.File, in.Pos, in.Source}
	}
	for _, name := range of {
		instead := "remove version, so that the record's own time is the version, or read the field from a header: path: $header." + name
		if f := p.field(name); f != nil && p.unwrapped() {
			instead = headerOfDebezium(p.source(f))
		}
		l.checkBesideValue(p, name, "the version is made from it", instead)
	}
	named := func(name string) {
		l.checkBesideValue(p, name, "a row key is made from it",
			"give it a path in the record's key: $key, or, with a key_format, $key."+name)
	}
	for i := range p.Rows {
		r := &p.Rows[i]
		t := p.config.Table(r.Table)
		if t == nil || len(t.rowKeys) == 0 {
			continue
		}
		for _, name := range t.rowKeys.Fields() {
			if name = r.eventField(name); !p.looksUp(name) {
				named(name)
			}
		}
		for j := range r.Each {
			for _, text := range r.Each[j].texts() {
				named(textField(text).Field)
			}
		}
	}
	if p.KeyFrom.table != nil {
		for _, name := range p.KeyFrom.table.rowKeys.Fields() {
			named(name)
		}
	}
}

// headerOfDebezium returns how to read what has a path in the envelope from a header, which tombstones have too.
func headerOfDebezium(path string) string {
	name, ok := strings.CutPrefix(path, "$")
	if !ok {
		name = "source.lsn"
	}
	return "add it to ExtractNewRecordState's add.headers and read it from there: add.headers: " + name + ", path: $header.__" +
		strings.ReplaceAll(name, ".", "_") + "; or remove version, so that the record's own time is the version"
}

// writesEntities reports whether a change of the pipeline can end a row.
func (p *Pipeline) writesEntities() bool {
	return slices.ContainsFunc(p.Rows, func(r Rows) bool {
		t := p.config.Table(r.Table)
		return t != nil && t.Row == rowEntity
	})
}

// looksUp reports whether a field is looked up if an event lacks it.
func (p *Pipeline) looksUp(name string) bool {
	return p.KeyFrom.table != nil && slices.ContainsFunc(p.lookedUp(), func(f lookup.Field) bool { return f.Name == name })
}

// checkBesideValue rejects a field that a record without a value lacks. It reports the field once, even if several keys need it.
func (l *loader) checkBesideValue(p *Pipeline, name, needed, fix string) {
	f := p.field(name)
	if f == nil || f.Type == "" || f.event().OfTombstone() || f.made && (p.rules == nil || p.rules.Beside(name)) {
		return
	}
	section := ".fields"
	if f.made {
		section, fix = ".let", "make it from fields in the record's key: $key, or, with a key_format, $key.name"
	}
	at := join(join("pipelines", p.Name)+section, name)
	if slices.ContainsFunc(l.problems, func(o Problem) bool { return o.Setting == at && o.Code == Tombstones }) {
		return
	}
	l.fault(at, Tombstones, needed+", but it is in the record's value, which a tombstone lacks (deletes: tombstone)", fix)
}

// constant reports whether a field of the envelope is the same in all changes of a row.
func constant(f *Field) bool {
	switch place, _ := f.place(); place {
	case event.RecordTopic, event.WholeKey, event.InKey: // a record's key is that of the row
		return true
	}
	names := []string{"db", "schema", "table", "name", "collection", "database"}
	return strings.HasPrefix(f.path()[0], "$") && slices.Contains(names, strings.TrimPrefix(f.path()[len(f.path())-1], "$"))
}

// checkDecimal checks a field's settings for decimals.
func (l *loader) checkDecimal(f *Field, t event.Type, setting string) {
	switch {
	case f.From != "decimal" && l.has(setting+".scale"):
		l.fault(setting+".scale", FieldTypes, "is the scale of a decimal", "write from: decimal beside it, or remove it")
	case f.From == "decimal" && t != event.Text && t != event.Float && t != event.Decimal && t != 0:
		l.fault(setting+".from", FieldTypes, "says how a decimal is written, but the field is declared "+f.Type,
			"declare it decimal, or remove it")
	}
}
