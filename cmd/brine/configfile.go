package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"brine/config"
	"brine/internal/term"
	"brine/service"
)

// defaultConfig is the file that configFlag names where it is not given.
const defaultConfig = "brine.yaml"

// configFlag is the flag of every command that reads a configuration.
type configFlag struct {
	Config string `short:"c" default:"brine.yaml" placeholder:"FILE" help:"Configuration file (default brine.yaml)."`
	Unmask bool   `help:"Show the values of masked fields."`
}

// load reads the configuration and prints its errors to stderr, all at once; the returned error adds nothing to them. Warnings are printed
// by check and by commands that keep running, not by those that answer a question. Only check, key lint and tables plan print advice, and
// only check reports what is declared but unused.
func (f configFlag) load(e *env) (*config.Config, error) {
	cfg, problems := config.Load(f.Config, e.getenv)
	if f.Unmask && cfg != nil {
		cfg.Unmask()
	}
	return loaded(e, cfg, problems, e.seriously)
}

// loadHBase is load for commands that need nothing but the configuration's HBase.
func (f configFlag) loadHBase(e *env) (*config.Config, error) {
	cfg, problems := config.LoadHBase(f.Config, e.getenv)
	return loaded(e, cfg, problems, e.seriously)
}

// seriously reports whether a command prints a problem: all print errors and those of environment variables, and the ones without a
// --timeout print warnings.
func (e *env) seriously(p config.Problem) bool {
	return p.Severity == config.Error || p.Env != "" || p.Severity == config.Warning && e.patience == 0
}

// loadAdvised says advice too.
func (f configFlag) loadAdvised(e *env) (*config.Config, error) {
	cfg, problems := config.Load(f.Config, e.getenv)
	return loaded(e, cfg, problems, func(config.Problem) bool { return true })
}

// loaded says what is wrong with a configuration, and returns it unless that is an error.
func loaded(e *env, cfg *config.Config, problems config.Problems, said func(config.Problem) bool) (*config.Config, error) {
	for _, p := range append(problems, config.UnknownEnv(e.environ)...) {
		if e.brokers && p.Env == brokersVariable {
			p.Env, p.Setting = "--brokers", ""
		}
		if p.Code != config.Unused && said(p) {
			term.Println(e.stderr, "%v", p)
		}
	}
	if problems.Err() != nil {
		return nil, errReported{exitUsage}
	}
	if e.patience > 0 {
		within(e, cfg)
		// As long as the process.
		go service.Heap{Memory: int64(cfg.Memory) + e.holds, Process: int64(cfg.ProcessMemory)}.Hold(e.ctx)
	}
	return cfg, nil
}

// errAmbiguous ends the error of a name that is short for several tables.
var errAmbiguous = errors.New("write one of them")

// table finds a table of the configuration; an empty name means the only one.
func table(cfg *config.Config, name string) (*config.Table, error) {
	if name == "" && len(cfg.Tables) == 1 {
		return cfg.Tables[0], nil
	}
	if t := cfg.Table(name); t != nil {
		return t, nil
	}
	var names, matches []string
	for _, t := range cfg.Tables {
		// The part behind the namespace is enough where it is unambiguous.
		if _, short, ok := strings.Cut(t.Name, ":"); ok && short == name {
			matches = append(matches, t.Name)
		}
		names = append(names, t.Name)
	}
	slices.Sort(names)
	slices.Sort(matches)
	switch {
	case len(matches) == 1:
		return cfg.Table(matches[0]), nil
	case len(matches) > 1:
		return nil, usage(fmt.Errorf("table %q is short for %s; %w", name, strings.Join(matches, " and "), errAmbiguous))
	case name == "":
		return nil, usage(fmt.Errorf("name a table: %s", strings.Join(names, ", ")))
	}
	return nil, usage(fmt.Errorf("no table %q in the configuration; it has %s", name, strings.Join(names, ", ")))
}

// pipeline finds a pipeline of the configuration; an empty name means the only one.
func pipeline(cfg *config.Config, name string) (*config.Pipeline, error) {
	if name == "" && len(cfg.Pipelines) == 1 {
		return cfg.Pipelines[0], nil
	}
	if p := cfg.Pipeline(name); p != nil {
		return p, nil
	}
	var names []string
	for _, p := range cfg.Pipelines {
		names = append(names, p.Name)
	}
	if name == "" {
		return nil, usage(fmt.Errorf("choose a pipeline with --pipeline: %s", strings.Join(names, ", ")))
	}
	return nil, usage(fmt.Errorf("--pipeline: no pipeline %q in the configuration; it has %s", name, strings.Join(names, ", ")))
}

// usage marks an error as the command line's.
func usage(err error) error {
	if _, _, known := exitOf(err); known {
		return err
	}
	return &exitError{code: exitUsage, err: err}
}
