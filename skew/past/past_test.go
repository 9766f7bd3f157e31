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
			m := Draw([]Bucket{list[0]}, Minute, began.Add(Minute), Shape{Ranges: 100, Columns: 1})
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
	m := Draw(list, Minute, began.Add(5*Minute+30*time.Second), Shape{Ranges: 10, Columns: 100})
	if got := fmt.Sprint(m.Rows); got != "[[1 0 0 0 3 0] [2 90 0 0 4 0]]" || m.Most != 90 {
		t.Errorf("%s, most %v", got, m.Most)
	}
	if got := m.Times[5]; len(m.Times) != 6 || !got.Equal(began.Add(5*Minute+30*time.Second)) || !m.Times[0].Equal(began.Add(Minute)) {
		t.Errorf("%v", m.Times)
	}
	m = Draw(list, Minute, began.Add(5*Minute), Shape{Ranges: 10, Columns: 2}) // a peak is not averaged
	if got := fmt.Sprint(m.Rows); got != "[[1 3] [90 4]]" {
		t.Error(got)
	}
	if m = Draw(nil, Minute, began, Shape{Ranges: 10, Columns: 10}); len(m.Starts)+len(m.Times) != 0 {
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
		Draw([]Bucket{Sum([]Bucket{b, again})}, Minute, began.Add(Minute), Shape{Ranges: 10, Columns: 10})
	})
}

// with returns the bucket with requests and latencies.
func (b Bucket) with(requests, latency []float32) Bucket {
	b.Requests, b.Latency = requests, latency
	return b
}

// reading returns the bucket with latencies of reads.
func (b Bucket) reading(latency []float32) Bucket {
	b.ReadLatency = latency
	return b
}

