package main

import (
	"encoding/json"
	"fmt"
	"slices"

	"brine/config"
	"brine/rowkey"
	"brine/schema"
)

type keyLintCmd struct {
	keyFlags
	Table   string   `arg:"" optional:"" help:"Table of the configuration whose key to use (default: the only one)."`
	Row     string   `help:"With --key: what a row represents." enum:"event,entity" default:"event"`
	Regions int      `help:"With --key: initial number of regions." default:"1"`
	Query   []string `help:"With --key: a query that the table is to answer, such as 'waybill at..'." placeholder:"FIELDS" sep:"none"`
	Servers int      `help:"Number of region servers in the cluster."`
}

// Help returns the detailed help of the command.
func (keyLintCmd) Help() string {
	return `Lists the foreseeable problems of a configured table, or of a key, with their fixes: keys that are ambiguous or random, that do
not tell two events apart, that pile onto one region or scatter what a scan reads, queries that no scan answers, and wasted bytes.
brine check reports these too, along with everything else.

Exit codes: 0 nothing, or advice only; 1 warnings; 2 errors.

Examples:
  brine key lint scans -c examples/scans.yaml --servers 5
  brine key lint --key 'waybill + "|" + desc(at, s)' --fields waybill=text --fields at=time --query 'waybill at..'`
}

func (c *keyLintCmd) Run(e *env) error {
	find := c.ofTable
	if c.Key != "" {
		find = c.ofKey
	}
	found, err := find(e)
	if err != nil {
		return err
	}
	if c.JSON {
		err = json.NewEncoder(e.stdout).Encode(append(config.Problems{}, found...)) // so that JSON has [] instead of null
	} else {
		_, err = fmt.Fprint(e.stdout, found)
	}
	switch {
	case err != nil:
		return err
	case found.Err() != nil:
		return errReported{exitUsage}
	case len(found.Warnings()) > 0:
		return errReported{exitFailed}
	}
	return nil
}

// ofKey lints the key given on the command line.
func (c *keyLintCmd) ofKey(e *env) (config.Problems, error) {
	fields, err := c.fields()
	if err != nil {
		return nil, err
	}
	o := rowkey.LintOptions{EventRows: c.Row == "event", Servers: c.Servers, Regions: c.Regions}
	for _, text := range c.Query {
		q, err := rowkey.ParseQuery(text)
		if err != nil {
			return nil, usage(fmt.Errorf("--query: %w", err))
		}
		o.Queries = append(o.Queries, q)
	}
	return schema.LintKey("--key", c.Key, fields, o), nil
}

// ofTable returns what check finds for a table and the pipelines that write it, and what follows from the number of servers.
func (c *keyLintCmd) ofTable(e *env) (config.Problems, error) {
	cfg, problems := config.Load(c.Config, e.getenv)
	problems = slices.DeleteFunc(problems, func(p config.Problem) bool { return p.Code == config.Unused })
	if cfg == nil { // the problems give the reason
		return problems, nil
	}
	t, err := table(cfg, c.Table)
	if err != nil {
		return nil, err
	}
	return append(problems.OfTable(cfg, t), schema.CheckKey(t, c.Config, c.Servers, max(t.Regions, len(t.Splits)+1))...), nil
}
