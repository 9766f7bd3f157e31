package main

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kfake"

	"brine/hbase"
	"brine/hbase/embedded"
	"brine/indexer"
	bleve "brine/indexer/embedded"
	"brine/internal/datadir"
)

// TestFaultScripts checks brine's messages and exit codes when something is missing, wrong or in use. Each script has servers of its own:
// $KAFKA and $HBASE answer, $NOBODY refuses connections, $SILENT accepts them and never answers.
func TestFaultScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/faults",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       os.Getenv("UPDATE_SCRIPTS") != "",
		Setup:               faultServers,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "topic": topic, "tables": tablesAre, "topics": topicsAre, "hold": hold, "familyless": familyless,
		},
	})
}

// faultServers starts the servers of one script.
func faultServers(env *testscript.Env) error {
	broker, err := kfake.NewCluster(kfake.NumBrokers(1))
	if err != nil {
		return err
	}
	env.Defer(broker.Close)
	server, err := embedded.Start(embedded.Options{})
	if err != nil {
		return err
	}
	env.Defer(func() { server.Close() })
	silent, err := net.Listen("tcp", "127.0.0.1:0") // nobody accepts; the system takes the connections
	if err != nil {
		return err
	}
	env.Defer(func() { silent.Close() })
	socket, nobody, err := bound()
	if err != nil {
		return err
	}
	env.Defer(func() { _ = syscall.Close(socket) })
	for name, addr := range map[string]string{
		"KAFKA": broker.ListenAddrs()[0], "HBASE": server.Addr(), "SILENT": silent.Addr().String(), "NOBODY": nobody,
	} {
		_, port, _ := net.SplitHostPort(addr)
		env.Setenv(name, addr)
		env.Setenv(name+"_PORT", port)
	}
	return nil
}

// soon is the time in which any command must notice that a server does not answer.
const soon = time.Minute

// exits is the command `exits CODE brine ARGS…`: brine must end with that code, soon, and leave no temporary folder.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM ARGS…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	began := time.Now()
	err = ts.Exec(args[1], args[2:]...)
	took := time.Since(began)
	code := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		code = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if code != want {
		ts.Fatalf("exit code %d, want %d", code, want)
	}
	if took > soon {
		ts.Fatalf("took %v, more than %v", took, soon)
	}
	left, err := os.ReadDir(ts.Getenv("TMPDIR"))
	ts.Check(err)
	if len(left) > 0 {
		ts.Fatalf("left in TMPDIR: %v", left)
	}
}

// scriptKafka returns a client that remembers nothing about topics seen by earlier clients.
func scriptKafka(ts *testscript.TestScript) *kafka.Client {
	transport := &kafka.Transport{}
	ts.Defer(transport.CloseIdleConnections)
	return &kafka.Client{Addr: kafka.TCP(ts.Getenv("KAFKA")), Timeout: 10 * time.Second, Transport: transport}
}

// topic is the command `topic NAME [VALUE…]`: creates a topic with these records.
func topic(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: topic NAME [VALUE…]")
	}
	client := scriptKafka(ts)
	ts.Check(createTopicBy(context.Background(), client, args[0], 1))
	if len(args) == 1 {
		return
	}
	records := make([]kafka.Record, 0, len(args))
	for _, value := range args[1:] {
		records = append(records, kafka.Record{Value: kafka.NewBytes([]byte(value)), Time: time.UnixMilli(1356998400000)})
	}
	resp, err := client.Produce(context.Background(), &kafka.ProduceRequest{Topic: args[0], RequiredAcks: kafka.RequireAll, Records: kafka.NewRecordReader(records...)})
	ts.Check(err)
	ts.Check(resp.Error)
}

// topicsAre is the command `topics [NAME…]`: checks that the broker has exactly these topics, not counting the control topic, which a run
// makes while it works, or ends before.
func topicsAre(ts *testscript.TestScript, neg bool, args []string) {
	if neg {
		ts.Fatalf("topics cannot be negated")
	}
	resp, err := scriptKafka(ts).Metadata(context.Background(), &kafka.MetadataRequest{})
	ts.Check(err)
	var have []string
	for _, t := range resp.Topics {
		if t.Name != "brine.control" {
			have = append(have, t.Name)
		}
	}
	same(ts, "topics", have, args)
}

func scriptHBase(ts *testscript.TestScript) *hbase.Client {
	client, err := hbase.Open(context.Background(), hbase.Options{Connect: "rpc://" + ts.Getenv("HBASE")})
	ts.Check(err)
	ts.Defer(func() { client.Close() })
	return client
}

// tablesAre is the command `tables [NAME…]`: checks that HBase has exactly these tables.
func tablesAre(ts *testscript.TestScript, neg bool, args []string) {
	if neg {
		ts.Fatalf("tables cannot be negated")
	}
	have, err := scriptHBase(ts).Tables(context.Background())
	ts.Check(err)
	var names []string
	for _, t := range have {
		names = append(names, t.Name)
	}
	same(ts, "tables", names, args)
}

func same(ts *testscript.TestScript, what string, have, want []string) {
	slices.Sort(have)
	slices.Sort(want)
	if !slices.Equal(have, want) {
		ts.Fatalf("%s are %q, want %q", what, have, want)
	}
}

// familyless is the command `familyless TABLE FAMILY`: creates a table with a family other than the one that a script's pipeline writes.
func familyless(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: familyless TABLE FAMILY")
	}
	ts.Check(scriptHBase(ts).CreateTable(context.Background(), hbase.Table{Name: args[0], Families: []hbase.Family{{Name: args[1]}}}, nil))
}

// hold is the command `hold dev|hbase|search DIR`: holds a folder as another process would, until the script ends.
func hold(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: hold dev|hbase|search DIR")
	}
	dir := ts.MkAbs(args[1])
	switch args[0] {
	case "dev":
		ts.Check(os.MkdirAll(dir, 0o700))
		lock, err := datadir.Lock(dir)
		ts.Check(err)
		ts.Defer(func() { lock.Close() })
	case "hbase":
		server, err := embedded.Start(embedded.Options{Dir: dir})
		ts.Check(err)
		ts.Defer(func() { server.Close() })
	case "search":
		engine, err := bleve.Open(bleve.Options{Dir: dir})
		ts.Check(err)
		ts.Defer(func() { engine.Close() })
		ts.Check(engine.EnsureIndex(context.Background(), indexer.Mapping{Index: "things", Fields: []indexer.Field{{Name: "id", Type: "keyword"}}}))
	default:
		ts.Fatalf("hold: what is %s? (%s)", args[0], filepath.Base(dir))
	}
}