// TestRequestsAndLatenciesAreNotAddedUp checks that what each member has as a whole counts once, that a latency is neither divided over the
// parts of a range nor added up, and that what is unknown to one is taken from the others.
func TestRequestsAndLatenciesAreNotAddedUp(t *testing.T) {
	wide := bucket(0, "m", 1, 8).with([]float32{10, 80}, []float32{3, 9})
	fine := bucket(0, "mt", 1, 2, 3).with([]float32{12, 20, 60}, []float32{0, 4, 20})
	old := bucket(0, "m", 5, 5)
	for _, tt := range []struct {
		name string
		got  Bucket
		want string
	}{
		{"members", Sum([]Bucket{wide, wide}), "[2 16] [10 80] [3 9]"},
		{"members, one of which has split a region", Sum([]Bucket{wide, fine}), "[2 6 7] [12 40 60] [3 9 20]"},
		{"minutes", Most([]Bucket{wide, fine}), "[1 4 4] [12 40 60] [3 9 20]"},
		{"an earlier brine beside", Sum([]Bucket{old, wide}), "[6 13] [10 80] [3 9]"},
		{"of earlier brines alone", Most([]Bucket{old, old}), "[5 5] [] []"},
		{"joined", fine.over([]skew.Key{{}, skew.Key("m")}), "[1 5] [12 80] [0 20]"},
	} {
		if got := fmt.Sprint(tt.got.Rows, tt.got.Requests, tt.got.Latency); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

// TestTheSlowestReadsStay checks that latencies of reads are combined as those of writes are, and that a bucket without them is one without
// reads.
func TestTheSlowestReadsStay(t *testing.T) {
	wide, fine := bucket(0, "m", 1, 8).reading([]float32{3, 9}), bucket(0, "mt", 1, 2, 3).reading([]float32{0, 4, 20})
	for name, tt := range map[string]struct {
		got  Bucket
		want string
	}{
		"members":           {Sum([]Bucket{wide, fine}), "[3 9 20]"},
		"minutes":           {Most([]Bucket{fine, wide}), "[3 9 20]"},
		"a member of old":   {Sum([]Bucket{bucket(0, "m", 5, 5), wide}), "[3 9]"},
		"members of old":    {Sum([]Bucket{bucket(0, "m", 5, 5), bucket(0, "m", 5, 5)}), "[]"},
		"joined":            {fine.over([]skew.Key{{}, skew.Key("m")}), "[0 20]"},
		"of one server":     {Within([]Bucket{fine}, []skew.Region{{Start: skew.Key("t")}})[0], "[20]"},
		"a column of a map": {Of(&skew.Column{Starts: wide.Starts, Rows: wide.Rows, Bytes: wide.Bytes, ReadLatency: []float32{7, 0}}, Minute), "[7 0]"},
	} {
		if got := fmt.Sprint(tt.got.ReadLatency); got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
	// A process that only reads has nothing else to tell its ranges apart.
	var list []Bucket
	for n := range 2 {
		b := Bucket{At: began}
		for i := range skew.MostRanges {
			b.Starts = append(b.Starts, fmt.Appendf(nil, "%06d", 2*i+n))
			b.Rows, b.Bytes, b.ReadLatency = append(b.Rows, 0), append(b.Bytes, 0), append(b.ReadLatency, 1)
		}
		list = append(list, b)
	}
	list[0].ReadLatency[700] = 500
	if b := Sum(list); len(b.Starts) < skew.MostRanges/2 || len(b.Starts) > skew.MostRanges || slices.Max(b.ReadLatency) != 500 {
		t.Errorf("%d ranges, at most %v ms", len(b.Starts), slices.Max(b.ReadLatency))
	}
}

// TestEachMetricIsDrawn checks that a map shows the metric that is asked for, with the most of several minutes, and which columns are unknown.
func TestEachMetricIsDrawn(t *testing.T) {
	list := []Bucket{bucket(0, "m", 1, 2).with([]float32{10, 500}, []float32{3, 0}),
		bucket(1, "m", 7, 0).with([]float32{20, 0}, []float32{1, 40}).reading([]float32{0, 5}), bucket(2, "m", 4, 4)}
	for metric, want := range map[skew.Metric]string{
		"":                     "[[7 4] [2 4]] [[7 4] [2 4]] [] [] [] [] 7",
		skew.MetricRows:        "[[7 4] [2 4]] [] [] [] [] [] 7",
		skew.MetricBytes:       "[] [[7 4] [2 4]] [] [] [] [] 7",
		skew.MetricRequests:    "[] [] [[20 0] [500 0]] [] [] [1] 500",
		skew.MetricLatency:     "[] [] [] [[3 0] [40 0]] [] [] 40",
		skew.MetricReadLatency: "[] [] [] [] [[0 0] [5 0]] [] 5",
	} {
		m := Draw(list, Minute, began.Add(3*Minute), Shape{Ranges: 10, Columns: 2, Metric: metric})
		if got := fmt.Sprint(m.Rows, m.Bytes, m.Requests, m.Latency, m.ReadLatency, m.Unknown, m.Most); got != want {
			t.Errorf("%q: %s, want %s", metric, got, want)
		}
	}
	// A range that is hot by requests alone stays separate on a map of requests.
	var b Bucket
	for i := range 100 {
		b.Starts = append(b.Starts, fmt.Appendf(nil, "%02d", i))
		b.Rows, b.Bytes, b.Requests = append(b.Rows, 1), append(b.Bytes, 1), append(b.Requests, 1)
	}
	b.Requests[50] = 1000
	m := Draw([]Bucket{b}, Minute, began.Add(Minute), Shape{Ranges: 10, Columns: 1, Metric: skew.MetricRequests})
	if i := slices.IndexFunc(m.Starts, func(k skew.Key) bool { return string(k) == "50" }); i < 0 || m.Requests[i][0] > 1020 || len(m.Starts) > 10 {
		t.Errorf("%q %v", m.Starts, m.Requests)
	}
}

// TestWithinRegions checks that only the parts of ranges that lie in the given regions are left, and that their values are not spread over
// the gap behind them.
func TestWithinRegions(t *testing.T) {
	regions := func(bounds ...string) (list []skew.Region) {
		for i := 0; i < len(bounds); i += 2 {
			list = append(list, skew.Region{Start: skew.Key(bounds[i]), End: skew.Key(bounds[i+1])})
		}
		return list
	}
	list := []Bucket{bucket(0, "gt", 2, 8, 5), bucket(1, "gmt", 1, 3, 4, 6)}
	for _, tt := range []struct {
		name    string
		regions []skew.Region
		want    string
	}{
		{"all", regions("", ""), `["" "g" "m" "t"] [[2 1] [4 3] [4 4] [5 6]]`},
		{"a region and a part of a range", regions("", "g", "m", "t"), `["" "m"] [[2 1] [4 4]]`},
		{"neighbours", regions("g", "m", "m", "t"), `["g" "m"] [[4 3] [4 4]]`},
		{"the last", regions("t", ""), `["t"] [[5 6]]`},
		{"none", nil, `[] []`},
	} {
		m := Draw(Within(list, tt.regions), Minute, began.Add(2*Minute), Shape{Ranges: 10, Columns: 10})
		if got := fmt.Sprintf("%q %v", m.Starts, m.Rows); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

// TestEarlierAndLaterBrinesReadEachOther checks that a bucket's first cell is what earlier brines wrote and read, and that its second cell
// counts only if it belongs to the first.
func TestEarlierAndLaterBrinesReadEachOther(t *testing.T) {
	plain := bucket(0, "m", 1, 2)
	before := plain.with([]float32{10, 20}, []float32{0, 1.5}) // as by brines before ADR 127
	b := before.reading([]float32{2.5, 0})
	first := b.Encode()
	if string(first) != string(plain.Encode()) || plain.EncodeMore(first) != nil {
		t.Error("the first cell is not as it was")
	}
	const stored = "\x01\x02\x00\x00\x00\x3f\x80\x00\x00\x3f\x80\x00\x00\x00\x01m\x40\x00\x00\x00\x40\x00\x00\x00" // by brines before ADR 105
	if string(first) != stored {
		t.Errorf("the first cell is %q, want %q", first, stored)
	}
	more := b.EncodeMore(first)
	other := bucket(0, "n", 1, 2)
	later := append(slices.Clone(more), 1, 2, 3, 4, 5, 6, 7, 8)
	later[5] |= 8 // one more series
	half := plain.with(nil, []float32{0, 1.5})
	for _, tt := range []struct {
		name        string
		first, more []byte
		want        string
	}{
		{"both cells", first, more, "[1 2] [10 20] [0 1.5] [2.5 0]"},
		{"without reads", first, []byte("\x01" + string(more[1:5]) + "\x03" + "\x41\x20\x00\x00\x41\xa0\x00\x00\x00\x00\x00\x00\x3f\xc0\x00\x00"),
			"[1 2] [10 20] [0 1.5] []"},
		{"as a brine before ADR 127", first, before.EncodeMore(first), "[1 2] [10 20] [0 1.5] []"},
		{"of an earlier brine", []byte(stored), nil, "[1 2] [] [] []"},
		{"the first written again by an earlier brine", other.Encode(), more, "[1 2] [] [] []"},
		{"without requests", first, half.EncodeMore(first), "[1 2] [] [0 1.5] []"},
		{"of a later brine", first, later, "[1 2] [10 20] [0 1.5] [2.5 0]"},
		{"damaged", first, more[:len(more)-1], "[1 2] [] [] []"},
		{"no number", first, append(slices.Clone(more[:len(more)-4]), 0xff, 0xff, 0xff, 0xff), "[1 2] [] [] []"},
		{"another format", first, append([]byte{2}, more[1:]...), "[1 2] [] [] []"},
	} {
		got, err := Decode(began, tt.first)
		if err != nil {
			t.Fatal(err)
		}
		failed := got.DecodeMore(tt.first, tt.more)
		if text := fmt.Sprint(got.Rows, got.Requests, got.Latency, got.ReadLatency); text != tt.want || (failed == nil) == (got.Latency == nil) {
			t.Errorf("%s: %s, want %s (%v)", tt.name, text, tt.want, failed)
		}
	}
}

func FuzzDecodeMore(f *testing.F) {
	b := bucket(0, "mt", 1, 2, 3).with([]float32{1, 2, 3}, nil)
	first := b.Encode()
	f.Add(b.EncodeMore(first))
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := Decode(began, first)
		if err != nil {
			t.Fatal(err)
		}
		if got.DecodeMore(first, text) != nil {
			return
		}
		for _, s := range all {
			if values := *s.of(&got); values != nil && len(values) != len(got.Starts) {
				t.Errorf("%s has %d values of %d", s.metric, len(values), len(got.Starts))
			}
		}
		Draw([]Bucket{Sum([]Bucket{b, got})}, Minute, began.Add(Minute), Shape{Ranges: 10, Columns: 10, Metric: skew.MetricRequests})
	})
}
