package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"brine/hbase/embedded"
	"brine/service/admin"
)

type devNodeCmd struct {
	Ls    devNodeLsCmd    `cmd:"" help:"List the region servers."`
	Stop  devNodeStopCmd  `cmd:"" help:"Stop a region server; its regions go to the others."`
	Start devNodeStartCmd `cmd:"" help:"Start a region server again, at its address, and give it regions."`
	Add   devNodeAddCmd   `cmd:"" help:"Add a region server, and give it regions."`
}

// Help is shown under the command's own help.
func (devNodeCmd) Help() string {
	return `Examples:
  brine dev --hbase-nodes 2 --http-port 8765
  brine dev node ls --http 127.0.0.1:8765
  brine dev node stop 1 --http 127.0.0.1:8765
  brine dev node start 1 --http 127.0.0.1:8765
  brine dev node add --http 127.0.0.1:8765`
}

// devNodeFlags are those of every command on the region servers of a brine dev.
type devNodeFlags struct {
	timeoutFlag
	HTTP string `name:"http" required:"" placeholder:"HOST:PORT" help:"Admin port of the running brine dev, as it prints it."`
	JSON bool   `help:"Print JSON."`
}

type devNodeLsCmd struct{ devNodeFlags }

type devNodeStopCmd struct {
	devNodeFlags
	Number int `arg:"" help:"Number of the region server, as ls prints it."`
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

// ask asks the running brine dev, and prints the region servers as they are then.
func (f *devNodeFlags) ask(e *env, method, path string) error {
	asked, err := askedBrine(e, configFlag{}, f.HTTP, tokenFlag{})
	if err != nil {
		return err
	}
	var nodes []devNode
	if err := asked.call(e.ctx, method, nodesPath+path, &nodes); err != nil {
		return err
	}
	if f.JSON {
		return json.NewEncoder(e.stdout).Encode(nodes)
	}
	table := columns{out: e.stdout}
	table.row([]string{"NODE", "ADDRESS", "STATE", "REGIONS"})
	for _, n := range nodes {
		table.row([]string{strconv.Itoa(n.Node), n.Addr, n.State, strconv.Itoa(n.Regions)})
	}
	table.flush()
	return nil
}

// nodesPath is where the admin port of brine dev lists HBase's region servers.
const nodesPath = "/dev/nodes"

// devNode is a region server of brine dev.
type devNode struct {
	Node    int    `json:"node"`
	Addr    string `json:"address"`
	State   string `json:"state"` // up or down
	Regions int    `json:"regions"`
}

// serveNodes has the admin port list the region servers, and stop, start or add one.
func serveNodes(mux handlers, hbase *embedded.Server) {
	mux.Handle("GET "+nodesPath, nodesHandler(hbase, func(*embedded.Node) error { return nil }))
	mux.Handle("POST "+nodesPath, nodesHandler(hbase, func(*embedded.Node) error {
		_, err := hbase.Add()
		hbase.Balance()
		return err
	}))
	mux.Handle("POST "+nodesPath+"/{node}/stop", nodesHandler(hbase, func(n *embedded.Node) error {
		if !n.Up() {
			return fmt.Errorf("node %d is down already", n.Index())
		}
		n.Stop()
		return nil
	}))
	mux.Handle("POST "+nodesPath+"/{node}/start", nodesHandler(hbase, func(n *embedded.Node) error {
		if err := n.Restart(""); err != nil {
			return err
		}
		hbase.Balance()
		return nil
	}))
}

var errNoNode = errors.New("no such node")

// nodesHandler does something with the node that a request names, if it names one, and answers with all of them.
func nodesHandler(hbase *embedded.Server, do func(*embedded.Node) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Header.Get("Origin") != "" {
			http.Error(w, "a page of another site asks for this", http.StatusForbidden)
			return
		}
		node, err := nodeOf(hbase, r.PathValue("node"))
		if err == nil {
			err = do(node)
		}
		switch {
		case errors.Is(err, errNoNode):
			http.Error(w, err.Error(), http.StatusNotFound)
		case err != nil:
			http.Error(w, err.Error(), http.StatusConflict)
		default:
			admin.WriteJSON(w, http.StatusOK, nodesOf(hbase))
		}
	})
}

// nodeOf is the node of a number; nil for none.
func nodeOf(hbase *embedded.Server, number string) (*embedded.Node, error) {
	if number == "" {
		return nil, nil
	}
	nodes := hbase.Nodes()
	n, err := strconv.Atoi(number)
	if err != nil || n < 0 || n >= len(nodes) {
		return nil, fmt.Errorf("%w: %q; there are %d, from 0 on", errNoNode, number, len(nodes))
	}
	return nodes[n], nil
}

func nodesOf(hbase *embedded.Server) []devNode {
	nodes := []devNode{}
	for _, n := range hbase.Nodes() {
		state := map[bool]string{true: "up", false: "down"}[n.Up()]
		nodes = append(nodes, devNode{n.Index(), n.Addr(), state, n.Regions()})
	}
	return nodes
}
