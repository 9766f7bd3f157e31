package hbase

import (
	"bytes"

	"brine/bench/chaos/fault"
	"brine/hbase"
)

// kinds are the ways in which HBase is broken.
var kinds = fault.Kinds{
	"split":           {Times: 5, Do: (*fault.Scene).Split},
	"merge":           {Times: 4, Do: (*fault.Scene).Merge},
	"move":            {Times: 7, Do: (*fault.Scene).Move},
	"disable+enable":  {Times: 3, Do: (*fault.Scene).Disable},
	"flush+compact":   {Times: 3, Do: (*fault.Scene).Compact},
	"balancer off+on": {Times: 3, Do: (*fault.Scene).Balance},
	"kill server":     {Times: 4, Do: (*fault.Scene).KillServer},
	"kill master":     {Times: 2, Do: killMaster},
	"kill all":        {Times: 1, Do: (*fault.Scene).KillAll},
	"freeze server":   {Times: 1, Do: (*fault.Scene).FreezeServer},
	"kill zookeeper":  {Times: 2, Do: (*fault.Scene).KillZooKeeper},
}

// upgrades are the processes of HBase that have their own release, in the order in which they are upgraded.
var upgrades = fault.Kinds{
	"upgrade " + fault.Master:           {Times: 1, Do: upgrade(fault.Master)},
	"upgrade " + fault.RegionServers[0]: {Times: 1, Do: upgrade(fault.RegionServers[0])},
	"upgrade " + fault.RegionServers[1]: {Times: 1, Do: upgrade(fault.RegionServers[1])},
}

func upgrade(name string) func(*fault.Scene) error {
	return func(s *fault.Scene) error { return s.Upgrade(name) }
}

// watched returns the table's slots for the watch.
func watched() (all []fault.Slot) {
	for slot := range slots {
		all = append(all, fault.Slot{Table: table, From: []byte{byte('0' + slot)}, To: []byte{byte('0' + slot + 1)}})
	}
	return all
}

// middle returns the middle row of a region, if it has more than one.
func middle(r hbase.Region) []byte {
	var in [][]byte
	for slot := range slots {
		for row := range rowsPerSlot {
			if k := key(slot, row); bytes.Compare(k, r.Start) > 0 && (len(r.End) == 0 || bytes.Compare(k, r.End) < 0) {
				in = append(in, k)
			}
		}
	}
	if len(in) == 0 {
		return nil
	}
	return in[len(in)/2]
}
