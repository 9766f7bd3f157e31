package serve

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"brine/account"
	"brine/mask"
	"brine/rowkey"
	"brine/serve/client"
)

const (
	jobsPath = opsPath + "/jobs"
	jobsPage = 50
	maxKey   = 255 // bytes of an Idempotency-Key
)

// Kinds of jobs.
const (
	ReplayJob           = "replay"
	VerifyJob           = "verify"
	DeadLetterScanJob   = "dead-letter-scan"
	DeadLetterReplayJob = "dead-letter-replay"
	DeadLetterPurgeJob  = "dead-letter-purge"
	ReindexJob          = "reindex"
	RegionSplitJob      = "region-split"
	RegionMoveJob       = "region-move"
	SeekJob             = "seek"
	ExplainJob          = "explain"
)

// Why Operations do not start a job.
var (
	ErrJobsFull     = errors.New("too many jobs are running or waiting")
	ErrJobKeyReused = errors.New("the Idempotency-Key was used for another job")
)

// JobStart is a request to start a job.
type JobStart struct {
	Kind  string
	Of    any           // the request: a pointer to one of client's types
	Shown []byte        // the same as JSON, without what is masked for anybody
	Key   string        // the same key of one account starts only one job; empty: each request starts one
	By    account.Entry // who starts it, for the audit of its end
}

// jobRoutes returns the routes of jobs. They need accounts, because a job belongs to an account and is stored with the accounts.
func jobRoutes() []*endpoint {
	id := []param{{in: "path", name: "id", about: "ID of the job.", kind: rowkey.Text, required: true}}
	job := func(c *call, whole bool) func(context.Context) (client.Job, error) {
		return func(ctx context.Context) (client.Job, error) {
			return c.opts.Operations.Job(ctx, c.r.PathValue("id"), whole)
		}
	}
	routes := []*endpoint{
		{path: jobsPath, id: "jobs", about: "List the jobs of all brines with this database of accounts, newest first.",
			params: []param{{in: "query", name: "page_token", about: "next_page_token of the previous page.", kind: rowkey.Text}},
			answer: client.Jobs{}, handle: func(c *call) error {
				return answer(c, func(ctx context.Context) (client.Jobs, error) {
					return c.opts.Operations.Jobs(ctx, c.values.Get("page_token"), jobsPage)
				})
			}},
		{path: jobsPath + "/{id}", id: "job", about: "Get a job with its results.", params: id, answer: client.Job{}, missing: true,
			handle: func(c *call) error { return answer(c, job(c, true)) }},
		{path: jobsPath + "/{id}/events", id: "job_events", about: "Watch a job, without its results: sent now and whenever it changes.",
			params: id, events: true, state: client.Job{}, missing: true, handle: func(c *call) error { return c.watchJob(job(c, false)) }},
		{method: http.MethodPost, path: jobsPath + "/{id}/cancel", id: "cancel_job",
			about:  "Cancel a job: it settles what it has in progress and ends. What it has done stays.",
			params: id, answer: client.Job{}, accepts: "The job will end.", missing: true, refuses: []kind{refused}, handle: (*call).cancelJob},
	}
	for _, of := range []struct {
		kind, about string
		body        any
		start       func(*call) error
	}{
		{ReplayJob, "Replay a range of a pipeline's topic, or show what that would do, as brine replay does.", client.ReplayJob{}, startReplay},
		{VerifyJob, "Verify rows and documents against the topics, as brine verify does.", client.VerifyJob{}, startVerify},
		{DeadLetterScanJob, "Count dead letters by half, reason, field and schema, and list some, however many there are.",
			client.DeadLetterScanJob{}, startDeadLetterScan},
		{DeadLetterReplayJob, "Replay dead letters, or show what that would do, as brine deadletters replay does.",
			client.DeadLetterReplayJob{}, startDeadLetterReplay},
		{DeadLetterPurgeJob, "Delete old dead letters, or show which, as brine deadletters purge does.", client.DeadLetterPurgeJob{},
			startDeadLetterPurge},
		{ReindexJob, "Rebuild an index beside the one in use, then replace that one, as brine reindex does.", client.ReindexJob{}, startReindex},
		{RegionSplitJob, "Split a region, or show which and where, as brine regions split does.", client.RegionSplitJob{}, startRegionSplit},
		{RegionMoveJob, "Move a region to another server, or show which and where to, as brine regions move does.", client.RegionMoveJob{},
			startRegionMove},
		{SeekJob, "Search the topics for the record that wrote a cell, and report which ranges were read.", client.SeekJob{}, startSeek},
		{ExplainJob, "Explain what became of a record: its rows and documents beside what is stored now, as brine explain does.",
			client.ExplainJob{}, startExplain},
	} {
		refuses := []kind{refused, keyReused, tooMany}
		if of.kind == VerifyJob || of.kind == DeadLetterPurgeJob {
			refuses = append(refuses, unconfirmed)
		}
		routes = append(routes, &endpoint{method: http.MethodPost, path: jobsPath + "/" + of.kind,
			id:    "start_" + strings.ReplaceAll(of.kind, "-", "_"),
			about: of.about + " Returns as soon as the job is queued.", body: of.body, answer: client.Job{},
			params: []param{{in: "header", name: keyHeader, about: "New for each job; the same key repeats a request.", kind: rowkey.Text}},
			aside:  true, accepts: "The job is queued.", missing: true, refuses: refuses, handle: of.start})
	}
	return routes
}

