package config

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Severity says whether a problem keeps brine from starting.
type Severity string

// The severities.
const (
	Error   Severity = "error"   // nothing starts
	Warning Severity = "warning" // it starts; someone will regret it
	Advice  Severity = "advice"  // it works; it could be better
)

// Problem is one thing wrong with a configuration.
type Problem struct {
	Code     Code     `json:"code"`
	Severity Severity `json:"severity"`
	File     string   `json:"file,omitempty"`
	Line     int      `json:"line,omitempty"`    // from 1; 0 when the problem lies in no line
	Column   int      `json:"column,omitempty"`  // from 1, in characters
	Env      string   `json:"env,omitempty"`     // the environment variable that the value came from, instead of a place in the file
	Setting  string   `json:"setting,omitempty"` // such as pipelines.scans.version
	Message  string   `json:"message"`           // what is wrong
	Fix      string   `json:"fix"`               // what to do
}

// String is the problem on one line: place, setting, what is wrong, fix, code.
func (p Problem) String() string {
	var b strings.Builder
	switch {
	case p.Env != "":
		b.WriteString(p.Env + ": ")
	case p.Line > 0:
		fmt.Fprintf(&b, "%s:%d:%d: ", p.File, p.Line, p.Column)
	case p.File != "":
		b.WriteString(p.File + ": ")
	}
	if p.Severity != Error {
		b.WriteString(string(p.Severity) + ": ")
	}
	if p.Setting != "" {
		b.WriteString(p.Setting + ": ")
	}
	b.WriteString(p.Message)
	if p.Fix != "" {
		b.WriteString("; " + p.Fix)
	}
	return b.String() + " [" + string(p.Code) + "]"
}

// Problems is what is wrong with a configuration, in the order of the file. It is written as JSON as it stands.
type Problems []Problem

// String is one line for each problem.
func (ps Problems) String() string {
	var b strings.Builder
	for _, p := range ps {
		b.WriteString(p.String() + "\n")
	}
	return b.String()
}

// Err is nil when no problem is an error; else its text is one line for each error.
func (ps Problems) Err() error {
	errs := ps.only(Error)
	if len(errs) == 0 {
		return nil
	}
	return errors.New(strings.TrimSuffix(errs.String(), "\n"))
}

// Warnings are the problems that someone will regret, though they keep nothing from starting.
func (ps Problems) Warnings() Problems { return ps.only(Warning) }

func (ps Problems) only(s Severity) Problems {
	var out Problems
	for _, p := range ps {
		if p.Severity == s {
			out = append(out, p)
		}
	}
	return out
}

// sort puts problems into the file's order, those of the environment first.
func (ps Problems) sort() {
	slices.SortStableFunc(ps, func(a, b Problem) int {
		return cmp.Or(
			cmp.Compare(a.Line, b.Line),
			cmp.Compare(a.Column, b.Column),
			cmp.Compare(a.Env, b.Env),
			cmp.Compare(a.Setting, b.Setting),
			cmp.Compare(a.Code, b.Code),
			cmp.Compare(a.Message, b.Message))
	})
}
