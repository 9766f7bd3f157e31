package main

import (
	"encoding/json"
	"maps"
	"slices"

	"brine/service"
	"brine/skew"
	"brine/skew/display"
)

type skewCmd struct {
	configFlag
	timeoutFlag
	tokenFlag
	Table   string `arg:"" optional:"" help:"Show only this table."`
	HTTP    string `name:"http" placeholder:"HOST:PORT" help:"Admin port of a running brine (default: http.listen of the configuration)."`
	Map     bool   `help:"Show rows per second over key ranges and time."`
	Minutes int    `default:"60" help:"With --map: how many minutes it goes back (default 60, at most 480)."`
	Apply   bool   `help:"Split and move regions as advised, after confirmation."`
	Yes     bool   `short:"y" help:"Do not ask for confirmation."`
	JSON    bool   `help:"Print JSON."`
}

// Help returns the detailed help of the command.
func (skewCmd) Help() string {
	return `Shows how unevenly the rows that a running brine writes are spread over the regions of each table, over servers, and over the salt
buckets of its key; which regions are hot and why, what helps, and the predicted effect.

  max/mean   the largest region over the mean region: 1 is even
  CV         standard deviation over mean: 0 is even
  Gini       half the mean difference of two regions over the mean: 0 is even, almost 1 all in one
  entropy    1 minus the entropy over that of an even spread: 0 is even, 1 all in one
  HBase cost the cost that HBase's balancer assigns to the spread: it acts above 0.025
  p99/mean   the region that one in a hundred exceeds, over the mean region
  top 1 %    the share of the fullest hundredth of the regions (at least one)

Examples:
  brine skew --http 127.0.0.1:8765
  brine skew scans --http 127.0.0.1:8765 --map
  brine skew scans -c examples/scans.yaml --json
  brine skew -c examples/scans.yaml --apply
  BRINE_HTTP_TOKEN=… brine skew --http 10.0.0.7:8765`
}

func (c *skewCmd) Run(e *env) error {
	client, err := adminClient(e, c.configFlag, c.HTTP, c.tokenFlag)
	if err != nil {
		return err
	}
	var state skew.State
	if err := client.Get(e.ctx, service.SkewPath, &state); err != nil {
		return adminError(err)
	}
	if c.Table != "" {
		if state, err = state.Of(c.Table); err != nil {
			return usage(err)
		}
	}
	switch {
	case c.Apply:
		return c.apply(e, state)
	case c.Map:
		return c.showMaps(e, client, state)
	case c.JSON:
		return json.NewEncoder(e.stdout).Encode(state)
	}
	for _, name := range slices.Sorted(maps.Keys(state.Tables)) {
		display.Table(e.stdout, name, state.Tables[name])
	}
	display.Hot(e.stdout, state.Hot)
	return nil
}
