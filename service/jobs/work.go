package jobs

import (
	"context"
	"encoding/json"
	"sync"

	"brine/serve/client"
)

// Work is what a job does, until ctx is done. Its error says why the job ended early, and is shown with its fix if it is a *fault.Error.
type Work func(ctx context.Context, out *Output) error

// Limits of a job's output.
const (
	mostResults = 1000
	mostBytes   = 256 << 10
	mostDetail  = 2000 // columns
)

// Output is what a job says while it works. It is safe for concurrent use.
type Output struct {
	mu       sync.Mutex
	results  []client.JobResult
	bytes    int
	cut      int
	detail   string
	progress func() []client.JobProgress
	last     []client.JobProgress
}

// Result adds a result. Results without room are only counted. Half of the room is reserved for results other than Finding, Effect and
// DeadLetter, which may be many.
func (o *Output) Result(what string, value any) {
	text, err := json.Marshal(value)
	o.mu.Lock()
	defer o.mu.Unlock()
	number, bytes := mostResults, mostBytes
	if what == Finding || what == Effect || what == DeadLetter {
		number, bytes = number/2, bytes/2
	}
	if err != nil || len(o.results) >= number || o.bytes+len(text) > bytes {
		o.cut++
		return
	}
	o.results, o.bytes = append(o.results, client.JobResult{What: what, Value: text}), o.bytes+len(text)
}

// Kinds of results that a job may have many of.
const (
	Finding    = "finding"
	Effect     = "effect"
	DeadLetter = "dead_letter"
)

// Progress sets the function that returns the progress. It may be called from any goroutine, for the last time when Progress is called
// again or the work has returned.
func (o *Output) Progress(ask func() []client.JobProgress) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.renewLocked()
	o.progress = ask
}

// Found sets a sentence that describes the result, if there is more to say than that the job is done.
func (o *Output) Found(detail string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.detail = detail
}

func (o *Output) renewLocked() {
	if o.progress != nil {
		o.last = o.progress()
	}
}

// now returns the current progress.
func (o *Output) now() []client.JobProgress {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.renewLocked()
	return append([]client.JobProgress{}, o.last...)
}
