package devstack

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"brine/hbase/embedded"
	"brine/service"
	"brine/service/admin"
)

// NodesPath is the path on which HandleNodes lists HBase's region servers.
const NodesPath = "/dev/nodes"

// Node is a region server of a stack.
type Node struct {
	Node    int    `json:"node"`
	Addr    string `json:"address"`
	State   string `json:"state"` // up or down
	Regions int    `json:"regions"`
}

// HandleNodes adds handlers that list, stop, start and add HBase's region servers to an admin port.
func (s *Stack) HandleNodes(mux service.Handlers) {
	hbase := s.hbase
	mux.Handle("GET "+NodesPath, nodesHandler(hbase, func(*embedded.Node) error { return nil }))
	mux.Handle("POST "+NodesPath, nodesHandler(hbase, func(*embedded.Node) error {
		_, err := hbase.Add()
		hbase.Balance()
		return err
	}))
	mux.Handle("POST "+NodesPath+"/{node}/stop", nodesHandler(hbase, func(n *embedded.Node) error {
		if !n.Up() {
			return fmt.Errorf("node %d is already down", n.Index())
		}
		n.Stop()
		return nil
	}))
	mux.Handle("POST "+NodesPath+"/{node}/start", nodesHandler(hbase, func(n *embedded.Node) error {
		if err := n.Restart(""); err != nil {
			return err
		}
		hbase.Balance()
		return nil
	}))
}

var errNoNode = errors.New("no such node")

// nodesHandler calls do with the node that a request names, or nil, and answers with all nodes.
func nodesHandler(hbase *embedded.Server, do func(*embedded.Node) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Header.Get("Origin") != "" {
			http.Error(w, "the request comes from another site's page", http.StatusForbidden)
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

// nodeOf returns the node with the given number, or nil if number is empty.
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

func nodesOf(hbase *embedded.Server) []Node {
	nodes := []Node{}
	for _, n := range hbase.Nodes() {
		state := map[bool]string{true: "up", false: "down"}[n.Up()]
		nodes = append(nodes, Node{n.Index(), n.Addr(), state, n.Regions()})
	}
	return nodes
}
