package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestExactTypesEndToEnd takes decimals, bytes, dates and times in µs and ns, up to the ends of their types, through keys, columns and
// documents. Queries show what the records hold, by key and by search; verify agrees, and neither a replay nor an index made again from the
// rows changes anything.
func TestExactTypesEndToEnd(t *testing.T) {
	t.Parallel()
	nines := strings.Repeat("9", 38)
	j := newJobOf(t, embeddedStack(t), example{"../cmd/brine/testdata/formats/exact.yaml", "exact", "shop.exact", "shop:exact", "exact", "id"})
	var records []sent
	for i, value := range []string{
		`{"id":"a","at":1,"price":-0.050,"said":"+1.50","raw":"AP8K","day":"2013-01-31","us":"2013-01-31T08:00:00.000001Z","ns":"2013-01-31T08:00:00.000000001Z",` +
			`"paid":"1969-12-31","seen":-1,"sent":-1}`,
		`{"id":"first","at":1,"price":-` + nines + `,"said":"-0.` + nines + `","raw":"","day":"0000-01-01","us":"0000-01-01T00:00:00Z",` +
			`"ns":"1677-09-21T00:12:43.145224192Z","paid":"0001-01-01","seen":"0001-01-01T00:00:00.000001Z","sent":"1677-09-21T00:12:43.145224192Z"}`,
		`{"id":"last","at":1,"price":0.` + nines + `,"said":"` + nines + `","day":"9999-12-31","us":"9999-12-31T23:59:59.999999Z",` +
			`"ns":"2262-04-11T23:47:16.854775807Z","paid":"9999-12-31","seen":"9999-12-31T23:59:59.999999Z","sent":"2262-04-11T23:47:16.854775807Z"}`,
		`{"id":"long","at":1,"price":1` + nines + `,"day":1,"us":1,"ns":1}`,
		`{"id":"late","at":1,"day":1,"us":1,"ns":"2262-04-11T23:47:16.854775808Z"}`,
	} {
		records = append(records, sent{key: []byte("k"), value: []byte(value), time: time.UnixMilli(1), partition: i % 2})
	}
	j.sendAll(records)
	j.must("run", "-q", "-c", j.file, "--until-end")

	const a = "day:2013-01-31 id:a ns:2013-01-31T08:00:00.000000001Z paid:1969-12-31 price:-0.050 raw:AP8K said:1.50 " +
		"seen:1969-12-31T23:59:59.999999Z sent:1969-12-31T23:59:59.999999999Z us:2013-01-31T08:00:00.000001Z"
	first := "day:0000-01-01 id:first ns:1677-09-21T00:12:43.145224192Z paid:0001-01-01 price:-" + nines + " raw: said:-0." + nines +
		" seen:0001-01-01T00:00:00.000001Z sent:1677-09-21T00:12:43.145224192Z us:0000-01-01T00:00:00.000000Z"
	last := "day:9999-12-31 id:last ns:2262-04-11T23:47:16.854775807Z paid:9999-12-31 price:0." + nines + " raw:<nil> said:" + nines +
		" seen:9999-12-31T23:59:59.999999Z sent:2262-04-11T23:47:16.854775807Z us:9999-12-31T23:59:59.999999Z"
	for asked, want := range map[string]string{
		"id=a":     a,
		"id=first": first,
		"id=last":  last,
		"id=a us=2013-01-31T08:00:00.000001Z day=2013-01-31":                     a,
		"id=a us=2013-01-31T08:00:00.000002Z..":                                  "",
		"id=last us=253402300799999999 day=9999-12-31 ns=2262-04-11T23:47:16Z..": last,
		"price=-0.050":                      a, // the rest is by search
		"price=0." + nines:                  last,
		"raw=AP8K":                          a,
		"day=0000-01-01":                    first,
		"paid=9999-12-31":                   last,
		"paid=..1969-12-31":                 first,
		"us=2013-01-31T08:00:00.000001Z":    a,
		"ns=2262-04-11T23:47:16.854775807Z": last,
	} {
		if diff := cmp.Diff(want, j.fieldsOf(strings.Fields(asked)...)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", asked, diff)
		}
	}
	if out, code := j.exit("query", "-c", j.file, j.table, "price=0..1"); code == exitOK || !strings.Contains(out, "price: is a text in the index") {
		t.Errorf("a range of decimals, whose texts do not sort as they do, ends with %d:\n%s", code, out)
	}
	for _, row := range j.answered("day=2013-01-31") { // found by the document, which must be as the row says
		if row["state"] != nil {
			t.Errorf("both stores are up to date, yet %v", row)
		}
	}
	var dead []string
	for _, l := range j.deadLetters() {
		dead = append(dead, fmt.Sprint(l.Reason, " ", l.Field))
	}
	if len(dead) != 4 || strings.Count(strings.Join(dead, ","), "wrong_type price") != 2 || strings.Count(strings.Join(dead, ","), "wrong_type ns") != 2 {
		t.Errorf("dead letters %v", dead) // of rows and documents
	}

	j.verified(0, "--full")
	rows, documents := scanTable(t, j.hbase, j.table), j.documents().String()
	j.must("replay", "-q", "-c", j.file, "--from", "earliest")
	if got := scanTable(t, j.hbase, j.table); got != rows {
		t.Errorf("a replay makes %v of %v", got, rows)
	}
	if got := j.documents().String(); got != documents {
		t.Errorf("a replay makes %s of %s", got, documents)
	}
	j.must("reindex", j.name, "-q", "-c", j.file, "--from", "hbase", "--drop-old")
	if diff := cmp.Diff(documents, j.documents().String()); diff != "" {
		t.Errorf("documents made of the rows (-topic +rows):\n%s", diff)
	}
	j.verified(0, "--full")
}
