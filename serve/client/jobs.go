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
	Jobs []Job  `json:"jobs" doc:"Jobs without their results, newest first."`
	Next string `json:"next_page_token" doc:"Pass as page_token to get the next page. Empty if this is the last page."`
}

// Job is long-running work that outlives its request, and its outcome.
type Job struct {
	ID       string          `json:"id"`
	Kind     string          `json:"kind" doc:"replay, verify, dead-letter-scan, dead-letter-replay, dead-letter-purge, reindex, region-split, region-move, seek or explain."`
	State    string          `json:"state" doc:"queued, running or canceling; after its end done, failed, canceled or interrupted (its brine was stopped or stopped reporting)."`
	Account  string          `json:"account" doc:"Account that started the job."`
	Asked    json.RawMessage `json:"asked" doc:"Request that started the job. If fields are masked, keys, texts and expressions are hidden."`
	Created  string          `json:"created"`
	Started  string          `json:"started,omitempty"`
	Ended    string          `json:"ended,omitempty"`
	Progress []JobProgress   `json:"progress" doc:"Progress of a replay per half, of other jobs as a whole. After the end: the last progress."`
	Detail   string          `json:"detail,omitempty" doc:"Why the job failed or ended early, or what it found."`
	Fix      string          `json:"fix,omitempty" doc:"How to fix that."`
	Results  []JobResult     `json:"results,omitempty" doc:"Results in order: what the command prints with --json, except progress. Only in the answer for a single job."`
	Cut      int             `json:"results_cut,omitempty" doc:"Number of further results, which were not kept for lack of room."`
}

// HasEnded reports whether the job has ended.
func (j *Job) HasEnded() bool {
	return j.State != JobQueued && j.State != JobRunning && j.State != JobCanceling
}

// JobProgress is the progress of a part of a job.
type JobProgress struct {
	Of      string  `json:"of" doc:"Half of a pipeline, or part of the work."`
	Done    int64   `json:"done" doc:"Amount done, usually in offsets, which are an upper bound of the records."`
	Total   int64   `json:"total" doc:"Total amount, in the same unit."`
	Rate    float64 `json:"per_second"`
	ETA     float64 `json:"eta_seconds" doc:"Estimated seconds left; -1 if not known."`
	Waiting string  `json:"waiting,omitempty" doc:"Why the job is making no progress."`
}

// JobResult is a part of what a job has found or done.
type JobResult struct {
	What  string          `json:"what" doc:"plan, diff, result, finding, report, note, repaired_records, deleted_extra, sum, dead_letter, effect, preview, topic, region, record, range, outcome, row or document."`
	Value json.RawMessage `json:"value" doc:"Object, with the fields of the --json line if a command prints one."`
}

// ReplayJob requests what brine replay does.
type ReplayJob struct {
	Pipeline     string   `json:"pipeline,omitempty" doc:"Pipeline to replay (default: the only one)."`
	Topic        string   `json:"topic,omitempty" doc:"Only this topic, of those that the pipeline reads."`
	Half         string   `json:"half,omitempty" doc:"Half of the pipeline: rows or documents (default: both)."`
	From         string   `json:"from" doc:"Where to start: earliest, a time (2013-01-31T08:00:00Z, 2013-01-31, or an age such as 2h), or offsets (0:1200,1:900)."`
	To           string   `json:"to,omitempty" doc:"Where to stop, exclusive: latest (default), a time, or offsets."`
	Partitions   []int    `json:"partitions,omitempty" doc:"Only these partitions (default: those whose offsets are given, else all)."`
	Keys         []string `json:"keys,omitempty" doc:"Only records with these keys. Write bytes that are not text as \\xNN."`
	Rate         int      `json:"rate,omitempty" doc:"Maximum records per second, for each half (default: the pipeline's read.rate)."`
	Name         string   `json:"name,omitempty" doc:"Name to keep progress under (default: derived from the range)."`
	Again        bool     `json:"again,omitempty" doc:"Start over, even if a replay with this name has been started or completed."`
	SkipMissing  bool     `json:"skip_missing,omitempty" doc:"Continue even if the topic no longer has all requested records."`
	DryRun       bool     `json:"dry_run,omitempty" doc:"Only show what would be done."`
	AsConfigured bool     `json:"as_configured,omitempty" doc:"Apply the current filters to all records (default: a filter that a reload changed applies only to records after that reload)."`
	Diff         int      `json:"diff,omitempty" doc:"Only show the plan, and what this many records, spread over the range, would change in the stored rows; at most 100,000."`
}

