package sqlconsole_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"brine/config"
	"brine/hbase"
	"brine/internal/testenv"
	"brine/query"
)

// TestTimesThatKeysRound checks that a time which the key holds in hours, and a column exactly, is read, compared and ordered exactly.
func TestTimesThatKeysRound(t *testing.T) {
	client, err := hbase.Open(t.Context(), hbase.Options{Connect: embeddedHBase(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	x := &table{name: testenv.Name(t), store: query.Selector{Client: client}}
	source := fmt.Sprintf(`
kafka: { brokers: [localhost:9092] }
hbase: { connect: "rpc://localhost:16000" }
tables:
  %s: { row: entity, key: 'user + "|" + asc(at, hour, 32) + id', families: { e: {} } }
pipelines:
  p:
    topic: t
    fields: { user: text, at: time_ms, id: text, v: time_ms }
    version: v
    rows: [ { table: %[1]s, set: { "e:at": at } } ]
`, x.name)
	cfg, problems := config.Parse("rounded.yaml", []byte(source), func(string) (string, bool) { return "", false })
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	if x.catalog, err = cfg.Catalog(); err != nil {
		t.Fatal(err)
	}
	x.pipeline = cfg.Pipelines[0]
	if err := client.CreateTable(t.Context(), hbase.Table{Name: x.name, Families: []hbase.Family{{Name: "e"}}}, nil); err != nil {
		t.Fatal(err)
	}
	ten := time.Date(2026, 1, 2, 10, 0, 0, 0, time.UTC)
	var records []string
	for i, minutes := range []time.Duration{50, 10, 30} {
		records = append(records, fmt.Sprintf(`{"user":"u","at":%d,"id":"i%d","v":1}`, ten.Add(minutes*time.Minute).UnixMilli(), i))
	}
	x.write(t, records)

	for where, want := range map[string][]string{
		"":                                    {"10:50,i0", "10:10,i1", "10:30,i2"},
		" AND at >= '2026-01-02T10:20:00Z'":   {"10:50,i0", "10:30,i2"},
		" AND at = '2026-01-02T10:30:00Z'":    {"10:30,i2"},
		" AND at < '2026-01-02T10:30:00Z'":    {"10:10,i1"},
		" AND at = '2026-01-02T10:00:00Z'":    {},
		" AND at IN ('2026-01-02T10:10:00Z')": {"10:10,i1"},
	} {
		got := []string{}
		for _, row := range x.run(t, "SELECT at, id FROM "+x.name+" WHERE user = 'u'"+where).Rows {
			got = append(got, strings.NewReplacer("2026-01-02T", "", ":00.000Z", "").Replace(line(row)))
		}
		if !slices.Equal(got, want) {
			t.Errorf("WHERE user = 'u'%s: %v, want %v", where, got, want)
		}
	}
	for prefix, want := range map[string]int{`u|\x00%`: 3, `u|\x01%`: 0, `\u%`: 3, `u|\x00\x04%`: 0, `u\_%`: 0} { // as answers show keys
		if got := len(x.run(t, "SELECT id FROM "+x.name+" WHERE _key LIKE '"+prefix+"'").Rows); got != want {
			t.Errorf("_key LIKE '%s': %d rows, want %d", prefix, got, want)
		}
	}
	if _, err := x.try(t, "SELECT id FROM "+x.name+" WHERE user = 'u' ORDER BY at"); err == nil {
		t.Error("rows are said to be in the order of a time that the key rounds")
	}

	key, err := x.catalog.Tables[0].RowsOf(map[string]string{"user": "u", "at": "2026-01-02T10:50:00Z", "id": "i0"})
	if err != nil {
		t.Fatal(err)
	}
	rows, err := query.ByKey(t.Context(), client, x.catalog.Tables[0].Table, key)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range rows[0].Fields {
		if f.Name == "at" && !f.Value.Null() {
			got = append(got, fmt.Sprint(query.JSONValue(f.Value)))
		}
	}
	if want := []string{"2026-01-02T10:50:00.000Z"}; !slices.Equal(got, want) { // what a command would carry
		t.Errorf("the row has the times %v, want %v", got, want)
	}
}
