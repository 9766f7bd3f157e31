package sqlconsole_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"brine/hbase"
	"brine/mask"
	"brine/query"
	"brine/rowkey"
	"brine/search"
	"brine/sqlconsole"
)

// indexed adds documents to the first table of a catalog: s and the masked phone are searchable by word.
func indexed(c *sqlconsole.Catalog) {
	c.Tables[0].Index = &query.Index{Name: "docs", Newest: "when", Fields: []query.IndexField{
		{Name: "s", Field: "s", Type: rowkey.Text, Words: true}, {Name: "phone", Field: "phone", Type: rowkey.Text, Words: true},
		{Name: "n", Field: "n", Type: rowkey.Int}, {Name: "user", Field: "user", Type: rowkey.Text}, {Name: "when", Field: "at", Type: rowkey.Time}}}
}

// docs is an index of visits: a document matches by whole words.
type docs struct {
	rows  []search.Hit
	asked []search.Query
	pages int // hits per page; 0: as many as requested
}

func (d *docs) Search(_ context.Context, q search.Query) (page search.Page, _ error) {
	d.asked = append(d.asked, q)
	from := 0
	if q.After != "" {
		last, err := strconv.Atoi(string(q.After))
		if err != nil {
			return page, err
		}
		from = last + 1
	}
	for i, h := range d.rows {
		if i < from {
			continue
		}
		if !slices.ContainsFunc(q.Filter, func(c search.Clause) bool { return !holds(h.Fields, c) }) {
			h.Cursor = search.Cursor(fmt.Sprint(i))
			page.Hits = append(page.Hits, h)
		}
		if n := len(page.Hits); n == q.Limit() || n == d.pages && n > 0 {
			page.Next = page.Hits[n-1].Cursor
			break
		}
	}
	return page, nil
}

func holds(doc map[string]any, c search.Clause) bool {
	v, has := doc[search.FieldOf(c)]
	switch c := c.(type) {
	case search.Match:
		text, _ := v.(string)
		for _, w := range strings.Fields(c.Text) {
			if !slices.Contains(strings.Fields(text), w) {
				return false
			}
		}
		return has
	case search.Terms:
		return has && slices.Contains(c.Values, v)
	case search.Range:
		return has && (c.From == nil || order(v, c.From) >= 0) && (c.To == nil || order(v, c.To) < 0)
	}
	return false
}

// found returns a table with an index of all its rows, including deleted ones and one that does not exist.
func found(t *testing.T) (*table, *docs) {
	t.Helper()
	x := newTable(t, embeddedHBase(t), rand.New(rand.NewPCG(3, 3)))
	indexed(x.catalog)
	d := &docs{}
	for _, v := range append(slices.Clone(x.rows), visit{"user": "u1", "at": int64(5), "id": "ghost", "s": "a"}) {
		keys, err := x.catalog.Tables[0].RowsOf(map[string]string{"user": v["user"].(string), "at": fmt.Sprint(v["at"]), "id": v["id"].(string)})
		if err != nil {
			t.Fatal(err)
		}
		fields := map[string]any{"when": v["at"], "user": v["user"]}
		for _, name := range []string{"s", "n"} {
			if got, has := v[name]; has {
				fields[name] = got
			}
		}
		d.rows = append(d.rows, search.Hit{Row: keys[0], Version: 5, Fields: fields})
	}
	x.store.Docs = d
	return x, d
}

// TestRowsAreFoundByWords checks that the rows are those whose documents match, as HBase has them, with all other conditions, page by page.
func TestRowsAreFoundByWords(t *testing.T) {
	x, d := found(t)
	d.pages = 3
	random := rand.New(rand.NewPCG(4, 4))
	for range 60 {
		word := []string{"a", "ab", "it's"}[random.IntN(3)]
		c := aClause(random)
		statement := fmt.Sprintf("SELECT user, at, id, n, f, b, s FROM %s WHERE MATCH(s, '%s') AND %s", x.name, strings.ReplaceAll(word, "'", "''"), c.text)
		var got, want []string
		for _, row := range x.run(t, statement).Rows {
			got = append(got, line(row))
		}
		for _, v := range x.rows {
			if v["s"] == word && c.holds(v) {
				want = append(want, v.line("user", "at", "id", "n", "f", "b", "s"))
			}
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Fatalf("%s\nhas %d rows %q\nnot %d %q", statement, len(got), got, len(want), want)
		}
	}
}

