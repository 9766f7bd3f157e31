package skew

import (
	"math"
	"strconv"
	"testing"
	"time"
)

// Each row of a span has the same chance to be in the sample, whether it came early or late, and none is there twice.
func TestSampleIsDrawnEvenly(t *testing.T) {
	for _, rows := range []int{sampleRows / 2, sampleRows, sampleRows + 1, 20 * sampleRows, 300 * sampleRows} {
		s := newSample()
		s.advance(3 * time.Second)
		for i := range rows {
			if at := s.place(); at >= 0 {
				s.put(at, []byte(strconv.Itoa(i)))
			}
		}
		all := s.all()
		if want := min(rows, sampleRows); len(all) != want {
			t.Fatalf("%d of %d rows, want %d", len(all), rows, want)
		}
		const parts = 8
		var in [parts]int
		weight, before := 0.0, int64(-1)
		for _, d := range all {
			if d.nth == before {
				t.Errorf("of %d rows, row %d is there twice", rows, d.nth)
			}
			if text := strconv.FormatInt(d.nth-1, 10); text != string(d.row) {
				t.Errorf("of %d rows, row %s is shown as %s", rows, d.row, text)
			}
			before = d.nth
			in[int(d.nth-1)*parts/rows]++
			weight += d.weight
		}
		if math.Abs(weight-float64(rows)) > 1 {
			t.Errorf("%d rows weigh %.1f", rows, weight)
		}
		mean := float64(len(all)) / parts
		for part, n := range in {
			if math.Abs(float64(n)-mean) > 5*math.Sqrt(mean) {
				t.Errorf("of %d rows, %d are from part %d, want %.0f", rows, n, part, mean)
			}
		}
	}
}
