package written_test

import (
	"bytes"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"brine/serve/written"
)

type keys [][]byte

func (k keys) Len() int         { return len(k) }
func (k keys) Row(i int) []byte { return k[i] }

func rows(texts ...string) (out keys) {
	for _, text := range texts {
		out = append(out, []byte(text))
	}
	return out
}

// TestMarks checks that a mark is hit by each row of its ranges, by few others, and by none of another table or from before the mark.
func TestMarks(t *testing.T) {
	long := string(bytes.Repeat([]byte("k"), 50))
	for name, c := range map[string]struct {
		start, stop string
		hit, not    []string
	}{
		"a prefix":                  {"ab|", "ab}", []string{"ab|", "ab|1", "ab|\xff"}, []string{"ab", "ab}", "abc", "b", ""}},
		"within a prefix":           {"ab|2", "ab|5", []string{"ab|2", "ab|3", "ab|4\xff"}, []string{"ac|3", "ab"}},
		"from within up to its end": {"ab|7", "ab}", []string{"ab|7", "ab|9"}, []string{"ab}", "aa|8"}},
		"over two prefixes":         {"ab", "ad", []string{"ab", "ac9"}, []string{"b"}},
		"to the end":                {"x", "", []string{"x", "z"}, nil},
		"all":                       {"", "", []string{"", "a", "\xff"}, nil},
		"a carried end":             {"ab\xff", "ac", []string{"ab\xff1"}, []string{"c"}},
		"one row":                   {"row", "row\x00", []string{"row"}, []string{"ro", "rox"}},
		"longer than is looked at":  {long, long + "\x00", []string{long}, []string{"j"}},
	} {
		for _, key := range append(append([]string{}, c.hit...), c.not...) {
			var r written.Rows
			r.Wrote("t", rows(key))
			m := r.Mark(nil)
			m.Range("t", []byte(c.start), []byte(c.stop))
			r.Wrote("other", rows(key))
			if m.Hit() {
				t.Errorf("%s: hit by what was written before, or into another table", name)
			}
			r.Wrote("t", rows(key))
			want := false
			for _, h := range c.hit {
				want = want || h == key
			}
			if m.Hit() != want {
				t.Errorf("%s: by %q: hit %v, want %v", name, key, m.Hit(), want)
			}
			m.Close()
		}
	}
}

