package faulthttp

import (
	"bytes"
	"encoding/base64"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"brine/hbase/embedded"
)

// nodeInfo describes a region server, or the separate master.
type nodeInfo struct {
	Node    int    `json:"node"` // -1: the separate master
	Address string `json:"address"`
	Up      bool   `json:"up"`
	Regions int    `json:"regions"`
}

// statusInfo describes the cluster.
type statusInfo struct {
	Broken string     `json:"broken,omitempty"` // why nothing can be read or written
	Nodes  []nodeInfo `json:"nodes"`
	Faults int        `json:"faults"`
}

func (p *port) nodes() []*embedded.Node {
	nodes := p.server.Nodes()
	if m := p.server.Master(); m.Index() < 0 {
		nodes = append(nodes, m)
	}
	return nodes
}

func (p *port) status(*http.Request) (any, error) {
	info := statusInfo{Nodes: []nodeInfo{}, Faults: len(p.faults.list())}
	if err := p.server.Broken(); err != nil {
		info.Broken = err.Error()
	}
	for _, n := range p.nodes() {
		info.Nodes = append(info.Nodes, nodeInfo{n.Index(), n.Advertised(), n.Up(), n.Regions()})
	}
	return info, nil
}

// reset undoes everything done on this port except changes of regions, and starts the nodes that are down.
func (p *port) reset(r *http.Request) (any, error) {
	p.faults.drop(func(int) bool { return true })
	p.server.FillDisk(false)
	for _, n := range p.nodes() {
		n.Thaw()
		n.SetClock(0)
		if err := n.Restart(""); err != nil && !errors.Is(err, embedded.ErrRunning) {
			return nil, err
		}
	}
	return p.status(r)
}

// regionInfo describes a region. Keys that are not text are in base64.
type regionInfo struct {
	Region      string `json:"region"` // encoded name
	Start       string `json:"start"`
	End         string `json:"end"`
	StartBase64 string `json:"start_base64,omitempty"`
	EndBase64   string `json:"end_base64,omitempty"`
	Node        int    `json:"node"` // -1: not open
}

// key returns a key as text or in base64.
func key(b []byte) (text, base string) {
	if utf8.Valid(b) {
		return string(b), ""
	}
	return "", base64.StdEncoding.EncodeToString(b)
}

func (p *port) listRegions(r *http.Request) (any, error) {
	table := r.URL.Query().Get("table")
	regions := []regionInfo{}
	for _, x := range p.server.Regions(table) {
		info := regionInfo{Region: x.Encoded, Node: x.Node}
		info.Start, info.StartBase64 = key(x.Start)
		info.End, info.EndBase64 = key(x.End)
		regions = append(regions, info)
	}
	if len(regions) == 0 {
		return nil, notFound("there is no table %q", table)
	}
	return regions, nil
}

// place identifies a region by its encoded name, or by a table and a row.
type place struct {
	Region    string `json:"region"`
	Table     string `json:"table"`
	Row       string `json:"row"`
	RowBase64 string `json:"row_base64"`
}

func (p *port) find(at place) (region string, row []byte, err error) {
	row = []byte(at.Row)
	if at.RowBase64 != "" {
		if row, err = base64.StdEncoding.DecodeString(at.RowBase64); err != nil || at.Row != "" {
			return "", nil, badRequest("give row, or row_base64 in base64")
		}
	}
	switch {
	case at.Region != "" && at.Table != "":
		return "", nil, badRequest("give region, or table and row")
	case at.Region != "":
		return at.Region, row, nil
	}
	regions := p.server.Regions(at.Table)
	i := slices.IndexFunc(regions, func(r embedded.Region) bool {
		return bytes.Compare(r.Start, row) <= 0 && (len(r.End) == 0 || bytes.Compare(row, r.End) < 0)
	})
	if i < 0 {
		return "", nil, notFound("there is no table %q", at.Table)
	}
	return regions[i].Encoded, row, nil
}

