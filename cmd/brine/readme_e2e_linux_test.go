package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestReadmeAsksTheAPI runs the curl lines of README.md against brine dev, unchanged except for the port and the passwords: a timeline, a
// search, an SQL query and the confirmation of an order.
func TestReadmeAsksTheAPI(t *testing.T) {
	notShort(t)
	t.Parallel()
	page, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)## Over HTTP.*?```sh\n(.*?)```").FindSubmatch(page)
	if block == nil {
		t.Fatal("README.md has no lines for the API")
	}
	dev := startShop(t)
	lines := strings.Split(strings.TrimSpace(string(block[1])), "\n")
	script := "set -e\n" + strings.NewReplacer("http://127.0.0.1:8090", dev.api).Replace(lines[0]) + "\n"
	want := []string{`"action":"ARRIVE"`, `"role":"customer"`, `"status":"received"`, `"to":"received"`, `"role":"support"`,
		`"rows":[["cancelled",2],["received",1`}
	if len(lines) != len(want)+1 {
		t.Fatalf("README.md has %d lines for the API", len(lines))
	}
	for i, line := range lines[1:] {
		for name, password := range dev.passwords {
			if strings.Contains(line, `"name": "`+name+`"`) {
				line = strings.Replace(line, "PASSWORD", password, 1)
			}
		}
		if out := bash(t, dev.dir, script+line); !strings.Contains(out, want[i]) {
			t.Errorf("%s\nanswers %s, without %s", line, out, want[i])
		}
	}
	row := script + "curl -s -b customer $api/tables/shop:orders/rows/" + regexp.MustCompile(`rows/(\S+)/commands`).FindStringSubmatch(string(block[1]))[1]
	for until := time.Now().Add(standstill); !strings.Contains(bash(t, dev.dir, row), `"status":"received"`); wait(t, 50*time.Millisecond) {
		if time.Now().After(until) {
			t.Fatalf("the order is never received: %s", bash(t, dev.dir, row))
		}
	}
}

// bash runs a script in dir, as a reader of the documentation does.
func bash(t *testing.T, dir, script string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "bash", "-c", script)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s\n%v\n%s", script, err, out)
	}
	return string(out)
}

// shopOfDev is a brine dev that has written its whole sample: the folder in which to run commands, its address, and its passwords.
type shopOfDev struct {
	dir, api  string
	passwords map[string]string // by account
}

func startShop(t *testing.T) *shopOfDev {
	t.Helper()
	s := &shopOfDev{dir: t.TempDir(), passwords: map[string]string{}}
	p := startDev(t, "--data", filepath.Join(s.dir, "data"))
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill() // nothing of it is kept
		_ = p.cmd.Wait()
	})
	p.until(t, "the sample is written", p.shows("Ctrl-C stops"))
	out := p.out.String()
	s.api = regexp.MustCompile(`HTTP API on (http://[^/]+)`).FindStringSubmatch(out)[1]
	for _, account := range regexp.MustCompile(`(?m)^  (customer|support|admin) +(\S+)`).FindAllStringSubmatch(out, -1) {
		s.passwords[account[1]] = account[2]
	}
	return s
}