// TestMarksAreOfTheirRanges checks several tables and rows: a closed mark is not hit any more, a hit mark stays hit, and the others still
// work.
func TestMarksAreOfTheirRanges(t *testing.T) {
	var r written.Rows
	var calls atomic.Int64
	one, two := r.Mark(func() { calls.Add(1) }), r.Mark(nil)
	one.Row("t", []byte("a"))
	one.Row("t", []byte("a"))
	one.Row("u", []byte("b"))
	two.Row("t", []byte("a"))
	if one.Places() != 2 {
		t.Errorf("on %d places", one.Places())
	}
	r.Wrote("u", rows("x", "b", "b1", "b"))
	if !one.Hit() || two.Hit() || calls.Load() != 1 {
		t.Errorf("hit %v and %v, called %d times", one.Hit(), two.Hit(), calls.Load())
	}
	one.Close()
	one.Close()
	r.Wrote("t", rows("a"))
	if !one.Hit() || !two.Hit() || calls.Load() != 1 {
		t.Errorf("hit %v and %v, called %d times", one.Hit(), two.Hit(), calls.Load())
	}
	two.Close()
	if n := testing.AllocsPerRun(10, func() { r.Wrote("t", keys(nil)) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	var none *written.Rows
	none.Wrote("t", rows("a"))
}

// TestManyRangesAreTheWholeTable checks that many ranges become the whole table, which bounds the size of a mark.
func TestManyRangesAreTheWholeTable(t *testing.T) {
	var r written.Rows
	m := r.Mark(nil)
	defer m.Close()
	for i := range 10_000 {
		m.Row("t", fmt.Appendf(nil, "%05d", i))
	}
	if m.Places() > 65 {
		t.Errorf("on %d places", m.Places())
	}
	if r.Wrote("t", rows("09999")); !m.Hit() {
		t.Error("not hit by a row of its last range")
	}
}

// TestAReaderHasReadTheRowOrIsHit checks the invariant for any interleaving of a reader and a writer.
func TestAReaderHasReadTheRowOrIsHit(t *testing.T) {
	var r written.Rows
	for range 2000 {
		var stored atomic.Bool
		var read bool
		m := r.Mark(nil)
		var both sync.WaitGroup
		both.Go(func() {
			stored.Store(true)
			r.Wrote("t", rows("row"))
		})
		both.Go(func() {
			m.Row("t", []byte("row"))
			read = stored.Load()
		})
		both.Wait()
		if !read && !m.Hit() {
			t.Fatal("it was neither read nor a hit")
		}
		m.Close()
	}
}

// TestAMarkBesideHitOnesIsHit checks that hit marks on a prefix neither hide a new mark from rows nor a row from it, with many concurrent
// writers and readers, and whatever order the marks are closed in.
func TestAMarkBesideHitOnesIsHit(t *testing.T) {
	var r written.Rows
	var writing, reading sync.WaitGroup
	var ended atomic.Bool
	for range 2 {
		writing.Go(func() {
			for !ended.Load() {
				r.Wrote("t", rows("row"))
			}
		})
	}
	for range 4 {
		reading.Go(func() {
			var kept []*written.Mark // these are hit
			for range 2000 {
				m := r.Mark(nil)
				m.Row("t", []byte("row"))
				if r.Wrote("t", rows("row")); !m.Hit() { // by whichever writer came first
					t.Error("a row that was written after the mark was set is no hit")
					return
				}
				if kept = append(kept, m); len(kept) == 50 {
					for i := range kept {
						kept[(i*7)%50].Close()
					}
					kept = nil
				}
			}
			for _, m := range kept {
				m.Close()
			}
		})
	}
	reading.Wait()
	ended.Store(true)
	writing.Wait()
	for _, first := range []int{0, 1} { // two marks on a prefix; the forgotten one is closed before or after the other
		both := []*written.Mark{r.Mark(nil), r.Mark(nil)}
		both[0].Row("t", []byte("row"))
		r.Wrote("t", rows("row"))
		both[1].Row("t", []byte("row"))
		both[first].Close()
		if r.Wrote("t", rows("row")); both[1].Hit() != (first == 0) {
			t.Errorf("closed %d first: hit is %v", first, both[1].Hit())
		}
		both[1-first].Close()
		last := r.Mark(nil)
		last.Row("t", []byte("row"))
		if r.Wrote("t", rows("row")); !last.Hit() {
			t.Error("the last mark is not hit")
		}
		last.Close()
	}
}

// FuzzRanges checks that a row of a range hits its mark, whatever the range.
func FuzzRanges(f *testing.F) {
	f.Add([]byte("ab|"), []byte("ab}"), []byte("ab|x"))
	f.Add([]byte("ab\xff"), []byte("ac"), []byte("ab\xff\xff"))
	f.Add([]byte(""), []byte(""), []byte(""))
	f.Fuzz(func(t *testing.T, start, stop, row []byte) {
		if bytes.Compare(row, start) < 0 || len(stop) > 0 && bytes.Compare(row, stop) >= 0 {
			return
		}
		var r written.Rows
		m := r.Mark(nil)
		m.Range("t", start, stop)
		if r.Wrote("t", keys{row}); !m.Hit() {
			t.Errorf("[%q, %q) is not hit by %q", start, stop, row)
		}
	})
}

// BenchmarkWrote measures what a flight of 500 rows costs its writer: while nobody reads, and while 10,000 timelines are watched, of which
// none or one covers these rows, or all were read from the whole table.
func BenchmarkWrote(b *testing.B) {
	var batch keys
	for i := range 500 {
		batch = append(batch, fmt.Appendf(nil, "%04xWAYBILL%06d|\x7f\xff\xff\xfe\xc2|ARRIVE", i*131, i))
	}
	for _, c := range []struct {
		name          string
		marks, common int
	}{{"nobody", 0, 0}, {"others", 10_000, 0}, {"one of them", 10_000, 1}, {"the whole table", 10_000, -1}} {
		b.Run(c.name, func(b *testing.B) {
			var r written.Rows
			for i := range c.marks {
				m := r.Mark(nil)
				if c.common < 0 {
					m.Range("t", nil, nil)
				} else if i < c.common {
					m.Range("t", batch[i][:18], append(bytes.Clone(batch[i][:17]), '}'))
				} else {
					m.Range("t", fmt.Appendf(nil, "zz%02xWAYBILL%06d|", i%256, i), fmt.Appendf(nil, "zz%02xWAYBILL%06d}", i%256, i))
				}
			}
			b.ReportAllocs()
			for b.Loop() {
				r.Wrote("t", batch)
			}
		})
	}
}
