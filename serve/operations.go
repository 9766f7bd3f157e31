package serve

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"brine/account"
	"brine/internal/fault"
	"brine/mask"
	"brine/rowkey"
	"brine/serve/client"
)

// Operations are what operators can see of pipelines and their stores, and do with them. They are safe for concurrent use. An error that is
// a *fault.Error is answered according to its kind and shown with its fix, as by a command; any other is an error of the stores.
type Operations interface {
	// Pipelines returns all pipelines of the configuration.
	Pipelines(ctx context.Context) (client.Pipelines, error)
	// Pipeline returns one of them with its partitions.
	Pipeline(ctx context.Context, name string) (client.Pipeline, error)

	// Tables returns the configured tables as the cluster has them. Here and below, methods that return keys or records mask them by rules.
	Tables(ctx context.Context) (client.StoredTables, error)
	Regions(ctx context.Context, table string, rules *mask.Rules) (client.Regions, error)
	// Skew covers one table, or all if table is empty.
	Skew(ctx context.Context, table string, rules *mask.Rules) (client.Skew, error)
	HeatMap(ctx context.Context, table string, of client.HeatMapOf, rules *mask.Rules) (client.HeatMap, error)
	TableSizes(ctx context.Context, table string, of client.HeatMapOf) (client.TableSizes, error)
	// Configuration returns the running configuration, without secrets.
	Configuration(ctx context.Context) (client.Configuration, error)
	// Key describes a row key, of a table or of an expression, and what it makes of the request.
	Key(ctx context.Context, of client.KeyOf, rules *mask.Rules) (client.KeyDesign, error)

	Offsets(ctx context.Context, of client.HalvesOf) (client.Offsets, error)
	// SetOffsets sets the offsets of groups without members, as brine offsets set does. A dry run changes nothing.
	SetOffsets(ctx context.Context, to client.SetOffsets) (client.OffsetMoves, error)

	// DeadLetters returns a page that follows the page with the token after.
	DeadLetters(ctx context.Context, of client.DeadLettersOf, after string, most int, rules *mask.Rules) (client.DeadLetters, error)
	// DeadLetter returns all dead letters of one record, whole.
	DeadLetter(ctx context.Context, record, pipeline string, rules *mask.Rules) (client.DeadLetters, error)
	DeadLetterSums(ctx context.Context, of client.DeadLettersOf, rules *mask.Rules) (client.DeadLetterSums, error)

	// Ask pauses, resumes or limits a running pipeline, and returns the new orders of its halves. by names the caller.
	Ask(ctx context.Context, what, pipeline string, of client.PipelineAsk, by string) (client.PipelineAsked, error)

	// PlanReload returns what Reload would do, or why it would be refused, which is not an error. Unless it is a dry run, a refused plan
	// counts as a refused reload.
	PlanReload(ctx context.Context, of client.ReloadAsk, by string) (client.Reload, error)
	// Reload makes this process load its configuration again, if it is still the one that was planned, and returns what was done.
	Reload(ctx context.Context, after, by string) (client.Reload, error)

	// StartJob starts a job, and returns it before it runs. again reports that the same key started the job earlier. StartJob returns
	// ErrJobsFull, ErrJobKeyReused, or the error of a faulty request.
	StartJob(ctx context.Context, s JobStart) (job client.Job, again bool, err error)
	// Jobs returns a page of jobs that follows the given job, Job returns one job, with its results if whole is set, and CancelJob requests
	// its end. None is called without accounts.
	Jobs(ctx context.Context, behind string, most int) (client.Jobs, error)
	Job(ctx context.Context, id string, whole bool) (client.Job, error)
	CancelJob(ctx context.Context, id string) (client.Job, error)
}

const pipelinesPath = opsPath + "/pipelines"

// refused is the kind of problem that commands report, too.
var refused = kind{"refused", http.StatusConflict, "Not possible at present",
	"detail says what prevents it, and what helps. Nothing has been changed."}

// unconfirmed is the kind of problem where a command would ask.
var unconfirmed = kind{"unconfirmed", http.StatusPreconditionRequired, "Not confirmed",
	"This may delete or skip more than anybody has seen. detail names the preview to start with, and where the request names what that " +
		"showed. Nothing has been changed."}

// confirmed refuses a request to delete, or to move offsets, without bounds: it must name what a preview has shown, or set yes, as the
// command asks unless it has --yes.
func confirmed(of any) error {
	bounded, look := true, ""
	switch of := of.(type) {
	case *client.DeadLetterPurgeJob:
		bounded = of.DryRun || of.Yes || of.Shown != ""
		look = "shown: missing; start a dry run (dry_run) and name its job, or set yes to delete whatever is old enough by then"
	case *client.VerifyJob:
		bounded = !of.DeleteExtra || of.Yes || of.MostExtra != 0
		look = "most_extra: missing; verify without delete_extra and write how many rows and documents are extra, or set yes to delete " +
			"whatever is extra by then"
	case *client.SetOffsets:
		bounded = of.DryRun || of.Yes || len(of.Moves) > 0
		look = "moves: missing; make a dry run (dry_run) and send its moves, or set yes to set whatever to means by then"
	}
	if bounded {
		return nil
	}
	return refuse(unconfirmed, look)
}

