package client

import "context"

// ReloadAsk requests a reload of the configuration.
type ReloadAsk struct {
	DryRun bool   `json:"dry_run,omitempty" doc:"Only show what it would do, or why it would be refused."`
	After  string `json:"after,omitempty" doc:"Value of after from a dry run: refuse the reload if the file, or a schema file that it names, has changed since (default: load the file as it is)."`
}

// Reload is what a reload did, or would do.
type Reload struct {
	Result string `json:"result" doc:"applied; unchanged (the file means the same as before); for a dry run also preview or refused."`
	By     string `json:"by" doc:"Who requested it."`
	At     string `json:"at"`
	Before string `json:"before" doc:"Digest of the configuration that was running, without secrets and comments, and of its schema files."`
	After  string `json:"after,omitempty" doc:"Digest of the file's configuration and its schema files. Absent if it could not be read."`

	Pipelines []ReloadHalf    `json:"pipelines" doc:"Effect on each half of a pipeline: those of the file in its order, then those that stop."`
	Settings  []ReloadSetting `json:"settings" doc:"Settings that the file changes. Secrets are not shown."`
	Refusals  []ReloadRefusal `json:"refusals,omitempty" doc:"Settings that cannot change while brine runs."`
	Error     string          `json:"error,omitempty" doc:"Why the reload would be refused."`
	Fix       string          `json:"fix,omitempty" doc:"How to fix that."`
	Warnings  []string        `json:"warnings,omitempty" doc:"Warnings about the file."`

	Renewed []ReloadRenewal `json:"renewed,omitempty" doc:"Certificates and secrets whose files have changed since the last reload. New connections use them, whatever becomes of the reload."`

	Onward     []ReloadOffset `json:"onward,omitempty" doc:"Offsets from which records are written according to the file, where what was written before is kept."`
	Unrecorded string         `json:"unrecorded,omitempty" doc:"Why onward is not in the control topic yet. Until it is, the partitions wait before they read on."`
}

// ReloadHalf is what a reload does to a half of a pipeline.
type ReloadHalf struct {
	Name     string   `json:"pipeline" doc:"Pipeline and half, such as orders.rows."`
	Does     string   `json:"does" doc:"starts; stops or changes (once it has settled and committed what is in progress); or stays (nothing of it stops)."`
	Settings []string `json:"settings,omitempty" doc:"Settings that change it."`
	Onward   bool     `json:"onward,omitempty" doc:"Whether what was written before is kept, although it would be written differently now."`
}

// ReloadSetting is a changed setting.
type ReloadSetting struct {
	Setting string `json:"setting" doc:"Name of the setting, such as pipelines.scans.read.window."`
	Was     string `json:"was,omitempty" doc:"Value before. Absent if the setting was not there."`
	Becomes string `json:"becomes,omitempty" doc:"Value after. Absent if the setting is no longer there."`
	Effect  string `json:"effect" doc:"live, drain, onward, restart, replay or serve, as described in docs/live.md."`
}

// ReloadRefusal is a setting that cannot change while brine runs.
type ReloadRefusal struct {
	Setting string `json:"setting"`
	Message string `json:"message"`
	Fix     string `json:"fix"`
}

// ReloadRenewal is a setting whose file, with a certificate or a secret, has changed.
type ReloadRenewal struct {
	Setting string `json:"setting"`
	Before  string `json:"before" doc:"Fingerprint of what the file held. It can only be compared with others of the same process."`
	After   string `json:"after"`
}

// ReloadOffset is where a half continues in a partition.
type ReloadOffset struct {
	Half      string `json:"pipeline" doc:"Pipeline and half, such as orders.rows."`
	Topic     string `json:"topic"`
	Partition int    `json:"partition"`
	Offset    int64  `json:"offset" doc:"Offset of the first record that is written according to the file."`
	Until     int64  `json:"until,omitempty" doc:"Records before this offset may be written both as before and according to the file, because some of them were not settled within kafka.stop_timeout, or when their process was killed. Verifications accept either."`
}

// Reload makes the brine that answers load its configuration again, or reports what that would do. That brine runs the pipelines; every
// other process must be reloaded by itself.
func (c *Client) Reload(ctx context.Context, of ReloadAsk) (out Reload, err error) {
	return out, c.post(ctx, opsPath+"/reload", of, &out)
}
