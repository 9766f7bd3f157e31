package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"

	"brine/service"
	"brine/service/admin"
	"brine/skew"
	"brine/skew/display"
)

// showMaps prints the heat map of each table.
func (c *skewCmd) showMaps(e *env, client admin.Client, state skew.State) error {
	heat := map[string]skew.HeatMap{}
	for name := range state.Tables {
		query := url.Values{"table": {name}, "minutes": {fmt.Sprint(c.Minutes)}}
		if !c.JSON {
			query.Set("ranges", fmt.Sprint(display.MapRanges))
			query.Set("columns", fmt.Sprint(display.MapColumns))
		}
		var m skew.HeatMap
		if err := client.Get(e.ctx, service.SkewMapPath+"?"+query.Encode(), &m); err != nil {
			return adminError(err)
		}
		heat[name] = m
	}
	if c.JSON {
		return json.NewEncoder(e.stdout).Encode(heat)
	}
	for _, name := range slices.Sorted(maps.Keys(heat)) {
		display.Map(e.stdout, name, heat[name])
	}
	return nil
}
