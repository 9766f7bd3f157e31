package rowkey_test

import (
	"crypto/md5"
	"testing"
	"time"

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

// TestNoAllocation checks that neither encoding nor decoding a key allocates if there is room to write into.
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
	op := appending(b)
	b.ReportAllocs()
	for b.Loop() {
		op()
	}
}

func BenchmarkDecode(b *testing.B) {
	op := decoding(b)
	b.ReportAllocs()
	for b.Loop() {
		op()
	}
}

func appending(b *testing.B) func() {
	k := parse(b, scanKey)
	row := make([]byte, 0, 64)
	return func() {
		var err error
		if row, err = k.Append(row[:0], scan); err != nil {
			b.Fatal(err)
		}
	}
}

func decoding(b *testing.B) func() {
	k := parse(b, scanKey)
	row := appendRow(b, k, scan...)
	values := make([]rowkey.Value, len(scan))
	return func() {
		if err := k.DecodeInto(values, row); err != nil {
			b.Fatal(err)
		}
	}
}

var sum [md5.Size]byte // keeps the compiler from eliminating the hash

// BenchmarkBesideMD5 times operations on a key alternately with crypto/md5 of what the key hashes, and takes the fastest of each: a slow
// machine slows both, so that their ratio stays.
func BenchmarkBesideMD5(b *testing.B) {
	const turns = 64
	least := func(d time.Duration, op func()) time.Duration {
		began := time.Now()
		for range turns {
			op()
		}
		return min(d, time.Since(began))
	}
	for name, op := range map[string]func(){"append": appending(b), "decode": decoding(b)} {
		b.Run(name, func(b *testing.B) {
			key, bare := time.Hour, time.Hour
			for b.Loop() {
				key = least(key, op)
				bare = least(bare, func() { sum = md5.Sum(scan[0].Text) })
			}
			b.ReportMetric(float64(key.Nanoseconds())/turns, "ns/op")
			b.ReportMetric(float64(bare.Nanoseconds())/turns, "ns/md5.Sum")
			b.ReportMetric(float64(key)/float64(bare), "ratio")
		})
	}
}

// TestParseBinary checks that what Binary formats is parsed, and that other escapes are refused.
func TestParseBinary(t *testing.T) {
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	for _, row := range [][]byte{nil, all, []byte(`a\xb`)} {
		if got, err := rowkey.ParseBinary(rowkey.Binary(row)); err != nil || string(got) != string(row) {
			t.Errorf("%q: %q, %v", row, got, err)
		}
	}
	for _, text := range []string{`\x`, `a\x0`, `\x0g`, `\x+1`} {
		if got, err := rowkey.ParseBinary(text); err == nil {
			t.Errorf("%s is %q", text, got)
		}
	}
}
