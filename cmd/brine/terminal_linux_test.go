package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"brine/internal/term"
	"brine/skew"
	"brine/skew/skewtest"
)

// openTerminal opens a terminal with this many columns. read returns what was written to it, once.
func openTerminal(t *testing.T, columns int) (terminal *os.File, read func() string) {
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
	return terminal, func() string {
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