// TestRowsWhoseDocumentsAreBehind checks that a row is shown if it has the words, whatever its document had, and that the words that only an
// index knows count where it has the same text.
func TestRowsWhoseDocumentsAreBehind(t *testing.T) {
	for _, columns := range []string{"id, s", "id"} {
		for _, c := range []struct {
			row, document, words string
			shown                bool
		}{
			{"zebra", "zebra", "zebra", true},
			{"zebra", "okapi", "okapi", false},
			{"a Zebra, crossing", "zebra okapi", "zebra", true},
			{"a Zebra, crossing", "zebra okapi", "zebra okapi", false},
			{"", "zebra", "zebra", false},
			{"zebras", "zebras", "zebras", true},
			{"绿茶", "绿茶 红茶", "红茶", false},
			{"绿茶", "绿茶 红茶", "绿茶", true},
		} {
			x, d := found(t)
			x.write(t, []string{fmt.Sprintf(`{"user":"u1","at":77,"id":"i1","v":5,"n":1,"s":%q}`, c.row)})
			keys, err := x.catalog.Tables[0].RowsOf(map[string]string{"user": "u1", "at": "77", "id": "i1"})
			if err != nil {
				t.Fatal(err)
			}
			d.rows = []search.Hit{{Row: keys[0], Version: 4, Fields: map[string]any{"s": c.document, "when": int64(77), "user": "u1", "n": int64(1)}}}
			for _, and := range []string{"", " AND n = 1", " AND user = 'u1' LIMIT 1"} {
				rows := x.run(t, fmt.Sprintf("SELECT %s FROM %s WHERE MATCH(s, '%s')%s", columns, x.name, c.words, and)).Rows
				if shown := len(rows) == 1; shown != c.shown {
					t.Errorf("%q with the document %q, by %q%s: %v", c.row, c.document, c.words, and, rows)
				}
			}
		}
	}
}

// TestWhatTheIndexIsAsked checks that the index is queried by the words, by what else it can test, in its order, and for no more than is
// wanted.
func TestWhatTheIndexIsAsked(t *testing.T) {
	x, d := found(t)
	x.run(t, "SELECT id FROM "+x.name+" WHERE MATCH(s, 'a') AND n > 1 AND user = 'u1' AND f < 3 ORDER BY at LIMIT 7")
	q := d.asked[0]
	want := search.Query{Index: "docs", Size: 500, Sort: []search.Order{{Field: "when"}}, Filter: []search.Clause{search.Match{Field: "s", Text: "a"},
		search.Range{Field: "n", From: int64(2)}, search.Terms{Field: "user", Values: []any{"u1"}}}}
	if fmt.Sprintf("%+v", q) != fmt.Sprintf("%+v", want) {
		t.Errorf("asked %+v\nnot   %+v", q, want)
	}
	d.asked = nil
	x.run(t, "SELECT id FROM "+x.name+" WHERE MATCH(s, 'a') LIMIT 2")
	if got := d.asked[0]; got.Size != 2 || !got.Sort[0].Desc {
		t.Errorf("asked %+v", got)
	}
	for _, row := range x.run(t, "EXPLAIN SELECT id FROM "+x.name+" WHERE MATCH(s, 'a') AND n > 1 AND f < 3").Rows {
		if text := line(row); strings.HasPrefix(text, "reads,") && text != "reads,the rows of documents of the index docs with MATCH(s, 'a') and n > 1" ||
			strings.HasPrefix(text, "brine leaves out,rows without") && text != "brine leaves out,rows without n > 1 and f < 3" {
			t.Error(text)
		}
	}
}

// TestTheIndexIsAskedOnlyWhatItKnowsOfRows checks that it is queried neither by fields of which documents hold only the newest change, nor
// for earlier states of rows.
func TestTheIndexIsAskedOnlyWhatItKnowsOfRows(t *testing.T) {
	x, d := found(t)
	asked := func(statement string) string {
		d.asked = nil
		x.run(t, fmt.Sprintf(statement, x.name))
		return fmt.Sprintf("%+v", d.asked[0].Filter)
	}
	words, user := "{Field:s Text:a}", "{Field:user Values:[u1]}"
	if got := asked("SELECT id FROM %s VERSIONS 3 WHERE MATCH(s, 'a') AND n > 1 AND user = 'u1'"); got != "["+words+" "+user+"]" {
		t.Errorf("versions: asked %s", got)
	}
	x.catalog.Tables[0].Index.Replaced = true
	if got := asked("SELECT id FROM %s WHERE MATCH(s, 'a') AND n > 1 AND user = 'u1'"); got != "["+words+" "+user+"]" {
		t.Errorf("documents are replaced: asked %s", got)
	}
	x.catalog.Tables[0].Index.Replaced = false
	if got := asked("SELECT id FROM %s WHERE MATCH(s, 'a') AND n <= 9223372036854775807"); got != "["+words+"]" {
		t.Errorf("a limit that says nothing: asked %s", got)
	}
}

