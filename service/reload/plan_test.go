package reload_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"brine/config"
	"brine/service/reload"
)

const two = `
kafka: { brokers: [localhost:9092], group: brine }
hbase: { connect: "rpc://localhost:16000" }
search: { connect: "http://localhost:9200" }
tables:
  scans: { row: event, key: 'md5(id, 4) + id + "|" + desc(at, ms)', families: { e: { ttl: 92d } } }
  orders: { row: entity, key: 'md5(id, 4) + id', families: { e: {} } }
indexes:
  scans: { fields: { id: keyword, n: long }, every: month, time: at }
pipelines:
  scans:
    topic: scans
    fields: { id: text, at: time_ms, n: int }
    version: at
    rows: [ { table: scans, set: { "e:n": n } } ]
    documents: [ { index: scans, set: { id: id, n: n, at: at } } ]
  orders:
    topic: orders
    fields: { id: text, n: int }
    rows: [ { table: orders, set: { "e:n": n } } ]
`

const third = `  third:
    topic: third
    fields: { id: text, n: int }
    rows: [ { table: orders, set: { "e:n": n } } ]
`

func parsed(t *testing.T, text string) *config.Config {
	t.Helper()
	text = strings.Replace(text, "id: keyword, n: long", "id: keyword, n: long, at: date", 1)
	cfg, problems := config.Parse("brine.yaml", []byte(text), os.LookupEnv)
	if err := problems.Err(); err != nil {
		t.Fatal(problems)
	}
	return cfg
}

func TestPlan(t *testing.T) {
	const allStay = "scans.rows stays, scans.documents stays, orders.rows stays"
	for name, c := range map[string]struct {
		old, new   string // replacements
		want       string // of each half
		refuses    string
		fromBehind bool
	}{
		"nothing":                          {"", "", allStay, "", false},
		"what one half reads and writes":   {"version: at", "version: at\n    write: { linger: 20ms }", "scans.rows changes, scans.documents stays, orders.rows stays", "", false},
		"how a pipeline reads":             {"version: at", "version: at\n    read: { window: 2 }", "scans.rows changes, scans.documents changes, orders.rows stays", "", false},
		"a filter":                         {"version: at", "version: at\n    when: 'n > 1'", "scans.rows changes onward, scans.documents changes onward, orders.rows stays", "", false},
		"a filter of documents":            {"index: scans, set", "index: scans, when: 'n > 1', set", "scans.rows stays, scans.documents changes onward, orders.rows stays", "", false},
		"a pipeline comes":                 {"  orders:\n    topic", third + "  orders:\n    topic", "scans.rows stays, scans.documents stays, third.rows starts, orders.rows stays", "", false},
		"documents come":                   {"", "", "", "", true},
		"a setting of all groups":          {"group: brine", "group: brine, commit_interval: 2s", "scans.rows changes, scans.documents changes, orders.rows changes", "", false},
		"a ttl":                            {"ttl: 92d", "ttl: 30d", "scans.rows changes, scans.documents changes, orders.rows stays", "", false},
		"regions of a table":               {"row: entity", "row: entity, regions: 4", allStay, "", false},
		"what a customer may":              {"row: entity", "row: entity, owner: id", allStay, "", false},
		"brokers":                          {"localhost:9092", "localhost:9093", "scans.rows changes, scans.documents changes, orders.rows changes", "kafka.brokers applies to the whole process", false},
		"a store":                          {"localhost:16000", "localhost:16001", allStay, "hbase.connect applies to the whole process", false},
		"memory of the process":            {"hbase:", "process_memory: 256MiB\nhbase:", allStay, "process_memory applies to the whole process", false},
		"the admin port":                   {"hbase:", "http: { listen: '127.0.0.1:1' }\nhbase:", allStay, "http.listen applies to the whole process", false},
		"the key of a table":               {"'md5(id, 4) + id'", "'md5(id, 2) + id'", "scans.rows stays, scans.documents stays, orders.rows changes", "tables.orders.key is part of", false},
		"the version":                      {"    version: at\n", "", "scans.rows changes, scans.documents changes, orders.rows stays", "pipelines.scans.version is part of", false},
		"the table of rows":                {"{ table: orders, set", "{ table: other, set", "scans.rows stays, scans.documents stays, orders.rows changes", "pipelines.orders.rows[0].table is part of", false},
		"what a field of the key is":       {"fields: { id: text, n: int }", "fields: { id: { type: text, case: lower }, n: int }", "scans.rows stays, scans.documents stays, orders.rows changes", "pipelines.orders.fields.id.case field id is part of the row key of orders", false},
		"the part that a document lies in": {"every: month", "every: day", "scans.rows stays, scans.documents changes, orders.rows stays", "indexes.scans.every is part of", false},
	} {
		t.Run(name, func(t *testing.T) {
			old, new := two, strings.Replace(two, c.old, c.new, 1)
			if strings.Contains(c.new, "table: other") {
				new = strings.Replace(new, "indexes:", "  other: { row: entity, key: 'md5(id, 4) + id', families: { e: {} } }\nindexes:", 1)
			}
			if c.fromBehind { // the documents of a pipeline are added, and removed again
				with, without := two, strings.Replace(two, "    documents: [ { index: scans, set: { id: id, n: n, at: at } } ]\n", "", 1)
				check(t, without, with, "scans.rows stays, scans.documents starts, orders.rows stays", "")
				check(t, with, without, "scans.rows stays, orders.rows stays, scans.documents stops", "")
				return
			}
			check(t, old, new, c.want, c.refuses)
		})
	}
	check(t, strings.Replace(two, "  orders:\n    topic", third+"  orders:\n    topic", 1), two, allStay+", third.rows stops", "")
}

