package skew

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestMeasureGolden(t *testing.T) {
	tests := []struct {
		name   string
		counts []float64
		want   string
	}{
		{"uneven quarters", []float64{299292, 245744, 515290, 240297}, "max/mean 1.585 cv 0.345 gini 0.169 p99/mean 1.585 top 0.396 cost 0.199"},
		{"even", []float64{5, 5, 5, 5}, "max/mean 1.000 cv 0.000 gini 0.000 p99/mean 1.000 top 0.250 cost 0.000"},
		{"all in one", []float64{0, 0, 8, 0}, "max/mean 4.000 cv 1.732 gini 0.750 p99/mean 4.000 top 1.000 cost 1.000"},
		{"no writes", []float64{0, 0}, "max/mean 1.000 cv 0.000 gini 0.000 p99/mean 1.000 top 0.500 cost 0.000"},
		{"one region", []float64{7}, "max/mean 1.000 cv 0.000 gini 0.000 p99/mean 1.000 top 1.000 cost 0.000"},
		{"none", nil, "max/mean 1.000 cv 0.000 gini 0.000 p99/mean 1.000 top 0.000 cost 0.000"},
		{"fewer rows than regions", []float64{1, 0, 0, 2, 0, 0, 0}, "max/mean 4.667 cv 1.700 gini 0.762 p99/mean 4.667 top 0.667 cost 0.421"}, // by HBase's DoubleArrayCost
		{"1 to 200", upTo(200), "max/mean 1.990 cv 0.574 gini 0.332 p99/mean 1.970 top 0.020 cost 0.040"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			x := Measure(tt.counts)
			if got := fmt.Sprintf("max/mean %.3f cv %.3f gini %.3f p99/mean %.3f top %.3f cost %.3f", x.MaxMean, x.CV, x.Gini, x.P99Mean, x.TopShare, x.HBaseCost); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func upTo(n int) (counts []float64) {
	for i := range n {
		counts = append(counts, float64(i+1))
	}
	return counts
}

func TestEntropyAndBalancerCostAtTheEnds(t *testing.T) {
	even, one := Measure([]float64{9, 9, 9}), Measure([]float64{27, 0, 0})
	if even.Entropy > 1e-12 || even.HBaseCost > 1e-12 {
		t.Errorf("even: %+v", even)
	}
	if math.Abs(one.Entropy-1) > 1e-12 || math.Abs(one.HBaseCost-1) > 1e-12 {
		t.Errorf("all in one: %+v", one)
	}
	// Two rows over three regions cannot be spread better than 1, 1, 0, so that costs nothing.
	if x := Measure([]float64{1, 1, 0}); x.HBaseCost > 1e-9 {
		t.Errorf("as even as can be: %+v", x)
	}
}

func TestIndicesStayInRangeAndIgnoreOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		counts := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) float64 { return float64(rapid.IntRange(0, 1e6).Draw(t, "count")) }), 0, 40).Draw(t, "counts")
		x := Measure(counts)
		n := float64(max(1, len(counts)))
		if x.MaxMean < 1-1e-9 || x.MaxMean > n+1e-9 || x.Gini < 0 || x.Gini > 1-1/n+1e-9 || x.Entropy < 0 || x.Entropy > 1+1e-9 || x.HBaseCost < 0 || x.HBaseCost > 1 {
			t.Fatalf("%v: %+v", counts, x)
		}
		y := Measure(rapid.Permutation(counts).Draw(t, "shuffled"))
		if math.Abs(x.Gini-y.Gini) > 1e-9 || math.Abs(x.CV-y.CV) > 1e-9 {
			t.Fatalf("order matters: %+v %+v", x, y)
		}
	})
}

func TestTopAndOther(t *testing.T) {
	loads := []Load{{Bucket: 0, Total: Count{Rows: 1, Bytes: 10}}, {Bucket: 1, Total: Count{Rows: 5, Bytes: 50}}, {Bucket: 2, Total: Count{Rows: 3, Bytes: 30}}}
	top, other, others := Top(loads, 2)
	if len(top) != 2 || top[0].Bucket != 1 || top[1].Bucket != 2 || other != (Count{Rows: 1, Bytes: 10}) || others != 1 {
		t.Errorf("top %+v other %+v of %d", top, other, others)
	}
	if top, _, others = Top(loads, 9); len(top) != 3 || others != 0 {
		t.Errorf("all fit: %+v %d", top, others)
	}
}

func TestReportsSurviveJSON(t *testing.T) {
	c := NewCounter(Shape{Buckets: 2}, time.Now)
	c.SetRegions([]Region{{Name: "a", End: Key("4")}, {Name: "b", Start: Key("4"), End: Key{0xff, '\\', 'x', 0}, Server: "s,1,2"}})
	want := c.Report()
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(text, []byte(`"end":"\\xFF\\x5Cx\\x00"`)) {
		t.Errorf("keys as HBase's shell prints them: %s", text)
	}
	var got Report
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	for _, bad := range []string{`\`, `\x1`, `a\y00`, `\xg0`} {
		if err := new(Key).UnmarshalText([]byte(bad)); err == nil {
			t.Errorf("%q must be refused", bad)
		}
	}
}
