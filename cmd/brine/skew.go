package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"brine/skew"
)

type skewCmd struct {
	configFlag
	HTTP  string `name:"http" placeholder:"HOST:PORT" help:"Admin port of a running brine (default: http.listen of the configuration)."`
	Table string `help:"Show only this table."`
	JSON  bool   `help:"Print JSON."`
}

// Help is shown under the command's own help.
func (skewCmd) Help() string {
	return `How unevenly the rows that a running brine has written lie over the regions of each table, and over the salt buckets
of its key.

  max/mean   the largest region over the mean region: 1 is even
  CV         standard deviation over mean: 0 is even
  Gini       half the mean difference of two regions over the mean: 0 is even, almost 1 all in one
  entropy    what is missing to the entropy of an even spread: 0 is even, 1 all in one
  HBase cost what HBase's balancer makes of the spread: it acts above 0.025

Examples:
  brine skew --http 127.0.0.1:8765
  brine skew -c examples/scans.yaml --table scans --json`
}

func (c *skewCmd) Run(e *env) error {
	addr := c.HTTP
	if addr == "" {
		cfg, err := c.load(e)
		if err != nil {
			return err
		}
		addr = cfg.HTTP.Listen
	}
	host, port, err := net.SplitHostPort(addr)
	if err != nil || port == "0" {
		return usage(fmt.Errorf("%q is no address of an admin port: give --http HOST:PORT as the running brine prints it", addr))
	}
	if host == "" {
		addr = net.JoinHostPort("127.0.0.1", port)
	}
	tables, err := readSkew(e.ctx, addr)
	if err != nil {
		return err
	}
	if tables, err = only(tables, c.Table); err != nil {
		return err
	}
	if c.JSON {
		return json.NewEncoder(e.stdout).Encode(tables)
	}
	for _, name := range sortedKeys(tables) {
		printSkew(e.stdout, name, tables[name])
	}
	return nil
}

// readSkew asks a running brine.
func readSkew(ctx context.Context, addr string) (map[string]skew.Report, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	url := "http://" + addr + "/debug/skew"
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, usage(fmt.Errorf("--http: %w", err))
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, &exitError{exitUnreachable, err, "is brine running there? It prints the address of its admin port as it starts"}
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answers %s; is it the admin port of a brine?", url, resp.Status)
	}
	var tables map[string]skew.Report
	if err := json.NewDecoder(resp.Body).Decode(&tables); err != nil {
		return nil, fmt.Errorf("%s: %w", url, err)
	}
	return tables, nil
}

// only keeps one table, by its name or the part behind the namespace; an empty name keeps all.
func only(tables map[string]skew.Report, name string) (map[string]skew.Report, error) {
	if name == "" {
		return tables, nil
	}
	for full, report := range tables {
		if _, short, _ := strings.Cut(full, ":"); full == name || short == name {
			return map[string]skew.Report{full: report}, nil
		}
	}
	return nil, usage(errors.New("that brine writes no table " + name + "; it writes " + strings.Join(sortedKeys(tables), ", ")))
}

// printSkew shows a table's regions in the order of their keys, then its salt buckets.
func printSkew(out io.Writer, table string, r skew.Report) {
	fmt.Fprintf(out, "%s: %s written to %s, %s of them in the last %.0f s\n",
		table, count(int(r.RowsTotal), "row"), count(len(r.Regions), "region"), thousands(r.RowsRecent), r.WindowsSeconds)
	printLoads(out, []string{"START", "SERVER"}, r.Regions, func(l skew.Load) []string {
		return []string{start(l.Region.Start.String()), l.Region.Server}
	})
	fmt.Fprintf(out, "  in all     %s\n", indices(r.Total))
	fmt.Fprintf(out, "  last %.0f s  %s\n", r.WindowsSeconds, indices(r.Recent))
	printHottest(out, r)
	if len(r.Buckets) > 0 {
		fmt.Fprintf(out, "  by salt    %s\n", indices(r.BucketsTotal))
		printLoads(out, []string{"BUCKET"}, r.Buckets, func(l skew.Load) []string { return []string{fmt.Sprint(l.Bucket)} })
	}
}

func indices(x skew.Indices) string {
	return fmt.Sprintf("max/mean %.3f, CV %.3f, Gini %.3f, entropy %.4f, HBase cost %.4f", x.MaxMean, x.CV, x.Gini, x.Entropy, x.HBaseCost)
}

// printHottest names the region with the most rows of the last minute, or of all when that brought none.
func printHottest(out io.Writer, r skew.Report) {
	when, all, rows := "in the last minute", r.RowsRecent, func(l skew.Load) int64 { return l.Recent.Rows }
	if r.RowsRecent == 0 {
		when, all, rows = "in all", r.RowsTotal, func(l skew.Load) int64 { return l.Total.Rows }
	}
	if all == 0 {
		return
	}
	hottest := slices.MaxFunc(r.Regions, func(a, b skew.Load) int { return cmp.Compare(rows(a), rows(b)) })
	share := float64(rows(hottest)) / float64(all)
	fmt.Fprintf(out, "  hottest %s: the region from %s, %.2f %% of the rows, %.2f times the mean\n",
		when, start(hottest.Region.Start.String()), 100*share, share*float64(len(r.Regions)))
}

// printLoads prints a line for each region or bucket, named by the columns in titles.
func printLoads(out io.Writer, titles []string, loads []skew.Load, name func(skew.Load) []string) {
	total, largest := int64(0), int64(0)
	for _, l := range loads {
		total, largest = total+l.Total.Rows, max(largest, l.Total.Rows)
	}
	w := columns{out: out}
	row := func(names []string, rest ...string) {
		names[0] = "  " + names[0]
		w.row(append(names, rest...))
	}
	row(titles, "      ROWS", "   SHARE", "LAST MINUTE")
	for _, l := range loads {
		share := float64(l.Total.Rows) / float64(max(1, total))
		row(name(l), fmt.Sprintf("%10s", thousands(l.Total.Rows)), fmt.Sprintf("%6.2f %%", 100*share),
			fmt.Sprintf("%11s", thousands(l.Recent.Rows)), bar(float64(l.Total.Rows), float64(largest)))
	}
	w.flush()
}
