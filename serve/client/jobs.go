package client

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
)

// States of a job. A job has ended in any but the first three.
const (
	JobQueued      = "queued"
	JobRunning     = "running"
	JobCanceling   = "canceling" // its end is requested, and it still settles what it has started
	JobDone        = "done"
	JobFailed      = "failed"
	JobCanceled    = "canceled"
	JobInterrupted = "interrupted" // its brine was stopped, or its heartbeat has stopped
)

// Jobs is a page of jobs.
type Jobs struct {
	Jobs []Job  `json:"jobs" doc:"The newest first; without their results."`
	Next string `json:"next_page_token" doc:"What page_token takes to go on; empty at the end."`
}

// Job is long-running work that outlives its request, and its outcome.
type Job struct {
	ID       string          `json:"id"`
	Kind     string          `json:"kind" doc:"replay, verify, dead-letter-scan, dead-letter-replay, dead-letter-purge, reindex, region-split, region-move, seek or explain."`
	State    string          `json:"state" doc:"queued, running, canceling; then done, failed, canceled or interrupted: the brine that ran it was stopped."`
	Account  string          `json:"account" doc:"Who started it."`
	Asked    json.RawMessage `json:"asked" doc:"What it was started with; keys, texts and expressions only where nothing is masked."`
	Created  string          `json:"created"`
	Started  string          `json:"started,omitempty"`
	Ended    string          `json:"ended,omitempty"`
	Progress []JobProgress   `json:"progress" doc:"How far it is: a replay by half, others as a whole. Once it has ended: how far it was."`
	Detail   string          `json:"detail,omitempty" doc:"Why it failed or ended early, or what it has found."`
	Fix      string          `json:"fix,omitempty" doc:"What helps against that."`
	Results  []JobResult     `json:"results,omitempty" doc:"Of a job that is asked for alone, in the order in which they came: what the command prints with --json but for its progress."`
	Cut      int             `json:"results_cut,omitempty" doc:"How many further results there was no room for."`
}

// HasEnded reports whether the job has ended.
func (j *Job) HasEnded() bool {
	return j.State != JobQueued && j.State != JobRunning && j.State != JobCanceling
}

// JobProgress is the progress of a part of a job.
type JobProgress struct {
	Of      string  `json:"of" doc:"The half of a pipeline, or the part of the work."`
	Done    int64   `json:"done" doc:"In offsets, mostly: an upper bound of the records."`
	Total   int64   `json:"total"`
	Rate    float64 `json:"per_second"`
	ETA     float64 `json:"eta_seconds" doc:"-1: not known."`
	Waiting string  `json:"waiting,omitempty" doc:"Why it does not go on."`
}

// JobResult is a part of what a job has found or done.
type JobResult struct {
	What  string          `json:"what" doc:"plan, diff, result, finding, report, note, repaired_records, deleted_extra, sum, dead_letter, effect, preview, topic, region, record, range, outcome, row or document."`
	Value json.RawMessage `json:"value" doc:"An object, whose fields are those of the line that the command prints with --json."`
}

// ReplayJob requests what brine replay does.
type ReplayJob struct {
	Pipeline     string   `json:"pipeline,omitempty" doc:"May be left out where there is only one."`
	Topic        string   `json:"topic,omitempty" doc:"Only this one of the topics that the pipeline reads."`
	Half         string   `json:"half,omitempty" doc:"rows or documents; left out: both."`
	From         string   `json:"from" doc:"earliest, a time, how long ago (2h), or offsets (0:1200,1:900)."`
	To           string   `json:"to,omitempty" doc:"Up to, and without: latest (left out), a time, or offsets."`
	Partitions   []int    `json:"partitions,omitempty" doc:"Left out: those of the offsets, else all."`
	Keys         []string `json:"keys,omitempty" doc:"Only records of these keys; bytes that are no text as \\xNN."`
	Rate         int      `json:"rate,omitempty" doc:"Most records a second of each half; left out: the pipeline's read.rate."`
	Name         string   `json:"name,omitempty" doc:"Progress is kept under this name; left out: made of the range."`
	Again        bool     `json:"again,omitempty" doc:"Begin again, though a replay of this name is done or has been begun."`
	SkipMissing  bool     `json:"skip_missing,omitempty" doc:"Replay what is there, though part of the range is missing."`
	DryRun       bool     `json:"dry_run,omitempty" doc:"Only the plan."`
	AsConfigured bool     `json:"as_configured,omitempty" doc:"Write all records as the configuration says now, also those that came before a reload changed a filter."`
	Diff         int      `json:"diff,omitempty" doc:"Only the plan, and what so many records from all over the range would change of the rows that are there."`
}