// VerifyJob requests what brine verify does.
type VerifyJob struct {
	HalvesOf
	From         string `json:"from,omitempty" doc:"Where to start: earliest (default), a time (2013-01-31T08:00:00Z, 2013-01-31, or an age such as 2h), or offsets (0:1200,1:900)."`
	To           string `json:"to,omitempty" doc:"Where to stop, exclusive: latest (default), a time, or offsets."`
	Partitions   []int  `json:"partitions,omitempty" doc:"Only these partitions (default: those whose offsets are given, else all)."`
	Full         bool   `json:"full,omitempty" doc:"Also read all rows and documents, to find those that no record accounts for. Not with from, to or partitions."`
	Sample       string `json:"sample,omitempty" doc:"Share of the rows to verify, such as 1% (default 100%): the same rows each time."`
	Ahead        bool   `json:"ahead,omitempty" doc:"Also expect records that the live consumer group has not committed yet."`
	Repair       bool   `json:"repair,omitempty" doc:"Rewrite what is missing, stale or different, and verify it again."`
	DeleteExtra  bool   `json:"delete_extra,omitempty" doc:"With full, and without sample: delete cells, and fields of documents, that no record accounts for. Administrators only."`
	MostExtra    int64  `json:"most_extra,omitempty" doc:"With delete_extra: delete nothing if more rows and documents than this are extra, such as those that a verification without delete_extra found. Required, unless yes is set."`
	Yes          bool   `json:"yes,omitempty" doc:"With delete_extra: delete whatever is extra, without a limit, as the command does with --yes."`
	Rate         int    `json:"rate,omitempty" doc:"Maximum records per second, for each topic (default: no limit)."`
	AsConfigured bool   `json:"as_configured,omitempty" doc:"Apply the current filters to all records (default: a filter that a reload changed applies only to records after that reload)."`
}

// DeadLetterScanJob requests what brine deadletters ls --summary does, if that takes longer than a request may.
type DeadLetterScanJob struct {
	DeadLettersOf
	List int `json:"list,omitempty" doc:"Number of dead letters to list as well, each as a DeadLetter; at most 500 (default 0)."`
}

// DeadLetterReplayJob requests what brine deadletters replay does.
type DeadLetterReplayJob struct {
	DeadLettersOf
	Let           []string `json:"let,omitempty" doc:"Fix fields during the replay, each as FIELD = EXPRESSION, with an expression as in let. Requires pipeline, unless there is only one."`
	AlterIdentity bool     `json:"alter_identity,omitempty" doc:"Allow let to change fields of row keys, document ids and the version."`
	Rate          int      `json:"rate,omitempty" doc:"Maximum records per second (default: no limit)."`
	DryRun        bool     `json:"dry_run,omitempty" doc:"Only show what would be done: how many dead letters would be replayed, how many would be rejected again, and why."`
	Preview       int      `json:"preview,omitempty" doc:"Like dry_run, and also show what the first dead letters, this many and at most 100, would write, next to what is stored now."`
}

