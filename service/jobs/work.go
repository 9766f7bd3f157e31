package jobs

import (
	"context"
	"encoding/json"
	"sync"

	"brine/serve/client"
)

// Work is what a job does, until ctx ends. Its error says why it ended before it was done, and is shown with its fix if it is a
// *fault.Error.
type Work func(ctx context.Context, out *Output) error

// What a job may say.
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

// Result adds a result. Those for which there is no room are counted; unless it is one of those of which there are many, it takes room
// that is kept for it.
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

// Those results of which a job may have many.
const (
	Finding    = "finding"
	Effect     = "effect"
	DeadLetter = "dead_letter"
)

// Progress sets what is asked how far the work is, from any goroutine; for the last time when it is set again, or the work has returned.
func (o *Output) Progress(ask func() []client.JobProgress) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.renewLocked()
	o.progress = ask
}

// Found says in a sentence what came out, where that is more than that it is done.
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

// now is how far the work is.
func (o *Output) now() []client.JobProgress {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.renewLocked()
	return append([]client.JobProgress{}, o.last...)
}
