package past

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"brine/skew"
)

var began = time.Unix(1_700_000_040, 0).UTC() // a minute begins

// bucket returns a minute's bucket with ranges that begin at single letters, the first of them at "".
func bucket(minute int, starts string, rows ...float32) Bucket {
	b := Bucket{At: began.Add(time.Duration(minute) * Minute), Rows: rows, Bytes: slices.Clone(rows)}
	for i := range len(rows) {
		key := skew.Key{}
		if i > 0 {
			key = skew.Key(starts[i-1 : i])
		}
		b.Starts = append(b.Starts, key)
	}
	return b
}

func (b *Bucket) text() string { return fmt.Sprintf("%q %v", b.Starts, b.Rows) }

func TestBucketsAreCombined(t *testing.T) {
	for _, tt := range []struct {
		name string
		list []Bucket
		by   func([]Bucket) Bucket
		want string
	}{
		{"sum", []Bucket{bucket(0, "m", 1, 2), bucket(0, "m", 10, 20)}, Sum, `["" "m"] [11 22]`},
		{"sum of one", []Bucket{bucket(0, "m", 1, 2)}, Sum, `["" "m"] [1 2]`},
		{"sum of none", nil, Sum, `[] []`},
		{"sum where one has split a region", []Bucket{bucket(0, "m", 1, 8), bucket(0, "mt", 1, 2, 3)}, Sum, `["" "m" "t"] [2 6 7]`},
		{"most", []Bucket{bucket(0, "m", 1, 2), bucket(1, "m", 0, 90), bucket(2, "m", 3, 1)}, Most, `["" "m"] [3 90]`},
		{"most, after a split", []Bucket{bucket(0, "m", 1, 80), bucket(1, "mt", 1, 2, 50)}, Most, `["" "m" "t"] [1 40 50]`},
		{"most, after a merge", []Bucket{bucket(0, "mt", 1, 2, 90), bucket(1, "m", 1, 10)}, Most, `["" "m" "t"] [1 5 90]`},
		{"one that knows fewer regions", []Bucket{{At: began, Starts: []skew.Key{skew.Key("m")}, Rows: []float32{5}, Bytes: []float32{5}}, bucket(0, "m", 1, 2)},
			Sum, `["" "m"] [1 7]`},
	} {
		got := tt.by(tt.list)
		if got.text() != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got.text(), tt.want)
		}
	}
}

// If there are more ranges than are kept, the hot ones stay separate, and the sum of the others stays the same.
func TestHotRangesStay(t *testing.T) {
	var list []Bucket
	for half := range 2 {
		var b Bucket
		for i := range 1200 {
			b.Starts = append(b.Starts, fmt.Appendf(nil, "%05d", 2*i+half))
			b.Rows, b.Bytes = append(b.Rows, 1), append(b.Bytes, 1)
		}
		b.Rows[700] = 5000
		list = append(list, b)
	}
	for name, of := range map[string]Bucket{"stored": Most(list), "drawn": {}} {
		starts, rows := of.Starts, of.Rows
		if name == "drawn" {
			m := Draw([]Bucket{list[0]}, Minute, began.Add(Minute), 100, 1)
			starts = m.Starts
			for _, line := range m.Rows {
				rows = append(rows, float32(line[0]))
			}
		}
		if len(starts) > skew.MostRanges || len(starts) < 50 {
			t.Errorf("%s: %d ranges", name, len(starts))
		}
		i := slices.IndexFunc(starts, func(k skew.Key) bool { return string(k) == "01400" })
		if i < 0 || rows[i] < 2500 || rows[i] > 5001 {
			t.Errorf("%s: the hot range is at %d of %d", name, i, len(starts))
		}
	}
}

func TestWhatIsDrawn(t *testing.T) {
	list := []Bucket{bucket(0, "m", 1, 2), bucket(1, "m", 0, 90), bucket(4, "m", 3, 4)}
	m := Draw(list, Minute, began.Add(5*Minute+30*time.Second), 10, 100)
	if got := fmt.Sprint(m.Rows); got != "[[1 0 0 0 3 0] [2 90 0 0 4 0]]" || m.Most != 90 {
		t.Errorf("%s, most %v", got, m.Most)
	}
	if got := m.Times[5]; len(m.Times) != 6 || !got.Equal(began.Add(5*Minute+30*time.Second)) || !m.Times[0].Equal(began.Add(Minute)) {
		t.Errorf("%v", m.Times)
	}
	m = Draw(list, Minute, began.Add(5*Minute), 10, 2) // a peak is not averaged
	if got := fmt.Sprint(m.Rows); got != "[[1 3] [90 4]]" {
		t.Error(got)
	}
	if m = Draw(nil, Minute, began, 10, 10); len(m.Starts)+len(m.Times) != 0 {
		t.Errorf("%+v", m)
	}
}

func TestAColumnIsARate(t *testing.T) {
	c := skew.Column{From: began, To: began.Add(30 * time.Second), Starts: []skew.Key{{}}, Rows: []float32{600}, Bytes: []float32{6000}, MB: 7}
	if b := Of(&c, Minute); b.Rows[0] != 10 || b.Bytes[0] != 100 || !b.At.Equal(began) || b.MB != 7 {
		t.Errorf("%+v", b)
	}
	if b := Of(&c, time.Second); b.Rows[0] != 20 {
		t.Errorf("%+v", b)
	}
	c.From, c.To = began.Add(-time.Microsecond), began.Add(Minute)
	if b := Of(&c, Minute); !b.At.Equal(began) {
		t.Errorf("a column that begins a moment early is of %v", b.At)
	}
	c.From, c.To = began, began.Add(2*Minute)
	if b := Of(&c, Minute); b.Rows[0] != 5 {
		t.Errorf("%+v", b)
	}
}

func TestBucketsAreStored(t *testing.T) {
	for _, b := range []Bucket{{At: began}, bucket(3, "amt", 1, 0, 2.5, most), {At: began, MB: 1 << 40}} {
		got, err := Decode(b.At, b.Encode())
		if err != nil || got.text() != b.text() || fmt.Sprint(got.Bytes) != fmt.Sprint(b.Bytes) || got.MB != b.MB || !got.At.Equal(b.At) {
			t.Errorf("%+v became %+v: %v", b, got, err)
		}
	}
	b := bucket(0, "m", 1, 2)
	text := b.Encode()
	for n := range text {
		if _, err := Decode(began, text[:n]); err == nil {
			t.Errorf("%d bytes of %d are a bucket", n, len(text))
		}
	}
	for name, damaged := range map[string][]byte{"more": append(slices.Clone(text), 0), "newer": append([]byte{2}, text[1:]...), "empty": nil,
		"not in order": {1, 2, 0, 0, 1, 'b', 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 'a', 0, 0, 0, 0, 0, 0, 0, 0}} {
		if _, err := Decode(began, damaged); err == nil {
			t.Errorf("%s is a bucket", name)
		}
	}
}

func FuzzDecode(f *testing.F) {
	b := bucket(0, "mt", 1, 2, 3)
	f.Add(b.Encode())
	f.Add([]byte{format, 0, 0})
	f.Fuzz(func(t *testing.T, text []byte) {
		b, err := Decode(began, text)
		if err != nil {
			return
		}
		again, err := Decode(began, b.Encode())
		if err != nil || again.text() != b.text() || again.MB != b.MB {
			t.Errorf("%+v became %+v: %v", b, again, err)
		}
		Draw([]Bucket{Sum([]Bucket{b, again})}, Minute, began.Add(Minute), 10, 10)
	})
}
