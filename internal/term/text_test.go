package term

import "testing"

func TestThousandsAndCount(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", -1000: "-1,000", -999: "-999", 1234567: "1,234,567"} {
		if got := Thousands(n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
	for n, want := range map[int]string{0: "0 rows", 1: "1 row", 2000: "2,000 rows"} {
		if got := Count(n, "row"); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}

func TestClipCountsColumns(t *testing.T) {
	for _, c := range []struct {
		text    string
		columns int
		want    string
	}{
		{"abc", 3, "abc"}, {"abcd", 3, "ab…"}, {"北京站", 6, "北京站"}, {"北京站", 5, "北京…"}, {"北京站", 4, "北…"}, {"", 0, ""},
	} {
		if got := Clip(c.text, c.columns); got != c.want || Width(got) > c.columns {
			t.Errorf("%q in %d columns: %q, want %q", c.text, c.columns, got, c.want)
		}
	}
}
