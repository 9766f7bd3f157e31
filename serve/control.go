package serve

import (
	"context"
	"net/http"

	"brine/rowkey"
	"brine/serve/client"
)

// controlRoutes returns the routes that control running pipelines, in whatever process they run.
func controlRoutes() []*endpoint {
	pipeline := []param{{in: "path", name: "pipeline", about: "Name of the pipeline.", kind: rowkey.Text, required: true}}
	var routes []*endpoint
	for _, of := range [][2]string{
		{"pause", "Pause a pipeline until it is resumed, in all processes and across restarts, as brine pause does."},
		{"resume", "Resume a paused pipeline, as brine resume does."},
		{"limit", "Limit a pipeline to a number of records per second, for all members together, as brine limit does; 0 removes the limit."},
	} {
		what := of[0]
		routes = append(routes, &endpoint{method: http.MethodPost, path: pipelinesPath + "/{pipeline}/" + what, id: what, about: of[1],
			params: pipeline, body: client.PipelineAsk{}, bare: what != "limit", answer: client.PipelineAsked{}, missing: true,
			refuses: []kind{refused}, handle: func(c *call) error { return c.askPipeline(what) }})
	}
	return routes
}

// askPipeline sends an order to a pipeline.
func (c *call) askPipeline(what string) error {
	var of client.PipelineAsk
	if c.r.ContentLength != 0 || what == "limit" {
		if err := c.body(&of); err != nil {
			return err
		}
	}
	switch {
	case what != "limit" && of.Limit != nil:
		return wrong("body.limit", "is not for this route", "remove it, or use /limit")
	case what == "limit" && of.Limit == nil:
		return wrong("body.limit", "is missing", "write records a second, or 0 for none")
	}
	pipeline := c.r.PathValue("pipeline")
	asked := struct {
		Pipeline string `json:"pipeline"`
		client.PipelineAsk
	}{pipeline, of}
	if err := c.changes("pipelines."+what, asked); err != nil {
		return err
	}
	return answer(c, func(ctx context.Context) (client.PipelineAsked, error) {
		return c.opts.Operations.Ask(ctx, what, pipeline, of, c.id.Account.Name)
	})
}
