package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"text/tabwriter"

	"brine/mask"
	"brine/rowkey"
)

type keyDecodeCmd struct{ keyRow }

// Help returns the detailed help of the command.
func (keyDecodeCmd) Help() string {
	return `Example:
  brine key decode scans -c examples/scans.yaml '3ddbUA-1545-20130101-EWR|\x7F\xFF\xFE\xC4\x0Ab\xC6\x9F|DEPART'`
}

func (c *keyDecodeCmd) Run(e *env) error {
	key, row, err := c.read(e)
	if err != nil {
		return err
	}
	if len(row) == 0 {
		return usage(errors.New("give the row key to decode"))
	}
	values, err := key.Decode(row)
	if err != nil {
		return usage(err)
	}
	if c.JSON {
		out := map[string]any{}
		for i, name := range key.Fields() {
			if out[name] = values[i].JSON(); c.masks.MasksKeyField(c.table, name) {
				out[name] = mask.Text
			}
		}
		return json.NewEncoder(e.stdout).Encode(out)
	}
	w := tabwriter.NewWriter(e.stdout, 0, 0, 2, ' ', 0)
	for i, name := range key.Fields() {
		fmt.Fprintf(w, "%s\t%s\n", name, mask.If(c.masks.MasksKeyField(c.table, name), keyValueText(values[i])))
	}
	return w.Flush()
}

// hashed stands for a field whose hash alone is in the key.
const hashed = "(only its hash is in the key)"

func keyValueText(v rowkey.Value) string {
	switch v.Type {
	case 0:
		return hashed
	case rowkey.Text:
		return rowkey.Binary(v.Text)
	}
	return v.String()
}
