package main

import (
	"encoding/json"
	"fmt"

	"brine/query"
	"brine/rowkey"
)

type keyEncodeCmd struct {
	keyFlags
	Table  string   `arg:"" optional:"" help:"Table of the configuration whose key to use (default: the only one)."`
	Values []string `arg:"" optional:"" name:"field=value" help:"A value for each field of the key. Times: 2013-01-31T08:00:00Z, milliseconds since 1970, or an age such as 2h."`
}

// Help returns the detailed help of the command.
func (keyEncodeCmd) Help() string {
	return `Examples:
  brine key encode scans -c examples/scans.yaml waybill=UA-1545-20130101-EWR at=2013-01-01T10:17:00Z action=DEPART
  brine key encode --key 'md5(user, 4) + user' --fields user=text user=42`
}

func (c *keyEncodeCmd) Run(e *env) error {
	keys, values, err := c.parse(e, arguments(c.Table, c.Values...))
	if err != nil {
		return err
	}
	key := keys.Newest() // the key of new rows
	fields, err := query.ParseKeyValues(key, values)
	if err != nil {
		return usage(err)
	}
	row, err := key.Append(nil, fields)
	if err != nil {
		return usage(err)
	}
	if c.JSON {
		return json.NewEncoder(e.stdout).Encode(map[string]any{"row": rowkey.Binary(row), "bytes": len(row)})
	}
	fmt.Fprintln(e.stdout, rowkey.Binary(row))
	return nil
}
