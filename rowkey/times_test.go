package rowkey_test

import "testing"

func TestInTime(t *testing.T) {
	k := parse(t, scanKey)
	row := appendRow(t, k, scan...)
	var got []byte
	for i := range row {
		if k.InTime(row, i) {
			got = append(got, 'T')
		} else {
			got = append(got, '.')
		}
	}
	if want := ".........................TTTTTTTT......."; string(got) != want {
		t.Errorf("%s: %q: got %s, want %s", k, row, got, want)
	}
	if k.InTime(row, len(row)) || k.InTime(nil, 0) || k.InTime(row[:8], 7) {
		t.Error("there is no time in what is no row")
	}
}
