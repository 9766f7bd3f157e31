package sqlconsole_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"brine/config"
	"brine/event"
	"brine/hbase"
	"brine/hbase/embedded"
	"brine/internal/testenv"
	"brine/query"
	"brine/search"
	"brine/sink"
	"brine/sqlconsole"
)

const visits = `
kafka: { brokers: [localhost:9092] }
hbase: { connect: "rpc://localhost:16000" }
tables:
  %s: { row: entity, key: 'salt(4, user, id) + user + "|" + desc(at, ms) + id', families: { e: {} } }
pipelines:
  p:
    topic: t
    fields: { user: text, at: time_ms, id: text, v: time_ms, n: int, f: float, b: bool, s: text, gone: bool, phone: text }
    version: v
    mask: [phone]
    rows: [ { table: %[1]s, set: { "e:n": n, "e:f": f, "e:b": b, "e:s": s, "e:gone": gone, "e:phone": phone } } ]
views:
  lately: { table: %[1]s, where: [user], order: newest }
`

func load(t testing.TB, table string) (*config.Config, *sqlconsole.Catalog) {
	t.Helper()
	source := strings.Replace(fmt.Sprintf(visits, table), `"e:phone": phone } }`, `"e:phone": phone }, deleted: gone }`, 1)
	cfg, problems := config.Parse("visits.yaml", []byte(source), func(string) (string, bool) { return "", false })
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	catalog, err := cfg.Catalog()
	if err != nil {
		t.Fatal(err)
	}
	return cfg, catalog
}

// visit is a row as the test wrote it: a value for each field that it has.
type visit map[string]any

// table is rows in HBase, and the test's knowledge of them.
type table struct {
	name     string
	catalog  *sqlconsole.Catalog
	pipeline *config.Pipeline
	store    query.Selector
	rows     []visit // not deleted
	records  []string
}

// emptyTable creates a table in HBase according to the catalog.
func emptyTable(t *testing.T, connect string, family hbase.Family, splits [][]byte) *table {
	t.Helper()
	client, err := hbase.Open(t.Context(), hbase.Options{Connect: connect})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	out := &table{name: testenv.Name(t), store: query.Selector{Client: client}}
	cfg, catalog := load(t, out.name)
	out.catalog, out.pipeline = catalog, cfg.Pipelines[0]
	if err := client.CreateTable(t.Context(), hbase.Table{Name: out.name, Families: []hbase.Family{family}}, splits); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		if err := errors.Join(client.DisableTable(ctx, out.name), client.DeleteTable(ctx, out.name)); err != nil {
			t.Error(err)
		}
	})
	return out
}

// write writes records as the pipeline does.
func (x *table) write(t *testing.T, records []string) { x.writeWith(t, sink.NullsMerge, records) }

func (x *table) writeWith(t *testing.T, nulls sink.NullPolicy, records []string) {
	t.Helper()
	mutator, err := x.store.Client.(*hbase.Client).Mutator(hbase.MutatorOptions{Autoflush: true})
	if err != nil {
		t.Fatal(err)
	}
	opts := x.pipeline.Sink()
	opts.Rows[0].Nulls = nulls
	rows, err := sink.New(sink.HBase(mutator), opts)
	if err != nil {
		t.Fatal(err)
	}
	d, b := event.NewDecoder(x.pipeline.Schema()), new(event.Batch)
	for i, record := range records {
		if err := d.Decode(&event.Record{Offset: int64(i), Timestamp: 1 << 40, Value: []byte(record)}, b); err != nil {
			t.Fatal(err)
		}
	}
	if failed, err := event.Settle(t.Context(), rows.Submit(t.Context(), b)); err != nil || len(failed) > 0 {
		t.Fatal(err, failed)
	}
}

// newTable returns a table with some hundred visits.
func newTable(t *testing.T, connect string, random *rand.Rand) *table {
	t.Helper()
	out := emptyTable(t, connect, hbase.Family{Name: "e"}, [][]byte{{1}, {2, 'u', '3'}, {3}})
	var records []string
	seen := map[string]bool{}
	for range 400 {
		v, record := aVisit(random)
		key := fmt.Sprint(v["user"], v["at"], v["id"])
		if seen[key] {
			continue
		}
		seen[key] = true
		if records = append(records, record); v["gone"] != true {
			out.rows = append(out.rows, v)
		}
	}
	out.records = records
	out.writeWith(t, sink.NullsMerge, records[:len(records)/2])
	out.writeWith(t, sink.NullsStore, records[len(records)/2:]) // a null reads alike, whether a cell says it or there is none
	return out
}