// TestWordsAreRefused tests fields that the index cannot search by word, fields masked in the table or in the index, and another order.
func TestWordsAreRefused(t *testing.T) {
	_, catalog := load(t, "visits")
	try := func(c *sqlconsole.Catalog, statement string) error {
		s, err := sqlconsole.Parse(statement)
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Plan(s, time.Now())
		return err
	}
	if err := try(catalog, "SELECT * FROM visits WHERE MATCH(s, 'a')"); err == nil || !strings.Contains(err.Error(), "has no documents, so there is no MATCH") {
		t.Error(err)
	}
	indexed(catalog)
	hidden := *catalog
	hidden.Masks = &mask.Rules{}
	hidden.Masks.Place("docs", "s")
	for statement, want := range map[string]string{
		"SELECT * FROM visits AS OF '2h' WHERE MATCH(s, 'a')":            "has only the current rows",
		"SELECT * FROM visits WHERE MATCH(phone, '555')":                 "masked",
		"SELECT * FROM visits WHERE MATCH(user, 'u')":                    "cannot search user by words",
		"SELECT * FROM visits WHERE MATCH(n, 'u')":                       "cannot search n by words",
		`SELECT * FROM visits WHERE MATCH("e:s", 'u')`:                   "cannot search e:s by words",
		"SELECT * FROM visits WHERE MATCH(s, 'a') ORDER BY user":         "in the order of the index docs",
		"SELECT * FROM visits WHERE MATCH(s, '" + long("a ", 600) + "')": "use fewer",
	} {
		if err := try(catalog, statement); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", statement, err)
		}
	}
	if err := try(&hidden, "SELECT * FROM visits WHERE MATCH(s, 'a')"); err == nil || !strings.Contains(err.Error(), "masked") {
		t.Error(err)
	}
	if err := try(catalog, "SELECT * FROM visits WHERE MATCH(s, 'a') AND at > '2h' ORDER BY at DESC"); err != nil {
		t.Error(err)
	}
}

func long(s string, n int) string { return strings.Repeat(s, n) }

// past returns a table whose only row had s = a, b and c at 1000, 2000 and 3000, with kept versions per cell, and n since 1500.
func past(t *testing.T, kept int) *table {
	t.Helper()
	x := emptyTable(t, embeddedHBase(t), hbase.Family{Name: "e", Values: map[string]string{"VERSIONS": fmt.Sprint(kept)}}, nil)
	x.catalog.Tables[0].Kept = map[string]sqlconsole.Kept{"e": {Versions: kept}}
	var records []string
	for _, change := range []string{`"v":1000,"s":"a"`, `"v":2000,"s":"b"`, `"v":3000,"s":"c"`, `"v":1500,"n":7`} {
		records = append(records, `{"user":"u1","at":10,"id":"i1",`+change+`}`)
	}
	x.write(t, records)
	return x
}

func (x *table) lines(t *testing.T, statement string) (out []string) {
	t.Helper()
	for _, row := range x.run(t, strings.Replace(statement, "FROM T", "FROM "+x.name, 1)).Rows {
		out = append(out, line(row))
	}
	return out
}

// TestRowsAsTheyWere checks that a row as of a time has what its cells held then, and that it does not exist before its first write.
func TestRowsAsTheyWere(t *testing.T) {
	x := past(t, 4)
	for at, want := range map[int][]string{999: nil, 1000: {"a,-"}, 1499: {"a,-"}, 1500: {"a,7"}, 2000: {"b,7"}, 2999: {"b,7"}, 3000: {"c,7"}, 9000: {"c,7"}} {
		if got := x.lines(t, fmt.Sprintf("SELECT s, n FROM T AS OF %d WHERE user = 'u1'", at)); !slices.Equal(got, want) {
			t.Errorf("as of %d: %q, want %q", at, got, want)
		}
	}
	if got := x.lines(t, "SELECT s FROM T AS OF 2000 WHERE user = 'u1' AND s = 'b'"); !slices.Equal(got, []string{"b"}) {
		t.Errorf("what a row held then is not what is compared: %q", got)
	}
}

