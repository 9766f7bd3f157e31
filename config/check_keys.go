package config

import (
	"fmt"
	"reflect"
	"strconv"

	"brine/rowkey"
)

// takeKey finds the table's key among key and keys. A table may come to have several, each from a version on; only one is
// supported yet, from version 0.
func (l *loader) takeKey(t *Table, setting string) {
	several := setting + ".keys"
	switch {
	case l.has(setting+".key") && l.has(several):
		l.fault(several, Duplicate, "both key and keys are set", "keep one of the two")
	case !l.has(setting+".key") && !l.has(several):
		l.fault(setting+".key", Missing, "is missing", "write key: "+exampleOf(find(tableDefinitions, "key")))
	case len(t.Keys) > 1:
		l.fault(several+"[1]", SeveralKeys, fmt.Sprintf("a second key, from version %d on, is not supported yet: rows would be written by one and not be found by the other", t.Keys[1].From),
			"keep one key; for another one make a new table and replay the topic into it")
	case len(t.Keys) == 1 && t.Keys[0].From != 0:
		l.fault(several+"[0].from", SeveralKeys, "the rows of versions before "+strconv.Itoa(t.Keys[0].From)+" would have no key", "write from: 0")
	case len(t.Keys) == 1:
		t.Key = t.Keys[0].Key
	}
}

var tableDefinitions, _ = definitionsOf(reflect.TypeFor[Table]())

// keySetting is the setting that holds the table's key.
func (t *Table) keySetting() string {
	setting := join("tables", t.Name)
	if len(t.Keys) > 0 {
		return setting + ".keys[0].key"
	}
	return setting + ".key"
}

// lintKey reports keys that can be read and will disappoint.
func (l *loader) lintKey(t *Table) {
	setting := t.keySetting()
	for _, f := range t.rowKey.Lint(l.lintOptions(t)) {
		severity := Warning
		if f.Severity == rowkey.Advice {
			severity = Advice
		}
		l.report(severity, l.near(setting).value, f.Offset, setting, Code("key-"+f.Rule), f.Msg, f.Mend)
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