var words = []string{"", "a", "ab", "abc", "b", "ba", "ü", "%", "it's"}

func aVisit(r *rand.Rand) (visit, string) {
	v := visit{"user": fmt.Sprint("u", r.IntN(5)), "at": int64(1_000_000 + 1000*r.IntN(8)), "id": fmt.Sprint("i", r.IntN(12))}
	members := []string{fmt.Sprintf(`"user":%q,"at":%d,"id":%q,"v":5`, v["user"], v["at"], v["id"])}
	add := func(name string, value any, text string) {
		if r.IntN(4) > 0 {
			v[name] = value
			members = append(members, fmt.Sprintf("%q:%s", name, text))
		}
	}
	n, f, b, s := int64(r.IntN(9)-4), float64(r.IntN(9)-4)/2, r.IntN(2) == 0, words[r.IntN(len(words))]
	add("n", n, fmt.Sprint(n))
	add("f", f, fmt.Sprint(f))
	add("b", b, fmt.Sprint(b))
	add("s", s, strconv.Quote(s))
	add("phone", "555", `"555"`)
	if r.IntN(6) == 0 {
		v["gone"] = true
		members = append(members, `"gone":true`)
	}
	return v, "{" + strings.Join(members, ",") + "}"
}

// clause is a condition in SQL, and as an independent test.
type clause struct {
	text  string
	holds func(visit) bool
}

func aClause(r *rand.Rand) clause {
	field := []string{"user", "at", "id", "n", "f", "b", "s"}[r.IntN(7)]
	value := func() (any, string) {
		switch field {
		case "user":
			s := fmt.Sprint("u", r.IntN(6))
			return s, "'" + s + "'"
		case "id":
			s := fmt.Sprint("i", r.IntN(13))
			return s, "'" + s + "'"
		case "at":
			at := int64(1_000_000 + 500*r.IntN(18))
			return at, "'" + time.UnixMilli(at).UTC().Format("2006-01-02T15:04:05.000Z") + "'"
		case "n":
			n := int64(r.IntN(11) - 5)
			return n, fmt.Sprint(n)
		case "f":
			f := float64(r.IntN(11)-5) / 2
			return f, fmt.Sprint(f)
		case "b":
			b := r.IntN(2) == 0
			return b, strings.ToUpper(fmt.Sprint(b))
		}
		s := words[r.IntN(len(words))]
		return s, "'" + strings.ReplaceAll(s, "'", "''") + "'"
	}
	a, aText := value()
	b, bText := value()
	test := func(text string, holds func(got any) bool) clause {
		return clause{field + " " + text, func(v visit) bool { got, has := v[field]; return has && holds(got) }}
	}
	kinds := 9
	if field == "b" {
		kinds = 4
	}
	switch r.IntN(kinds) {
	case 0:
		return test("= "+aText, func(got any) bool { return order(got, a) == 0 })
	case 1:
		return test("IN ("+aText+", "+bText+")", func(got any) bool { return order(got, a) == 0 || order(got, b) == 0 })
	case 2:
		return test("IS NOT NULL", func(any) bool { return true })
	case 3:
		return clause{field + " IS NULL", func(v visit) bool { _, has := v[field]; return !has }}
	case 4:
		return test("< "+aText, func(got any) bool { return order(got, a) < 0 })
	case 5:
		return test("<= "+aText, func(got any) bool { return order(got, a) <= 0 })
	case 6:
		return test(">= "+aText, func(got any) bool { return order(got, a) >= 0 })
	case 7:
		if s, ok := a.(string); ok {
			escaped := strings.NewReplacer("%", `\%`, "'", "''").Replace(s)
			return test("LIKE '"+escaped+"%'", func(got any) bool { return strings.HasPrefix(got.(string), s) })
		}
		return test("> "+aText, func(got any) bool { return order(got, a) > 0 })
	}
	return test("BETWEEN "+aText+" AND "+bText, func(got any) bool { return order(got, a) >= 0 && order(got, b) <= 0 })
}

