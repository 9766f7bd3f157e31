package config

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"time"

	"brine/rowkey"
)

const (
	longFamily    = 8  // bytes of a family name that cause a warning, because every cell holds it
	longQualifier = 20 // the same for a qualifier
	manyFamilies  = 3  // all families of a region flush together
)

func (l *loader) checkTable(c *Config, t *Table) {
	setting := join("tables", t.Name)
	if !tableName(t.Name) {
		l.faultName(setting, Name, "is not a valid table name", "write namespace:name or name, of letters, digits and \"_\"")
	}
	if len(t.Families) > manyFamilies {
		l.warn(setting+".families", ManyFamilies, fmt.Sprintf("there are %d families, and all of them are flushed whenever one is full",
			len(t.Families)),
			"use one family, or one for what is read often and one for the rest")
	}
	for i := range t.Families {
		l.checkFamily(t, &t.Families[i], join(setting+".families", t.Families[i].Name))
	}
	l.checkKeyList(t, setting)
	l.checkKeys(c, t)
	l.checkSplits(t, setting)
	l.checkAccess(c, t, setting)
	if len(t.rowKeys) > 0 && t.Row != "" {
		l.lintKeys(c, t)
	}
}

// checkRoles checks the names of account roles.
func (l *loader) checkRoles(setting string, given []string) {
	for i, role := range given {
		if !slices.Contains(roles, role) {
			l.fault(setting+"["+strconv.Itoa(i)+"]", Choice, quote(role)+" is not a role", didYouMean(role, roles, "write "+oneOf(roles)))
		}
	}
}

// checkAccess checks who may read a table.
func (l *loader) checkAccess(c *Config, t *Table, setting string) {
	l.checkRoles(setting+".roles", t.Roles)
	if t.Owner != "" && t.Public != "" {
		l.fault(setting+".public", Duplicate, "the table also has an owner, and rows that belong to someone are not public",
			"keep one of the two")
	}
	if t.Owner == "" || len(t.rowKeys) == 0 {
		return
	}
	fields := t.rowKeys.Fields()
	if read, ok := c.Query(t); ok {
		for _, column := range read.Columns {
			if !column.Members && column.Pack == nil && column.Qualifier != "" {
				fields = append(fields, column.Field)
			}
		}
	}
	if !slices.Contains(fields, t.Owner) {
		l.fault(setting+".owner", UnknownField, "neither the key nor a column of the table holds "+quote(t.Owner),
			didYouMean(t.Owner, fields, "name a field of the key, or one that has its own column"))
	}
}

func (l *loader) checkFamily(t *Table, f *Family, setting string) {
	switch {
	case !familyName(f.Name):
		l.faultName(setting, Name, "is not a valid column family name", "use letters and digits; one letter is best")
	case len(f.Name) > longFamily:
		l.warnName(setting, LongName, fmt.Sprintf("its %d bytes are stored in every cell", len(f.Name)), "one letter is best")
	}
	if f.TTL%time.Second != 0 {
		l.fault(setting+".ttl", Range, "is not a whole number of seconds",
			"HBase counts a TTL in seconds: write "+DurationText(f.TTL.Truncate(time.Second)+time.Second))
	}
	if f.MinVersions > f.Versions {
		l.fault(setting+".min_versions", Range, "is more than versions", "write at most "+strconv.Itoa(f.Versions))
	}
	if f.MinVersions > 0 && f.TTL == 0 {
		l.warn(setting+".min_versions", Unused, "does nothing without a ttl", "remove it, or write a ttl")
	}
	if t.Row == rowEvent && f.Versions > 1 {
		l.warn(setting+".versions", ManyVersions, "an event's row is written once, so there is never a second version", "write versions: 1")
	}
	if t.Row == rowEntity && f.Versions > 1 && f.MinVersions == 0 { // min_versions shows that older versions are wanted
		l.report(Advice, l.near(setting+".versions").value, 0, setting+".versions", ManyVersions,
			"brine reads only the newest version of a cell, and the others take up space",
			"write versions: 1, unless something else reads the older ones")
	}
}

