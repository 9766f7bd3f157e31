package metrics

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"

	"brine/bench/measure"
	"brine/bench/servers"
	"brine/hbase"
	"brine/ingest"
	"brine/metrics"
	"brine/sink"
	"brine/skew"
	"brine/tracing"
)

// watching is what observes the pipeline while it runs.
type watching struct {
	reg    *prometheus.Registry
	tables *skew.Tables
	ingest *metrics.Ingest
	tracer *tracing.Tracer // nil: none
	client hbase.Hooks
}

func watch(mode string) (*watching, error) {
	w := &watching{reg: prometheus.NewRegistry(), tables: skew.NewTables(time.Now)}
	w.ingest = metrics.NewIngest(w.reg)
	w.client = metrics.HBase(w.reg, w.tables)
	w.reg.MustRegister(&metrics.Skew{Tables: w.tables})
	if mode != traced {
		return w, nil
	}
	var err error
	if w.tracer, err = tracing.Open(tracing.Options{To: "file:/dev/null", OneIn: 10_000}); err != nil {
		return nil, err
	}
	count := w.client.Sent
	w.client.Sent = func(i *hbase.SentInfo) {
		w.tracer.Sent(i)
		count(i)
	}
	return w, nil
}

// source is where the events come from, and go to.
type source struct {
	*servers.Dev
	groups int // that have read the topic
}

// load writes all events once, in its own group, and returns the time and cost to this process.
func (s *source) load(ctx context.Context, mode string, events int, profile string) (l measure.Load, err error) {
	if mode != metered {
		profile = ""
	}
	stop, err := measure.Profile(profile)
	if err != nil {
		return l, err
	}
	began := time.Now()
	before, err := measure.OwnCPU()
	if err != nil {
		return l, err
	}
	if err := s.write(ctx, mode, events); err != nil {
		return l, err
	}
	after, err := measure.OwnCPU()
	return measure.Load{Client: mode, Columns: 1, Rows: events, Seconds: time.Since(began).Seconds(), ClientCPU: after - before},
		errors.Join(err, stop())
}

func (s *source) write(ctx context.Context, mode string, events int) error {
	opts := s.Config.HBase()
	p := s.Config.Pipeline(servers.Pipeline)
	rows := p.Sink()
	s.groups++
	loop := s.Config.Ingest(p, fmt.Sprint("bench-", s.groups))
	loop.Logger = slog.New(slog.DiscardHandler)
	if mode != bare && mode != bare+measure.Again {
		w, err := watch(mode)
		if err != nil {
			return err
		}
		opts.Hooks, loop.Hooks = w.client, w.ingest.Hooks(servers.Pipeline, "rows")
		rows.Hooks = metrics.NewSink(w.reg).Hooks(servers.Pipeline)
		rows.Hooks.Spread = metrics.Spread(w.tables)
		key := s.Table().RowKeys().Newest()
		w.tables.Counter(s.Table().Name, skew.Shape{Buckets: key.Salt().Buckets(), Bucket: key.Salt().Bucket, Head: key.Head})
		if w.tracer != nil {
			loop.Hooks.Flight = w.tracer.Flight(servers.Pipeline, "rows")
			defer func() { _ = w.tracer.Close(context.WithoutCancel(ctx)) }() // to /dev/null
		}
		w.lookAsItSettles(&loop.Hooks)
	}
	client, err := hbase.Open(ctx, opts)
	if err != nil {
		return err
	}
	defer func() { _ = client.Close() }() // nothing is pending any more
	mutator, err := client.Mutator(p.Mutator())
	if err != nil {
		return err
	}
	if loop.Writer, err = sink.New(sink.HBase(mutator), rows); err != nil {
		return err
	}
	return settleAll(ctx, loop, int64(events))
}

// settleAll runs the loop until all events are settled.
func settleAll(ctx context.Context, loop ingest.Options, events int64) error {
	ctx, done := context.WithCancel(ctx)
	defer done()
	var settled atomic.Int64
	count := loop.Hooks.Settled
	loop.Hooks.Settled = func(i ingest.SettledInfo) {
		if count != nil {
			count(i)
		}
		if settled.Add(int64(i.Records)) >= events {
			done()
		}
	}
	if err := ingest.Run(ctx, loop); err != nil {
		return err
	}
	if n := settled.Load(); n != events {
		return fmt.Errorf("%d of %d events are settled", n, events)
	}
	return nil
}

// lookEvery is the number of events that a pipeline below its limit settles per second. It counts instead of the clock, so that the cost
// per event does not depend on the machine's other load.
const lookEvery = 50_000

// lookAsItSettles does what a process does besides its work: it looks for hot regions once per second, and is scraped every 15.
func (w *watching) lookAsItSettles(hooks *ingest.Hooks) {
	var settled atomic.Int64
	count := hooks.Settled
	hooks.Settled = func(i ingest.SettledInfo) {
		count(i)
		n := int64(i.Records)
		switch after := settled.Add(n); {
		case after/(15*lookEvery) > (after-n)/(15*lookEvery):
			_, _ = scrape(w.reg) // its size is measured elsewhere
		case after/lookEvery > (after-n)/lookEvery:
			w.tables.Observe()
		}
	}
}

// scrape writes all metrics as text, and counts their series.
func scrape(reg *prometheus.Registry) (series int, err error) {
	families, err := reg.Gather()
	if err != nil {
		return 0, err
	}
	lines := counter{}
	enc := expfmt.NewEncoder(&lines, expfmt.NewFormat(expfmt.TypeTextPlain))
	for _, f := range families {
		if err := enc.Encode(f); err != nil {
			return 0, err
		}
		lines.n -= 2 // HELP and TYPE
	}
	return lines.n, nil
}

// counter counts lines.
type counter struct{ n int }

func (c *counter) Write(b []byte) (int, error) {
	for _, x := range b {
		if x == '\n' {
			c.n++
		}
	}
	return io.Discard.Write(b)
}
