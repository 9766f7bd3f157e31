package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"brine/config"
	"brine/indexer"
)

type checkCmd struct {
	Paths   []string `arg:"" optional:"" name:"file" help:"Configurations, or folders of them (default brine.yaml)."`
	Connect bool     `help:"Also look at the topics, tables and recent records of the servers."`
	JSON    bool     `help:"Print JSON."`
}

// Help is shown under the command's own help.
func (checkCmd) Help() string {
	return `Every mistake is told at once, with file, line, column and the mend. Nothing is changed anywhere.
With --connect: are the topics there, are the tables as the configuration says, and what would become of the latest
records: dead letters, rows that collide, and events that a TTL would hide as they are written.

Examples:
  brine check examples/scans.yaml
  brine check --connect examples/scans.yaml`
}

func (c *checkCmd) Run(e *env) error {
	if len(c.Paths) == 0 {
		c.Paths = []string{"brine.yaml"}
	}
	files, err := configFiles(c.Paths)
	if err != nil {
		return usage(err)
	}
	all := append(config.Problems{}, config.UnknownEnv(e.environ)...) // [] in JSON when there is nothing
	code := exitOK
	for _, file := range files {
		cfg, problems := config.Load(file, e.getenv)
		switch {
		case problems.Err() != nil:
			code = exitUsage
		case c.Connect:
			found, err := checkServers(e.ctx, cfg, file)
			if err != nil {
				return err
			}
			problems = append(problems, found...)
			if found.Err() != nil {
				code = max(code, exitMissing)
			}
		}
		all = append(all, problems...)
		if !c.JSON && problems.Err() == nil {
			fmt.Fprintf(e.stdout, "%s: good\n", file)
		}
	}
	if c.JSON {
		if err := json.NewEncoder(e.stdout).Encode(all); err != nil {
			return err
		}
	} else {
		fmt.Fprint(e.stderr, all)
	}
	if code != exitOK {
		return errReported{code}
	}
	return nil
}

// configFiles lists the files, and the .yaml files of folders, in order.
func configFiles(paths []string) ([]string, error) {
	var out []string
	for _, p := range paths {
		info, err := os.Stat(p)
		if err != nil || !info.IsDir() {
			out = append(out, p) // Load says what is wrong with a file that is not there
			continue
		}
		err = filepath.WalkDir(p, func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() && (strings.HasSuffix(path, ".yaml") || strings.HasSuffix(path, ".yml")) {
				out = append(out, path)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	if len(out) == 0 {
		return nil, errors.New("no .yaml files there")
	}
	return out, nil
}

// checkServers compares a configuration with its servers.
func checkServers(ctx context.Context, cfg *config.Config, file string) (config.Problems, error) {
	var found config.Problems
	say := func(severity config.Severity, code config.Code, setting, message, mend string) {
		found = append(found, config.Problem{Code: code, Severity: severity, File: file, Setting: setting, Message: message, Mend: mend})
	}
	opts := cfg.HBase()
	opts.Hooks.Untested = func(version string) {
		say(config.Warning, codeUntested, "hbase.connect", untested(version), "write to tables of its own first, and read them back with brine query")
	}
	cluster, err := openHBase(ctx, cfg, opts)
	if err != nil {
		return nil, err
	}
	defer cluster.Close()
	steps, err := planTables(ctx, cfg, cluster.client)
	if err != nil {
		return nil, err
	}
	for _, step := range steps {
		setting := "tables." + step.Table
		if step.Action == "create" {
			say(config.Error, codeMissing, setting, "the table does not exist", "create it: brine tables apply -c "+file)
		}
		for _, d := range step.Changes {
			severity := config.Warning
			if d.missingFamily() {
				severity = config.Error
			}
			say(severity, codeDiffers, setting, d.String(), "alter the table with brine tables apply, or the configuration")
		}
	}
	indexes, err := withSearch(cfg, func(engine indexer.Engine) ([]indexStep, error) { return planIndexes(ctx, cfg, engine) })
	if err != nil {
		return nil, err
	}
	for _, step := range indexes {
		setting := "indexes." + step.Index
		switch step.Action {
		case "create":
			say(config.Error, codeMissing, setting, "the index does not exist", "create it: brine tables apply -c "+file)
		case "extend":
			say(config.Error, codeDiffers, setting, "the index lacks "+strings.Join(step.Fields, ", "), "add what it lacks: brine tables apply -c "+file)
		}
	}
	client := kafkaClient(&cfg.Kafka)
	for _, p := range cfg.Pipelines {
		setting := "pipelines." + p.Name
		records, err := latestRecords(ctx, client, p.Topic, checkRecords)
		switch {
		case errors.Is(err, errNoTopic):
			say(config.Error, codeMissing, setting+".topic", "topic "+p.Topic+" does not exist", "create it, or mend the name")
			continue
		case err != nil:
			return nil, err
		}
		all, err := foreseers(cfg, time.Now(), p.Name)
		if err != nil {
			return nil, err
		}
		for _, f := range all {
			for i := range records {
				f.add(int64(i), &records[i], false)
			}
			seen, err := f.result(0)
			if err != nil {
				return nil, err
			}
			for _, w := range seen.warnings() {
				say(config.Warning, codeSample, setting, w.Msg, w.Mend)
			}
		}
	}
	return found, nil
}

// The codes of problems that only the servers show.
const (
	codeMissing  config.Code = "missing-on-server"
	codeDiffers  config.Code = "differs-on-server"
	codeSample   config.Code = "sampled-records"
	codeUntested config.Code = "untested-version"
)