// TestATableMayKeepLessThanDeclared checks that AS OF asks HBase what the table keeps: less than declared is refused, more is used.
func TestATableMayKeepLessThanDeclared(t *testing.T) {
	for _, c := range []struct {
		declared int
		family   map[string]string
		want     string // an error, or the row
	}{
		{3, map[string]string{"VERSIONS": "3"}, "a,-"},
		{3, map[string]string{"VERSIONS": "3", "TTL": "2147483647"}, "a,-"},
		{2, map[string]string{"VERSIONS": "3"}, "a,-"}, // with two, its value would be gone
		{4, map[string]string{"VERSIONS": "3"}, "family e is declared with 4 versions of each cell, but HBase keeps 3"},
		{2, map[string]string{}, "family e is declared with 2 versions of each cell, but HBase keeps 1"},
		{3, map[string]string{"VERSIONS": "3", "TTL": "86400"}, "its ttl in HBase is 24h0m0s"},
	} {
		x := emptyTable(t, embeddedHBase(t), hbase.Family{Name: "e", Values: c.family}, nil)
		x.catalog.Tables[0].Kept = map[string]sqlconsole.Kept{"e": {Versions: c.declared}}
		var records []string
		for i, s := range []string{"a", "b", "c"} {
			records = append(records, fmt.Sprintf(`{"user":"u1","at":10,"id":"i1","v":%d,"s":%q}`, 1000+i, s))
		}
		x.write(t, records)
		for _, explain := range []string{"", "EXPLAIN "} {
			a, err := x.try(t, fmt.Sprintf("%sSELECT s, n FROM %s AS OF 1000 WHERE user = 'u1'", explain, x.name))
			switch {
			case err != nil && strings.Contains(err.Error(), c.want):
			case err != nil:
				t.Errorf("declared %d, %v: %v, want %s", c.declared, c.family, err, c.want)
			case explain == "" && (len(a.Rows) != 1 || line(a.Rows[0]) != c.want), explain != "" && strings.Contains(c.want, "family"):
				t.Errorf("declared %d, %v: %v, want %s", c.declared, c.family, a.Rows, c.want)
			}
		}
	}
}

// TestVersionsOfARow checks that there is a row for each time that it was written, newest first, with what was written then.
func TestVersionsOfARow(t *testing.T) {
	x := past(t, 3)
	if got := x.lines(t, "SELECT s, n FROM T VERSIONS 10 WHERE user = 'u1'"); !slices.Equal(got, []string{"c,-", "b,-", "-,7", "a,-"}) {
		t.Errorf("%q", got)
	}
	if got := x.lines(t, "SELECT s FROM T VERSIONS 10 WHERE user = 'u1' AND s < 'c' LIMIT 1"); !slices.Equal(got, []string{"b"}) {
		t.Errorf("%q", got)
	}
	if got := x.lines(t, "SELECT s, n FROM T VERSIONS 2 WHERE user = 'u1' AND n = 7"); len(got) != 0 {
		t.Errorf("a condition adds %q to the last two writes", got)
	}
	if got := x.lines(t, "SELECT s, n FROM T VERSIONS 2 WHERE user = 'u1'"); !slices.Equal(got, []string{"c,-", "b,-"}) {
		t.Errorf("%q", got)
	}
}

// TestHistoryThatIsGoneIsNotInvented checks that it is an error if HBase has dropped history, and that what a table does not keep is
// refused before it is read.
func TestHistoryThatIsGoneIsNotInvented(t *testing.T) {
	x := past(t, 2)
	statement := "SELECT s FROM " + x.name + " AS OF 1000 WHERE user = 'u1'"
	if _, err := x.try(t, statement); err == nil || !strings.Contains(err.Error(), "a cell of e:s was written 2 times since") {
		t.Errorf("%v", err)
	}
	tab := &x.catalog.Tables[0]
	for want, change := range map[string]func(){
		"keeps one version":                     func() { tab.Kept = map[string]sqlconsole.Kept{"e": {Versions: 1}} },
		"its ttl is 1h0m0s":                     func() { tab.Kept = map[string]sqlconsole.Kept{"e": {Versions: 3, TTL: time.Hour}} },
		"are not times":                         func() { tab.Numbers = true },
		"does not keep what was there: because": func() { tab.Erases = "because" },
		"has several keys":                      func() { tab.Keys = append(slices.Clone(tab.Keys), tab.Keys...) },
	} {
		was := *tab
		change()
		if _, err := x.try(t, statement); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
		*tab = was
	}
	if _, err := x.try(t, strings.Replace(statement, " WHERE", " VERSIONS 2 WHERE", 1)); err == nil {
		t.Error("AS OF and VERSIONS at once")
	}
}
