package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"brine/internal/sample"
	"brine/internal/term"
	"brine/skew"
	"brine/skew/skewtest"
)

// openTerminal opens a terminal with this many columns. read returns what was written to it, once.
func openTerminal(t *testing.T, columns int) (terminal *os.File, read func() string) {
	t.Helper()
	terminal, _, read = openKeyboard(t, columns)
	return terminal, read
}

// openKeyboard also returns the function that types a text at the terminal, which shows it.
func openKeyboard(t *testing.T, columns int) (terminal *os.File, types func(text string), read func() string) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("this machine gives no terminals: %v", err)
	}
	t.Cleanup(func() { _ = master.Close() })
	fd := int(master.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: uint16(columns)}); err != nil {
		t.Fatal(err)
	}
	var seen bytes.Buffer
	ended := make(chan struct{})
	go func() { // ends with the terminal
		defer close(ended)
		_, _ = io.Copy(&seen, master) // its error is that the terminal was closed
	}()
	types = func(text string) {
		t.Helper()
		if _, err := master.WriteString(text); err != nil {
			t.Fatal(err)
		}
	}
	return terminal, types, func() string {
		_ = terminal.Close()
		<-ended
		return strings.ReplaceAll(seen.String(), "\r\n", "\n")
	}
}

// Lines of tables have columns; everything else fits the terminal and says the same as without one.
func TestSkewFitsTheTerminal(t *testing.T) {
	regions := []skew.Region{{Name: "r0", End: skew.Key("5"), Server: "a:1"}, {Name: "r1", Start: skew.Key("5"), Server: "b:1"}}
	addr := serveTables(t, skewtest.HotTables("scans", regions))
	_, flat, _ := brine(t, "skew", "--http", addr)
	const columns = 60
	terminal, read := openTerminal(t, columns)
	if code := run(&env{ctx: t.Context(), stdout: terminal, stderr: io.Discard, getenv: os.LookupEnv}, []string{"skew", "--http", addr}); code != exitOK {
		t.Errorf("exit %d", code)
	}
	drawn := read()
	for line := range strings.Lines(drawn) {
		if line = strings.TrimSuffix(line, "\n"); term.Width(line) > columns && !strings.Contains(line, "█") {
			t.Errorf("%d columns: %s", term.Width(line), line)
		}
	}
	if strings.Count(drawn, "\n") < strings.Count(flat, "\n")+10 {
		t.Errorf("hardly a line is broken:\n%s", drawn)
	}
	spaces := regexp.MustCompile(`\s+`)
	if spaces.ReplaceAllString(drawn, " ") != spaces.ReplaceAllString(flat, " ") {
		t.Errorf("on a terminal:\n%s\nelsewhere:\n%s", drawn, flat)
	}
}

// TestInitAsksAtATerminal answers init's questions: the topic, the sample and the key. A wrong answer is asked again, and what it writes
// passes check. Whoever ends the input gets the first key, or the name of the flag that is missing.
func TestInitAsksAtATerminal(t *testing.T) {
	file := filepath.Join(t.TempDir(), "orders.jsonl")
	var orders []byte
	for value := range sample.Orders(300) {
		orders = append(append(orders, value...), '\n')
	}
	if err := os.WriteFile(file, orders, 0o600); err != nil {
		t.Fatal(err)
	}
	const end = "\x04" // what Ctrl-D sends
	written := regexp.MustCompile(`written: key (.*)`)
	keys := map[string]string{}
	for _, c := range []struct {
		name, answers string
		code          int
		want          []string // said at the terminal
	}{
		{"the second key", "shop.orders\n" + file + "\n2\n", exitOK, []string{"Topic to read: ", "File of sample records (empty: read topic shop.orders at ", "1. ", "2. ", "Key [1]: "}},
		{"wrong answers", "shop.orders\n" + file + "\nfirst\n0\n99\n2x\n2\n", exitOK, []string{`"first" is not a number from 1 to `, `"0" is not`, `"99" is not`, `"2x" is not`}},
		{"an empty answer", "shop.orders\n" + file + "\n\n", exitOK, nil},
		{"the end instead of a key", "shop.orders\n" + file + "\n" + end, exitOK, nil},
		{"the end at once", end, exitUsage, []string{"--topic: name the topic"}},
	} {
		output := filepath.Join(t.TempDir(), "brine.yaml")
		terminal, types, read := openKeyboard(t, 200)
		types(c.answers)
		code := run(&env{ctx: t.Context(), stdin: terminal, stdout: terminal, stderr: terminal, getenv: os.LookupEnv}, []string{"init", "-o", output})
		said := read()
		if code != c.code {
			t.Errorf("%s: exit %d\n%s", c.name, code, said)
		}
		for _, want := range c.want {
			if !strings.Contains(said, want) {
				t.Errorf("%s: %q is not said:\n%s", c.name, want, said)
			}
		}
		if code != exitOK {
			continue
		}
		if m := written.FindStringSubmatch(said); m != nil {
			keys[c.name] = m[1]
		}
		if code, out, _ := brine(t, "check", output); code != exitOK {
			t.Errorf("%s: check exits with %d\n%s", c.name, code, out)
		}
	}
	if keys["the second key"] == "" || keys["the second key"] != keys["wrong answers"] || keys["an empty answer"] == keys["the second key"] ||
		keys["an empty answer"] == "" || keys["an empty answer"] != keys["the end instead of a key"] {
		t.Errorf("the keys chosen are %q", keys)
	}
}
