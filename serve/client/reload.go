package client

import "context"

// ReloadAsk requests a reload of the configuration.
type ReloadAsk struct {
	DryRun bool   `json:"dry_run,omitempty" doc:"Only say what it would do, or why it would be refused."`
	After  string `json:"after,omitempty" doc:"Of a dry run: only if the file still says what it said then. Left out: whatever it says."`
}

// Reload is what a reload did, or would do.
type Reload struct {
	Result string `json:"result" doc:"applied; unchanged: the file says what it said before; preview, or refused: of a dry run."`
	By     string `json:"by"`
	At     string `json:"at"`
	Before string `json:"before" doc:"The beginning of the SHA-256 of the configuration that ran, without secrets and comments."`
	After  string `json:"after,omitempty" doc:"The same of the file; absent: it could not be read."`

	Pipelines []ReloadHalf    `json:"pipelines" doc:"Those of the file in its order, behind them those that stop."`
	Settings  []ReloadSetting `json:"settings" doc:"That the file has otherwise. No secret is shown."`
	Refusals  []ReloadRefusal `json:"refusals,omitempty" doc:"Settings that cannot change while brine runs."`
	Error     string          `json:"error,omitempty" doc:"Why it would be refused."`
	Fix       string          `json:"fix,omitempty" doc:"What helps."`
	Warnings  []string        `json:"warnings,omitempty" doc:"Of the file."`

	Onward     []ReloadOffset `json:"onward,omitempty" doc:"Where what is written otherwise begins."`
	Unrecorded string         `json:"unrecorded,omitempty" doc:"Why onward is in the log and in this answer alone."`
}

// ReloadHalf is what a reload does to a half of a pipeline.
type ReloadHalf struct {
	Name     string   `json:"pipeline" doc:"Such as orders.rows."`
	Does     string   `json:"does" doc:"starts; stops and changes: it settles what it has begun, and commits; stays: nothing of it stops."`
	Settings []string `json:"settings,omitempty" doc:"That change it."`
	Onward   bool     `json:"onward,omitempty" doc:"What was written before stays as it is, though it would be written otherwise now."`
}

// ReloadSetting is a changed setting.
type ReloadSetting struct {
	Setting string `json:"setting" doc:"Such as pipelines.scans.read.window."`
	Was     string `json:"was,omitempty" doc:"Absent: it was not there."`
	Becomes string `json:"becomes,omitempty" doc:"Absent: it is no longer there."`
	Effect  string `json:"effect" doc:"live, drain, onward, restart, replay or serve: docs/live.md says what they mean."`
}

// ReloadRefusal is a setting that cannot change while brine runs.
type ReloadRefusal struct {
	Setting string `json:"setting"`
	Message string `json:"message"`
	Fix     string `json:"fix"`
}

// ReloadOffset is where a half continues in a partition.
type ReloadOffset struct {
	Half      string `json:"pipeline"`
	Topic     string `json:"topic"`
	Partition int    `json:"partition"`
	Offset    int64  `json:"offset" doc:"The first record that is written as the file says."`
}

// Reload makes the brine that answers load its configuration again, or reports what that would do. That brine runs the pipelines; every
// other process must be reloaded by itself.
func (c *Client) Reload(ctx context.Context, of ReloadAsk) (out Reload, err error) {
	return out, c.post(ctx, opsPath+"/reload", of, &out)
}
