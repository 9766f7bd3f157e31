package verify

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// text formats the result of a fold.
func (f *fold) text() string {
	var out []string
	for i := range f.columns {
		if c := &f.columns[i]; f.visible(c) {
			values := []uint64{c.best.value}
			for _, t := range c.ties {
				values = append(values, t.value)
			}
			slices.Sort(values)
			out = append(out, fmt.Sprintf("%s@%d=%d", c.name, c.best.version, slices.Compact(values)))
		}
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

// TestFoldDoesNotDependOnOrder folds random entries in many orders, including repeats, with few columns and with many.
func TestFoldDoesNotDependOnOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for _, columns := range []int{3, 100} {
		for range 200 {
			var entries []entry
			for i := range 1 + random.IntN(3*columns) {
				var ops []byte
				for range 1 + random.IntN(3) {
					column := fmt.Appendf(nil, "%c:%d", 'f'+rune(random.IntN(2)), random.IntN(columns))
					o := op{kind: put, column: column, version: int64(random.IntN(6)), value: uint64(random.IntN(3))}
					switch random.IntN(12) {
					case 0:
						o.kind = deleteColumn
					case 1:
						o.kind, o.column = deleteFamily, column[:1]
					}
					ops = appendOp(ops, o)
				}
				entries = append(entries, entry{0, origin{offset: int64(i)}, ops})
			}
			want := ""
			for n := range 6 {
				var f fold
				f.reset([]byte("row"))
				for _, e := range append(entries, entries[:len(entries)/2]...) {
					if err := f.add(e); err != nil {
						t.Fatal(err)
					}
				}
				if n == 0 {
					want = f.text()
				} else if got := f.text(); got != want {
					t.Fatalf("%d entries come to\n%s\nin another order to\n%s", len(entries), got, want)
				}
				entries = slices.Clone(entries)
				random.Shuffle(len(entries), func(i, j int) { entries[i], entries[j] = entries[j], entries[i] })
			}
		}
	}
}
