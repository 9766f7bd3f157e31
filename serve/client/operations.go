package client

import (
	"context"
	"net/url"
)

// Pipelines are all pipelines of the configuration.
type Pipelines struct {
	Pipelines []Pipeline `json:"pipelines"`
}

// Pipeline is a pipeline with its halves.
type Pipeline struct {
	Name    string   `json:"name"`
	Topics  []string `json:"topics"`
	Pattern string   `json:"topic_pattern,omitempty" doc:"Topics whose names match it are read too."`
	Tables  []string `json:"tables" doc:"That its rows are in."`
	Indexes []string `json:"indexes" doc:"That its documents are in."`
	Here    bool     `json:"here" doc:"The brine that answers runs it, perhaps beside others: then it says more of it."`
	Halves  []Half   `json:"halves" doc:"Its rows and its documents, neither of which waits for the other."`
}

// Half is what writes a pipeline's rows, or its documents.
type Half struct {
	Name    string   `json:"name" doc:"Such as orders.rows."`
	Kind    string   `json:"kind" doc:"rows or documents."`
	Group   string   `json:"group" doc:"Its consumer group."`
	State   string   `json:"state" doc:"running; stopped: its group has no member; halted, waiting, retrying, starting, draining or joining: what the worst of its partitions here does; unknown: the brokers did not answer."`
	Detail  string   `json:"detail,omitempty" doc:"Why it does not run."`
	Lag     int64    `json:"lag" doc:"Offsets that are left, an upper bound of the records; -1: not known."`
	Rate    *float64 `json:"offsets_per_second,omitempty" doc:"That were settled lately. Absent until it is known, within seconds of the first question."`
	Arrives *float64 `json:"arriving_per_second,omitempty" doc:"That came to the topics lately."`
	Age     *float64 `json:"age_seconds,omitempty" doc:"How old the oldest record is that is not settled, of the partitions here."`
	Members []string `json:"members" doc:"Of the group; one that was killed is one until its session ends."`
	Regions int      `json:"regions,omitempty" doc:"That it writes to."`

	Counts     *HalfCounts `json:"counts,omitempty" doc:"Of this brine, where it runs here."`
	Partitions []Partition `json:"partitions,omitempty" doc:"In the list of all pipelines they are left out."`
}

// HalfCounts are what a half has done since the brine that answers was started.
type HalfCounts struct {
	Events      int64  `json:"events" doc:"Records that were settled."`
	Batches     int64  `json:"batches"`
	Retries     int64  `json:"retries" doc:"Mutations or events that were written again."`
	Retried     string `json:"retried,omitempty" doc:"Why, the last time."`
	Cause       string `json:"cause,omitempty" doc:"Of retries that go on: the server, and what it said."`
	DeadLetters int64  `json:"dead_letters"`
	Ties        int64  `json:"ties" doc:"Cells of which two changes of one version say different things."`
}

// Partition is where a half is in a partition.
type Partition struct {
	Topic     string   `json:"topic"`
	Partition int      `json:"partition"`
	Earliest  int64    `json:"earliest" doc:"Of the log; -1: not known."`
	Committed *int64   `json:"committed,omitempty" doc:"What is read next after a start; absent: nothing is committed."`
	Latest    int64    `json:"latest" doc:"Where the log ends."`
	Lag       int64    `json:"lag"`
	Here      bool     `json:"here" doc:"The brine that answers has it. What follows is known of such partitions only."`
	State     string   `json:"state,omitempty"`
	Reason    string   `json:"reason,omitempty" doc:"Why it is halted, waits or is retried."`
	Detail    string   `json:"detail,omitempty" doc:"The same in words."`
	Watermark *int64   `json:"watermark,omitempty" doc:"Everything below is settled."`
	Since     string   `json:"since,omitempty" doc:"When the watermark last moved, or last had nothing before it."`
	Age       *float64 `json:"age_seconds,omitempty"`
}

// The operators' routes. Base is that of their listener.
const opsPath = "/api/v1/ops"

// Pipelines lists the pipelines.
func (c *Client) Pipelines(ctx context.Context) (out Pipelines, err error) {
	return out, c.get(ctx, opsPath+"/pipelines", nil, &out)
}

// Pipeline returns a pipeline with its partitions.
func (c *Client) Pipeline(ctx context.Context, name string) (out Pipeline, err error) {
	return out, c.get(ctx, opsPath+"/pipelines/"+url.PathEscape(name), nil, &out)
}