func order(a, b any) int {
	switch a := a.(type) {
	case string:
		return strings.Compare(a, b.(string))
	case int64:
		return cmp.Compare(a, b.(int64))
	case float64:
		return cmp.Compare(a, b.(float64))
	}
	return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b))
}

// TestAnswersAreThoseOfTheRows runs random statements on a salted table, some of whose rows are deleted, and looks for the same rows, one
// by one, among those that the test wrote.
func TestAnswersAreThoseOfTheRows(t *testing.T) {
	for name, start := range map[string]func(*testing.T) string{"embedded": embeddedHBase, "real": func(t *testing.T) string { return testenv.HBase(t) }} {
		t.Run(name, func(t *testing.T) {
			random := rand.New(rand.NewPCG(7, 7))
			table := newTable(t, start(t), random)
			for range 400 {
				var clauses []clause
				var texts []string
				for range random.IntN(4) {
					c := aClause(random)
					clauses, texts = append(clauses, c), append(texts, c.text)
				}
				where := ""
				if len(texts) > 0 {
					where = " WHERE " + strings.Join(texts, " AND ")
				}
				var want []visit
				for _, v := range table.rows {
					if !slices.ContainsFunc(clauses, func(c clause) bool { return !c.holds(v) }) {
						want = append(want, v)
					}
				}
				table.checkRows(t, where, want)
				table.checkGroups(t, where, want)
				table.checkOrder(t, random, where, want)
			}
		})
	}
}

