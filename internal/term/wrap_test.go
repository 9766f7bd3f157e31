package term

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWrap(t *testing.T) {
	for _, x := range []struct {
		head, text string
		columns    int
		want       []string
	}{
		{"  ", "split the region", 40, []string{"  split the region"}},
		{"  do: ", "split the region", 15, []string{"  do: split the", "      region"}},
		{"  ", "split the region", 11, []string{"  split the", "  region"}}, // exactly as wide as the line
		{"  ", "split averyveryverylongkey now", 12, []string{"  split", "  averyveryverylongkey", "  now"}},
		{"", "绿茶 红茶 x", 9, []string{"绿茶 红茶", "x"}}, // each two columns wide
		{"", "a  b", 10, []string{"a  b"}},         // a key may contain two spaces
		{"  note: ", "", 3, []string{"  note: "}},
	} {
		if diff := cmp.Diff(x.want, wrap(x.head, x.text, x.columns)); diff != "" {
			t.Errorf("%q behind %q in %d columns: -want +got:\n%s", x.text, x.head, x.columns, diff)
		}
	}
}
