package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"

	"brine/internal/term"
	"brine/service/devstack"
)

type devNodeCmd struct {
	Ls    devNodeLsCmd    `cmd:"" help:"List the region servers."`
	Stop  devNodeStopCmd  `cmd:"" help:"Stop a region server; its regions move to the others."`
	Start devNodeStartCmd `cmd:"" help:"Start a stopped region server at its former address and assign regions to it."`
	Add   devNodeAddCmd   `cmd:"" help:"Add a region server and assign regions to it."`
}

// Help returns the detailed help of the command.
func (devNodeCmd) Help() string {
	return `Examples:
  brine dev --hbase-nodes 2 --http-port 8765
  brine dev node ls --http 127.0.0.1:8765
  brine dev node stop 1 --http 127.0.0.1:8765
  brine dev node start 1 --http 127.0.0.1:8765
  brine dev node add --http 127.0.0.1:8765`
}

// devNodeFlags are the flags shared by the commands on the region servers of a brine dev.
type devNodeFlags struct {
	timeoutFlag
	tokenFlag
	HTTP string `name:"http" required:"" placeholder:"HOST:PORT" help:"Admin port of the running brine dev, which prints it at startup."`
	JSON bool   `help:"Print JSON."`
}

type devNodeLsCmd struct{ devNodeFlags }

type devNodeStopCmd struct {
	devNodeFlags
	Number int `arg:"" help:"Number of the region server, as printed by ls."`
}

type devNodeStartCmd struct{ devNodeStopCmd }

type devNodeAddCmd struct{ devNodeFlags }

func (c *devNodeLsCmd) Run(e *env) error  { return c.ask(e, http.MethodGet, "") }
func (c *devNodeAddCmd) Run(e *env) error { return c.ask(e, http.MethodPost, "") }
func (c *devNodeStopCmd) Run(e *env) error {
	return c.ask(e, http.MethodPost, fmt.Sprintf("/%d/stop", c.Number))
}
func (c *devNodeStartCmd) Run(e *env) error {
	return c.ask(e, http.MethodPost, fmt.Sprintf("/%d/start", c.Number))
}

// ask calls the running brine dev, and prints the region servers it returns.
func (f *devNodeFlags) ask(e *env, method, path string) error {
	client, err := adminClient(e, configFlag{}, f.HTTP, f.tokenFlag)
	if err != nil {
		return err
	}
	var nodes []devstack.Node
	if err := client.Call(e.ctx, method, devstack.NodesPath+path, &nodes); err != nil {
		return adminError(err)
	}
	if f.JSON {
		return json.NewEncoder(e.stdout).Encode(nodes)
	}
	table := term.Table{Out: e.stdout}
	table.Row("NODE", "ADDRESS", "STATE", "REGIONS")
	for _, n := range nodes {
		table.Row(strconv.Itoa(n.Node), n.Addr, n.State, strconv.Itoa(n.Regions))
	}
	table.Flush()
	return nil
}
