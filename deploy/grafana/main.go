// Command grafana writes brine's Grafana dashboards to dashboards/. To change a panel, change it here and run go generate; Grafana reads
// the output through provisioning/ or by import. Nothing imports it.
//
// The invariant: a dashboard's uid and the ids of its variables never change, so that links to it stay valid; and every query uses metrics
// that package metrics registers (tested in deploy/prometheus against a running brine).
package main

import (
	"bytes"
	"encoding/json"
	"log"
	"os"
	"path/filepath"
)

//go:generate go run .

// folder holds the written dashboards, one file each, named by uid.
const folder = "dashboards"

// boards returns all dashboards.
func boards() []*board {
	return []*board{overview(), pipeline(), writes(), index(), kafka(), goruntime()}
}

func main() {
	log.SetFlags(0)
	for _, d := range boards() {
		name, text, err := d.render()
		if err != nil {
			log.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, name), text, 0o644); err != nil {
			log.Fatal(err)
		}
	}
}

// render returns a dashboard's file name and content.
func (b *board) render() (name string, text []byte, err error) {
	d, err := b.Build()
	if err != nil {
		return "", nil, err
	}
	for i, p := range d.Panels {
		id := uint32(i + 1)
		if p.RowPanel != nil {
			p.RowPanel.Id = id
		} else {
			p.Panel.Id = &id
		}
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false) // people read the queries
	enc.SetIndent("", " ")
	err = enc.Encode(d)
	return *d.Uid + ".json", buf.Bytes(), err
}
