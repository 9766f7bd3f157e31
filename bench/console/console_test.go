package console

import (
	"encoding/json"
	"strings"
	"testing"

	"brine/bench/measure"
)

// printed returns the script's output, with the CPU of a server that is alone, alone once more, and with a console.
func printed(open, without, again string) string {
	return `{"chromium":"1","shell_kb":30,"all_kb":100,"first_visits_ms":[700,720,710],"second_visits_ms":[990,1010,900],"panning_fps":[60,60,60],
		"scrolling_fps":[49,60,40],"scrolling_items":40,"grown_mib":[1,1.1,0.9],"timeline_grown_mib":[2,2.1,1.9],
		"idle_percent":{"open":` + open + `,"regions":` + open + `,"timeline":` + open + `,"others":` + open + `,"without":` + without + `,"again":` + again + `}}`
}

// TestTargetsWithinTheNoiseAreUndecided checks that a difference within the noise neither meets a target nor misses it.
func TestTargetsWithinTheNoiseAreUndecided(t *testing.T) {
	for _, c := range []struct {
		name                 string
		open, without, again string
		idle                 measure.Verdict
	}{
		{"a quiet machine", "[1.11,1.1,1.12,1.1]", "[1,1,1.01,1]", "[1,1.01,1,1]", measure.OK},
		{"a quiet machine, a dear console", "[1.5,1.5,1.5,1.5]", "[1,1,1.01,1]", "[1,1.01,1,1]", measure.Short},
		{"a busy machine", "[1.1,2.1,1.1,1.2]", "[1,2,0.5,1.5]", "[2,1,1.5,0.5]", measure.Undecided},
		{"a busy machine, a dear console", "[1.5,2.5,1,2]", "[1,2,0.5,1.5]", "[2,1,1.5,0.5]", measure.Undecided},
		{"once", "[1.1]", "[1]", "[0.5]", measure.Undecided},
	} {
		t.Run(c.name, func(t *testing.T) {
			var m measured
			if err := json.Unmarshal([]byte(printed(c.open, c.without, c.again)), &m); err != nil {
				t.Fatal(err)
			}
			if err := m.complete(); err != nil {
				t.Fatal(err)
			}
			want := map[string]measure.Verdict{
				"console.first_visit_ms": measure.OK, "console.second_visit_ms": measure.Undecided, "console.shell_kb": measure.OK,
				"console.all_kb": measure.OK, "console.panning_fps": measure.OK, "console.scrolling_fps": measure.Undecided,
				"console.scrolling_items": measure.OK, "console.grown_mib": measure.OK, "console.timeline_grown_mib": measure.OK,
				"console.idle_percent": c.idle, "console.idle_regions_percent": c.idle, "console.idle_timeline_percent": c.idle,
				"console.idle_others_percent": c.idle,
			}
			for _, target := range targets(&m) {
				if got := target.Verdict(); got != want[target.Name] {
					t.Errorf("%v, want %s", target, want[target.Name])
				}
				delete(want, target.Name)
			}
			if len(want) > 0 {
				t.Errorf("no targets %v", want)
			}
		})
	}
}

// TestWhatWasNotMeasuredIsRefused checks that missing measurements, which would meet every bound, are refused.
func TestWhatWasNotMeasuredIsRefused(t *testing.T) {
	var m measured
	if err := json.Unmarshal([]byte(printed("[1]", "[1]", "[]")), &m); err != nil {
		t.Fatal(err)
	}
	if err := m.complete(); err == nil || !strings.Contains(err.Error(), "idle_percent.again") {
		t.Errorf("got %v", err)
	}
}
