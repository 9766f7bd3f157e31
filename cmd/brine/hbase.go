package main

import (
	"encoding/json"
	"fmt"
	"log/slog"

	"brine/service/testhbase"
)

// hbaseGroup is brine hbase: it runs the server, and dumps and loads tables as text.
type hbaseGroup struct {
	Start hbaseCmd     `cmd:"" default:"withargs" help:"Run only an embedded HBase, for tests (the default subcommand)."`
	Dump  hbaseDumpCmd `cmd:"" help:"Dump a table as JSON lines."`
	Load  hbaseLoadCmd `cmd:"" help:"Load a table from the output of dump."`
}

// Help returns the detailed help of the command.
func (hbaseGroup) Help() string {
	return hbaseCmd{}.Help() + "\n\nbrine hbase start --help lists the flags."
}

type hbaseCmd struct {
	testhbase.Options
	JSON bool `help:"Print the addresses as JSON."`
}

// Help returns the detailed help of the command.
func (hbaseCmd) Help() string {
	return `Runs a small HBase in this process, for the tests of any project: HBase's own clients and ours work against it. It is on loopback
and in memory unless a flag says otherwise, prints its address, and ends on SIGTERM or Ctrl-C.

Examples:
  brine hbase
  brine hbase --ports 16000-16003 --data ./data/hbase
  brine hbase --port 0 --zookeeper-port 2181 --json
  brine hbase --listen 0.0.0.0 --advertise hbase.test:26000
  BRINE_HBASE_FAULTS_TOKEN=secret brine hbase --faults 127.0.0.1:16001`
}

func (c *hbaseCmd) Run(e *env) error {
	c.FaultsToken, _ = e.getenv(testhbase.TokenVariable)
	log, done := newLog(e, slog.LevelWarn)
	defer done()
	s, err := testhbase.Start(c.Options, log)
	if err != nil {
		return err
	}
	defer s.Close()
	if c.JSON {
		err = json.NewEncoder(e.stdout).Encode(s.Addresses())
	} else {
		_, err = fmt.Fprint(e.stdout, s.Addresses())
	}
	if err != nil {
		return err
	}
	return s.Run(e.ctx)
}
