package main

import (
	"errors"
	"strings"

	"brine/service"
	"brine/service/admin"
	"brine/top"
)

type psCmd struct {
	configFlag
	tokenFlag
	timeoutFlag
	HTTP []string `name:"http" placeholder:"HOST:PORT" help:"Admin port of a running brine; may be repeated (default: http.listen of the configuration)."`
	JSON bool     `help:"Print JSON."`
}

// Help returns the detailed help of the command.
func (psCmd) Help() string {
	return `Prints a line for each half of a pipeline in each brine asked: its state, its partitions, the offsets settled and arriving per
second, the lag in offsets and when it will be gone, the step that holds up the others, where the time goes, and when the topic's
retention will delete the oldest record that is not settled. The lag is an upper bound of the records, since transaction markers
have offsets too. Below these are all members of the groups, as the brokers know them.

Examples:
  brine ps -c brine.yaml
  brine ps --http 127.0.0.1:8765 --http 10.0.0.7:8765
  brine ps --json | jq 'select(.state == "paused") | {pipeline, retention_seconds}'`
}

func (c *psCmd) Run(e *env) error {
	var brines []top.Brine
	for _, addr := range c.HTTP {
		brines = append(brines, listedBrine(admin.Client{Addr: addr, Token: c.of(e), Timeout: e.patience}))
	}
	if len(brines) == 0 {
		client, err := adminClient(e, c.configFlag, "", c.tokenFlag)
		if err != nil {
			return err
		}
		brines = []top.Brine{listedBrine(client)}
	}
	all, problems := top.List(e.ctx, brines)
	top.PrintList(e.stdout, all, c.JSON)
	if len(problems) > 0 {
		return &exitError{exitUnreachable, errors.New(strings.Join(problems, "; ")), "brine's address is its http.listen"}
	}
	return nil
}

// listedBrine returns a brine with the calls that ps needs.
func listedBrine(c admin.Client) top.Brine {
	return top.Brine{Addr: c.Addr, Pipelines: asking[[]top.Pipeline](c, service.PipelinesPath+"?members")}
}
