package stores

import (
	"cmp"
	"log/slog"
	"slices"
	"sync"
	"time"

	"brine/hbase"
	"brine/indexer"
	"brine/internal/term"
)

const (
	warnFrom   = 3                // consecutive failures
	warnEvery  = time.Minute      // per table, index or broker
	outageLast = 90 * time.Second // after the last failure: a try may take a minute, and the pause before it 20 s
)

// Outages tracks repeated failures in the stores and in Kafka. Each is logged from its third consecutive failure on, at most once a minute,
// with the last error, which names the server.
type Outages struct {
	log    *slog.Logger
	masked func(table string) bool

	mu     sync.Mutex
	failed map[string]*outage   // by HBase region, or by pipeline
	warned map[string]time.Time // by outage.of
}

// ShownCause is the most columns of a cause that are shown: a server may send whole pages.
const ShownCause = 500

type outage struct {
	kind, of string // a table, a pipeline, or a broker
	failures int
	last     error
	at       time.Time
}

const kindBroker = "broker"

// NewOutages returns Outages that log to log. What a server says of a table whose key is masked may quote a row, so only the exception's
// class is shown.
func NewOutages(log *slog.Logger, masked func(table string) bool) *Outages {
	return &Outages{log: log, masked: masked, failed: map[string]*outage{}, warned: map[string]time.Time{}}
}

// fail records a failure. now.failures is the number of consecutive failures; 0 means one more than before.
func (o *Outages) fail(key string, now outage) {
	o.mu.Lock()
	before := o.failed[key]
	if now.failures == 0 {
		now.failures = 1
		if before != nil {
			now.failures += before.failures
		}
	}
	now.at = time.Now()
	o.failed[key] = &now
	due := now.failures >= warnFrom && now.at.Sub(o.warned[now.of]) >= warnEvery
	if due {
		o.warned[now.of] = now.at
	}
	o.mu.Unlock()
	if due {
		what := "a store"
		if now.kind == kindBroker {
			what = "Kafka"
		}
		o.log.Warn(what+" keeps failing", now.kind, now.of, "tries", now.failures, "error", term.Clip(now.last.Error(), ShownCause))
	}
}

// pass records that what failed works again.
func (o *Outages) pass(keys ...string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, key := range keys {
		delete(o.failed, key)
	}
}

// Cause returns the latest error of what keeps failing of the given tables or pipeline, or nil.
func (o *Outages) Cause(of ...string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	var latest *outage
	for key, f := range o.failed {
		switch {
		case time.Since(f.at) > outageLast:
			delete(o.failed, key)
		case f.failures >= warnFrom && slices.Contains(of, f.of) && (latest == nil || f.at.After(latest.at)):
			latest = f
		}
	}
	if latest == nil {
		return nil
	}
	return latest.last
}

// HBase wraps the hooks of a client.
func (o *Outages) HBase(hooks hbase.Hooks) hbase.Hooks {
	retry, applied := hooks.Retry, hooks.Applied
	hooks.Retry = func(i hbase.RetryInfo) {
		if retry != nil {
			retry(i)
		}
		o.fail(cmp.Or(i.Region, i.Table), outage{kind: "table", of: i.Table, failures: i.Failures, last: o.shown(&i)})
	}
	hooks.Applied = func(i *hbase.AppliedInfo) {
		if applied != nil {
			applied(i)
		}
		o.pass(i.Region.Encoded, i.Table)
	}
	return hooks
}

// shown returns the error of a retry as it may be shown.
func (o *Outages) shown(i *hbase.RetryInfo) error {
	if !o.masked(i.Table) {
		return i.Err
	}
	return hbase.Unquoted(i.Server, i.Class, i.Err)
}

// Kafka records a failure of a broker. It is meant for ingest.Kafka.Failed.
func (o *Outages) Kafka(address string, failures int, err error) {
	o.fail(address, outage{kind: kindBroker, of: address, failures: failures, last: err})
}

// Index wraps the hooks of a pipeline's documents.
func (o *Outages) Index(pipeline string, hooks indexer.Hooks) indexer.Hooks {
	retry, items := hooks.Retry, hooks.Items
	hooks.Retry = func(i indexer.RetryInfo) {
		if retry != nil {
			retry(i)
		}
		o.fail(pipeline, outage{kind: "pipeline", of: pipeline, last: i.Err})
	}
	hooks.Items = func(i indexer.ItemsInfo) {
		if items != nil {
			items(i)
		}
		if i.Outcome == indexer.Written || i.Outcome == indexer.Conflict {
			o.pass(pipeline)
		}
	}
	return hooks
}