// DeadLetterPurgeJob requests what brine deadletters purge does.
type DeadLetterPurgeJob struct {
	Pipeline  string `json:"pipeline,omitempty" doc:"Only this pipeline's dead-letter topic."`
	OlderThan string `json:"older_than" doc:"Delete dead letters written before this time: 2013-01-31T08:00:00Z, or an age such as 30d."`
	KeepOpen  bool   `json:"keep_open,omitempty" doc:"In each partition, keep the first dead letter that has not been replayed, and everything after it."`
	DryRun    bool   `json:"dry_run,omitempty" doc:"Only show what would be done. Without it: administrators only."`
	Shown     string `json:"shown,omitempty" doc:"Job that was the dry run of this purge and ended within the last hour: delete at most the records that it showed. Required, except in a dry run or if yes is set."`
	Yes       bool   `json:"yes,omitempty" doc:"Delete whatever is old enough, as the command does with --yes."`
}

// ReindexJob requests what brine reindex does.
type ReindexJob struct {
	Index       string `json:"index" doc:"Index of the configuration to rebuild."`
	From        string `json:"from" doc:"Source to build from: hbase (the stored rows) or topic (the records)."`
	Rate        int    `json:"rate,omitempty" doc:"Maximum rows or records per second, for each pipeline (default: no limit)."`
	Workers     int    `json:"workers,omitempty" doc:"Number of table ranges to read concurrently, at most 64 (default 4)."`
	DropOld     bool   `json:"drop_old,omitempty" doc:"Drop the old index once the new one is complete and in use. Administrators only, except in a dry run."`
	Again       bool   `json:"again,omitempty" doc:"Start over, even if a rebuild has already been started: what it has built so far is deleted. Administrators only, except in a dry run."`
	SkipRefused bool   `json:"skip_refused,omitempty" doc:"Replace the old index even if the new one refused documents."`
	SkipMissing bool   `json:"skip_missing,omitempty" doc:"Continue even if the topic no longer has all requested records."`
	DryRun      bool   `json:"dry_run,omitempty" doc:"Only show what would be done."`
}

// RegionSplitJob requests what brine regions split does.
type RegionSplitJob struct {
	Table  string `json:"table" doc:"Table of the configuration."`
	Region string `json:"region" doc:"Region: its encoded name, a prefix of it, or a row key; write key:ROW for a row key that could be mistaken for a name."`
	At     string `json:"at,omitempty" doc:"Row key at which to split, in the HBase shell's notation (default: the middle of the region, chosen by its server)."`
	DryRun bool   `json:"dry_run,omitempty" doc:"Only show which region would be split, and where."`
}

// RegionMoveJob requests what brine regions move does.
type RegionMoveJob struct {
	Table  string `json:"table" doc:"Table of the configuration."`
	Region string `json:"region" doc:"Region: its encoded name, a prefix of it, or a row key; write key:ROW for a row key that could be mistaken for a name."`
	To     string `json:"to,omitempty" doc:"Region server to move it to (default: chosen by the master)."`
	DryRun bool   `json:"dry_run,omitempty" doc:"Only show which region would be moved, and where to."`
}

// SeekJob requests a search for the record that a cell comes from.
type SeekJob struct {
	Table   string `json:"table" doc:"Table of the configuration."`
	Row     string `json:"row" doc:"Row key of the cell, in the HBase shell's notation."`
	Column  string `json:"column,omitempty" doc:"Column of the cell, FAMILY:QUALIFIER (default: any cell of the row with the version)."`
	Version string `json:"version" doc:"Timestamp of the cell: a number, or a time if versions are times."`
	Most    int64  `json:"most,omitempty" doc:"Maximum number of records to read, at most 100,000,000 (default 5,000,000)."`
}

// ExplainJob requests what brine explain reports: a record's rows and documents, and what became of it.
type ExplainJob struct {
	Topic     string `json:"topic" doc:"Topic of the record."`
	Partition int    `json:"partition" doc:"Partition of the record."`
	Offset    int64  `json:"offset" doc:"Offset of the record."`
	Pipeline  string `json:"pipeline,omitempty" doc:"Only this pipeline (default: all that read the topic)."`
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
