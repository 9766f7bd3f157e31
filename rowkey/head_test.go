package rowkey_test

import (
	"testing"

	"brine/rowkey"
)

func TestHead(t *testing.T) {
	fields := []rowkey.Field{{Name: "courier", Type: rowkey.Text}, {Name: "at", Type: rowkey.Time}}
	courier, at := rowkey.TextValue("c1"), rowkey.TimeValue(1_700_000_000_000)
	for _, tt := range []struct {
		expr  string
		head  int
		timed bool
	}{
		{`courier + "|" + desc(at, ms)`, 3, false},
		{`salt(16, courier) + courier + "|" + asc(at, ms)`, 4, false},
		{`md5(courier, 4) + courier + "|" + desc(at, ms)`, 7, false},
		{`desc(at, ms) + courier`, 8, true},
		{`salt(4, courier) + asc(at, ms) + courier`, 9, true},
		{`md5(courier, 8) + asc(at, ms)`, 16, true},
		{`md5(courier, 8)`, 0, false},
	} {
		key, err := rowkey.Parse(tt.expr, fields)
		if err != nil {
			t.Fatal(tt.expr, err)
		}
		values := make([]rowkey.Value, 0, 2)
		for _, name := range key.Fields() {
			values = append(values, map[string]rowkey.Value{"courier": courier, "at": at}[name])
		}
		row, err := key.Append(nil, values)
		if err != nil {
			t.Fatal(tt.expr, err)
		}
		if head, timed := key.Head(row), key.HeadIsTime(); head != tt.head || timed != tt.timed {
			t.Errorf("%s: head %d (time %v) of %q, want %d (%v)", tt.expr, head, timed, row, tt.head, tt.timed)
		}
		if tt.head > 0 && key.Head(row[:tt.head-1]) != 0 {
			t.Errorf("%s: a row that ends within its head has none", tt.expr)
		}
	}
}
