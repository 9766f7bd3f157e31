package query

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"brine/event"
	"brine/hbase"
	"brine/rowkey"
)

// TestPagesAreStableUnderWrites pages through a table while rows are added and removed between pages: every row that is there all the time
// is returned once, and in order.
func TestPagesAreStableUnderWrites(t *testing.T) {
	for _, buckets := range []int{2, 8, 300} {
		table := saltedTable(t, buckets)
		s := readings(t, table, 600, true)
		r := rand.New(rand.NewPCG(3, uint64(buckets)))
		always := map[string]int{}
		for _, row := range s.inOrder(0, false) {
			always[string(row)] = 0
		}
		var last []byte
		salt := table.Keys.Newest().SaltWidth()
		for after := Token(""); ; {
			page := keysOf(t, s, table, Options{Limit: 7, After: after})
			for _, row := range page {
				if c := bytes.Compare(row[salt:], last[min(salt, len(last)):]); last != nil && (c < 0 || c == 0 && bytes.Compare(row, last) <= 0) {
					t.Fatalf("%x after %x", row, last)
				}
				last = row
				if _, ok := always[string(row)]; ok {
					always[string(row)]++
				}
			}
			if len(page) < 7 {
				break
			}
			after = table.Token(Row{Key: page[6]})
			if r.IntN(2) == 0 { // the row that the token names is deleted
				s.rows = slices.DeleteFunc(s.rows, func(x hbase.Result) bool { return bytes.Equal(x.Row, page[6]) })
			}
			s.put(table.reading(t, r.Int64N(300), fmt.Sprintf("new%d", r.Uint64()), false))
		}
		for row, n := range always {
			if n != 1 {
				t.Errorf("%d buckets: %x came %d times", buckets, row, n)
			}
		}
	}
}

// TestEqualRowsOfTwoBucketsPage checks that rows that are equal without the salt are neither repeated nor skipped.
func TestEqualRowsOfTwoBucketsPage(t *testing.T) {
	key, err := rowkey.Parse(`salt(16, station) + asc(at, hour, 32)`, []rowkey.Field{{Name: "at", Type: rowkey.Time}, {Name: "station", Type: rowkey.Text}})
	if err != nil {
		t.Fatal(err)
	}
	table := Table{Name: "hours", Keys: rowkey.One(key), Columns: []Column{{Family: "e", Qualifier: "v", Field: "v", Type: event.Text}}}
	s := &store{}
	for _, tail := range []string{"\x00\x00\x00\x01", "\x00\x00\x00\x02"} {
		for bucket := range 16 {
			row := append([]byte{byte(bucket)}, tail...)
			s.put(hbase.Result{Row: row, Cells: []hbase.Cell{{Row: row, Family: []byte("e"), Qualifier: []byte("v"), Value: []byte("x")}}})
		}
	}
	var got []string
	for after := Token(""); ; {
		page := keysOf(t, s, table, Options{Limit: 5, After: after})
		for _, row := range page {
			got = append(got, fmt.Sprintf("%x", row))
		}
		if len(page) < 5 {
			break
		}
		after = table.Token(Row{Key: page[4]})
	}
	if len(got) != 32 || len(slices.Compact(slices.Sorted(slices.Values(got)))) != 32 {
		t.Errorf("%d rows: %v", len(got), got)
	}
}

func TestTokensAreChecked(t *testing.T) {
	table, other := saltedTable(t, 8), saltedTable(t, 9)
	row := table.reading(t, 5, "s", false).Row
	good := table.Token(Row{Key: row})
	if err := table.CheckToken(nil, good); err != nil {
		t.Errorf("a good token: %v", err)
	}
	in := map[string]rowkey.Bound{"at": {From: rowkey.Value{Type: rowkey.Time, Int: 6}}, "station": {}}
	for _, tt := range []struct {
		token Token
		table Table
		where map[string]rowkey.Bound
		want  string
	}{
		{good[:len(good)-1] + "-", table, nil, "damaged"},
		{good[:4], table, nil, "incomplete"},
		{good + "=", table, nil, "incomplete"},
		{"B" + good[1:], table, nil, "has version 5"},
		{good, other, nil, "another key"},
		{good, table, in, "repeat those that it came from"},
	} {
		if err := tt.table.CheckToken(tt.where, tt.token); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %s", tt.token, err, tt.want)
		}
	}
	for row, err := range Rows(t.Context(), &store{}, table, nil, Options{After: "x"}) {
		if err == nil {
			t.Errorf("a bad token gives %v", row)
		}
	}
}

// FuzzToken checks that bytes that are not a token are refused, and that a token belongs to one row under one key.
func FuzzToken(f *testing.F) {
	table := saltedTable(f, 8)
	table.Keys = append(table.Keys, rowkey.KeyFrom{From: 1000, Key: saltedTable(f, 9).Keys[0].Key})
	f.Add("", []byte("row"))
	f.Add(string(table.Token(Row{Key: []byte("row")})), []byte{0})
	f.Add(string(table.Token(Row{Key: []byte("row"), From: 1000})), []byte{0})
	f.Add("AQ", []byte{})
	f.Add("AgAAAAAAAAAAAAAAAAA", []byte{})
	f.Fuzz(func(t *testing.T, token string, row []byte) {
		if got, err := table.behind(Token(token)); err == nil && string(table.Token(Row{Key: got.row, From: table.Keys[got.key].From})) != strings.NewReplacer("\r", "", "\n", "").Replace(token) {
			t.Errorf("%q is taken for the token of %x", token, got)
		}
		for key, k := range table.Keys {
			got, err := table.behind(table.Token(Row{Key: row, From: k.From}))
			if err != nil || string(got.row) != string(row) || got.key != key {
				t.Errorf("%x under key %d becomes %+v, %v", row, key, got, err)
			}
		}
	})
}