// operationRoutes returns the routes of Operations. Reading them requires the operator role, and so does changing something.
func operationRoutes() []*endpoint {
	routes := slices.Concat(pipelineRoutes(), controlRoutes(), tableOperations(), keyRoutes(), offsetRoutes(), deadLetterRoutes(), jobRoutes(),
		reloadRoutes())
	for _, e := range routes {
		if e.role = account.Operator; e.method == "" {
			e.method = http.MethodGet
		}
	}
	return routes
}

func pipelineRoutes() []*endpoint {
	pipeline := param{in: "path", name: "pipeline", about: "Name of the pipeline.", kind: rowkey.Text, required: true}
	return []*endpoint{
		{path: pipelinesPath, id: "pipelines", about: "List the pipelines with their positions, rates and limiting steps.",
			answer: client.Pipelines{}, handle: func(c *call) error { return answer(c, c.opts.Operations.Pipelines) }},
		{path: pipelinesPath + "/events", id: "pipelines_events", about: "Watch the pipelines: sent now and whenever something changes.",
			events: true, state: client.Pipelines{}, handle: func(c *call) error { return watch(c, c.opts.Operations.Pipelines) }},
		{path: pipelinesPath + "/{pipeline}", id: "pipeline", about: "Get a pipeline with its partitions.", params: []param{pipeline},
			answer: client.Pipeline{}, missing: true, handle: func(c *call) error {
				return answer(c, func(ctx context.Context) (client.Pipeline, error) {
					return c.opts.Operations.Pipeline(ctx, c.r.PathValue("pipeline"))
				})
			}},
		{path: opsPath + "/configuration", id: "configuration", about: "Get the running configuration, without secrets.",
			answer: client.Configuration{}, handle: func(c *call) error { return answer(c, c.opts.Operations.Configuration) }},
	}
}

// tableOperations returns the routes about tables as the cluster has them.
func tableOperations() []*endpoint {
	const path = opsPath + "/tables"
	table := param{in: "path", name: "table", about: "Table of the configuration.", kind: rowkey.Text, required: true}
	number := func(name, about string) param { return param{in: "query", name: name, about: about, kind: rowkey.Int} }
	minutes := number("minutes", "How far back to go, in minutes (default 60). Eight hours are kept, or a month with map.history.")
	until := param{in: "query", name: "until", about: "End of the time range (default: now); requires map.history.", kind: rowkey.Time}
	return []*endpoint{
		{path: path, id: "tables", about: "List the tables of the configuration, with their regions and sizes.", answer: client.StoredTables{},
			handle: func(c *call) error { return answer(c, c.opts.Operations.Tables) }},
		{path: path + "/{table}/regions", id: "regions", about: "List a table's regions with start keys, servers, sizes and loads.",
			params: []param{table}, answer: client.Regions{}, missing: true, handle: func(c *call) error {
				return answer(c, func(ctx context.Context) (client.Regions, error) {
					return c.opts.Operations.Regions(ctx, c.r.PathValue("table"), c.masks(c.id))
				})
			}},
		{path: path + "/{table}/skew", id: "table_skew",
			about:  "Show how evenly a table's rows are spread over regions and servers, and what helps.",
			params: []param{table}, answer: client.Skew{}, missing: true, handle: (*call).skew},
		{path: opsPath + "/skew", id: "skew",
			about:  "Show how evenly the rows of all tables are spread over regions and servers, and what helps.",
			answer: client.Skew{}, handle: (*call).skew},
		{path: path + "/{table}/heat", id: "heat_map",
			about: "Show rows and bytes written per second over key ranges and time, by this brine or with map.history by all; with metric, " +
				"the requests of all clients or the latency of brine's write calls or of its reads.",
			params: []param{table, minutes, until,
				{in: "query", name: "metric", about: "rows, bytes, requests, latency or read_latency (default: rows and bytes).", kind: rowkey.Text},
				{in: "query", name: "server", about: "Only the key ranges of the regions that this server has now, as host:port (default: all).",
					kind: rowkey.Text},
				number("ranges", "Maximum number of key ranges, at most 1536 (default 1536)."),
				number("columns", "Maximum number of columns, at most 1440 (default 480).")},
			answer: client.HeatMap{}, missing: true, handle: (*call).heatMap},
		{path: path + "/{table}/sizes", id: "table_sizes", about: "Show the size of a table over time; requires map.history.",
			params: []param{table, minutes, until}, answer: client.TableSizes{}, missing: true, handle: (*call).tableSizes},
	}
}

