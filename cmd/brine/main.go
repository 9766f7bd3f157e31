// Command brine streams Kafka topics into HBase and a search index. Each command has its own file. This one parses the command line, and is
// the only place that ends the process.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"reflect"
	"slices"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"brine/internal/term"
	"brine/internal/when"
	"brine/internal/wording"
)

// version is set by the linker. In a plain go build it is "dev".
var version = "dev"

// cli is the whole command line. Each command's Run method takes its environment as *env.
type cli struct {
	Dev         devGroup       `cmd:"" help:"Run everything on embedded servers with sample data, to try brine out."`
	HBase       hbaseGroup     `cmd:"" name:"hbase" help:"Run only an embedded HBase, for tests: one process, faults on demand."`
	Run         runCmd         `cmd:"" help:"Run the pipelines of a configuration."`
	Init        initCmd        `cmd:"" help:"Propose a configuration from a sample: fields, candidate row keys, versions."`
	Check       checkCmd       `cmd:"" help:"Check configurations; with --connect, also against the servers."`
	Tables      tablesCmd      `cmd:"" help:"Plan, create and alter tables."`
	Regions     regionsCmd     `cmd:"" help:"Show, split, merge, move, flush and compact a table's regions."`
	Schema      schemaCmd      `cmd:"" help:"Print the schema that publishers must follow, as JSON Schema, AsyncAPI, Avro or Protobuf."`
	Key         keyCmd         `cmd:"" help:"Encode, decode and explain row keys."`
	Query       queryCmd       `cmd:"" help:"Read rows by the fields of their key, or through the index."`
	SQL         sqlCmd         `cmd:"" name:"sql" help:"Read rows with SQL, in a shell or from a script."`
	Serve       serveCmd       `cmd:"" help:"Serve the views and tables of a configuration over HTTP."`
	Account     accountCmd     `cmd:"" help:"Manage the accounts of the HTTP API, and show its audit log."`
	Replay      replayCmd      `cmd:"" help:"Read a range of a pipeline's topic again, and write its rows and documents again."`
	Reindex     reindexCmd     `cmd:"" help:"Rebuild an index beside the one in use, then replace that one."`
	Deadletters deadlettersCmd `cmd:"" help:"List, show and replay records that could not be written."`
	Offsets     offsetsCmd     `cmd:"" help:"Show and set the pipelines' offsets in their topics."`
	Publish     publishCmd     `cmd:"" help:"Publish files of JSON lines or CSV to a topic, each record exactly once."`
	Verify      verifyCmd      `cmd:"" help:"Find and fix what is missing, stale, different or extra in tables and indexes."`
	Explain     explainCmd     `cmd:"" help:"Explain what became of one record, and why."`
	Skew        skewCmd        `cmd:"" help:"Show how evenly a running brine's rows are spread over regions and salt buckets."`
	Pause       pauseCmd       `cmd:"" help:"Pause a running pipeline."`
	Resume      resumeCmd      `cmd:"" help:"Resume a paused pipeline."`
	Limit       limitCmd       `cmd:"" help:"Limit a running pipeline to a number of records per second."`
	Ps          psCmd          `cmd:"" help:"List running pipelines: state, members, rates, lag, where time is spent, and when retention deletes what is not settled."`
	Reload      reloadCmd      `cmd:"" help:"Reload the configuration of a running brine."`
	Top         topCmd         `cmd:"" help:"Watch pipelines, tables, regions, servers and keys in the terminal."`
	Completion  completionCmd  `cmd:"" help:"Print the completion script for bash, zsh or fish."`
	Help        helpCmd        `cmd:"" help:"Show the help of a command."`
	Version     versionCmd     `cmd:"" help:"Print the version."`

	CompleteLine completeLineCmd `cmd:"" hidden:"" passthrough:""`
	ShowVersion  versionFlag     `name:"version" help:"Print the version."`
}

