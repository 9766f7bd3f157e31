package query

import (
	"context"
	"errors"
	"strings"
	"testing"

	"brine/event"
	"brine/rowkey"
	"brine/search"
)

// shopTable is the table of a user's orders, with an index of it.
func shopTable(t testing.TB, key string) Table {
	t.Helper()
	k, err := rowkey.Parse(key, []rowkey.Field{{Name: "user", Type: rowkey.Text}, {Name: "created", Type: rowkey.Time}, {Name: "order", Type: rowkey.Text}})
	if err != nil {
		t.Fatal(err)
	}
	index := &Index{Name: "orders", Newest: "made", Fields: []IndexField{{Name: "user", Field: "user", Type: rowkey.Text},
		{Name: "made", Field: "created", Type: rowkey.Time},
		{Name: "items", Field: "items", Type: rowkey.Text, Words: true}, {Name: "status", Field: "status", Type: rowkey.Text},
		{Name: "gift", Field: "gift", Type: rowkey.Bool}}}
	return Table{Name: "shop:orders", Keys: rowkey.One(k), Index: index, Deleted: "deleted", Columns: []Column{
		{Family: "b", Qualifier: "s", Field: "status", Type: event.Text}, {Family: "b", Qualifier: "d", Field: "deleted", Type: event.Bool},
		{Family: "x", Qualifier: "n", Field: "note", Type: event.Text}}}
}

const newestFirst = `md5(user, 4) + user + "|" + desc(created, ms) + order`

// args parses arguments as a configuration has them.
func args(t testing.TB, text string) (out []Arg) {
	t.Helper()
	for _, s := range strings.Fields(text) {
		a, err := ParseArg(s)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, a)
	}
	return out
}

func shopView(t testing.TB) View {
	return View{Name: "user-orders", Table: shopTable(t, newestFirst), Where: args(t, "user"), Optional: args(t, "created.. items status"), Order: Newest, Limit: 3}
}

func TestViewsThatHaveNoAnswerAreRefused(t *testing.T) {
	byTime := keysTable(t)
	for _, tt := range []struct {
		name, where, optional string
		change                func(*View)
		want                  string // part of the error; empty: none
	}{
		{"key and index", "user", "created.. items status", nil, ""},
		{"the key alone", "user created..", "", func(v *View) { v.Table.Index = nil }, ""},
		{"the index alone", "status", "created..", nil, ""},
		{"nothing", "", "", nil, "takes no field"},
		{"no field", "courier", "", nil, "the key, because the key md5(user, 4) + user + \"|\" + desc(created, ms) + order does not hold courier; the index, because index orders has no courier, only user, created"},
		{"no index", "user", "status", func(v *View) { v.Table.Index = nil }, "does not hold status; the index, because no pipeline writes documents for table shop:orders"},
		{"key's field behind an open one", "user", "created.. order", nil, "with user order, neither the key nor the index answers"},
		{"no range of words", "user", "items..", nil, "items of index orders has no ranges"},
		{"no range of a truth", "user", "gift..", nil, "gift of index orders has no ranges"},
		{"all of the table", "", "user", func(v *View) { v.Table.Index = nil }, "with nothing, neither the key nor the index answers: the key, because it would be the whole of table shop:orders"},
		{"twice", "user", "user..", nil, "user is named twice"},
		{"too many", "user", "a b c d e f g h i j k", nil, "11 fields are optional"},
		{"large pages", "user", "", func(v *View) { v.Limit = MaxPage + 1 }, "a page of 10001 rows"},
		{"the other order", "user", "", func(v *View) { v.Order = Oldest }, "returns the newest first; write order: newest, or a key that reverses created with asc"},
		{"no order", "user", "", func(v *View) { v.Table = shopTable(t, `md5(user, 4) + user + "|" + order`) }, "holds no time to order by"},
		{"an order of another field", "user", "", func(v *View) { v.Table = shopTable(t, `user + "|" + order + "|" + desc(created, ms)`) }, "does not return rows in the order of created"},
		{"hours", "user", "created..", func(v *View) { v.Table = shopTable(t, `md5(user, 4) + user + "|" + desc(created, hour) + order`) }, "with user, the key md5(user, 4) + user + \"|\" + desc(created, hour) + order returns the rows of one hour in the order of order, not of created; remove order, or write desc(created, ms) before order"},
		{"one time of hours", "user created", "", func(v *View) { v.Table = shopTable(t, `user + "|" + desc(created, hour) + order`) }, "returns the rows of one hour in the order of order"},
		{"hours and nothing else", "user", "created..", func(v *View) { v.Table = shopTable(t, `user + "|" + desc(created, hour)`) }, ""},
		{"one time", "user created", "", func(v *View) { v.Order = Oldest }, ""},
		{"hashed times", "user", "", func(v *View) { v.Table = shopTable(t, `user + "|" + md5(created, 2) + desc(created, ms)`) }, "does not return rows in the order of created"},
		{"an index without a date", "status", "", func(v *View) { v.Table.Index.Newest = "" }, "it has no date of the key to order by"},
		{"a family that is not there", "user", "", func(v *View) { v.Families = []string{"y"} }, "no pipeline writes family y"},
		{"another table", "user", "", func(v *View) { v.Get = &byTime }, "contains at, which rows of table shop:orders do not"},
		{"another table by the index", "user", "status", func(v *View) { v.Get = &v.Table }, "its answers are rows of table shop:orders; remove get"},
		{"counts of words", "user", "", func(v *View) { v.Counts = []string{"items"} }, "cannot be counted"},
		{"counts without an index", "user", "", func(v *View) { v.Table.Index, v.Counts = nil, []string{"status"} }, "only an index can count"},
		{"counts of what is not there", "user", "", func(v *View) { v.Counts = []string{"courier"} }, "index orders has no courier"},
	} {
		v := shopView(t)
		v.Where, v.Optional = args(t, tt.where), args(t, tt.optional)
		if tt.change != nil {
			tt.change(&v)
		}
		_, err := Open(v, nil, nil)
		switch {
		case tt.want == "" && err != nil, tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		case err != nil && !strings.Contains(err.Error(), "; "):
			t.Errorf("%s: %v has no fix", tt.name, err)
		}
	}
}

