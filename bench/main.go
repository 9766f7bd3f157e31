// Command bench measures brine, and breaks what it runs on. Each subcommand is a package below, whose documentation says what it measures;
// make has a target for each (bench.mk), and runs it from the repository's root, whose files it reads and writes.
//
// Programs that are compared by memory, loaders and servers, are separate binaries, so that nothing else is in them: load/client,
// read/client, consume/client, index/client, index/peer, embedded/server.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"brine/bench/chaos"
	"brine/bench/console"
	"brine/bench/consume"
	"brine/bench/embedded"
	"brine/bench/failingregion"
	"brine/bench/index"
	"brine/bench/load"
	"brine/bench/metrics"
	"brine/bench/micro"
	"brine/bench/pipeline"
	"brine/bench/query"
	"brine/bench/read"
	"brine/bench/serve"
	"brine/bench/servers"
	"brine/bench/verify"
)

// cli is the whole command line.
type cli struct {
	Micro         micro.Command         `cmd:"" help:"Measure the record's path step by step."`
	Load          load.Command          `cmd:"" help:"Measure the HBase client beside HBase's Java client and PerformanceEvaluation on a real HBase."`
	Read          read.Command          `cmd:"" help:"Measure gets and scans of the HBase client beside HBase's Java client on a real HBase."`
	Pipeline      pipeline.Command      `cmd:"" help:"Measure Kafka to HBase beside the Java loader without Kafka; the delay of an event; an outage of HBase."`
	Consume       consume.Command       `cmd:"" help:"Measure Kafka to events, without a store, beside kafka-go on a real Kafka."`
	Embedded      embedded.Command      `cmd:"" help:"Measure the embedded HBase server through the wire, with and without fsync."`
	Index         index.Command         `cmd:"" help:"Measure the indexer beside go-elasticsearch's BulkIndexer on a real Elasticsearch."`
	Query         query.Command         `cmd:"" help:"Measure timelines, orders by a word and how soon an event is found, on real HBase and Elasticsearch."`
	Serve         serve.Command         `cmd:"" help:"Measure the HTTP API: timelines, latest events, orders by a word, SQL, idle event streams."`
	FailingRegion failingregion.Command `cmd:"" help:"Measure what one failing region of 16 costs the others through the whole pipeline."`
	Metrics       metrics.Command       `cmd:"" help:"Measure what metrics, skew and tracing cost the pipeline, and a scrape of 10,000 regions."`
	Console       console.Command       `cmd:"" help:"Measure the web console in Chromium: first paint, sizes, frames, heap, and what it costs the server."`
	Verify        verify.Command        `cmd:"" help:"Measure brine verify: of a whole table, of a window, and beside a pipeline at full rate."`
	Chaos         chaos.Command         `cmd:"" help:"Break servers and brine, and check what was lost."`

	Servers    servers.Command `cmd:"" hidden:"" help:"Run an embedded Kafka and HBase, in a process of their own."`
	ServeStack serve.Stack     `cmd:"" hidden:"" help:"Run the API of the benchmark serve, in a process of its own."`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	kctx := kong.Parse(&cli{}, options()...)
	kctx.BindTo(ctx, (*context.Context)(nil))
	if err := kctx.Run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		stop()
		os.Exit(1)
	}
}

func options() []kong.Option {
	return []kong.Option{
		kong.Name("bench"),
		kong.Description("Measurements of brine, and faults around it. Run it from the repository's root."),
		kong.Vars{"seed": strconv.FormatInt(time.Now().UnixNano(), 10)},
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
	}
}
