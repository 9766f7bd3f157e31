package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	terminal "golang.org/x/term"

	"brine/hbase"
	"brine/internal/term"
	"brine/query"
	"brine/service/stores"
	"brine/sqlconsole"
	"brine/sqlconsole/shell"
	"brine/tracing"
)

type sqlCmd struct {
	configFlag
	timeoutFlag
	Execute string `short:"e" placeholder:"STATEMENT" help:"Statements to run (default: read from stdin; in a terminal, start a shell)."`
	Format  string `enum:"table,vertical,json,csv" default:"table" help:"Output format: table, vertical, json (one object per statement) or csv."`
}

// Help returns the detailed help of the command.
func (sqlCmd) Help() string {
	return `Reads the rows of one table by conditions on the fields of its key and on its columns; statements change nothing. The leftmost
fields of the key become ranges, and HBase tests other conditions where its byte order allows. A statement that would read the whole
table is refused without ALLOW FULL SCAN. EXPLAIN shows what would be read. In the shell, \d lists tables, \d TABLE columns, Tab completes.

Examples:
  brine sql -c examples/scans.yaml
  brine sql -c examples/scans.yaml -e "SELECT at, action, station FROM scans WHERE waybill = 'UA-1545-20130101-EWR' LIMIT 5"
  brine sql -c examples/orders.yaml --format csv -e "SELECT status, COUNT(*) FROM orders WHERE user = 'u00042' GROUP BY status"`
}

func (c *sqlCmd) Run(e *env) error {
	cfg, err := c.load(e)
	if err != nil {
		return err
	}
	catalog, err := cfg.Catalog()
	if err != nil {
		return err
	}
	return e.traced(cfg, "sql", func(e *env) error {
		return withHBase(e, cfg, func(client *hbase.Client) error {
			docs := &stores.LateSearch{Config: cfg}
			defer func() { _ = docs.Close() }() // only read from
			s := &shell.Shell{Catalog: catalog, Store: query.Selector{Client: client, Docs: codedSearcher{tracing.Searcher(docs)}},
				Format: shell.Format(c.Format),
				Limits: sqlconsole.Limits{Time: c.Timeout}, Out: e.stdout, Notes: e.stderr}
			return c.failure(c.statements(e, s))
		})
	})
}

// statements runs the statements of the flag, the terminal or stdin.
func (c *sqlCmd) statements(e *env, s *shell.Shell) error {
	switch {
	case c.Execute != "":
		return s.Run(e.ctx, c.Execute)
	case e.stdin == nil:
		return usage(errors.New("there is no stdin to read statements from; give one with -e"))
	case term.IsTerminal(e.stdin) && term.IsTerminal(os.Stdout):
		return interact(e, s)
	}
	const most = 1 << 20
	text, err := io.ReadAll(io.LimitReader(e.stdin, most+1))
	if err == nil && len(text) > most {
		err = usage(errors.New("the statements are larger than 1 MiB; run them in several parts"))
	}
	if err != nil {
		return err
	}
	return s.Run(e.ctx, string(text))
}

// failure attaches the exit code to the error of a statement.
func (c *sqlCmd) failure(err error) error {
	wrong, ok := errors.AsType[*sqlconsole.Error](err)
	switch {
	case errors.Is(err, hbase.ErrNoTable):
		return &exitError{exitMissing, err, "create it: brine tables apply -c " + c.Config}
	case ok:
		return usage(fmt.Errorf("line %d, column %d: %s; %s", wrong.Line, wrong.Column, wrong.Msg, wrong.Fix))
	}
	return err
}

// interact runs the shell on a terminal. The terminal is raw while a line is read. While a statement runs, the terminal has its former
// mode, and Ctrl-C ends only the statement.
func interact(e *env, s *shell.Shell) error {
	fd := int(os.Stdin.Fd())
	screen := terminal.NewTerminal(struct {
		io.Reader
		io.Writer
	}{os.Stdin, os.Stdout}, shell.Prompt)
	screen.AutoCompleteCallback = func(line string, pos int, key rune) (string, int, bool) {
		if key != '\t' {
			return "", 0, false
		}
		return s.Complete(line, pos)
	}
	read := func(prompt string) (string, error) {
		was, err := terminal.MakeRaw(fd)
		if err != nil {
			return "", err
		}
		defer func() { _ = terminal.Restore(fd, was) }() // the next line tries again
		screen.SetPrompt(prompt)
		return screen.ReadLine()
	}
	fmt.Fprintln(e.stdout, `\d lists tables, \h shows the statements, \q quits.`)
	return s.Interact(read, func() (context.Context, context.CancelFunc) {
		return signal.NotifyContext(context.WithoutCancel(e.ctx), os.Interrupt, syscall.SIGTERM)
	})
}
