package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"brine/config"
)

// A secret in the wrong BRINE_ variable is printed by no command: not by those that check, nor by those that refuse to start.
func TestSecretsInTheEnvironmentAreNotPrinted(t *testing.T) {
	const secret = "pa,hunter2:ss"
	variables := slices.Compact(slices.Sorted(slices.Values(regexp.MustCompile(`BRINE_[A-Z_]+`).FindAllString(config.Reference(), -1))))
	if len(variables) < 50 {
		t.Fatalf("the reference has only %d variables: %q", len(variables), variables)
	}
	file := filepath.Join(t.TempDir(), "brine.yaml")
	source, err := os.ReadFile("../../examples/scans.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, append(source, "search: { connect: \"embedded:./search\" }\n"...), 0o600); err != nil {
		t.Fatal(err)
	}
	refused := 0
	for _, variable := range variables {
		for _, args := range [][]string{{"check", file}, {"check", "--json", file}, {"run", "-c", file}, {"query", "-c", file, "scans"}} {
			if args[0] != "check" && variable != "BRINE_MEMORY" && variable != "BRINE_SEARCH_API_KEY" { // with others these would start, and connect
				continue
			}
			var stdout, stderr bytes.Buffer
			e := &env{ctx: t.Context(), stdout: &stdout, stderr: &stderr, environ: []string{variable + "=" + secret}, getenv: func(name string) (string, bool) {
				return secret, name == variable
			}}
			if variable == "BRINE_SEARCH_API_KEY" && args[0] != "check" { // and with this one, unless something else is wrong
				e.getenv = func(name string) (string, bool) { return secret, name == variable || name == "BRINE_SEARCH_USER" }
			}
			if run(e, args) == exitUsage {
				refused++
			}
			if got := stdout.String() + stderr.String(); strings.Contains(got, "hunter2") {
				t.Errorf("%s, brine %s: prints the secret:\n%s", variable, args[0], got)
			}
		}
	}
	if refused < 2*30 {
		t.Errorf("only %d command lines were refused", refused)
	}
}
