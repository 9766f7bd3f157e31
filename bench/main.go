// Command bench measures brine, and breaks what it runs on. Each subcommand is a package below, which says what it measures; make has
// a target for each (bench.mk), and runs it from the repository's root, whose files it reads and writes.
//
// What is compared by its memory, a loader or a server, is a program of its own, so that nothing else is in it: load/client,
// index/client, index/peer, embedded/server.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"

	"brine/bench/embedded"
	"brine/bench/load"
	"brine/bench/micro"
)

// cli is the whole command line.
type cli struct {
	Micro    micro.Command    `cmd:"" help:"Measure the record's path step by step."`
	Load     load.Command     `cmd:"" help:"Measure the HBase client beside HBase's Java client and PerformanceEvaluation on a real HBase."`
	Embedded embedded.Command `cmd:"" help:"Measure the embedded HBase server through the wire, with and without fsync."`
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
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
	}
}