func (c *call) skew() error {
	return answer(c, func(ctx context.Context) (client.Skew, error) {
		return c.opts.Operations.Skew(ctx, c.r.PathValue("table"), c.masks(c.id))
	})
}

// mostMinutes is how far back a map may go: a month.
const mostMinutes = 31 * 24 * 60

// heatMapOf parses which part of a map is requested.
func (c *call) heatMapOf() (of client.HeatMapOf, err error) {
	for _, n := range []struct {
		name string
		into *int
		most int
	}{{"minutes", &of.Minutes, mostMinutes}, {"ranges", &of.Ranges, 1 << 16}, {"columns", &of.Columns, 1440}} {
		if *n.into, err = c.number(n.name, n.most); err != nil {
			return of, err
		}
	}
	of.Until, of.Metric, of.Server = c.values.Get("until"), c.values.Get("metric"), c.values.Get("server")
	return of, nil
}

func (c *call) tableSizes() error {
	of, err := c.heatMapOf()
	if err != nil {
		return err
	}
	return answer(c, func(ctx context.Context) (client.TableSizes, error) {
		return c.opts.Operations.TableSizes(ctx, c.r.PathValue("table"), of)
	})
}

func (c *call) heatMap() error {
	of, err := c.heatMapOf()
	if err != nil {
		return err
	}
	return answer(c, func(ctx context.Context) (client.HeatMap, error) {
		return c.opts.Operations.HeatMap(ctx, c.r.PathValue("table"), of, c.masks(c.id))
	})
}

// number parses a parameter that is at least 1, and returns 0 if it is absent. Values above most mean most.
func (c *call) number(name string, most int) (int, error) {
	text := c.values.Get(name)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, wrong("query."+name, strconv.Quote(text)+" is not a whole number of at least 1", "omit it for the default")
	}
	return min(n, most), nil
}

// halfParams select halves of pipelines.
var halfParams = []param{
	{in: "query", name: "pipeline", about: "Only this pipeline (default: all).", kind: rowkey.Text},
	{in: "query", name: "half", about: "Half of the pipeline: rows or documents (default: both).", kind: rowkey.Text},
}

func offsetRoutes() []*endpoint {
	const path = opsPath + "/offsets"
	return []*endpoint{
		{path: path, id: "offsets", about: "Show the pipelines' offsets in their topics.",
			params: append(slices.Clone(halfParams), param{in: "query", name: "topic",
				about: "Only this topic, of those that the pipeline reads (default: all).", kind: rowkey.Text}),
			answer: client.Offsets{}, handle: func(c *call) error {
				of := client.HalvesOf{Pipeline: c.values.Get("pipeline"), Half: c.values.Get("half"), Topic: c.values.Get("topic")}
				return answer(c, func(ctx context.Context) (client.Offsets, error) { return c.opts.Operations.Offsets(ctx, of) })
			}},
		{method: http.MethodPost, path: path, id: "set_offsets",
			about: "Move pipelines without running members to other offsets of their topics, as brine offsets set does.", body: client.SetOffsets{},
			answer: client.OffsetMoves{}, refuses: []kind{refused, unconfirmed}, handle: (*call).setOffsets},
	}
}

func (c *call) setOffsets() error {
	var to client.SetOffsets
	if err := c.body(&to); err != nil {
		return err
	}
	if !to.DryRun {
		if err := confirmed(&to); err != nil {
			return err
		}
		if err := c.changes("offsets.set", to); err != nil {
			return err
		}
	}
	return answer(c, func(ctx context.Context) (client.OffsetMoves, error) { return c.opts.Operations.SetOffsets(ctx, to) })
}

// changes audits what an operator is about to do.
func (c *call) changes(action string, what any) error {
	text, err := json.Marshal(what)
	if err != nil {
		return err
	}
	if len(text) > account.MaxObject {
		return refuse(tooLarge, fmt.Sprintf("the audit records requests of at most %d bytes", account.MaxObject))
	}
	return c.audit(action, string(text), "")
}

const deadLettersPage = 100

// deadLettersPath is the path that lists dead letters.
const deadLettersPath = opsPath + "/dead-letters"

