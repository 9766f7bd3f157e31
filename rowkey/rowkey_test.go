package rowkey_test

import (
	"testing"

	"brine/rowkey"
)

// scanFields are the fields of the scan events.
var scanFields = []rowkey.Field{
	{Name: "waybill", Type: rowkey.Text}, {Name: "at", Type: rowkey.Time}, {Name: "station", Type: rowkey.Text},
	{Name: "action", Type: rowkey.Text}, {Name: "n", Type: rowkey.Int}, {Name: "weight", Type: rowkey.Float}, {Name: "paid", Type: rowkey.Bool},
}

const scanKey = `md5(waybill, 4) + waybill + "|" + desc(at, ms) + "|" + action`

func parse(t testing.TB, expr string) *rowkey.Key {
	t.Helper()
	k, err := rowkey.Parse(expr, scanFields)
	if err != nil {
		t.Fatalf("%s: %v", expr, err)
	}
	return k
}

func appendRow(t testing.TB, k *rowkey.Key, values ...rowkey.Value) []byte {
	t.Helper()
	row, err := k.Append(nil, values)
	if err != nil {
		t.Fatalf("%s: %v", k, err)
	}
	return row
}

func BenchmarkAppend(b *testing.B) {
	k := parse(b, scanKey)
	values := []rowkey.Value{rowkey.TextValue("UA-1545-20130101-EWR"), rowkey.TimeValue(1357016400000), rowkey.TextValue("DEPART")}
	row := make([]byte, 0, 64)
	b.ReportAllocs()
	for b.Loop() {
		var err error
		if row, err = k.Append(row[:0], values); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	k := parse(b, scanKey)
	row, err := k.Append(nil, []rowkey.Value{rowkey.TextValue("UA-1545-20130101-EWR"), rowkey.TimeValue(1357016400000), rowkey.TextValue("DEPART")})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := k.Decode(row); err != nil {
			b.Fatal(err)
		}
	}
}
