package rowkey_test

import (
	"bytes"
	"testing"
)

func TestHoldsTime(t *testing.T) {
	k := parse(t, scanKey)
	row := appendRow(t, k, scan...)
	before := bytes.IndexByte(row, '|') + 1 // the time follows
	for n := range len(row) + 1 {
		if got, want := k.HoldsTime(row, n), n > before; got != want {
			t.Errorf("%s: the first %d bytes of %q: %v, want %v", k, n, row, got, want)
		}
	}
	if k.HoldsTime(nil, 1) || k.HoldsTime(row[:8], 9) {
		t.Error("there is not a time in what is no row")
	}
}
