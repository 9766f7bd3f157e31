package client

import (
	"context"
	"net/url"
)

// PipelineAsk selects the halves that an order is for.
type PipelineAsk struct {
	Half  string   `json:"half,omitempty" doc:"Half of the pipeline: rows or documents (default: both)."`
	Limit *float64 `json:"limit,omitempty" doc:"For limit only: records per second of the whole group, at least 1; 0 removes the limit."`
}

// PipelineAsked is the current orders of a pipeline's halves.
type PipelineAsked struct {
	Halves []HalfAsked `json:"halves"`
}

// HalfAsked is the order of one half, which holds in all processes and across restarts.
type HalfAsked struct {
	Name   string  `json:"name" doc:"Pipeline and half, such as orders.rows."`
	Paused bool    `json:"paused"`
	Limit  float64 `json:"limit,omitempty" doc:"Records per second of the whole group. Absent if there is no limit."`
	By     string  `json:"by,omitempty" doc:"Who last paused, resumed or limited it."`
	At     string  `json:"at,omitempty"`
}

// Pause pauses a pipeline, or one half of it, until Resume.
func (c *Client) Pause(ctx context.Context, pipeline, half string) (out PipelineAsked, err error) {
	return out, c.post(ctx, askPath(pipeline, "pause"), PipelineAsk{Half: half}, &out)
}

// Resume resumes a pipeline, or one half of it.
func (c *Client) Resume(ctx context.Context, pipeline, half string) (out PipelineAsked, err error) {
	return out, c.post(ctx, askPath(pipeline, "resume"), PipelineAsk{Half: half}, &out)
}

// Limit limits a pipeline, or one half of it, to perSecond records per second; 0 removes the limit.
func (c *Client) Limit(ctx context.Context, pipeline, half string, perSecond float64) (out PipelineAsked, err error) {
	return out, c.post(ctx, askPath(pipeline, "limit"), PipelineAsk{Half: half, Limit: &perSecond}, &out)
}

func askPath(pipeline, what string) string {
	return opsPath + "/pipelines/" + url.PathEscape(pipeline) + "/" + what
}
