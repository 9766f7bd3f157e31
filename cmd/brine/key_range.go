package main

import (
	"encoding/json"
	"fmt"

	"brine/query"
)

type keyRangeCmd struct {
	keyFlags
	Table string   `arg:"" optional:"" help:"Table of the configuration whose key to use (default: the only one)."`
	Where []string `arg:"" optional:"" name:"field=value" help:"Conditions on the key's fields, from the left: field=value, and for the last one also field=from..to or field=from..=to; field==value if a value contains \"..\". A geohash is given by its first digits: geohash=ws10."`
}

// Help returns the detailed help of the command.
func (keyRangeCmd) Help() string {
	return `Each line is a scan: its first row, and the row before which it ends (end: the end of the table). In FROM..TO, FROM is inclusive
and TO exclusive (FROM..=TO: inclusive), even where the key counts down.

Examples:
  brine key range scans -c examples/scans.yaml waybill=UA-1545-20130101-EWR at=2013-01-01..2013-01-02
  brine key range --key 'salt(4, user) + asc(at, s)' --fields user=text --fields at=time at=2013-01-01..`
}

func (c *keyRangeCmd) Run(e *env) error {
	keys, conditions, err := c.parse(e, arguments(c.Table, c.Where...))
	if err != nil {
		return err
	}
	bounds, err := query.ParseKeyWhere(keys, conditions)
	if err != nil {
		return usage(err)
	}
	scans, err := keys.Scans(bounds)
	if err != nil {
		return usage(err)
	}
	if c.JSON {
		return json.NewEncoder(e.stdout).Encode(scans)
	}
	if len(scans) == 0 {
		fmt.Fprintln(e.stdout, "no row can match: the range is empty, because from is not before to")
	}
	for _, s := range scans {
		fmt.Fprintln(e.stdout, s)
	}
	return nil
}
