package simulate

import (
	"context"
	"fmt"
	"maps"
	"net"
	"slices"
	"time"

	"brine/hbase"
	"brine/hbase/embedded"
	"brine/internal/memnet"
)

// store is the world's HBase.
type store struct {
	*embedded.Server
	places map[string]*memnet.Place // by the address on which the node listens
}

func (w *World) startStore(ctx context.Context) error {
	s := &store{places: map[string]*memnet.Place{}}
	server, err := embedded.Start(embedded.Options{
		Servers: w.plan.Servers, InTransition: w.plan.InTransit, DetectAfter: 3 * time.Second,
		Listen: func(_, addr string) (net.Listener, error) { return s.listen(w.net, addr) },
		Applied: func(a embedded.Applied) {
			if len(a.Values) > 0 {
				w.ledger.apply(a.Table, string(a.Values[0]))
			}
		},
	})
	if err != nil {
		return err
	}
	s.Server = server
	w.store = s
	c, err := hbase.Open(ctx, hbase.Options{Connect: "rpc://" + server.Addr(), User: "simulate", Dial: w.net.NewAside("operator").Dial})
	if err != nil {
		return err
	}
	w.operator = c
	return w.createTables(ctx)
}

// listen opens a node's port. A node that restarts keeps its place, so places are added only while the store starts.
func (s *store) listen(n *memnet.Network, addr string) (net.Listener, error) {
	if p := s.places[addr]; p != nil {
		return p.Listen("tcp", addr)
	}
	p := n.NewPlace(fmt.Sprintf("server%d", len(s.places)))
	l, err := p.Listen("tcp", addr)
	if err != nil {
		return nil, err
	}
	s.places[l.Addr().String()] = p
	return l, nil
}

// place returns the network place of a node.
func (s *store) place(n *embedded.Node) *memnet.Place { return s.places[n.Addr()] }

// all returns the places of the nodes.
func (s *store) all() []*memnet.Place { return slices.Collect(maps.Values(s.places)) }

// suffixes name the tables of the run and of the undisturbed run.
var suffixes = []string{"", ".undisturbed"}

func (w *World) createTables(ctx context.Context) error {
	for _, suffix := range suffixes {
		for _, t := range tables {
			d, seen := hbase.Table{Name: t.name + suffix}, map[string]bool{}
			for _, c := range t.columns {
				if !seen[c.family] {
					seen[c.family] = true
					d.Families = append(d.Families, hbase.Family{Name: c.family, Values: map[string]string{"VERSIONS": "1000000"}})
				}
			}
			if err := w.operator.CreateTable(ctx, d, [][]byte{[]byte("55"), []byte("aa")}); err != nil {
				return fmt.Errorf("creating %s: %w", d.Name, err)
			}
		}
	}
	return nil
}
