package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"brine/event"
	"brine/query"
	"brine/rowkey"
)

type queryCmd struct {
	configFlag
	Table string   `arg:"" help:"Table of the configuration."`
	Where []string `arg:"" name:"field=value" help:"Conditions on a left-most set of the key's fields: field=value, or field=from..to for the last one."`
	Limit int      `default:"100" help:"Most rows; 0 for all."`
	JSON  bool     `help:"Print a JSON object per row."`
	Hex   bool     `help:"Show row keys too."`
}

// Help is shown under the command's own help.
func (queryCmd) Help() string {
	return `Rows come in the order of their key, which for a timeline is the newest first. No row is read that is not printed.

Examples:
  brine query -c examples/scans.yaml logistics:scans waybill=UA-1545-20130101-EWR
  brine query -c examples/scans.yaml scans waybill=UA-1545-20130101-EWR at=2013-01-01..2013-01-02 --json`
}

func (c *queryCmd) Run(e *env) error {
	cfg, err := c.load(e)
	if err != nil {
		return err
	}
	t, err := table(cfg, c.Table)
	if err != nil {
		return err
	}
	read, ok := cfg.Query(t)
	if !ok {
		return usage(fmt.Errorf("no pipeline writes table %s, so the types of its fields are not known", t.Name))
	}
	where, err := query.ParseWhere(cfg.KeyTypes(t), c.Where)
	if err != nil {
		return usage(err)
	}
	if _, err := read.Key.Ranges(where); err != nil {
		return usage(err)
	}
	cluster, err := openHBase(e.ctx, cfg, cfg.HBase())
	if err != nil {
		return err
	}
	defer cluster.Close()
	return printRows(e.ctx, e.stdout, cluster.client, read, where, c.Limit, c.JSON, c.Hex)
}

// printRows prints a table with a column per field, or an object per row.
func printRows(ctx context.Context, out io.Writer, client query.Client, t query.Table, where map[string]rowkey.Bound, limit int, asJSON, keys bool) error {
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	n := 0
	for row, err := range query.Rows(ctx, client, t, where, limit) {
		if err != nil {
			_ = w.Flush() // the rows before the error are shown; the error is what counts
			return err
		}
		if asJSON {
			if err := enc.Encode(rowJSON(row)); err != nil {
				return err
			}
			continue
		}
		if n == 0 {
			fmt.Fprintln(w, strings.Join(fieldNames(row, keys), "\t"))
		}
		n++
		fmt.Fprintln(w, strings.Join(fieldTexts(row, keys), "\t"))
	}
	if n == 0 && !asJSON {
		fmt.Fprintln(out, "no rows")
	}
	return w.Flush()
}

func fieldNames(row query.Row, keys bool) []string {
	var out []string
	if keys {
		out = append(out, "ROW")
	}
	for _, f := range row.Fields {
		out = append(out, strings.ToUpper(f.Name))
	}
	return append(out, "VERSION")
}

func fieldTexts(row query.Row, keys bool) []string {
	var out []string
	if keys {
		out = append(out, rowkey.Binary(row.Key))
	}
	for _, f := range row.Fields {
		if f.Value.Null() {
			out = append(out, "-")
			continue
		}
		out = append(out, fmt.Sprint(valueJSON(f.Value)))
	}
	return append(out, timeText(row.Version))
}

func rowJSON(row query.Row) map[string]any {
	fields := map[string]any{}
	for _, f := range row.Fields {
		fields[f.Name] = valueJSON(f.Value)
	}
	return map[string]any{"row": rowkey.Binary(row.Key), "version": row.Version, "fields": fields}
}

func valueJSON(v event.Value) any {
	switch v.Type {
	case event.Text:
		return string(v.Text())
	case event.Int:
		return v.Int()
	case event.Float:
		return v.Float()
	case event.Bool:
		return v.Bool()
	case event.TimeMS:
		return timeText(v.Int())
	}
	return nil
}

// timeText shows milliseconds since 1970 as RFC 3339 in UTC.
func timeText(ms int64) string { return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z") }
