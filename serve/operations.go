package serve

import (
	"context"
	"errors"
	"net/http"

	"brine/account"
	"brine/internal/fault"
	"brine/rowkey"
	"brine/serve/client"
)

// Operations are what operators see of pipelines and their stores, and do about them. They are safe for concurrent use. An error that is a
// *fault.Error is answered by its kind and shown with its fix, as a command shows it; any other is one of the stores.
type Operations interface {
	// Pipelines are all pipelines of the configuration.
	Pipelines(ctx context.Context) (client.Pipelines, error)
	// Pipeline is one of them with its partitions.
	Pipeline(ctx context.Context, name string) (client.Pipeline, error)
}

const pipelinesPath = opsPath + "/pipelines"

// refused is the kind of what the commands refuse too.
var refused = kind{"refused", http.StatusConflict, "It is not done as things are",
	"detail says what stands in the way, and what helps. Nothing was changed."}

// operationRoutes are those of Operations: who reads is an operator, and who changes something too.
func operationRoutes() []*endpoint {
	pipeline := param{in: "path", name: "pipeline", about: "Of the configuration.", kind: rowkey.Text, required: true}
	routes := []*endpoint{
		{path: pipelinesPath, id: "pipelines", about: "The pipelines: where they are in their topics, how fast, and what holds them up.",
			answer: client.Pipelines{}, handle: func(c *call) error { return answer(c, c.opts.Operations.Pipelines) }},
		{path: pipelinesPath + "/events", id: "pipelines_events", about: "The pipelines, and again whenever something has changed of them.",
			events: true, state: client.Pipelines{}, handle: func(c *call) error { return watch(c, c.opts.Operations.Pipelines) }},
		{path: pipelinesPath + "/{pipeline}", id: "pipeline", about: "A pipeline with its partitions.", params: []param{pipeline},
			answer: client.Pipeline{}, missing: true,
			handle: func(c *call) error { return answer(c, named(c, "pipeline", c.opts.Operations.Pipeline)) }},
	}
	for _, e := range routes {
		if e.role = account.Operator; e.method == "" {
			e.method = http.MethodGet
		}
	}
	return routes
}

// answer answers with what is asked of Operations.
func answer[T any](c *call, ask func(context.Context) (T, error)) error {
	out, err := ask(c.ctx)
	if err != nil {
		return c.operation(err)
	}
	return c.json(out)
}

// watch answers with events: what is asked of Operations, and again whenever it has changed.
func watch[T any](c *call, ask func(context.Context) (T, error)) error {
	return c.keep("state", c.r.URL.Path+"?"+c.values.Encode(), c.renewed(func(ctx context.Context) (any, error) { return ask(ctx) }))
}

// named is what asks about the object that a part of the path names.
func named[T any](c *call, part string, ask func(context.Context, string) (T, error)) func(context.Context) (T, error) {
	return func(ctx context.Context) (T, error) { return ask(ctx, c.r.PathValue(part)) }
}

// operation words an error of Operations.
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
		c.opts.Log.Warn("an operation was not answered", "request", requestID(c.r), "route", route(c.r), "error", err)
		return refuse(unavailable, detail)
	}
	return refuse(refused, detail)
}