func startReplay(c *call) error {
	var of client.ReplayJob
	return c.startJob(ReplayJob, &of, func() (any, bool) {
		shown := of
		shown.Keys = c.hidden(of.Keys)
		return &shown, false
	})
}

func startVerify(c *call) error {
	var of client.VerifyJob
	return c.startJob(VerifyJob, &of, func() (any, bool) { return &of, of.DeleteExtra })
}

func startDeadLetterScan(c *call) error {
	var of client.DeadLetterScanJob
	return c.startJob(DeadLetterScanJob, &of, func() (any, bool) {
		shown := of
		c.hideIn(&shown.DeadLettersOf)
		return &shown, false
	})
}

// hideIn hides what may hold values of masked fields.
func (c *call) hideIn(of *client.DeadLettersOf) {
	if !c.opts.Masks.Nothing() {
		of.Key, of.Text = mask.If(of.Key != "", of.Key), mask.If(of.Text != "", of.Text)
	}
}

func startDeadLetterReplay(c *call) error {
	var of client.DeadLetterReplayJob
	return c.startJob(DeadLetterReplayJob, &of, func() (any, bool) {
		shown := of
		shown.Let = c.hidden(of.Let)
		c.hideIn(&shown.DeadLettersOf)
		return &shown, false
	})
}

func startDeadLetterPurge(c *call) error {
	var of client.DeadLetterPurgeJob
	return c.startJob(DeadLetterPurgeJob, &of, func() (any, bool) { return &of, !of.DryRun })
}

func startReindex(c *call) error {
	var of client.ReindexJob
	return c.startJob(ReindexJob, &of, func() (any, bool) { return &of, (of.DropOld || of.Again) && !of.DryRun })
}

func startRegionSplit(c *call) error {
	var of client.RegionSplitJob
	return c.startJob(RegionSplitJob, &of, func() (any, bool) {
		shown := of
		shown.At, shown.Region = c.hiddenKey(of.Table, of.At), c.hiddenRegion(of.Table, of.Region)
		return &shown, false
	})
}

func startRegionMove(c *call) error {
	var of client.RegionMoveJob
	return c.startJob(RegionMoveJob, &of, func() (any, bool) {
		shown := of
		shown.Region = c.hiddenRegion(of.Table, of.Region)
		return &shown, false
	})
}

func startSeek(c *call) error {
	var of client.SeekJob
	return c.startJob(SeekJob, &of, func() (any, bool) {
		shown := of
		shown.Row = c.hiddenKey(of.Table, of.Row)
		return &shown, false
	})
}

