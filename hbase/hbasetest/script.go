package hbasetest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Script is one file of operations and answers.
type Script struct {
	Path     string
	OnlyJava bool
	Needs    string // the setup that a server needs; empty: none
	Ops      []Op
	lines    []string
}

const needs = "# needs "

// Op is one operation.
type Op struct {
	Line  int // in the file, from 1
	Words []string
	More  [][]string // words of the lines that begin with "+ "
}

// Answers are the lines that a client returned for the operations, by the line of the operation.
type Answers map[int][]string

// Load reads all scripts that match a pattern.
func Load(t testing.TB, pattern string) []*Script {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) == 0 {
		t.Fatalf("no scripts match %s: %v", pattern, err)
	}
	var scripts []*Script
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		scripts = append(scripts, parse(path, string(text)))
	}
	return scripts
}

func parse(path, text string) *Script {
	s := &Script{Path: path, lines: strings.Split(strings.TrimSuffix(text, "\n"), "\n")}
	for i, line := range s.lines {
		more, continued := strings.CutPrefix(line, "+ ")
		switch {
		case strings.HasPrefix(line, "# only java"):
			s.OnlyJava = true
		case strings.HasPrefix(line, needs):
			s.Needs = line[len(needs):]
		case line == "" || line[0] == '#' || strings.HasPrefix(line, "  "):
		case continued && len(s.Ops) > 0:
			op := &s.Ops[len(s.Ops)-1]
			op.More = append(op.More, strings.Fields(more))
		default:
			s.Ops = append(s.Ops, Op{Line: i + 1, Words: strings.Fields(line)})
		}
	}
	return s
}

// Name returns the file's name.
func (s *Script) Name() string { return filepath.Base(s.Path) }

// prefix returns the prefix of the names of this script's tables in a run.
func (s *Script) prefix(run string) string { return run + strings.TrimSuffix(s.Name(), ".txt") + "_" }

// Text returns the script as it is in its file.
func (s *Script) Text() string { return strings.Join(s.lines, "\n") + "\n" }

// With returns the script's text with other answers.
func (s *Script) With(answers Answers) string {
	var out []string
	for i := 0; i < len(s.lines); i++ {
		line := s.lines[i]
		if strings.HasPrefix(line, "  ") {
			continue
		}
		out = append(out, line)
		if line == "" || line[0] == '#' {
			continue
		}
		op := i + 1
		for i+1 < len(s.lines) && strings.HasPrefix(s.lines[i+1], "+ ") {
			i++
			out = append(out, s.lines[i])
		}
		for _, a := range answers[op] {
			out = append(out, "  "+a)
		}
	}
	return strings.Join(out, "\n") + "\n"
}
