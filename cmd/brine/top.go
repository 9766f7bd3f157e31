package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gdamore/tcell/v2"

	"brine/config"
)

type topCmd struct {
	configFlag
	tokenFlag
	HTTP  []string      `name:"http" placeholder:"HOST:PORT" help:"Admin ports of running brines (default: http.listen of the configuration)."`
	Every time.Duration `default:"3s" help:"How often to look."`
	Once  bool          `help:"Print what is to be seen once, without a terminal."`
	List  string        `default:"t" enum:"p,t,r,s,k,h" help:"What to list first: pipelines, tables, regions, servers, keys, hot."`
	Where string        `placeholder:"FILTER" help:"What to list only, as \"ROWS/S>1000 TABLE=scans\"."`
}

// Help is shown under the command's own help.
func (topCmd) Help() string {
	return `What brines and the cluster do now: pipelines, tables, regions, servers, the keys that are written most, and what is hot.
With a configuration (-c) the cluster is asked for all of its regions; with --http alone, brines tell of those that they write.

In the terminal:
  p t r s k h  what to list      ← →    the column to sort by     R      turn the order round
  /            filter: ROWS/S>1000, TABLE=scans, or any text      enter  what a line is made of
  esc          back to all       space  stand still               q      quit

Examples:
  brine top --http 127.0.0.1:8765
  brine top -c examples/scans.yaml
  brine top --http 127.0.0.1:8765 --once --list r --where 'ROWS/S>100'`
}

func (c *topCmd) Run(e *env) error {
	reader := &topReader{}
	for _, addr := range c.HTTP {
		reader.brines = append(reader.brines, brineAt{addr: addr, token: c.of(e)})
	}
	if len(c.HTTP) == 0 || c.Config != defaultConfig {
		cfg, err := c.load(e)
		if err != nil {
			return err
		}
		if len(reader.brines) == 0 {
			asked, err := askedBrine(e, c.configFlag, "", c.tokenFlag)
			if err != nil {
				return err
			}
			reader.brines = []brineAt{asked}
		}
		cluster, err := clusterBeside(e, cfg)
		if err != nil {
			return err
		}
		if cluster != nil {
			defer cluster.Close()
			reader.client = cluster.client
		}
	}
	view := newTopView()
	view.show(c.List)
	view.filter = c.Where
	if c.Once {
		return c.once(e, reader, view)
	}
	screen, err := tcell.NewScreen()
	if err == nil {
		err = screen.Init()
	}
	if err != nil {
		return usage(fmt.Errorf("there is no terminal to draw on (%w); --once prints without one", err))
	}
	defer screen.Fini()
	return watchTop(e.ctx, screen, view, c.Every, func(ctx context.Context) topSnapshot { return reader.read(ctx, time.Now()) })
}

// clusterBeside connects to the cluster of a configuration; an embedded one belongs to the brine that runs.
func clusterBeside(e *env, cfg *config.Config) (*cluster, error) {
	if _, embedded := cfg.Cluster.Embedded(); embedded {
		return nil, nil
	}
	return openHBase(e.ctx, cfg, cfg.HBase())
}

// once prints the picture, of rates over one interval.
func (c *topCmd) once(e *env, reader *topReader, view *topView) error {
	reader.read(e.ctx, time.Now())
	select {
	case <-e.ctx.Done():
		return nil
	case <-time.After(c.Every):
	}
	view.snap = reader.read(e.ctx, time.Now())
	view.cursor = -1
	const wide, long = 400, 1 << 16
	for _, l := range view.draw(wide, long) {
		fmt.Fprintln(e.stdout, l.text)
	}
	if len(view.snap.problems) > 0 {
		return &exitError{exitUnreachable, errors.New(strings.Join(view.snap.problems, "; ")), "brine's address is its http.listen; the cluster's, hbase.connect"}
	}
	return nil
}

// watchTop draws until a key or ctx ends it. What is asked is asked beside the keys, one question at a time.
func watchTop(ctx context.Context, screen tcell.Screen, view *topView, every time.Duration, look func(context.Context) topSnapshot) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	snaps := make(chan topSnapshot)
	looked := make(chan struct{})
	go func() {
		defer close(looked)
		for ctx.Err() == nil {
			select {
			case snaps <- look(ctx):
			case <-ctx.Done():
			}
			select {
			case <-time.After(every):
			case <-ctx.Done():
			}
		}
	}()
	events, quit := make(chan tcell.Event), make(chan struct{})
	go screen.ChannelEvents(events, quit)
	defer func() {
		close(quit)
		cancel()
		<-looked
	}()
	for {
		paintTop(screen, view)
		select {
		case <-ctx.Done():
			return nil
		case snap := <-snaps:
			if !view.stopped {
				view.snap = snap
			}
		case ev := <-events:
			switch ev := ev.(type) {
			case *tcell.EventResize:
				screen.Sync()
			case *tcell.EventKey:
				if view.press(keyName(ev)) {
					return nil
				}
			}
		}
	}
}

var keyNames = map[tcell.Key]string{
	tcell.KeyUp: "up", tcell.KeyDown: "down", tcell.KeyLeft: "left", tcell.KeyRight: "right", tcell.KeyPgUp: "pgup", tcell.KeyPgDn: "pgdn",
	tcell.KeyEnter: "enter", tcell.KeyEscape: "esc", tcell.KeyBackspace: "backspace", tcell.KeyBackspace2: "backspace", tcell.KeyCtrlC: "ctrl+c",
}

func keyName(ev *tcell.EventKey) string {
	if ev.Key() != tcell.KeyRune {
		return keyNames[ev.Key()]
	}
	if ev.Rune() == ' ' {
		return "space"
	}
	return string(ev.Rune())
}

func paintTop(screen tcell.Screen, view *topView) {
	columns, height := screen.Size()
	screen.Clear()
	styles := map[topStyle]tcell.Style{
		usual: tcell.StyleDefault, heading: tcell.StyleDefault.Bold(true).Underline(true),
		chosen: tcell.StyleDefault.Reverse(true), warm: tcell.StyleDefault.Foreground(tcell.ColorRed),
	}
	for y, l := range view.draw(columns, height) {
		x := 0
		for _, r := range l.text {
			screen.SetContent(x, y, r, nil, styles[l.style])
			x += width(string(r))
		}
	}
	screen.Show()
}