func (l *loader) checkSplits(t *Table, setting string) {
	if l.has(setting+".regions") && l.has(setting+".splits") {
		l.fault(setting+".splits", Duplicate, "both regions and splits are set", "keep one of the two")
		return
	}
	if len(t.Splits) == 0 && (len(t.rowKeys) == 0 || t.Regions < 2) {
		return
	}
	if _, err := t.SplitPoints(); err != nil {
		at := setting + ".regions"
		if len(t.Splits) > 0 {
			at = setting + ".splits"
		}
		message, fix := advise(err, "begin the key with a hash or a salt, or write regions: 1")
		l.fault(at, SplitPoints, message, fix)
	}
}

var tableDefinitions, _ = definitionsOf(reflect.TypeFor[Table]())

// checkKeyList checks that the table has key or keys. keys may later list several, each from a version on; only one is supported so far.
func (l *loader) checkKeyList(t *Table, setting string) {
	several := setting + ".keys"
	switch {
	case l.has(setting+".key") && l.has(several):
		l.fault(several, Duplicate, "both key and keys are set", "keep one of the two")
	case !l.has(setting+".key") && !l.has(several):
		l.fault(setting+".key", Missing, "is missing", "write key: "+exampleOf(find(tableDefinitions, "key")))
	case len(t.Keys) > 0 && t.Keys[0].From != 0:
		l.fault(several+"[0].from", SeveralKeys, "the rows of versions before "+strconv.Itoa(t.Keys[0].From)+
			" would have no key", "write from: 0")
	case len(t.Keys) > 1:
		l.fault(several+"[1]", SeveralKeys,
			fmt.Sprintf("a second key, from version %d on, is not supported yet: nothing checks that two keys cannot produce the same row, which "+
				"would lose the older event's cells", t.Keys[1].From),
			"keep one key; for another one, create a new table and replay the topic into it")
	}
}

// checkKeys parses the keys over the fields of each entry of rows that writes the table. The entries must agree on the types of the fields.
func (l *loader) checkKeys(c *Config, t *Table) {
	all := writers(c, t.Name)
	untyped := func(f Field) bool { return f.eventType() == 0 } // already reported
	for _, r := range all {
		if slices.ContainsFunc(r.pipeline.Fields, untyped) {
			return
		}
		keys, ok := l.parseKeys(t, r, all)
		if !ok {
			return
		}
		if len(t.rowKeys) == 0 {
			t.rowKeys = keys
			continue
		}
		for _, name := range keys.Fields() {
			if a, b := all[0].keyType(name), r.keyType(name); a != b {
				l.fault(join(join(join("pipelines", r.pipeline.Name), "fields"), r.eventField(name)), FieldTypes,
					fmt.Sprintf("the key of %s uses it as %s, the type that pipeline %s declares", t.Name,
						typeName(all[0].pipeline, all[0].eventField(name)), all[0].pipeline.Name),
					"declare the same type in both")
			}
		}
	}
}

// parseKeys parses the table's keys over the fields of one of its entries of rows. ok is false if it reported an error.
func (l *loader) parseKeys(t *Table, r *Rows, all []*Rows) (keys rowkey.Keys, ok bool) {
	list := t.keyList()
	if slices.ContainsFunc(list, func(k TableKey) bool { return k.Key == "" }) {
		return nil, false // already reported
	}
	ok = len(list) > 0
	fields := r.keyFields()
	for i := range fields {
		if slices.ContainsFunc(all, func(o *Rows) bool { return o.keyField(fields[i].Name).Whole != fields[i].Whole }) {
			fields[i].Whole = 0
		}
	}
	for i, k := range list {
		key, err := rowkey.Parse(k.Key, fields)
		if err != nil {
			l.keyError(t, i, r, len(all), err)
			ok = false
		}
		keys = append(keys, rowkey.KeyFrom{From: int64(k.From), Key: key})
	}
	return keys, ok
}

