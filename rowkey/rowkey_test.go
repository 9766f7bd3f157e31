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

// scan is an event's values as scanKey takes them.
var scan = []rowkey.Value{rowkey.TextValue("UA-1545-20130101-EWR"), rowkey.TimeValue(1357016400000), rowkey.TextValue("DEPART")}

// TestNoAllocation: neither way of a key with room to write into allocates.
func TestNoAllocation(t *testing.T) {
	for expr, values := range map[string][]rowkey.Value{
		scanKey: scan,
		`salt(16, waybill, at) + asc(at, hour, 32) + waybill + "|" + desc(at, ms, text)`: scan[:2],
		`xxhash(n, 2 bytes) + desc(n, 32) + asc(weight) + asc(paid)`:                     {number(7), real(-1.5), rowkey.BoolValue(true)},
		`murmur3(waybill, 3) + fixed(waybill, 24) + fixed(n, 12)`:                        {text("UA-1545"), number(7)},
	} {
		k := parse(t, expr)
		row := appendRow(t, k, values...)
		if n := testing.AllocsPerRun(100, func() { _, _ = k.Append(row[:0], values) }); n > 0 {
			t.Errorf("%s is encoded with %g allocations", expr, n)
		}
		into := make([]rowkey.Value, len(values))
		if n := testing.AllocsPerRun(100, func() { _ = k.DecodeInto(into, row) }); n > 0 {
			t.Errorf("%s is decoded with %g allocations", expr, n)
		}
	}
	if err := parse(t, scanKey).DecodeInto(make([]rowkey.Value, 2), nil); err == nil {
		t.Error("a row is decoded into two values, the key has three")
	}
}

func BenchmarkAppend(b *testing.B) {
	k := parse(b, scanKey)
	row := make([]byte, 0, 64)
	b.ReportAllocs()
	for b.Loop() {
		var err error
		if row, err = k.Append(row[:0], scan); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	k := parse(b, scanKey)
	row := appendRow(b, k, scan...)
	values := make([]rowkey.Value, len(scan))
	b.ReportAllocs()
	for b.Loop() {
		if err := k.DecodeInto(values, row); err != nil {
			b.Fatal(err)
		}
	}
}
