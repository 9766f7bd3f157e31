package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"text/tabwriter"

	"brine/internal/term"
	"brine/mask"
	"brine/rowkey"
)

type keyExplainCmd struct{ keyRow }

// Help returns the detailed help of the command.
func (keyExplainCmd) Help() string {
	return `Examples:
  brine key explain scans -c examples/scans.yaml
  brine key explain --key 'salt(16, user) + user + "|" + desc(at, ms)' --fields user=text --fields at=time`
}

func (c *keyExplainCmd) Run(e *env) error {
	key, row, err := c.read(e)
	if err != nil {
		return err
	}
	parts, err := key.Explain(row)
	if err != nil {
		err = usage(err) // printed after the parts that were parsed before the error
	}
	for i := range parts {
		if p := &parts[i]; c.masks.MasksKey(c.table) && len(p.Bytes) > 0 {
			p.Bytes, p.Value = []byte(mask.Text), mask.Text
		}
	}
	if c.JSON {
		return errors.Join(json.NewEncoder(e.stdout).Encode(map[string]any{"key": key.String(), "parts": parts}), err)
	}
	fmt.Fprintln(e.stdout, key)
	w := tabwriter.NewWriter(e.stdout, 0, 0, 2, ' ', 0)
	for _, p := range parts {
		width := "variable"
		if p.Width > 0 {
			width = term.Count(p.Width, "byte")
		}
		fmt.Fprintf(w, "  %s\t%s\t%s\t%s\t%s\n", p.Expr, width, rowkey.Binary(p.Bytes), term.Line(p.Value), p.Doc)
	}
	return errors.Join(w.Flush(), err)
}
