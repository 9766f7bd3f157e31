package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// Every subcommand shows its help, and make has a target for it.
func TestEverySubcommandHasATarget(t *testing.T) {
	mk, err := os.ReadFile("bench.mk")
	if err != nil {
		t.Fatal(err)
	}
	var shown bytes.Buffer
	exited := false
	parser, err := kong.New(&cli{}, append(options(), kong.Writers(&shown, &shown), kong.Exit(func(int) { exited = true }))...)
	if err != nil {
		t.Fatal(err)
	}
	for _, leaf := range parser.Model.Leaves(true) {
		path := strings.TrimPrefix(leaf.Path(), "bench ")
		if !strings.Contains(string(mk), "$(GO) run ./bench "+path) {
			t.Errorf("bench.mk has no target for bench %s", path)
		}
		shown.Reset()
		exited = false
		_, _ = parser.Parse(append(strings.Fields(path), "--help")) // only whether it was shown is checked
		if usage := "Usage: bench " + path; !exited || !strings.HasPrefix(shown.String(), usage) {
			t.Errorf("bench %s --help shows %q", path, shown.String())
		}
	}
}
