package client

import (
	"context"
	"net/url"
)

// PipelineAsk says of which half something is asked.
type PipelineAsk struct {
	Half  string   `json:"half,omitempty" doc:"rows or documents; left out: what the pipeline has of them."`
	Limit *float64 `json:"limit,omitempty" doc:"Of limit alone: records a second of the whole group, 1 or more; 0: none."`
}

// PipelineAsked is what is asked of the halves of a pipeline now.
type PipelineAsked struct {
	Halves []HalfAsked `json:"halves"`
}

// HalfAsked is what is asked of one half, in all processes and across restarts.
type HalfAsked struct {
	Name   string  `json:"name" doc:"Such as orders.rows."`
	Paused bool    `json:"paused"`
	Limit  float64 `json:"limit,omitempty" doc:"Records a second; absent: none."`
	By     string  `json:"by,omitempty" doc:"Who has asked last."`
	At     string  `json:"at,omitempty"`
}

// Pause has a pipeline, or one half of it, stand still until Resume.
func (c *Client) Pause(ctx context.Context, pipeline, half string) (out PipelineAsked, err error) {
	return out, c.post(ctx, askPath(pipeline, "pause"), PipelineAsk{Half: half}, &out)
}

// Resume has a pipeline, or one half of it, go on.
func (c *Client) Resume(ctx context.Context, pipeline, half string) (out PipelineAsked, err error) {
	return out, c.post(ctx, askPath(pipeline, "resume"), PipelineAsk{Half: half}, &out)
}

// Limit has a pipeline, or one half of it, keep to so many records a second; 0: to none.
func (c *Client) Limit(ctx context.Context, pipeline, half string, perSecond float64) (out PipelineAsked, err error) {
	return out, c.post(ctx, askPath(pipeline, "limit"), PipelineAsk{Half: half, Limit: &perSecond}, &out)
}

func askPath(pipeline, what string) string {
	return opsPath + "/pipelines/" + url.PathEscape(pipeline) + "/" + what
}