// keyError reports an error of rowkey at its position within the table's key i, or at the field of a type that no key takes.
func (l *loader) keyError(t *Table, i int, r *Rows, entries int, err error) {
	setting := t.keySetting(i)
	message, fix := advise(err, "brine key explain describes the language")
	offset := 0
	if e, ok := errors.AsType[*rowkey.SyntaxError](err); ok {
		if f := r.keyless(e.Field); f != nil {
			if len(t.rowKeys) == 0 { // else checkKeyFields reports it
				l.checkKeyless(t, r, f)
			}
			return
		}
		offset = e.Offset
	}
	switch {
	case len(r.pipeline.entriesOf(r.Table)) > 1:
		message += " (in " + r.setting + ")"
	case entries > 1:
		message += " (in pipeline " + r.pipeline.Name + ")"
	}
	l.report(Error, l.near(setting).value, offset, setting, KeySyntax, message, fix)
}

// lintKeys reports keys that are valid but will perform badly.
func (l *loader) lintKeys(c *Config, t *Table) {
	options := l.lintOptions(c, t)
	for i, k := range t.rowKeys {
		setting := t.keySetting(i)
		for _, f := range k.Key.Lint(options) {
			severity := Warning
			if f.Severity == rowkey.Advice {
				severity = Advice
			}
			l.report(severity, l.near(setting).value, f.Offset, setting, Code("key-"+f.Rule), f.Msg, f.Fix)
		}
	}
}

func (l *loader) lintOptions(c *Config, t *Table) rowkey.LintOptions {
	o := rowkey.LintOptions{EventRows: t.Row == rowEvent, Regions: max(t.Regions, len(t.Splits)+1)}
	for i, text := range t.Queries {
		q, err := rowkey.ParseQuery(text)
		if err != nil {
			l.fault(join("tables", t.Name)+".queries["+strconv.Itoa(i)+"]", Type, err.Error(),
				"write the fields that the query binds, such as \"waybill at..\"")
			continue
		}
		o.Queries = append(o.Queries, q)
	}
	return o
}

// checkRowOfTable checks a pipeline's changes against the table's rows.
func (l *loader) checkRowOfTable(p *Pipeline, t *Table, setting string) {
	if t.Row == rowEvent && p.Changes == changesPartial {
		l.warn(setting+".table", PartialEvent, "its rows are events, which never change in part, but the pipeline has changes: partial",
			"write row: entity in the table, or changes: whole here")
	}
	l.checkVersionOf(p, t)
}

// checkVersionOf checks a pipeline's versions against the table.
func (l *loader) checkVersionOf(p *Pipeline, t *Table) {
	at, n := p.versionFields()
	if f := p.field(at); t.Row == rowEntity && f != nil && f.unit() != "" && n == "" && p.Envelope.Ties != "accept" && !p.timedByReading() {
		l.warn(join("pipelines", p.Name)+".version", VersionTies, "two changes within one "+f.unit()+
			" have the same version, and the one applied last wins", "use a time in milliseconds if the source has one")
	}
	what, fix := p.untimed()
	for i := range t.Families {
		if f := &t.Families[i]; f.TTL > 0 && what != "" {
			l.fault(join(join("tables", t.Name)+".families", f.Name)+".ttl", VersionTTL,
				fmt.Sprintf("pipeline %s writes cells that would expire at once or never, because %s", p.Name, what), fix+", or remove the ttl")
		}
	}
	l.checkVersionsBeside(p, "table "+t.Name, func(other *Pipeline) bool { return len(other.entriesOf(t.Name)) > 0 })
}

// checkVersionsBeside refuses versions that cannot be compared with those of another pipeline that writes the same. It names one such
// pipeline, at the versions that are not times.
func (l *loader) checkVersionsBeside(p *Pipeline, what string, writes func(other *Pipeline) bool) {
	mine := p.versionsAre()
	for _, other := range p.config.Pipelines {
		theirs := other.versionsAre()
		switch {
		case other == p, !writes(other), mine == theirs, mine == "", theirs == "", mine == versionTimes:
		case theirs == versionTimes, p.Name < other.Name:
			l.fault(join("pipelines", p.Name)+".version", VersionType,
				fmt.Sprintf("its versions are %s, but those of pipeline %s, which also writes %s, are %s: they cannot be compared", mine, other.Name,
					what, theirs),
				"use the same kind of version in both, or let each write its own")
			return
		}
	}
}
