package main

import (
	"slices"
	"testing"

	"brine/hbase"
	"brine/rowkey"
	"brine/schema/regions"
)

// twoVisitKeys are the keys of a table that was hashed and is now salted.
func twoVisitKeys(t *testing.T) rowkey.Keys {
	t.Helper()
	fields := []rowkey.Field{{Name: "user", Type: rowkey.Text}, {Name: "at", Type: rowkey.Time}}
	var keys rowkey.Keys
	for i, expr := range []string{`md5(user, 4) + user + "|" + desc(at, ms)`, `salt(16, user) + user + "|" + desc(at, ms)`} {
		k, err := rowkey.Parse(expr, fields)
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, rowkey.KeyFrom{From: int64(i) * 1000, Key: k})
	}
	return keys
}

// The start keys of regions are shown by the key that fits each, in a table that is split for both keys.
func TestStartKeysOfTwoKeysAreDecoded(t *testing.T) {
	keys := twoVisitKeys(t)
	var starts [][]byte
	for _, k := range keys {
		row, err := k.Key.Append(nil, []rowkey.Value{rowkey.TextValue("ann"), rowkey.TimeValue(1_700_000_000_000)})
		if err != nil {
			t.Fatal(err)
		}
		starts = append(starts, row)
	}
	starts = append(starts, []byte("\x0f"), []byte("f000"))
	slices.SortFunc(starts, slices.Compare[[]byte])
	client, err := hbase.Open(t.Context(), hbase.Options{Connect: embeddedHBase(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	if err := client.CreateTable(t.Context(), hbase.Table{Name: "visits", Families: []hbase.Family{{Name: "e"}}}, starts); err != nil {
		t.Fatal(err)
	}
	shown, err := regions.Open(t.Context(), client, "visits", keys)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range shown.List() {
		got = append(got, r.Fields)
	}
	const fields = `user=ann desc(at, ms)=2023-11-14T22:13:20.000Z`
	want := []string{"", fields, "", fields, ""} // the table's beginning, the salted row, a bucket, the hashed row, a hash
	if !slices.Equal(got, want) {
		t.Errorf("start keys are shown as %q, want %q", got, want)
	}
}
