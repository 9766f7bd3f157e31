package hbasetest

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Client runs scripts against the server at connect ("rpc://host:port"), with prefix before every table or namespace name, and returns the
// answers of each.
type Client func(t *testing.T, connect, prefix string, scripts []*Script) []Answers

// Program is a client in another program: start returns the command that runs it with connect, the prefix and the scripts' paths.
func Program(start func(t *testing.T, args ...string) *exec.Cmd) Client {
	return func(t *testing.T, connect, prefix string, scripts []*Script) []Answers {
		args := []string{connect, prefix}
		for _, s := range scripts {
			args = append(args, s.Path)
		}
		var log bytes.Buffer
		cmd := start(t, args...)
		cmd.Stderr = &log
		out, err := cmd.Output()
		t.Logf("what the client logged:\n%s", stack.ReplaceAll(log.Bytes(), nil))
		if err != nil {
			t.Fatalf("%s: %v, after %q", cmd.Path, err, out)
		}
		return ReadAnswers(t, out, scripts)
	}
}

// stack matches the lines of a Java stack trace.
var stack = regexp.MustCompile(`(?m)^\s+(at|\.\.\.) .*\n`)

// Conform runs the scripts with a client against a server and compares the answers with those in the files, in one subtest per script. If
// update is set, it writes the answers to the files instead.
func Conform(t *testing.T, client Client, connect, prefix string, scripts []*Script, update bool) {
	answers := client(t, connect, prefix, scripts)
	for i, s := range scripts {
		t.Run(strings.TrimSuffix(s.Name(), ".txt"), func(t *testing.T) {
			if update {
				if err := os.WriteFile(s.Path, []byte(s.With(answers[i])), 0o600); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := s.diff(answers[i]); diff != "" {
				t.Errorf("answers differ (- wanted, + got):\n%s", diff)
			}
		})
	}
}

// diff returns how the answers differ from the script's, or "".
func (s *Script) diff(answers Answers) string {
	return cmp.Diff(strings.Split(s.Text(), "\n"), strings.Split(s.With(answers), "\n"))
}

// Twice is a client that runs a script again, with other tables, if its answers differ from the script's. It is meant for HBase's own
// client against the real server: what the master does by itself (its catalog janitor, cleaners and normalizer) can come between two
// operations, and says nothing about brine. An answer that really changed differs in both runs.
func Twice(client Client) Client {
	return func(t *testing.T, connect, prefix string, scripts []*Script) []Answers {
		answers := client(t, connect, prefix, scripts)
		var again []*Script
		var at []int
		for i, s := range scripts {
			if diff := s.diff(answers[i]); diff != "" {
				t.Logf("%s runs again: answers differ (- wanted, + got):\n%s", s.Name(), diff)
				again, at = append(again, s), append(at, i)
			}
		}
		if len(again) == 0 {
			return answers
		}
		for i, a := range client(t, connect, prefix+"again_", again) {
			answers[at[i]] = a
		}
		return answers
	}
}

// ReadAnswers parses the output of a client in another process: "== script line", then the answer.
func ReadAnswers(t *testing.T, out []byte, scripts []*Script) []Answers {
	all := make([]Answers, len(scripts))
	index := map[string]int{}
	for i, s := range scripts {
		all[i], index[s.Name()] = Answers{}, i
	}
	var current Answers
	line := 0
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		head, isHead := strings.CutPrefix(lines.Text(), "== ")
		if !isHead {
			current[line] = append(current[line], lines.Text())
			continue
		}
		name, number, _ := strings.Cut(head, " ")
		n, err := strconv.Atoi(number)
		if err != nil {
			t.Fatalf("no line number: %q", lines.Text())
		}
		current, line = all[index[name]], n
	}
	return all
}
