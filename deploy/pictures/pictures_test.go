package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"brine/config"
)

// The brine next to brine dev reads what the traffic publishes.
func TestConfigurationReadsTheTraffic(t *testing.T) {
	text, err := os.ReadFile("pictures.yaml")
	if err != nil {
		t.Fatal(err)
	}
	cfg, problems := config.Parse("pictures.yaml", text, func(string) (string, bool) { return "", false })
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	fields := map[string]bool{}
	for _, m := range (&traffic{rate: 400, length: time.Minute}).events(.5) {
		if m.Topic != cfg.Pipelines[0].Topic {
			continue
		}
		var scan map[string]any
		if err := json.Unmarshal(m.Value, &scan); err != nil {
			t.Fatalf("%s: %v", m.Value, err)
		}
		for name := range scan {
			fields[name] = true
		}
	}
	for _, p := range cfg.Pipelines {
		for _, f := range p.Fields {
			if !fields[f.Name] {
				t.Errorf("%s: no scan has the field %s", p.Name, f.Name)
			}
		}
	}
}

// Every dashboard, brine skew and brine top have a picture, which the page of dashboards shows; the README shows two of them.
func TestEveryDashboardHasItsPicture(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("../..", dashboards))
	if err != nil || len(files) == 0 {
		t.Fatalf("no dashboards: %v", err)
	}
	names := []string{"brine-skew", "brine-top"}
	for _, f := range files {
		names = append(names, strings.TrimSuffix(filepath.Base(f), ".json"))
	}
	read := func(path string) string {
		text, err := os.ReadFile(filepath.Join("../..", path))
		if err != nil {
			t.Error(err)
		}
		return string(text)
	}
	page, readme, shown := read("docs/dashboards.md"), read("README.md"), 0
	for _, name := range names {
		if picture := read("docs/images/" + name + ".svg"); !strings.HasPrefix(picture, "<svg ") || !strings.Contains(picture, "<text ") {
			t.Errorf("%s: no picture with text", name)
		}
		if !strings.Contains(page, "(images/"+name+".svg)") {
			t.Errorf("docs/dashboards.md does not show %s", name)
		}
		if strings.Contains(readme, "(docs/images/"+name+".svg)") {
			shown++
		}
	}
	if shown < 2 {
		t.Errorf("the README shows %d of the pictures", shown)
	}
}

func TestTrafficHasAWaveAndABurst(t *testing.T) {
	tr := &traffic{rate: 1000, length: time.Hour}
	low, high, burst := tr.perTick(.25), tr.perTick(.75), tr.perTick(.34)
	if low >= high || burst < 5*high/2 {
		t.Errorf("%d events a tick in the wave's low, %d in its high, %d in the burst", low, high, burst)
	}
}
