package config

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"

	"brine/rowkey"
)

// checkKeyList checks that the table has key or keys. It may come to have several, each from a version on; only one is supported yet.
func (l *loader) checkKeyList(t *Table, setting string) {
	several := setting + ".keys"
	switch {
	case l.has(setting+".key") && l.has(several):
		l.fault(several, Duplicate, "both key and keys are set", "keep one of the two")
	case !l.has(setting+".key") && !l.has(several):
		l.fault(setting+".key", Missing, "is missing", "write key: "+exampleOf(find(tableDefinitions, "key")))
	case len(t.Keys) > 0 && t.Keys[0].From != 0:
		l.fault(several+"[0].from", SeveralKeys, "the rows of versions before "+strconv.Itoa(t.Keys[0].From)+" would have no key", "write from: 0")
	case len(t.Keys) > 1:
		l.fault(several+"[1]", SeveralKeys, fmt.Sprintf("a second key, from version %d on, is not supported yet: nothing checks that two keys cannot make the same row, of which the older event's cells would be lost", t.Keys[1].From),
			"keep one key; for another one make a new table and replay the topic into it")
	}
}

var tableDefinitions, _ = definitionsOf(reflect.TypeFor[Table]())

// keyList is keys, or key as a list of one.
func (t *Table) keyList() []TableKey {
	if len(t.Keys) == 0 && t.Key != "" {
		return []TableKey{{Key: t.Key}}
	}
	return t.Keys
}

// keySetting is the setting that holds one of keyList.
func (t *Table) keySetting(i int) string {
	setting := join("tables", t.Name)
	if len(t.Keys) > 0 {
		return setting + ".keys[" + strconv.Itoa(i) + "].key"
	}
	return setting + ".key"
}

// checkKeys parses the keys over the fields of each entry of rows that writes the table; they must agree on their fields' types.
func (l *loader) checkKeys(c *Config, t *Table) {
	all := writers(c, t.Name)
	untyped := func(f Field) bool { return f.eventType() == 0 } // reported already
	for _, r := range all {
		if slices.ContainsFunc(r.pipeline.Fields, untyped) {
			return
		}
		keys, ok := l.parseKeys(t, r, len(all))
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
					fmt.Sprintf("the key of %s takes it as %s, and pipeline %s declares another type", t.Name, typeName(all[0].pipeline, all[0].eventField(name)), all[0].pipeline.Name),
					"declare it alike in both")
			}
		}
	}
}

// parseKeys parses the table's keys over the fields of one of its entries of rows; not ok when one was reported.
func (l *loader) parseKeys(t *Table, r *Rows, entries int) (keys rowkey.Keys, ok bool) {
	list := t.keyList()
	if slices.ContainsFunc(list, func(k TableKey) bool { return k.Key == "" }) {
		return nil, false // reported already
	}
	ok = len(list) > 0
	for i, k := range list {
		key, err := rowkey.Parse(k.Key, r.keyFields())
		if err != nil {
			l.keyError(t.keySetting(i), r, entries, err)
			ok = false
		}
		keys = append(keys, rowkey.KeyFrom{From: int64(k.From), Key: key})
	}
	return keys, ok
}

// keyError reports what rowkey says of a key, at its place within the expression.
func (l *loader) keyError(setting string, r *Rows, entries int, err error) {
	offset, message, fix := 0, err.Error(), "see brine key explain for the language"
	if e, ok := errors.AsType[*rowkey.SyntaxError](err); ok {
		offset, message = e.Offset, e.Msg
		if e.Fix != "" {
			fix = e.Fix
		}
	}
	switch {
	case len(r.pipeline.entriesOf(r.Table)) > 1:
		message += " (in " + r.setting + ")"
	case entries > 1:
		message += " (in pipeline " + r.pipeline.Name + ")"
	}
	l.report(Error, l.near(setting).value, offset, setting, KeySyntax, message, fix)
}

// lintKeys reports keys that can be read and will disappoint.
func (l *loader) lintKeys(t *Table) {
	options := l.lintOptions(t)
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

func (l *loader) lintOptions(t *Table) rowkey.LintOptions {
	o := rowkey.LintOptions{EventRows: t.Row == rowEvent, Regions: max(t.Regions, len(t.Splits)+1)}
	for i, text := range t.Queries {
		q, err := rowkey.ParseQuery(text)
		if err != nil {
			l.fault(join("tables", t.Name)+".queries["+strconv.Itoa(i)+"]", Type, err.Error(), "write the fields that it binds, such as \"waybill at..\"")
			continue
		}
		o.Queries = append(o.Queries, q)
	}
	return o
}