// env is everything a command uses of the outside world, so that tests can replace it.
type env struct {
	ctx    context.Context // done on SIGINT and SIGTERM
	stdin  io.Reader       // nil: nobody answers
	stdout io.Writer
	stderr io.Writer
	getenv func(string) (string, bool)

	patience time.Duration // per answer of a server; 0: no limit
	holds    int64         // bytes that the command may hold besides the configuration's memory
	environ  []string      // all variables, as os.Environ returns them
	brokers  bool          // --brokers replaces the variable of the same name

	named bool              // -c names the configuration, so it must exist
	ended func(error) error // wraps the command's error; see guard
}

func main() {
	syscall.Umask(0o077) // data folders and traces hold customers' data
	signalled, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	ctx, cancel := context.WithCancelCause(context.Background())
	go func() {
		<-signalled.Done()
		stop()                           // a second signal ends the process at once
		cancel(context.Cause(signalled)) // drains
	}()
	log.SetOutput(term.NewWriter(wording.Writer(os.Stderr))) // also the output of slog's default logger
	os.Exit(run(&env{ctx: ctx, stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, getenv: os.LookupEnv, environ: os.Environ()},
		os.Args[1:]))
}

// escape routes all output through term, so that no text of a record or a server acts on the terminal, and stderr also through wording. The
// caller must call done last.
func (e *env) escape() (done func()) {
	stdout, stderr := term.NewWriter(e.stdout), term.NewWriter(wording.Writer(e.stderr))
	e.stdout, e.stderr = stdout, stderr
	return func() {
		_, _ = stdout.Close(), stderr.Close() // nobody is left to report an error to
	}
}

// run parses and runs one command line, and returns the exit code.
func run(e *env, args []string) int {
	defer e.escape()()
	exited := -1
	parser, err := newParser(e, func(code int) { exited = code })
	if err != nil {
		panic("BUG: the command line's own structs are wrong: " + err.Error())
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	kctx, err := parser.Parse(args)
	if exited >= 0 { // --help or --version was printed
		return exited
	}
	if err != nil {
		printError(e.stderr, err)
		fmt.Fprintf(e.stderr, "hint: %s\n", helpHint(err))
		return exitUsage
	}
	e.named = slices.ContainsFunc(kctx.Path, func(p *kong.Path) bool { return p.Flag != nil && p.Flag.Name == "config" })
	e.ended = func(err error) error { return err }
	err = kctx.Run(e)
	if err = e.ended(err); err != nil {
		return report(e.stderr, timedOut(e, err))
	}
	return exitOK
}

// helpHint names the help page of the command that was called wrongly.
func helpHint(err error) string {
	wrong, ok := errors.AsType[*kong.ParseError](err)
	if ok && wrong.Context != nil && wrong.Context.Selected() != nil {
		return "brine help " + wrong.Context.Selected().Path() + " shows its arguments, flags and examples"
	}
	return "brine --help lists the commands; brine help COMMAND shows examples"
}

func newParser(e *env, exit func(code int)) (*kong.Kong, error) {
	return kong.New(&cli{},
		kong.Name("brine"),
		kong.Description("Kafka streams into HBase: nothing lost, nothing wrong.\n\n"+exitCodeHelp),
		kong.Writers(e.stdout, e.stderr),
		kong.Exit(exit),
		kong.TypeMapper(reflect.TypeFor[time.Duration](), kong.MapperFunc(durationFlag)),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, Summary: true}),
		kong.Bind(e),
	)
}

// durationFlag parses a duration as in the configuration.
func durationFlag(ctx *kong.DecodeContext, target reflect.Value) error {
	var text string
	if err := ctx.Scan.PopValueInto("duration", &text); err != nil {
		return err
	}
	d, err := when.Duration(text)
	if err != nil {
		return fmt.Errorf("%q %w; write a duration such as 10s, 5m or 2h", text, err)
	}
	target.SetInt(int64(d))
	return nil
}