// split splits a region at the row, or in the middle of its data if there is no row.
func (p *port) split(r *http.Request) (any, error) {
	var at place
	if err := read(r, &at); err != nil {
		return nil, err
	}
	region, row, err := p.find(at)
	if err != nil {
		return nil, err
	}
	low, high, err := p.server.Split(region, row)
	return map[string][]string{"regions": {low, high}}, err
}

func (p *port) merge(r *http.Request) (any, error) {
	var q struct {
		Regions []string `json:"regions"`
	}
	if err := read(r, &q); err != nil {
		return nil, err
	}
	merged, err := p.server.Merge(q.Regions...)
	return map[string][]string{"regions": {merged}}, err
}

func (p *port) move(r *http.Request) (any, error) {
	var q struct {
		place
		To *int `json:"to"`
	}
	if err := read(r, &q); err != nil {
		return nil, err
	}
	region, _, err := p.find(q.place)
	if err != nil {
		return nil, err
	}
	var to *embedded.Node
	if q.To != nil {
		if to, err = p.nodeOf(strconv.Itoa(*q.To)); err != nil {
			return nil, err
		}
	}
	if err := p.server.Move(region, to); err != nil {
		return nil, err
	}
	return map[string]string{"region": region}, nil
}

func (p *port) balance(*http.Request) (any, error) {
	return map[string]int{"moved": p.server.Balance()}, nil
}

func (p *port) addNode(r *http.Request) (any, error) {
	if _, err := p.server.Add(); err != nil {
		return nil, err
	}
	return p.status(r)
}

// nodeOf returns the node with a number, or the master.
func (p *port) nodeOf(number string) (*embedded.Node, error) {
	if number == "master" {
		return p.server.Master(), nil
	}
	nodes := p.server.Nodes()
	n, err := strconv.Atoi(number)
	if err != nil || n < 0 || n >= len(nodes) {
		return nil, notFound("there is no node %q: use 0 to %d, or master", number, len(nodes)-1)
	}
	return nodes[n], nil
}

// how has the parameters of an action on a node.
type how struct {
	BytesPerSecond int    `json:"bytes_per_second"` // slow: per connection, each way
	Ahead          string `json:"ahead"`            // clock: a duration, which may be negative
}

func (p *port) node(r *http.Request) (any, error) {
	n, err := p.nodeOf(r.PathValue("node"))
	if err != nil {
		return nil, err
	}
	var more how
	if err := read(r, &more); err != nil {
		return nil, err
	}
	if err := act(n, r.PathValue("do"), more); err != nil {
		return nil, err
	}
	return p.status(r)
}

var errDown = errors.New("the node is down")

// act runs an action on a node.
func act(n *embedded.Node, do string, more how) error {
	switch do {
	case "start":
		return n.Restart("")
	case "thaw":
		n.Thaw()
		return nil
	case "clock":
		ahead, err := time.ParseDuration(more.Ahead)
		if err != nil {
			return badRequest("ahead: give a duration such as 10m or -30s")
		}
		n.SetClock(ahead)
		return nil
	}
	whileUp := map[string]func(){"kill": n.Kill, "stop": n.Stop, "freeze": n.Freeze, "slow": func() { n.Slow(more.BytesPerSecond) }}[do]
	switch {
	case whileUp == nil:
		return notFound("unknown action %q: use kill, stop, start, freeze, thaw, slow or clock", do)
	case !n.Up():
		return errDown
	case do == "slow" && more.BytesPerSecond < 1:
		return badRequest("bytes_per_second: give at least 1")
	}
	whileUp()
	return nil
}

func (p *port) disk(r *http.Request) (any, error) {
	var q struct {
		Full *bool `json:"full"`
	}
	if err := read(r, &q); err != nil {
		return nil, err
	}
	if q.Full == nil {
		return nil, badRequest("full: give true or false")
	}
	p.server.FillDisk(*q.Full)
	return p.status(r)
}
