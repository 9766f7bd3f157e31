package reload

import (
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"brine/config"
)

var update = flag.Bool("update", false, "write the table of docs/live.md")

// TestEverySettingHasAnEffect checks that each setting, new ones included, has an effect in effects.go.
func TestEverySettingHasAnEffect(t *testing.T) {
	known := map[string]bool{}
	for _, section := range config.Sections() {
		known[section.Name] = true
		of := effectsByName()[section.Name]
		for _, name := range section.Settings {
			if of[name] == "" {
				t.Errorf("%s has no effect in effects.go: is it live, drain, onward, restart, replay or serve?", section.Name+"."+name)
			}
		}
		for name := range of {
			if !slices.Contains(section.Settings, name) {
				t.Errorf("effects.go has %s, which is no setting", section.Name+"."+name)
			}
		}
	}
	for section := range effectsByName() {
		if !known[section] {
			t.Errorf("effects.go has the section %s, which there is not", section)
		}
	}
}

// TestLivePageHasTheEffects checks the table of docs/live.md against effects.go.
func TestLivePageHasTheEffects(t *testing.T) {
	const page, begin, end = "../../docs/live.md", "<!-- effects: go test ./service/reload -update -->\n", "<!-- end of effects -->\n"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(text), begin)
	_, tail, ended := strings.Cut(rest, end)
	if !ok || !ended {
		t.Fatalf("%s has no place for the table of effects", page)
	}
	want := head + begin + effectsTable() + end + tail
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if string(text) != want {
		t.Errorf("the table of %s is not that of effects.go; go test ./service/reload -update writes it", page)
	}
}
