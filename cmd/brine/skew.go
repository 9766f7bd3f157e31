package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"brine/service/admin"
	"brine/skew"
)

type skewCmd struct {
	configFlag
	timeoutFlag
	tokenFlag
	Table   string `arg:"" optional:"" help:"Show only this table."`
	HTTP    string `name:"http" placeholder:"HOST:PORT" help:"Admin port of a running brine (default: http.listen of the configuration)."`
	Map     bool   `help:"Show rows a second over key ranges and time."`
	Minutes int    `default:"60" help:"How far back the map goes; eight hours are kept."`
	Apply   bool   `help:"Split and move regions as advised, after asking."`
	Yes     bool   `short:"y" help:"Do not ask."`
	JSON    bool   `help:"Print JSON."`
}

// Help is shown under the command's own help.
func (skewCmd) Help() string {
	return `How unevenly the rows that a running brine writes lie over the regions of each table, over servers, and over the salt
buckets of its key; which regions are hot, why, what helps, and what is foreseen of it.

  max/mean   the largest region over the mean region: 1 is even
  CV         standard deviation over mean: 0 is even
  Gini       half the mean difference of two regions over the mean: 0 is even, almost 1 all in one
  entropy    what is missing to the entropy of an even spread: 0 is even, 1 all in one
  HBase cost what HBase's balancer makes of the spread: it acts above 0.025
  p99/mean   the region that one in a hundred exceeds, over the mean region
  top 1 %    what the fullest hundredth of the regions, one at least, takes of all

Examples:
  brine skew --http 127.0.0.1:8765
  brine skew scans --http 127.0.0.1:8765 --map
  brine skew scans -c examples/scans.yaml --json
  brine skew -c examples/scans.yaml --apply
  BRINE_HTTP_TOKEN=… brine skew --http 10.0.0.7:8765`
}

func (c *skewCmd) Run(e *env) error {
	asked, err := askedBrine(e, c.configFlag, c.HTTP, c.tokenFlag)
	if err != nil {
		return err
	}
	var state skew.State
	if err := asked.ask(e.ctx, skewPath, &state); err != nil {
		return err
	}
	if c.Table != "" {
		table, err := tableIn(state.Tables, c.Table)
		if err != nil {
			return err
		}
		state = state.Of(table)
	}
	switch {
	case c.Apply:
		return c.apply(e, state)
	case c.Map:
		return c.showMaps(e, asked, state)
	case c.JSON:
		return json.NewEncoder(e.stdout).Encode(state)
	}
	for _, name := range sortedKeys(state.Tables) {
		printSkew(e.stdout, name, state.Tables[name])
	}
	printHot(e.stdout, state.Hot)
	return nil
}

// What the admin port tells of a running brine.
const (
	skewPath      = "/debug/skew"
	skewMapPath   = "/debug/skew/map"
	pipelinesPath = "/debug/pipelines"
)

// serveSkew serves what is known of the tables: all of it, and the heat map of one.
func serveSkew(mux handlers, tables *skew.Tables) {
	mux.Handle("GET "+skewPath, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { admin.WriteJSON(w, http.StatusOK, tables.State()) }))
	mux.Handle("GET "+skewMapPath, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		table := r.FormValue("table")
		if !slices.Contains(tables.Names(), table) {
			http.Error(w, fmt.Sprintf("no table %q is written here", table), http.StatusNotFound)
			return
		}
		number := func(name string, unless, most int) int {
			n, err := strconv.Atoi(r.FormValue(name))
			if err != nil {
				n = unless
			}
			return min(max(n, 1), most)
		}
		span := time.Duration(number("minutes", 60, 8*60)) * time.Minute
		admin.WriteJSON(w, http.StatusOK, tables.Counter(table, skew.Shape{}).HeatMap(span, number("ranges", skew.MostRanges, skew.MostRanges), number("columns", 480, 480)))
	}))
}

// handlers is the admin port, or a test's server.
type handlers interface {
	Handle(pattern string, h http.Handler)
}

// tableIn finds a table by its name or the part behind the namespace.
func tableIn(tables map[string]skew.TableState, name string) (string, error) {
	for full := range tables {
		if _, short, _ := strings.Cut(full, ":"); full == name || short == name {
			return full, nil
		}
	}
	return "", usage(errors.New("that brine writes no table " + name + "; it writes " + strings.Join(sortedKeys(tables), ", ")))
}