func startExplain(c *call) error {
	var of client.ExplainJob
	return c.startJob(ExplainJob, &of, func() (any, bool) { return &of, false })
}

// hiddenKey returns a row key of a table as everybody may see it.
func (c *call) hiddenKey(table, key string) string {
	return mask.If(key != "" && c.opts.Masks.MasksKey(table), key)
}

// regionName matches a full region name. A shorter text may be a row key.
var regionName = regexp.MustCompile(`^[0-9a-f]{32}$`)

// hiddenRegion returns the text that names a region of a table as everybody may see it.
func (c *call) hiddenRegion(table, region string) string {
	if regionName.MatchString(region) {
		return region
	}
	return c.hiddenKey(table, region)
}

// hidden returns texts that may hold values of masked fields as everybody may see them.
func (c *call) hidden(texts []string) []string {
	if c.opts.Masks.Nothing() {
		return texts
	}
	var out []string
	for range texts {
		out = append(out, mask.Text)
	}
	return out
}

// startJob decodes the request's body into of, and starts a job with it. show returns the body without what is masked for anybody, and
// whether the job deletes for good, which only administrators may do.
func (c *call) startJob(kind string, of any, show func() (shown any, deletes bool)) error {
	if err := c.body(of); err != nil {
		return err
	}
	shown, deletes := show()
	if deletes && !c.id.Role.AtLeast(account.Admin) {
		return refuse(forbidden, "deletes cannot be undone, so the role "+string(c.id.Role)+
			" may only preview this (dry_run); an administrator may delete")
	}
	if err := confirmed(of); err != nil {
		return err
	}
	key, err := c.idempotencyKey()
	if err != nil {
		return err
	}
	text, err := json.Marshal(shown)
	if err != nil {
		return err
	}
	if err := c.changes("jobs."+kind, shown); err != nil {
		return err
	}
	by := account.Entry{Account: c.id.Account.Name, Role: c.id.Role, Address: c.address, Request: requestID(c.r)}
	job, again, err := c.opts.Operations.StartJob(c.ctx, JobStart{Kind: kind, Of: of, Shown: text, Key: key, By: by})
	switch {
	case errors.Is(err, ErrJobsFull):
		return refuse(tooMany, err.Error())
	case errors.Is(err, ErrJobKeyReused):
		return refuse(keyReused, "the key was already used for another job")
	case err != nil:
		return c.operation(err)
	case again:
		c.w.Header().Set(replayedHeader, "true")
	}
	return c.accepted(job)
}

// idempotencyKey returns the header's key, or "" if there is none.
func (c *call) idempotencyKey() (string, error) {
	key := c.r.Header.Get(keyHeader)
	for i := range len(key) {
		if key[i] < ' ' || key[i] > '~' {
			return "", wrong("header."+keyHeader, "contains non-ASCII characters", "use a random one, such as a UUID")
		}
	}
	if len(key) > maxKey {
		return "", wrong("header."+keyHeader, "is longer than "+strconv.Itoa(maxKey)+" bytes", "use a random one, such as a UUID")
	}
	return key, nil
}

// accepted answers with a job that is not done yet.
func (c *call) accepted(job client.Job) error {
	c.w.Header().Set("Location", jobsPath+"/"+job.ID)
	c.w.Header().Set("Content-Type", jsonType)
	c.w.WriteHeader(http.StatusAccepted)
	return c.json(job)
}

func (c *call) cancelJob() error {
	id := c.r.PathValue("id")
	if err := c.changes("jobs.cancel", id); err != nil {
		return err
	}
	job, err := c.opts.Operations.CancelJob(c.ctx, id)
	if err != nil {
		return c.operation(err)
	}
	return c.accepted(job)
}

// watchJob answers with events, after it has checked that the job exists.
func (c *call) watchJob(ask func(context.Context) (client.Job, error)) error {
	if _, err := ask(c.ctx); err != nil {
		return c.operation(err)
	}
	return watch(c, ask)
}
