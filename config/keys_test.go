package config

import (
	"slices"
	"testing"

	"go.yaml.in/yaml/v3"

	"brine/rowkey"
)

// severalKeys reads a configuration in which tables have two keys, although that is still rejected, and returns the other problems.
func severalKeys(t *testing.T, source string) (*Config, Problems) {
	t.Helper()
	l := &loader{file: "keys.yaml", env: func(string) (string, bool) { return "", false }, places: map[string]place{}, written: map[*yaml.Node]string{},
		variable: map[*yaml.Node]string{}, broken: map[*yaml.Node]bool{}}
	cfg := l.load([]byte(source))
	others := slices.DeleteFunc(slices.Clone(l.problems), func(p Problem) bool { return p.Code == SeveralKeys })
	if len(others) == len(l.problems) {
		t.Fatal("two keys are not refused any more: check what ADR 14 says is to be refused then")
	}
	if others.Err() != nil {
		t.Fatal(others)
	}
	return cfg, others
}

// Everything made of a table has all of its keys, or the right one of them.
func TestAListOfKeysIsTakenEverywhere(t *testing.T) {
	cfg, _ := severalKeys(t, `
kafka: { brokers: [localhost:9092], group: brine }
hbase: { connect: "rpc://localhost:16000" }
search: { connect: "http://localhost:9200" }
tables:
  orders:
    row: entity
    keys:
      - { from: 0, key: 'md5(user, 4) + user + "|" + desc(created, ms)' }
      - { from: 1000, key: 'salt(16, user) + user + "|" + desc(created, ms)' }
    regions: 4
    families: { e: {} }
  ids:
    row: entity
    keys:
      - { from: 0, key: 'md5(order, 4) + order' }
      - { from: 500, key: 'salt(8, order) + order' }
    families: { e: {} }
indexes:
  orders: { every: month, time: at, fields: { at: date, user: keyword } }
views:
  timeline: { table: orders, where: [user], optional: [created..], order: newest }
pipelines:
  creations:
    topic: creations
    fields: { order: text, user: text, created: time_ms, at: time_ms }
    version: at
    rows: [ { table: ids, set: { "e:u": user, "e:c": created } } ]
  states:
    topic: states
    fields: { order: text, user: text, created: time_ms, status: text, at: time_ms }
    version: at
    key_from: ids
    rows: [ { table: orders, set: { "e:s": status } } ]
    documents: [ { index: orders, set: { at: created, user: user } } ]
`)
	orders, ids, states := cfg.Table("orders"), cfg.Table("ids"), cfg.Pipeline("states")
	keys := orders.RowKeys()
	if len(keys) != 2 || keys[0].From != 0 || keys[1].From != 1000 || keys.Validate() != nil {
		t.Fatalf("keys %+v", keys)
	}
	q, ok := cfg.Query(orders)
	if !ok || !slices.Equal(q.Keys, keys) || !slices.Equal(states.Sink().Rows[0].Table.Keys, keys) {
		t.Errorf("read by %v, written by %v", q.Keys, states.Sink().Rows[0].Table.Keys)
	}
	if o, ok := states.Lookup(); !ok || !slices.Equal(o.Keys, ids.RowKeys()) || len(o.Keys) != 2 || len(o.Fields) != 2 {
		t.Errorf("looked up: %+v", o)
	}
	if got := states.Indexer().Documents[0].Key; got != keys.First() {
		t.Errorf("documents are named by %v", got)
	}
	points, err := orders.SplitPoints()
	if err != nil || len(points) != 3 || points[0][0] != 4 {
		t.Errorf("split at %q, %v; want buckets of the newest key", points, err)
	}
	if types := cfg.KeyTypes(orders); types["user"] != rowkey.Text || types["created"] != rowkey.Time {
		t.Errorf("to be asked by %v", types)
	}
	if v, err := cfg.View("timeline").Query(cfg); err != nil || !slices.Equal(v.Table.Keys, keys) {
		t.Errorf("view %+v, %v", v, err)
	}
}

// Each key is linted at its own place.
func TestEachKeyIsLinted(t *testing.T) {
	_, found := severalKeys(t, `
kafka: { brokers: [localhost:9092], group: brine }
hbase: { connect: "rpc://localhost:16000" }
tables:
  visits:
    row: event
    keys:
      - key: 'md5(user, 4) + user + "|" + desc(at, ms) + id'
      - { from: 1000, key: 'asc(at, ms) + id' }
    families: { e: {} }
pipelines:
  visits: { topic: visits, fields: { user: text, at: time_ms, id: text, page: text }, rows: [ { table: visits, set: { "e:p": page } } ] }
`)
	i := slices.IndexFunc(found, func(p Problem) bool { return p.Code == "key-monotonic-lead" })
	if i < 0 || len(found) > 1 || found[i].Setting != "tables.visits.keys[1].key" || found[i].Line != 9 {
		t.Errorf("found %v", found)
	}
}
