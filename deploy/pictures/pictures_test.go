package main

import (
	"encoding/json"
	"os"
	"testing"
	"time"

	"brine/config"
)

// What runs beside brine dev reads what the traffic publishes.
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

func TestTrafficHasAWaveAndABurst(t *testing.T) {
	tr := &traffic{rate: 1000, length: time.Hour}
	low, high, burst := tr.perTick(.25), tr.perTick(.75), tr.perTick(.34)
	if low >= high || burst < 5*high/2 {
		t.Errorf("%d events a tick in the wave's low, %d in its high, %d in the burst", low, high, burst)
	}
}