// VerifyJob requests what brine verify does.
type VerifyJob struct {
	HalvesOf
	From         string `json:"from,omitempty" doc:"earliest (left out), a time, how long ago (2h), or offsets (0:1200,1:900)."`
	To           string `json:"to,omitempty" doc:"Up to, and without: latest (left out), a time, or offsets."`
	Partitions   []int  `json:"partitions,omitempty" doc:"Left out: those of the offsets, else all."`
	Full         bool   `json:"full,omitempty" doc:"Read all of the tables and indexes too, and find what no record accounts for."`
	Sample       string `json:"sample,omitempty" doc:"Share of the rows, always the same ones, as 1%; left out: all."`
	Ahead        bool   `json:"ahead,omitempty" doc:"Expect also what the live group has not committed yet."`
	Repair       bool   `json:"repair,omitempty" doc:"Write what is missing, stale or different again, and look once more."`
	DeleteExtra  bool   `json:"delete_extra,omitempty" doc:"With full: delete what no record accounts for; administrators only."`
	Rate         int    `json:"rate,omitempty" doc:"Most records a second that are read from each topic; left out: no limit."`
	AsConfigured bool   `json:"as_configured,omitempty" doc:"Judge all records by the configuration as it is now, also those that came before a reload changed a filter."`
}

// DeadLetterScanJob requests what brine deadletters ls --summary does, if that takes longer than a request may.
type DeadLetterScanJob struct {
	DeadLettersOf
	List int `json:"list,omitempty" doc:"Also the first so many of them, up to 500, each as a DeadLetter."`
}

// DeadLetterReplayJob requests what brine deadletters replay does.
type DeadLetterReplayJob struct {
	DeadLettersOf
	Let           []string `json:"let,omitempty" doc:"Fixes, each FIELD = EXPRESSION; they need a pipeline."`
	AlterIdentity bool     `json:"alter_identity,omitempty" doc:"Allow let for fields of row keys, of ids of documents and of the version."`
	Rate          int      `json:"rate,omitempty" doc:"Most records a second; left out: no limit."`
	DryRun        bool     `json:"dry_run,omitempty" doc:"Only how many would be written, and how many rejected again and why."`
	Preview       int      `json:"preview,omitempty" doc:"Only what would be written of so many, up to 100, and what stands there now; then as dry_run."`
}

// DeadLetterPurgeJob requests what brine deadletters purge does.
type DeadLetterPurgeJob struct {
	Pipeline  string `json:"pipeline,omitempty" doc:"Only the topic of this pipeline's dead letters."`
	OlderThan string `json:"older_than" doc:"Delete what was written before this time, or longer ago than this (30d)."`
	KeepOpen  bool   `json:"keep_open,omitempty" doc:"Delete nothing from the first dead letter on that has not been replayed, in each partition."`
	DryRun    bool   `json:"dry_run,omitempty" doc:"Only what would be deleted; without it administrators only."`
}

// ReindexJob requests what brine reindex does.
type ReindexJob struct {
	Index       string `json:"index"`
	From        string `json:"from" doc:"hbase or topic: what it is built from."`
	Rate        int    `json:"rate,omitempty" doc:"Most rows, and then records, a second of each pipeline; left out: no limit."`
	Workers     int    `json:"workers,omitempty" doc:"Ranges of the table that are read at the same time; left out: 4."`
	DropOld     bool   `json:"drop_old,omitempty" doc:"Drop the old index once the new one has its place and is complete; administrators only."`
	Again       bool   `json:"again,omitempty" doc:"Begin again: what was built so far is deleted; administrators only."`
	SkipRefused bool   `json:"skip_refused,omitempty" doc:"Take the old index's place though the new one refuses documents."`
	SkipMissing bool   `json:"skip_missing,omitempty" doc:"Go on though the topic has forgotten some of what is asked of it."`
	DryRun      bool   `json:"dry_run,omitempty" doc:"Only the plan."`
}

