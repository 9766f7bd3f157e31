package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gdamore/tcell/v2"

	"brine/service"
	"brine/service/admin"
	"brine/skew"
	"brine/top"
)

type topCmd struct {
	configFlag
	tokenFlag
	HTTP  []string      `name:"http" placeholder:"HOST:PORT" help:"Admin port of a running brine; may be repeated (default: http.listen of the configuration)."`
	Every time.Duration `default:"3s" help:"Interval between polls (default 3s)."`
	Once  bool          `help:"Print one snapshot and exit; works without a terminal."`
	List  string        `default:"t" enum:"p,t,r,s,k,h" help:"List to begin with, by its key: p (pipelines), t (tables), r (regions), s (servers), k (keys) or h (hot)."`
	Where string        `placeholder:"FILTER" help:"Filter of the list, such as \"ROWS/S>1000 TABLE=scans\"."`
}

// Help returns the detailed help of the command.
func (topCmd) Help() string {
	return `Shows what brine processes and the cluster are doing: pipelines, tables, regions, servers, the most written keys, and what is hot.
With a configuration (-c) brine asks the cluster for all of its regions; with --http alone, the processes report those that they write.
LAG is in offsets, an upper bound of the records, since transaction markers have offsets too.

In the terminal:
  p t r s k h  what to list      ← →    the column to sort by     R      reverse the order
  /            filter: ROWS/S>1000, TABLE=scans, or any text      enter  what a line is made of
  esc          back to all       space  freeze                    q      quit

Examples:
  brine top --http 127.0.0.1:8765
  brine top -c examples/scans.yaml
  brine top --http 127.0.0.1:8765 --once --list r --where 'ROWS/S>100'`
}

func (c *topCmd) Run(e *env) error {
	reader := &top.Reader{}
	for _, addr := range c.HTTP {
		reader.Brines = append(reader.Brines, shownBrine(admin.Client{Addr: addr, Token: c.of(e)}))
	}
	if len(c.HTTP) == 0 || e.named {
		cfg, err := c.load(e)
		if err != nil {
			return err
		}
		if len(reader.Brines) == 0 {
			asked, err := adminClient(e, c.configFlag, "", c.tokenFlag)
			if err != nil {
				return err
			}
			reader.Brines = []top.Brine{shownBrine(asked)}
		}
		if _, embedded := cfg.Cluster.Embedded(); !embedded { // an embedded one belongs to the running brine
			cfg.Within(admin.ShortTimeout)
			cluster, err := openHBase(e, cfg, cfg.HBase())
			if err != nil {
				return err
			}
			defer cluster.Close()
			reader.Cluster = cluster.Client
		}
	}
	view := top.NewView(c.List, c.Where)
	if c.Once {
		return c.once(e, reader, view)
	}
	screen, err := tcell.NewScreen()
	if err == nil {
		err = screen.Init()
	}
	if err != nil {
		return usage(fmt.Errorf("no terminal to draw on (%w); --once works without one", err))
	}
	defer screen.Fini()
	return view.Watch(e.ctx, screen, c.Every, reader.Read)
}

// once prints one picture, with rates over one interval.
func (c *topCmd) once(e *env, reader *top.Reader, view *top.View) error {
	reader.Read(e.ctx, time.Now())
	select {
	case <-e.ctx.Done():
		return nil
	case <-time.After(c.Every):
	}
	snap := reader.Read(e.ctx, time.Now())
	fmt.Fprintln(e.stdout, strings.Join(view.Print(snap), "\n"))
	if len(snap.Problems) > 0 {
		return &exitError{exitUnreachable, errors.New(strings.Join(snap.Problems, "; ")),
			"brine's address is its http.listen; the cluster's, hbase.connect"}
	}
	return nil
}

// shownBrine returns a brine with the calls that top needs.
func shownBrine(c admin.Client) top.Brine {
	return top.Brine{Addr: c.Addr, Skew: asking[skew.State](c, service.SkewPath), Pipelines: asking[[]top.Pipeline](c, service.PipelinesPath)}
}

func asking[T any](c admin.Client, path string) func(context.Context) (T, error) {
	return func(ctx context.Context) (answer T, err error) {
		err = c.Get(ctx, path, &answer)
		return answer, err
	}
}
