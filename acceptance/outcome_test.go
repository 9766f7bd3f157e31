package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// TestTheOutcomeIsKept checks that everything that a run prints is in its file, by scale, and that a wrong answer makes a target short.
func TestTheOutcomeIsKept(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, args := range [][]string{{"init", "-q"}, {"-c", "user.name=x", "-c", "user.email=x@example.com", "-c", "commit.gpgsign=false", "commit", "-q", "--allow-empty", "-m", "first"}} {
		if out, err := exec.Command("git", args...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	o := outcome{Orders: 2, Users: 1, Scans: 3, Lines: 7}
	o.loaded(time.Second, 2*time.Second, 1.5, 9)
	o.addTable(table{"centre:orders", 2, 1, 100, 100})
	o.addAsked(&tally{view: "order", questions: 4, rows: 2, took: 10 * time.Millisecond})
	o.addTimed(timed{"by id", 5, 1.25, 2.5})
	if err := o.record("1", 0); err != nil {
		t.Fatal(err)
	}
	if err := o.record("4", 1); err == nil || !strings.Contains(err.Error(), "short") {
		t.Errorf("a wrong answer: %v", err)
	}
	for _, file := range []string{"bench/results/shop.json", "bench/results/shop-4.json"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var kept struct{ Detail json.RawMessage }
		if err := json.Unmarshal(text, &kept); err != nil {
			t.Fatal(err)
		}
		want := `{"orders":2,"users":1,"scans":3,"changes":9,"published_s":1,"run_s":2,"run_cpu_s":1.5,"lines":7,` +
			`"tables":[{"table":"centre:orders","rows":2,"regions":1,"least_percent":100,"most_percent":100}],` +
			`"asked":[{"view":"order","questions":4,"rows":2,"ms_a_question":2.5}],"timed":[{"question":"by id","asked":5,"p50_ms":1.25,"p99_ms":2.5}]}`
		if got := strings.Join(strings.Fields(string(kept.Detail)), ""); got != strings.ReplaceAll(want, " ", "") {
			t.Errorf("%s holds %s", file, got)
		}
	}
}