// TestFormerDeadLettersAreNotRead checks that no pattern matches a topic that holds the dead letters of a pipeline whose setting is changed.
func TestFormerDeadLettersAreNotRead(t *testing.T) {
	lettersIn := func(topic string) *config.Config {
		text := strings.Replace(two, "    topic: orders\n", "    topic_pattern: 'orders.*'\n", 1)
		return parsed(t, strings.Replace(text, "    topic: scans\n", "    topic: scans\n    dead_letters: "+topic+"\n", 1))
	}
	const refused = "pipelines.orders.topic_pattern matches orders-dl, which holds dead letters of pipeline scans"
	for topic, want := range map[string]string{"orders-dl": "<nil>", "orders-dead": refused} {
		if got := fmt.Sprint(reload.New(lettersIn("orders-dl"), lettersIn(topic)).Err()); got != want {
			t.Errorf("to %s: %s, want %s", topic, got, want)
		}
	}
	if err := reload.New(lettersIn("dl"), lettersIn("orders-dl")).Err(); err != nil {
		t.Errorf("the former topic does not match: %v", err)
	}
}

// check compares the plan that leads from one configuration to another with the expected one.
func check(t *testing.T, old, new, want, refuses string) {
	t.Helper()
	p := reload.New(parsed(t, old), parsed(t, new))
	var halves []string
	for _, h := range p.Halves {
		text := h.Name + " " + string(h.Does)
		if h.Onward {
			text += " onward"
		}
		halves = append(halves, text)
	}
	if got := strings.Join(halves, ", "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := fmt.Sprint(p.Err()); refuses == "" && p.Err() != nil || !strings.Contains(got, refuses) {
		t.Errorf("refused: %q, want %q", got, refuses)
	}
}

// TestWhatComesBack checks what a plan refuses of a half, a table and an index that come back, by what they were before they were removed.
func TestWhatComesBack(t *testing.T) {
	now := parsed(t, two)
	orders, scans := now.Halves()[2], now.Halves()[1]
	for name, c := range map[string]struct{ old, was, half, stores string }{
		"as it was":              {"", "", "", ""},
		"a filter":               {"topic: orders\n", "topic: orders\n    when: 'n > 1'\n", "", ""},
		"how it reads":           {"topic: orders\n", "topic: orders\n    read: { window: 2 }\n", "", ""},
		"the key":                {"'md5(id, 4) + id'", "'md5(id, 2) + id'", "tables.orders.key", "tables.orders.key"},
		"the version":            {"topic: orders\n    fields: { id: text, n: int }\n", "topic: orders\n    fields: { id: text, n: int }\n    version: n\n", "pipelines.orders.version", ""},
		"another's":              {"    version: at\n", "", "", ""},
		"the parts of the index": {"every: month", "every: day", "", "indexes.scans.every"},
		"regions":                {"row: entity", "row: entity, regions: 4", "", ""},
	} {
		was := parsed(t, strings.Replace(two, c.old, c.was, 1))
		half, stores := reload.New(now, now), reload.New(now, now)
		half.Returns(orders, was, now)
		for _, store := range []string{"tables.orders", "tables.scans", "indexes.scans"} {
			stores.ReturnsStore(store, was, now)
		}
		for what, p := range map[string]struct {
			*reload.Plan
			want string
		}{"the half": {half, c.half}, "the stores": {stores, c.stores}} {
			if got := fmt.Sprint(p.Err()); p.want == "" && p.Err() != nil || p.want != "" && (!strings.Contains(got, p.want+" is part of") || len(p.Refusals) != 1) {
				t.Errorf("%s, %s: refused: %s, want %q", name, what, got, p.want)
			}
		}
	}
	unknown := reload.New(now, now)
	unknown.Returns(scans, nil, now)
	if got := fmt.Sprint(unknown.Err()); !strings.Contains(got, "pipelines.scans is back, and it is not known whether its documents had other keys") {
		t.Error(got)
	}
	without := parsed(t, strings.Replace(two, "  orders: { row: entity", "  more: { row: entity, key: 'md5(id, 4) + id', families: { e: {} } }\n  orders: { row: entity", 1))
	if got := reload.New(now, without).Comes(); len(got) != 1 || got[0] != "tables.more" {
		t.Errorf("what comes is %v", got)
	}
}