func embeddedHBase(t *testing.T) string {
	t.Helper()
	server, err := embedded.Start(embedded.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	return "rpc://" + server.Addr()
}

func (x *table) run(t *testing.T, statement string) *sqlconsole.Answer {
	t.Helper()
	a, err := x.try(t, statement)
	if err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	if a.Reached != "" {
		t.Fatalf("%s: %s", statement, a.Reached)
	}
	return a
}

func (x *table) try(t *testing.T, statement string) (*sqlconsole.Answer, error) {
	t.Helper()
	s, err := sqlconsole.Parse(statement)
	if err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	p, err := x.catalog.Plan(s, time.Now())
	if err != nil {
		return nil, err
	}
	return sqlconsole.Run(t.Context(), x.store, p, sqlconsole.Limits{})
}

func line(row []event.Value) string {
	var out []string
	for _, v := range row {
		if v.Null() {
			out = append(out, "-")
		} else {
			out = append(out, fmt.Sprint(query.JSONValue(v)))
		}
	}
	return strings.Join(out, ",")
}

func (v visit) line(fields ...string) string {
	var out []string
	for _, f := range fields {
		switch got, has := v[f]; {
		case !has:
			out = append(out, "-")
		case f == "at":
			out = append(out, fmt.Sprint(query.JSONValue(event.TimeValue(got.(int64)))))
		default:
			out = append(out, fmt.Sprint(got))
		}
	}
	return strings.Join(out, ",")
}

func (x *table) checkRows(t *testing.T, where string, want []visit) {
	t.Helper()
	statement := "SELECT user, at, id, n, f, b, s FROM " + x.name + where + " ALLOW FULL SCAN"
	a := x.run(t, statement)
	var got, expected []string
	for _, row := range a.Rows {
		got = append(got, line(row))
	}
	for _, v := range want {
		expected = append(expected, v.line("user", "at", "id", "n", "f", "b", "s"))
	}
	slices.Sort(got)
	slices.Sort(expected)
	if !slices.Equal(got, expected) {
		t.Fatalf("%s\nhas %d rows %q\nnot %d rows %q", statement, len(got), got, len(expected), expected)
	}
}

func (x *table) checkGroups(t *testing.T, where string, want []visit) {
	t.Helper()
	statement := "SELECT user, COUNT(*), COUNT(n), SUM(n), MIN(s), MAX(f) FROM " + x.name + where + " GROUP BY user ALLOW FULL SCAN"
	groups := map[string][]visit{}
	for _, v := range want {
		groups[v["user"].(string)] = append(groups[v["user"].(string)], v)
	}
	var got, expected []string
	for _, row := range x.run(t, statement).Rows {
		got = append(got, line(row))
	}
	for _, user := range slices.Sorted(maps.Keys(groups)) {
		all := visit{"user": user, "rows": len(groups[user])}
		n, sum := 0, int64(0)
		for _, v := range groups[user] {
			if has, ok := v["n"].(int64); ok {
				n, sum = n+1, sum+has
				all["sum"] = sum
			}
			if s, ok := v["s"]; ok && (all["s"] == nil || order(s, all["s"]) < 0) {
				all["s"] = s
			}
			if f, ok := v["f"]; ok && (all["f"] == nil || order(f, all["f"]) > 0) {
				all["f"] = f
			}
		}
		all["n"] = n
		expected = append(expected, all.line("user", "rows", "n", "sum", "s", "f"))
	}
	if !slices.Equal(got, expected) {
		t.Fatalf("%s\nhas %q\nnot %q", statement, got, expected)
	}
}

// checkOrder queries one user's rows by time, forwards or backwards, and then only the first of them.
func (x *table) checkOrder(t *testing.T, random *rand.Rand, where string, want []visit) {
	t.Helper()
	if !strings.Contains(where, "user = 'u1'") {
		where = strings.Replace(where+" AND user = 'u1'", " AND user", map[bool]string{true: " WHERE user", false: " AND user"}[where == ""], 1)
	}
	desc := random.IntN(2) == 0
	limit := 1 + random.IntN(20)
	statement := fmt.Sprintf("SELECT at FROM %s%s ORDER BY at%s LIMIT %d", x.name, where, map[bool]string{true: " DESC"}[desc], limit)
	a, err := x.try(t, statement)
	if refused, ok := errors.AsType[*sqlconsole.Error](err); ok && strings.Contains(refused.Msg, "are not in the order of") {
		return // another condition has bound what the key orders by
	}
	if err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	var times []int64
	for _, v := range want {
		if v["user"] == "u1" {
			times = append(times, v["at"].(int64))
		}
	}
	slices.Sort(times)
	if desc {
		slices.Reverse(times)
	}
	times = times[:min(limit, len(times))]
	var got []int64
	for _, row := range a.Rows {
		got = append(got, row[0].Int())
	}
	if !slices.Equal(got, times) {
		t.Fatalf("%s\nhas %v\nnot %v", statement, got, times)
	}
}

// TestMaskedColumns checks that they are shown as masked, and can be neither compared, grouped, ordered by nor counted.
func TestMaskedColumns(t *testing.T) {
	x := newTable(t, embeddedHBase(t), rand.New(rand.NewPCG(9, 9)))
	for _, statement := range []string{
		"SELECT user FROM T WHERE phone = '555' ALLOW FULL SCAN", "SELECT user FROM T WHERE phone IS NOT NULL ALLOW FULL SCAN",
		"SELECT phone, COUNT(*) FROM T GROUP BY phone ALLOW FULL SCAN", "SELECT MAX(phone) FROM T ALLOW FULL SCAN",
		`SELECT user FROM T WHERE "e:phone" = '555' ALLOW FULL SCAN`, "SELECT user FROM T ORDER BY phone LIMIT 5",
	} {
		if _, err := x.try(t, strings.Replace(statement, "FROM T", "FROM "+x.name, 1)); err == nil || !strings.Contains(err.Error(), "masked") {
			t.Errorf("%s: %v", statement, err)
		}
	}
	for _, statement := range []string{"SELECT * FROM T LIMIT 1000", "SELECT phone FROM T LIMIT 1000", `SELECT "e:phone" FROM T LIMIT 1000`} {
		stars := 0
		for _, row := range x.run(t, strings.Replace(statement, "FROM T", "FROM "+x.name, 1)).Rows {
			if text := line(row); strings.Contains(text, "555") {
				t.Errorf("%s shows %s", statement, text)
			} else if strings.Contains(text, "***") {
				stars++
			}
		}
		if stars == 0 {
			t.Errorf("%s shows no mask", statement)
		}
	}
}

// TestWholeTablesAreNotReadByAccident checks that a statement without a condition on the key's beginning is refused, with a fix.
func TestWholeTablesAreNotReadByAccident(t *testing.T) {
	_, catalog := load(t, "visits")
	for statement, refused := range map[string]bool{
		"SELECT * FROM visits":                                 true,
		"SELECT * FROM visits WHERE s = 'a' LIMIT 10":          true,
		"SELECT COUNT(*) FROM visits LIMIT 10":                 true,
		"SELECT * FROM visits LIMIT 1001":                      true,
		"SELECT * FROM visits LIMIT 1000":                      false,
		"SELECT * FROM visits WHERE user = 'u1'":               false,
		"SELECT COUNT(*) FROM visits ALLOW FULL SCAN":          false,
		"SELECT * FROM visits WHERE user IN ('u1', 'u2')":      false,
		"SELECT * FROM visits WHERE user = 'u1' AND at > '2h'": false,
		"SELECT * FROM visits WHERE at > '2h'":                 true,
	} {
		s, err := sqlconsole.Parse(statement)
		if err != nil {
			t.Fatal(err)
		}
		_, err = catalog.Plan(s, time.Now())
		if (err != nil) != refused || refused && !strings.Contains(err.Error(), "ALLOW FULL SCAN") {
			t.Errorf("%s: %v", statement, err)
		}
	}
}

// TestBoundsAreSaid checks that an answer that ends at a limit says at which.
func TestBoundsAreSaid(t *testing.T) {
	x := newTable(t, embeddedHBase(t), rand.New(rand.NewPCG(9, 9)))
	for want, l := range map[string]sqlconsole.Limits{"10 rows were read": {Read: 10}, "of rows were read": {Bytes: 1000}, "the answer would have more than": {Held: 800},
		"more than 2 groups": {Groups: 2}} {
		text := "SELECT * FROM " + x.name + " ALLOW FULL SCAN"
		if l.Groups > 0 {
			text = "SELECT user, COUNT(*) FROM " + x.name + " GROUP BY user ALLOW FULL SCAN"
		}
		s, err := sqlconsole.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		p, err := x.catalog.Plan(s, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		a, err := sqlconsole.Run(t.Context(), x.store, p, l)
		if err != nil || !strings.Contains(a.Reached, want) || len(a.Rows) == 0 {
			t.Errorf("%+v: %v, %+v", l, err, a)
		}
	}
}

// TestDroppedRowsAreRead checks that rows that HBase's filter drops count as read, with their bytes, in one range and in several that are
// merged: a statement that finds nothing ends at the limit, and an answer says what the servers have read.
func TestDroppedRowsAreRead(t *testing.T) {
	ends := []string{"ALLOW FULL SCAN", "LIMIT 1 ALLOW FULL SCAN"}
	t.Run("embedded", func(t *testing.T) {
		server, err := embedded.Start(embedded.Options{Dir: t.TempDir(), Heartbeat: 10})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { server.Close() })
		dropped(t, "rpc://"+server.Addr(), append(ends, "AND user IN ('u0', 'u1', 'u2', 'u3', 'u4')"))
	})
	t.Run("real", func(t *testing.T) { dropped(t, testenv.HBase(t), ends) }) // it reports by time: these rows are read at once, region by region
}

func dropped(t *testing.T, connect string, ends []string) {
	t.Helper()
	x := newTable(t, connect, rand.New(rand.NewPCG(9, 9)))
	if err := x.store.Client.(*hbase.Client).FlushTable(t.Context(), x.name); err != nil { // HBase counts the bytes of files
		t.Fatal(err)
	}
	all := len(x.records) // those that are marked deleted are read, too
	const rows, size = 40, 3_000
	for _, end := range ends {
		statement := "SELECT user FROM " + x.name + " WHERE s = 'nobody wrote this' " + end
		for limits, reached := range map[sqlconsole.Limits]string{
			{Read: rows}: `^[0-9]+ rows were read$`, {Bytes: size}: `^[0-9.]+ KiB of rows were read$`, {Read: 100_000, Bytes: 1 << 30}: `^$`,
		} {
			s, err := sqlconsole.Parse(statement)
			if err != nil {
				t.Fatal(err)
			}
			p, err := x.catalog.Plan(s, time.Now())
			if err != nil {
				t.Fatal(err)
			}
			a, err := sqlconsole.Run(t.Context(), x.store, p, limits)
			if err != nil {
				t.Fatal(err)
			}
			whole := a.Stats.Read >= all
			if !regexp.MustCompile(reached).MatchString(a.Reached) || whole != (a.Reached == "") || len(a.Rows) > 0 ||
				limits.Read == rows && (a.Reached != fmt.Sprintf("%d rows were read", a.Stats.Read) || a.Stats.Read <= rows) {
				t.Errorf("%s, %+v of %d rows: %q, %+v", statement, limits, all, a.Reached, a.Stats)
			}
		}
	}
}

// TestGroupsHoldBoundedMemory checks that the values of groups count as what an answer shows: a function kept any number of long texts.
func TestGroupsHoldBoundedMemory(t *testing.T) {
	_, catalog := load(t, "visits")
	s, err := sqlconsole.Parse("SELECT user, MIN(s), MAX(s), COUNT(s) FROM visits GROUP BY user ALLOW FULL SCAN")
	if err != nil {
		t.Fatal(err)
	}
	p, err := catalog.Plan(s, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	const rows, size, most = 100, 10_000, 210_000
	for held, want := range map[int64]int{most: most / (2 * size), 4 * rows * size: rows} {
		a, err := sqlconsole.Run(t.Context(), letters{rows, size}, p, sqlconsole.Limits{Held: held})
		if err != nil || len(a.Rows) != want || (a.Reached == "") != (want == rows) {
			t.Errorf("%d bytes: %v, %d groups, not %d: %q", held, err, len(a.Rows), want, a.Reached)
		}
	}
}

// TestOneRowMayNameALargeColumnManyTimes checks that a row whose column is shown many times takes no more memory than answers may have, and
// that it is refused, not cut.
func TestOneRowMayNameALargeColumnManyTimes(t *testing.T) {
	_, catalog := load(t, "visits")
	const size, most = 8 << 20, 32 << 20
	times := func(item, between string, n int) string {
		return strings.TrimSuffix(strings.Repeat(item+between, n), between)
	}
	for statement, fits := range map[string]bool{
		"SELECT " + times("s", ", ", 3) + " FROM visits ALLOW FULL SCAN":                          true,
		"SELECT " + times("s", ", ", 100) + " FROM visits ALLOW FULL SCAN":                        false,
		"SELECT " + times("*", ", ", 100) + " FROM visits ALLOW FULL SCAN":                        false,
		"SELECT MIN(s), MAX(s) FROM visits ALLOW FULL SCAN":                                       true,
		"SELECT " + times("MIN(s), MAX(s)", ", ", 50) + " FROM visits ALLOW FULL SCAN":            false,
		"SELECT s FROM visits GROUP BY s ALLOW FULL SCAN":                                         true,
		"SELECT " + times("s", ", ", 100) + " FROM visits GROUP BY s ALLOW FULL SCAN":             false,
		"SELECT user, " + times("MAX(s)", ", ", 9) + " FROM visits GROUP BY user ALLOW FULL SCAN": false,
	} {
		s, err := sqlconsole.Parse(statement)
		if err != nil {
			t.Fatal(err)
		}
		p, err := catalog.Plan(s, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		a, err := sqlconsole.Run(t.Context(), letters{1, size}, p, sqlconsole.Limits{Held: most})
		runtime.ReadMemStats(&after)
		switch allocated := after.TotalAlloc - before.TotalAlloc; {
		case fits && (err != nil || len(a.Rows) != 1 || a.Bytes() > most || a.Reached != ""):
			t.Errorf("%.60s: %v, %+v", statement, err, a)
		case !fits && (err == nil || !strings.Contains(err.Error(), "a row of the answer has more than 32")):
			t.Errorf("%.60s: %v", statement, err)
		case allocated > most+5*size: // the row, a group's key, and the values that fit
			t.Errorf("%.60s: %d MiB are allocated", statement, allocated>>20)
		}
	}
}

// TestARowThatDoesNotFitIsLeftOut checks that an answer never has more than its limit, also in the nulls of columns that only later rows have.
func TestARowThatDoesNotFitIsLeftOut(t *testing.T) {
	_, catalog := load(t, "visits")
	for statement, want := range map[string]int{
		"SELECT s, s FROM visits ALLOW FULL SCAN":       4,
		"SELECT s, user, s FROM visits ALLOW FULL SCAN": 4,
		"SELECT s FROM visits ALLOW FULL SCAN":          9,
	} {
		s, err := sqlconsole.Parse(statement)
		if err != nil {
			t.Fatal(err)
		}
		p, err := catalog.Plan(s, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		const most = 10_000
		a, err := sqlconsole.Run(t.Context(), letters{20, 1000}, p, sqlconsole.Limits{Held: most})
		if err != nil || len(a.Rows) != want || a.Bytes() > most || a.Reached == "" {
			t.Errorf("%s: %v, %d rows of %d bytes: %q", statement, err, len(a.Rows), a.Bytes(), a.Reached)
		}
	}
	s, err := sqlconsole.Parse("SELECT * FROM visits ALLOW FULL SCAN")
	if err != nil {
		t.Fatal(err)
	}
	p, err := catalog.Plan(s, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	const most = 100_000
	a, err := sqlconsole.Run(t.Context(), others(500), p, sqlconsole.Limits{Held: most})
	if err != nil || a.Bytes() > most || a.Bytes() < most/2 || a.Reached == "" {
		t.Errorf("%v, %d rows of %d columns, %d bytes: %q", err, len(a.Rows), len(a.Columns), a.Bytes(), a.Reached)
	}
}

// others is a store of rows, each with an undeclared column of its own.
type others int

func (o others) Select(context.Context, *query.Selection) iter.Seq2[query.Selected, error] {
	return func(yield func(query.Selected, error) bool) {
		for i := range int(o) {
			cell := query.Cell{Column: query.ColumnName{Family: "e", Qualifier: "own" + strconv.Itoa(i)}, Value: []byte("1")}
			if !yield(query.Selected{Cells: []query.Cell{cell}}, nil) {
				return
			}
		}
	}
}

func (others) Regions(context.Context, *query.Selection) (touched, all int, err error) {
	return 0, 0, nil
}

// letters is a store of rows, each of another user, with a long text.
type letters struct{ rows, size int }

func (l letters) Select(context.Context, *query.Selection) iter.Seq2[query.Selected, error] {
	return func(yield func(query.Selected, error) bool) {
		for i := range l.rows {
			fields := []query.Field{{Name: "user", Value: event.TextValue(strconv.Itoa(i))},
				{Name: "s", Value: event.TextValue(strings.Repeat("a", l.size))}}
			if !yield(query.Selected{Row: query.Row{Fields: fields}}, nil) {
				return
			}
		}
	}
}

func (letters) Regions(context.Context, *query.Selection) (touched, all int, err error) {
	return 0, 0, nil
}

// FuzzStatement parses and plans any statement: it soon ends with an error that has a position or with a plan of bounded ranges, and never
// reads a whole table unless the statement allows it.
func FuzzStatement(f *testing.F) {
	for _, s := range []string{"SELECT * FROM visits LIMIT 5", "EXPLAIN SELECT user, COUNT(*) FROM visits WHERE user IN ('a','b') AND at BETWEEN '2h' AND '1h' GROUP BY user;",
		`SELECT _key, _time("e:s"), "e:x" FROM visits WHERE _key >= 'a\x00' AND n = -1 AND f > 1e9 AND b = TRUE AND s LIKE 'x%' ORDER BY at DESC ALLOW FULL SCAN`} {
		f.Add(s)
	}
	f.Add("SELECT s FROM visits WHERE MATCH(s, 'a b') AND n > 3 AND at < '2h' ORDER BY at DESC LIMIT 3")
	f.Add("SELECT s FROM visits AS OF '2h' WHERE user = 'u' LIMIT 3")
	f.Add("SELECT _time(s), s FROM visits VERSIONS 5 WHERE user = 'u'")
	_, catalog := load(f, "visits")
	indexed(catalog)
	f.Fuzz(func(t *testing.T, text string) {
		all, _ := sqlconsole.Split(text)
		for _, source := range all {
			s, err := source.Parse()
			if err == nil {
				var p *sqlconsole.Plan
				if p, err = catalog.Plan(s, time.UnixMilli(1<<40)); err == nil {
					if p.Full && !s.FullScan && s.Limit > 1000 {
						t.Fatalf("%q reads the whole table", text)
					}
					if len(p.Selection.Words) > search.MaxClauses {
						t.Fatalf("%q asks the index by %d clauses", text, len(p.Selection.Words))
					}
					if scans, err := p.Selection.Scans(); err != nil || len(scans) > 1000*4+4 {
						t.Fatalf("%q: %d ranges, %v", text, len(scans), err)
					}
				}
			}
			if _, placed := errors.AsType[*sqlconsole.Error](err); err != nil && !placed {
				t.Fatalf("%q: %v", text, err)
			}
		}
	})
}
