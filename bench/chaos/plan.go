package main

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
)

// kind is one way of breaking HBase.
type kind struct {
	times int // in the whole plan
	do    func(*scene) error
}

// kinds are all of them by name.
var kinds = map[string]kind{
	"split":           {5, (*scene).split},
	"merge":           {4, (*scene).merge},
	"move":            {7, (*scene).move},
	"disable+enable":  {3, (*scene).disable},
	"flush+compact":   {3, (*scene).compact},
	"balancer off+on": {3, (*scene).balance},
	"kill server":     {4, (*scene).killServer},
	"kill master":     {2, (*scene).killMaster},
	"kill all":        {1, (*scene).killAll},
	"freeze server":   {1, (*scene).freezeServer},
	"kill zookeeper":  {2, (*scene).killZooKeeper},
}

// plan is every kind as often as it is to come, in an order of the seed's.
func plan(seed uint64) []string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(kinds)) {
		all = append(all, slices.Repeat([]string{name}, kinds[name].times)...)
	}
	random := rand.New(rand.NewPCG(seed, 1))
	random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

// parsePlan reads the kinds between commas.
func parsePlan(list string) (all []string, err error) {
	for name := range strings.SplitSeq(list, ",") {
		name = strings.TrimSpace(name)
		if _, ok := kinds[name]; !ok {
			return nil, fmt.Errorf("-faults: there is no fault %q; there are: %s", name, strings.Join(slices.Sorted(maps.Keys(kinds)), ", "))
		}
		all = append(all, name)
	}
	return all, nil
}
