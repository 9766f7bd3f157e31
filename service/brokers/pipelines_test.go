package brokers

import (
	"encoding/json"
	"errors"
	"maps"
	"strings"
	"testing"

	"brine/config"
	"brine/ingest/offsets"
	"brine/internal/fault"
)

func scansOf(t *testing.T) *config.Config {
	t.Helper()
	cfg, problems := config.Load("../../examples/scans.yaml", func(string) (string, bool) { return "", false })
	if problems.Err() != nil {
		t.Fatal(problems)
	}
	return cfg
}

// TestSavedPositions checks that the JSON of a group's positions can be read back, for the requested half.
func TestSavedPositions(t *testing.T) {
	h := scansOf(t).Halves()[0]
	g := &Group{Half: h, Group: &offsets.Group{Group: h.Group(), Topic: h.Pipeline.Topic, Starts: []int64{2, 0}, Ends: []int64{10, 5},
		Committed: map[int]int64{0: 4}}}
	var saved strings.Builder
	for _, p := range g.Positions() {
		text, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		saved.Write(text)
	}
	if text := saved.String(); !strings.Contains(text, `"earliest":2,"committed":4,"latest":10,"lag":6`) ||
		!strings.Contains(text, `"earliest":0,"committed":null,"latest":5,"lag":5`) {
		t.Errorf("positions %s", text)
	}
	if got, found, err := Saved(strings.NewReader(saved.String()), "scans.rows", ""); err != nil || !found || !maps.Equal(got, map[int]int64{0: 4}) {
		t.Errorf("%v, %t, %v", got, found, err)
	}
	if got, found, err := Saved(strings.NewReader(saved.String()), "other.rows", ""); err != nil || found || len(got) != 0 {
		t.Errorf("%v, %t, %v", got, found, err)
	}
	for _, text := range []string{`{"partition":0}`, `{"pipeline":"scans.rows"} nonsense`} {
		if _, _, err := Saved(strings.NewReader(text), "scans.rows", ""); err == nil || !strings.Contains(err.Error(), "was not written by brine offsets show") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestGroupsInUseAreNotIdle checks that the error names the members and what to do.
func TestGroupsInUseAreNotIdle(t *testing.T) {
	idle, used := &Group{Group: &offsets.Group{Group: "a"}}, &Group{Group: &offsets.Group{Group: "b", Members: []string{"brine on host"}}}
	if err := Idle([]*Group{idle}); err != nil {
		t.Error(err)
	}
	err := Idle([]*Group{idle, used})
	if f, ok := errors.AsType[*fault.Error](err); !ok || !strings.Contains(err.Error(), "\nb: brine on host") || f.Fix == "" {
		t.Errorf("error %v", err)
	}
}

// TestDeadLettersHaveOwners checks that a group's half is found in the configuration or, without one, by its name.
func TestDeadLettersHaveOwners(t *testing.T) {
	cfg := scansOf(t)
	declared := &DeadLetters{cfg: cfg}
	bare := &config.Config{Kafka: config.Kafka{Group: cfg.Kafka.Group}}
	bare.Found("", "courier.scans", "")
	undeclared := &DeadLetters{cfg: bare, undeclared: true}
	group := cfg.Halves()[0].Group()
	other := strings.Replace(group, "scans", "others", 1)
	for _, c := range []struct {
		of          *DeadLetters
		group, name string
	}{
		{declared, group, "scans.rows"}, {declared, other, other}, {declared, "", ""},
		{undeclared, group, "scans.rows"}, {undeclared, other, "others.rows"}, {undeclared, "foreign", "foreign"},
	} {
		h, ok := c.of.Half(c.group)
		if name := c.of.Name(c.group); name != c.name || ok && h.Name() != c.name || ok == (name == c.group) {
			t.Errorf("%q is of %q (%t), expected %q", c.group, name, ok, c.name)
		}
	}
}