// RegionSplitJob requests what brine regions split does.
type RegionSplitJob struct {
	Table  string `json:"table" doc:"Of the configuration."`
	Region string `json:"region" doc:"Its encoded name, the beginning of that, or a row key that it holds; key:ROW is one for certain."`
	At     string `json:"at,omitempty" doc:"First row of the second half, as HBase's shell prints keys; left out: the servers choose the middle."`
	DryRun bool   `json:"dry_run,omitempty" doc:"Only which region is meant, and where it would be split."`
}

// RegionMoveJob requests what brine regions move does.
type RegionMoveJob struct {
	Table  string `json:"table" doc:"Of the configuration."`
	Region string `json:"region" doc:"Its encoded name, the beginning of that, or a row key that it holds; key:ROW is one for certain."`
	To     string `json:"to,omitempty" doc:"Server to move it to; left out: the master chooses."`
	DryRun bool   `json:"dry_run,omitempty" doc:"Only which region is meant, and where it would go."`
}

// SeekJob requests a search for the record that a cell comes from.
type SeekJob struct {
	Table   string `json:"table" doc:"Of the configuration."`
	Row     string `json:"row" doc:"The cell's row, as HBase's shell prints keys."`
	Column  string `json:"column,omitempty" doc:"FAMILY:QUALIFIER; left out: any cell of the row with the version."`
	Version string `json:"version" doc:"The cell's timestamp: a number, or a time where versions are times."`
	Most    int64  `json:"most,omitempty" doc:"Records that are read at most, up to 100000000; left out: 5000000."`
}

// ExplainJob requests what brine explain reports: a record's rows and documents, and what became of it.
type ExplainJob struct {
	Topic     string `json:"topic"`
	Partition int    `json:"partition"`
	Offset    int64  `json:"offset"`
	Pipeline  string `json:"pipeline,omitempty" doc:"Only this pipeline."`
}

const jobsPath = opsPath + "/jobs"

// StartJob starts a job of a kind, with a body such as a ReplayJob. Repeated with the same non-empty key, it starts only one job.
func (c *Client) StartJob(ctx context.Context, kind string, of any, key string) (out Job, err error) {
	return out, c.send(ctx, http.MethodPost, jobsPath+"/"+url.PathEscape(kind), of, &out, "Idempotency-Key", key)
}

// Jobs lists the jobs, page by page.
func (c *Client) Jobs(ctx context.Context, after string) (out Jobs, err error) {
	params := url.Values{}
	if after != "" {
		params.Set("page_token", after)
	}
	return out, c.get(ctx, jobsPath, params, &out)
}

// Job returns a job with its results.
func (c *Client) Job(ctx context.Context, id string) (out Job, err error) {
	return out, c.get(ctx, jobsPath+"/"+url.PathEscape(id), nil, &out)
}

// CancelJob requests the end of a job. What the job has done by then is kept.
func (c *Client) CancelJob(ctx context.Context, id string) (out Job, err error) {
	return out, c.post(ctx, jobsPath+"/"+url.PathEscape(id)+"/cancel", nil, &out)
}

// errEnough ends a watch after its job has ended.
var errEnough = errors.New("the job has ended")

// WatchJob calls see with a job, without its results, once at the start and again whenever it has changed, until the job has ended, ctx is
// done or see returns an error. It reconnects after a lost connection.
func (c *Client) WatchJob(ctx context.Context, id string, see func(Job) error) error {
	err := c.watch(ctx, jobsPath+"/"+url.PathEscape(id)+"/events", nil, "state", func(data []byte, _ *Problem) error {
		var job Job
		if data == nil { // the state may be stale
			return nil
		}
		if err := json.Unmarshal(data, &job); err != nil {
			return err
		}
		if err := see(job); err != nil {
			return err
		}
		if job.HasEnded() {
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}
