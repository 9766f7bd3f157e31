package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"strings"

	"brine/config"
	"brine/hbase"
	"brine/hbase/tabledump"
)

// hbaseFlags select the HBase to dump from or load into.
type hbaseFlags struct {
	timeoutFlag
	Connect string `placeholder:"rpc://HOST:PORT" help:"HBase to connect to (default: BRINE_HBASE_CONNECT, else rpc://127.0.0.1:16000)."`
	Config  string `short:"c" placeholder:"FILE" help:"Configuration file whose hbase section is used instead, with its TLS and Kerberos; the file needs no other section."`
}

// open connects to the HBase and runs work.
func (f *hbaseFlags) open(e *env, work func(*hbase.Client) error) error {
	if f.Config != "" && f.Connect != "" {
		return usage(errors.New("give --connect or -c"))
	}
	if f.Config != "" {
		cfg, err := configFlag{Config: f.Config}.loadHBase(e)
		if err != nil {
			return err
		}
		return withHBase(e, cfg, work)
	}
	at, _ := e.getenv("BRINE_HBASE_CONNECT")
	o := hbase.Options{Connect: cmp.Or(f.Connect, at, "rpc://127.0.0.1:16000"), Patience: e.patience}
	cluster, err := openHBase(e, new(config.Config), o)
	if err != nil {
		return err
	}
	defer cluster.Close()
	return work(cluster.Client)
}

type hbaseDumpCmd struct {
	hbaseFlags
	Table string `arg:"" help:"Table to dump: NAME or NAMESPACE:NAME."`
	Live  bool   `help:"Dump only visible cells: no delete markers, and nothing that they hide."`
}

// Help returns the detailed help of the command.
func (hbaseDumpCmd) Help() string {
	return `Writes the table as lines of JSON: its description first, then each cell with its timestamp and type, byte for byte.

Examples:
  brine hbase dump orders > orders.ndjson
  brine hbase dump shop:orders --live --connect rpc://master1:16000`
}

func (c *hbaseDumpCmd) Run(e *env) error {
	return c.open(e, func(client *hbase.Client) error {
		n, err := tabledump.Dump(e.ctx, client, c.Table, c.Live, e.stdout)
		if errors.Is(err, hbase.ErrNoTable) {
			return &exitError{exitMissing, err, ""}
		}
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(e.stderr, "%d cells\n", n)
		return err
	})
}

type hbaseLoadCmd struct {
	hbaseFlags
	File string `arg:"" optional:"" type:"path" help:"Dump file to load (default: stdin)."`
	As   string `placeholder:"TABLE" help:"Table to load into (default: the name of the dumped table)."`
}

// Help returns the detailed help of the command.
func (hbaseLoadCmd) Help() string {
	return `Loads the output of brine hbase dump into a table. A table that does not exist is created as it was dumped.

Examples:
  brine hbase load orders.ndjson
  brine hbase load --as orders_copy < orders.ndjson`
}

func (c *hbaseLoadCmd) Run(e *env) error {
	from := e.stdin
	if c.File != "" {
		f, err := os.Open(c.File)
		if err != nil {
			return usage(err)
		}
		defer func() { _ = f.Close() }() // only read from
		from = f
	} else if from == nil {
		from = strings.NewReader("")
	}
	return c.open(e, func(client *hbase.Client) error {
		n, err := tabledump.Load(e.ctx, client, c.As, from)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(e.stderr, "%d cells\n", n)
		return err
	})
}
