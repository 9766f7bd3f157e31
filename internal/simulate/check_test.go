package simulate

import "testing"

// A cell of one event must be as after an undisturbed run. That of two may not be, whether one run has both or each run's filter keeps
// another one.
func TestCompareRuns(t *testing.T) {
	at := cellOf{"00W001", "e:i", 7}
	first, second := &claim{&scan{ID: "1", Station: "S25"}, true}, &claim{&scan{ID: "2", Station: "S39"}, true}
	for name, c := range map[string]struct {
		want     [2][]*claim
		got      [2]string
		findings int
	}{
		"equal":                                {[2][]*claim{{first}, {first}}, [2]string{"1", "1"}, 0},
		"another value":                        {[2][]*claim{{first}, {first}}, [2]string{"2", "1"}, 1},
		"a tie":                                {[2][]*claim{{first, second}, {first, second}}, [2]string{"1", "2"}, 0},
		"a tie, of which one filter keeps one": {[2][]*claim{{first, second}, {second}}, [2]string{"1", "2"}, 0},
		"a tie, of which each keeps another":   {[2][]*claim{{first}, {second}}, [2]string{"1", "2"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			w := &World{ledger: newLedger(1)}
			var got [2]map[cellOf]string
			var want [2]expected
			for i := range 2 {
				got[i], want[i] = map[cellOf]string{at: c.got[i]}, expected{at: c.want[i]}
			}
			w.compareRuns("scans", got, want)
			if found := w.ledger.Findings(); len(found) != c.findings {
				t.Errorf("findings: %q", found)
			}
		})
	}
}