func TestNamesOfArguments(t *testing.T) {
	for _, s := range []string{"", "..", "a b", "a=b", "a.b", "at..."} {
		if a, err := ParseArg(s); err == nil {
			t.Errorf("%q is taken as %v", s, a)
		}
	}
}

// TestQuestionsThatViewsRefuse checks that malformed, unbounded or injected input is a fault of the question, which is named, and that no
// store is asked.
func TestQuestionsThatViewsRefuse(t *testing.T) {
	r, err := Open(shopView(t), nil, nil) // asking a store would be a nil dereference
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		ask  Request
		want string
	}{
		{Request{}, "user: is missing; view user-orders needs user"},
		{Request{Args: []string{"user"}}, `"user" is not a condition`},
		{Request{Args: []string{"user="}}, "user: has no value"},
		{Request{Args: []string{"user=="}}, "user: has no value"},
		{Request{Args: []string{"user=a", "user=b"}}, "user: is given twice"},
		{Request{Args: []string{"user=a,b"}}, "user: takes one value; write user==a,b"},
		{Request{Args: []string{"user=a..b"}}, "user: takes a value here, not a range; write user==a..b"},
		{Request{Args: []string{"user=a", "created=.."}}, "created: is open at both ends"},
		{Request{Args: []string{"user=a", "created=..="}}, "created: is open at both ends"},
		{Request{Args: []string{"user=a", "created=yesterday"}}, `created: "yesterday" is not a time`},
		{Request{Args: []string{"user=a", "created=2025-01-01..tomorrow"}}, `created: "tomorrow" is not a time`},
		{Request{Args: []string{"user=a", "note=x"}}, `view user-orders has no argument "note"; it takes user created.. items status`},
		{Request{Args: []string{"user=a", "_id=x"}}, `has no argument "_id"`},
		{Request{Args: []string{`status":{"script":1}=x`, "user=a"}}, `has no argument "status\":{\"script\":1}"`},
		{Request{Args: []string{"user=" + strings.Repeat("x", maxCondition+1)}}, "user: has 4097 bytes"},
		{Request{Args: []string{"user=a", "items=" + strings.Repeat("x", search.MaxWords+1)}}, "items: the text of 1025 bytes"},
		{Request{Args: []string{"user=a", "status=" + strings.Repeat("x,", search.MaxValues+1)}}, "status: 1026 values"},
		{Request{Args: []string{"user=a"}, Limit: MaxPage + 1}, "limit: a page of 10001 rows"},
		{Request{Args: []string{"user=a"}, Limit: -1}, "limit: a page of -1 rows"},
		{Request{Args: []string{"user=a"}, After: "x"}, "cursor: is incomplete"},
		{Request{Args: []string{"user=a"}, After: Cursor(strings.Repeat("A", 40))}, "cursor: is from another release"},
	} {
		_, err := r.Ask(t.Context(), tt.ask)
		if fault, ok := errors.AsType[*Fault](err); !ok || !strings.Contains(fault.Error(), tt.want) {
			t.Errorf("%.60v: %v, want a fault with %q", tt.ask, err, tt.want)
		}
	}
}

// asked is an index that records its queries.
type asked struct {
	documents
	last search.Query
}

func (a *asked) Search(ctx context.Context, q search.Query) (search.Page, error) {
	a.last = q
	place, _, _ := strings.Cut(strings.TrimPrefix(string(q.After), "["), ",")
	q.After = search.Cursor(place)
	page, err := a.documents.Search(ctx, q)
	page.Total = int64(len(a.hits))
	for range q.Facets {
		page.Facets = append(page.Facets, []search.Count{{Value: "paid", N: page.Total}})
	}
	return page, err
}
