package prometheus

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// tool finds a program of Debian's package prometheus.
func tool(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err == nil {
		return path
	}
	if os.Getenv("BRINE_REAL") == "required" {
		t.Fatalf("%v (BRINE_REAL=required, so this is a failure); apt-get install prometheus has it", err)
	}
	t.Skipf("%v; apt-get install prometheus has it", err)
	return ""
}

func TestPromtool(t *testing.T) {
	promtool := tool(t, "promtool")
	checks := [][]string{{"check", "config", "prometheus.yml"}, {"check", "config", "compose.prometheus.yml"}}
	for file := range readAll(t, ruleFiles) {
		checks = append(checks, []string{"check", "rules", file}, []string{"test", "rules", strings.Replace(file, ".rules.", ".rules.test.", 1)})
	}
	for _, args := range checks {
		out, err := exec.CommandContext(t.Context(), promtool, args...).CombinedOutput()
		t.Logf("promtool %s %s %s\n%s", args[0], args[1], args[2], out)
		if err != nil {
			t.Errorf("promtool %v: %v", args, err)
		}
	}
}
