package sqlconsole_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"brine/config"
	"brine/sqlconsole"
)

const keyed = `
kafka: { brokers: [localhost:9092] }
hbase: { connect: "rpc://localhost:16000" }
tables:
  texts: { row: entity, key: 'user + "|" + asc(at, ms)', families: { e: {} } }
  salted: { row: entity, key: 'salt(4, user) + user + "|" + asc(at, ms)', families: { e: {} } }
  times: { row: entity, key: 'asc(at, ms) + user', families: { e: {} } }
  latest: { row: entity, key: 'desc(at, ms) + user', families: { e: {} } }
  numbers: { row: entity, key: 'asc(n) + user', families: { e: {} } }
  floats: { row: entity, key: 'asc(f) + user', families: { e: {} } }
pipelines:
  p:
    topic: t
    fields: { user: text, at: time_ms, v: time_ms, n: int, f: float, s: text }
    version: v
    rows:
      - { table: texts, set: { "e:s": s } }
      - { table: salted, set: { "e:s": s } }
      - { table: times, set: { "e:s": s } }
      - { table: latest, set: { "e:s": s } }
      - { table: numbers, set: { "e:s": s } }
      - { table: floats, set: { "e:s": s } }
`

// TestConditionsThatLeaveOutNothing checks that a statement reads the whole table if the conditions on its key leave out no row that
// tables have, and that it is then refused without ALLOW FULL SCAN, except for the first rows in the key's order.
func TestConditionsThatLeaveOutNothing(t *testing.T) {
	cfg, problems := config.Parse("keys.yaml", []byte(keyed), func(string) (string, bool) { return "", false })
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	catalog, err := cfg.Catalog()
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	for table, conditions := range map[string]map[string]bool{ // whether the whole table is read
		"texts": {
			`_key > ''`: true, `_key >= ''`: true, `_key LIKE '%'`: true, `_key > '\x00'`: true, `_key >= '\x00\x00\x00'`: true,
			`_key < '\xff'`: true, `_key <= '\xff\xff\xff\xff'`: true, `_key BETWEEN '' AND '\xff'`: true, `_key > '' AND _key < '\xff\xff'`: true,
			`_key > '\x00\x01'`: false, `_key < '\xff\xfe'`: false, `_key > 'a'`: false, `_key < 'b'`: false, `_key LIKE 'a%'`: false,
			`_key = ''`: false, `_key > '' AND _key < ''`: false, `_key > '' AND _key < 'b'`: false,
			`user > ''`: true, `user >= ''`: true, `user LIKE '%'`: true, `user > '' AND _key > ''`: true, `user > '' AND at > '2h'`: true,
			`user > 'a'`: false, `user < 'b'`: false, `user = ''`: false, `user > '' AND user < 'b'`: false, `user = 'a' AND at > '1970-01-01'`: false,
			`user IN ('', 'a')`: false, `user > '' AND _key > 'a'`: false, `at > '2h'`: true, `s = 'x'`: true,
		},
		"salted": {`user > ''`: true, `user > 'a'`: false, `user = 'a'`: false, `_key > ''`: true, `_key > '\x01'`: false},
		"times": {
			`at > '2h'`: false, `at >= '1970-01-01'`: true, `at > '1970-01-01T00:00:00Z'`: true, `at >= '1960-01-01'`: true, `at > '2020-01-01'`: false,
			`at < '2026-06-01T12:00:01Z'`: true, `at < '2999-01-01'`: true, `at < '2h'`: false, `at BETWEEN '1970-01-01' AND '2030-01-01'`: true,
			`at BETWEEN '2020-01-01' AND '2030-01-01'`: false, `at >= '1970-01-01' AND at < '2020-01-01'`: false, `at >= '1970-01-01' AND user = 'a'`: true,
		},
		"latest": {`at > '2h'`: false, `at >= '1970-01-01'`: true, `at < '2999-01-01'`: true},
		"numbers": {
			`n > -9223372036854775808`: true, `n <= 9223372036854775807`: true, `n < 9223372036854775807`: true, `n >= 0`: false, `n < 0`: false, `n = 0`: false,
		},
		"floats": {`f >= 0`: false, `f < 1e300`: false, `f <= 1.7976931348623157e308`: true, `f > -1.7976931348623157e308`: true},
	} {
		for condition, whole := range conditions {
			plan := func(rest string) (*sqlconsole.Plan, error) {
				t.Helper()
				s, err := sqlconsole.Parse(fmt.Sprintf("SELECT * FROM %s WHERE %s %s", table, condition, rest))
				if err != nil {
					t.Fatalf("%s: %v", condition, err)
				}
				return catalog.Plan(s, now)
			}
			_, err := plan("")
			if (err != nil) != whole || whole && !strings.Contains(err.Error(), "ALLOW FULL SCAN") {
				t.Errorf("%s, %s: %v; want the whole table to be read: %v", table, condition, err, whole)
			}
			if p, err := plan("ALLOW FULL SCAN"); err != nil || p.Full != whole {
				t.Errorf("%s, %s ALLOW FULL SCAN: full %v, %v", table, condition, p.Full, err)
			}
		}
	}
	for statement, refused := range map[string]bool{
		"SELECT * FROM texts WHERE _key > '' LIMIT 10":                    false,
		"SELECT * FROM texts WHERE _key > '' LIMIT 1001":                  true,
		"SELECT * FROM texts WHERE _key > '' AND s = 'x' LIMIT 10":        true, // HBase filters
		"SELECT * FROM texts WHERE _key > '' AND s IN ('x', 'y') LIMIT 1": true, // HBase and brine filter
		"SELECT COUNT(*) FROM texts WHERE _key > '' LIMIT 10":             true,
	} {
		s, err := sqlconsole.Parse(statement)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := catalog.Plan(s, now); (err != nil) != refused {
			t.Errorf("%s: %v, want it refused: %v", statement, err, refused)
		}
	}
}