func deadLetterRoutes() []*endpoint {
	text := func(name, about string) param { return param{in: "query", name: name, about: about, kind: rowkey.Text} }
	of := append(slices.Clone(halfParams),
		param{in: "query", name: "reason", about: "Only dead letters with this reason, such as missing_field; may be repeated.",
			kind: rowkey.Text, list: true},
		param{in: "query", name: "since", about: "Only dead letters written since this time.", kind: rowkey.Time},
		param{in: "query", name: "until", about: "Only dead letters written before this time.", kind: rowkey.Time},
		param{in: "query", name: "partition", about: "Only records from this partition of the pipeline's topic; may be repeated.",
			kind: rowkey.Int, list: true},
		text("key", "Only records with this key. Write bytes that are not text as \\xNN."),
		text("text", "Only dead letters with this text in the record's key, value or headers, or in the dead letter's field or detail. "+
			"Refused if fields are masked."),
		param{in: "query", name: "all", about: "Include dead letters that have already been replayed.", kind: rowkey.Bool})
	return []*endpoint{
		{path: deadLettersPath, id: "dead_letters", about: "List records that could not be written, with the reasons.",
			params: append(slices.Clone(of), text("page_token", "next_page_token of the previous page, with the same parameters."),
				param{in: "query", name: "page_size", about: "Maximum number of dead letters, at most 100 (default 100).", kind: rowkey.Int}),
			answer: client.DeadLetters{}, handle: (*call).deadLetters},
		{path: deadLettersPath + "/summary", id: "dead_letter_sums", about: "Count dead letters by half, reason, field and schema.",
			params: of, answer: client.DeadLetterSums{}, handle: (*call).deadLetterSums},
		{path: deadLettersPath + "/records/{record}", id: "dead_letter", about: "Show the dead letters of one record in full.",
			params: []param{{in: "path", name: "record", about: "PARTITION:OFFSET or TOPIC/PARTITION:OFFSET of the record, escaped for a URL path.",
				kind: rowkey.Text, required: true}, halfParams[0]},
			answer: client.DeadLetters{}, missing: true, handle: func(c *call) error {
				return answer(c, func(ctx context.Context) (client.DeadLetters, error) {
					return c.opts.Operations.DeadLetter(ctx, c.r.PathValue("record"), c.values.Get("pipeline"), c.masks(c.id))
				})
			}},
	}
}

// deadLettersOf parses which dead letters are selected.
func (c *call) deadLettersOf() (client.DeadLettersOf, error) {
	v := c.values
	of := client.DeadLettersOf{Pipeline: v.Get("pipeline"), Half: v.Get("half"), Reasons: v["reason"],
		Since: v.Get("since"), Until: v.Get("until"),
		Key: v.Get("key"), Text: v.Get("text"), All: v.Get("all") == "true"}
	if all := v.Get("all"); all != "" && all != "true" && all != "false" {
		return of, wrong("query.all", strconv.Quote(all)+" is not true or false", "omit it for those that were not replayed")
	}
	for _, text := range v["partition"] {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 {
			return of, wrong("query.partition", strconv.Quote(text)+" is not a whole number of at least 0", "omit it for all partitions")
		}
		of.Partitions = append(of.Partitions, n)
	}
	return of, nil
}

func (c *call) deadLetters() error {
	of, err := c.deadLettersOf()
	if err != nil {
		return err
	}
	most, err := c.number("page_size", deadLettersPage)
	if err != nil {
		return err
	}
	return answer(c, func(ctx context.Context) (client.DeadLetters, error) {
		return c.opts.Operations.DeadLetters(ctx, of, c.values.Get("page_token"), cmp.Or(most, deadLettersPage), c.masks(c.id))
	})
}

func (c *call) deadLetterSums() error {
	of, err := c.deadLettersOf()
	if err != nil {
		return err
	}
	return answer(c, func(ctx context.Context) (client.DeadLetterSums, error) {
		return c.opts.Operations.DeadLetterSums(ctx, of, c.masks(c.id))
	})
}

// answer answers with the result of an operation.
func answer[T any](c *call, ask func(context.Context) (T, error)) error {
	out, err := ask(c.ctx)
	if err != nil {
		return c.operation(err)
	}
	return c.json(out)
}

// watch answers with events: the result of an operation, once at the start and again whenever it has changed.
func watch[T any](c *call, ask func(context.Context) (T, error)) error {
	return c.keep("state", c.r.URL.Path+"?"+c.values.Encode(),
		c.renewed(func(ctx context.Context, _ *reading) (any, error) { return ask(ctx) }))
}

// operation converts an error of Operations to a problem.
func (c *call) operation(err error) error {
	f, ok := errors.AsType[*fault.Error](err)
	if !ok {
		return err
	}
	detail := err.Error()
	if f.Fix != "" {
		detail += "; " + f.Fix
	}
	switch f.Kind {
	case fault.Usage:
		return refuse(badRequest, detail)
	case fault.Missing:
		return refuse(notThere, detail)
	case fault.Unreachable:
		c.opts.Log.Warn("operation failed", "request", requestID(c.r), "route", route(c.r), "error", err)
		return refuse(unavailable, detail)
	}
	return refuse(refused, detail)
}
