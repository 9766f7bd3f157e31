package main

import (
	"encoding/json"
	"fmt"

	"brine/rowkey"
)

type keyRangeCmd struct {
	keyFlags
	Where []string `arg:"" optional:"" name:"field=value" help:"Bounds from the key's left: field=value, and for the last one field=from..to, or from..=to; field==value where a value holds \"..\". A geohash is bound to its first digits: geohash=ws10."`
}

// Help is shown under the command's own help.
func (keyRangeCmd) Help() string {
	return `Each line is a scan: its first row, and the row before which it ends (end: the table's). From is inclusive and to exclusive
(from..=to: inclusive), also where the key counts down.

Examples:
  brine key range -c examples/scans.yaml waybill=UA-1545-20130101-EWR at=2013-01-01..2013-01-02
  brine key range --key 'salt(4, user) + asc(at, s)' --fields user=text --fields at=time at=2013-01-01..`
}

func (c *keyRangeCmd) Run(e *env) error {
	key, err := c.parse(e)
	if err != nil {
		return err
	}
	bounds, err := where(key, c.Where)
	if err != nil {
		return err
	}
	ranges, err := key.Ranges(bounds)
	if err != nil {
		return usage(err)
	}
	if c.JSON {
		type scan struct {
			Start string `json:"start"`
			Stop  string `json:"stop,omitempty"` // absent: the end of the table
		}
		out := make([]scan, len(ranges))
		for i, r := range ranges {
			out[i] = scan{rowkey.Binary(r.Start), rowkey.Binary(r.Stop)}
		}
		return json.NewEncoder(e.stdout).Encode(out)
	}
	if len(ranges) == 0 {
		fmt.Fprintln(e.stdout, "no row can match: the range is empty, its from is not before its to")
	}
	for _, r := range ranges {
		stop := "end"
		if r.Stop != nil {
			stop = rowkey.Binary(r.Stop)
		}
		fmt.Fprintf(e.stdout, "%s → %s\n", rowkey.Binary(r.Start), stop)
	}
	return nil
}
