package micro

import (
	"slices"
	"testing"

	"brine/bench/measure"
)

// TestRivals checks that benchmarks with a rival, and their rivals, are measured, and that those that take too long are short.
func TestRivals(t *testing.T) {
	measured := map[string]result{}
	for i, r := range rivals {
		for _, bench := range []string{r.bench, r.rival} {
			if !slices.ContainsFunc(targets, func(t target) bool { return t.pkg == r.pkg && t.bench == bench }) {
				t.Errorf("%s of %s is not measured", bench, r.pkg)
			}
		}
		ours := 100 * r.most / 2
		if i == 0 {
			ours = 100 * r.most * 2
		}
		measured[r.pkg+" "+r.bench] = result{ns: measure.Exactly(ours)}
		measured[r.pkg+" "+r.rival] = result{ns: measure.Exactly(100)}
	}
	for i, r := range rivals {
		want := measure.OK
		if i == 0 {
			want = measure.Short
		}
		of, most := target{pkg: r.pkg, bench: r.bench}.ofRival(measured)
		if got := measure.AtMost("", of, most).Verdict(); got != want {
			t.Errorf("%s: %v of at most %v is %s", r.bench, of, most, got)
		}
	}
	if _, most := (target{pkg: "./sink", bench: "BenchmarkPath"}).ofRival(measured); most != 0 {
		t.Errorf("what has no rival is held to %v of one", most)
	}
}
