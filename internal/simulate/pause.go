package simulate

import (
	"context"
	"time"

	"brine/event"
	"brine/ingest"
	"brine/ingest/control"
	"brine/ingest/pace"
)

// ofAsked is the name prefix of the faults that are requests to pipelines: only plans with Asks have them.
const ofAsked = "asked to"

const (
	controlTopic = "brine.control"
	controlEvery = 5 * time.Second
	putWithin    = 2 * time.Minute // longer than brokers are away
)

// controlOf opens the control topic. Only one goroutine may use it at a time, except for Mark: it holds a mutex while it waits for brokers.
func (w *World) controlOf(k ingest.Kafka) *control.Topic {
	k.Brokers = w.kafka.ListenAddrs()
	return control.Open(control.Options{Kafka: k, Topic: controlTopic, RequestTimeout: requestTime, Every: controlEvery, Logger: w.log})
}

// ask changes what is requested of the group.
func (w *World) ask(change func(*control.Entry)) error {
	w.asking <- struct{}{} // no mutex, see the package's limits
	defer func() { <-w.asking }()
	ctx, cancel := context.WithTimeout(context.Background(), putWithin)
	defer cancel()
	change(&w.asked)
	w.asked.At = time.Now().Truncate(time.Millisecond)
	topic := w.controlOf(ingest.Kafka{Dial: w.net.NewAside("operator").Dial, ClientID: "operator"})
	defer topic.Close()
	return topic.Put(ctx, group, w.asked)
}

// asks makes a request for the length of the fault. The brokers may miss its beginning, but not its end.
func (t *trouble) asks(begin, end func(*control.Entry)) {
	_ = t.ask(begin)
	t.last()
	if err := t.ask(end); err != nil {
		t.ledger.find("0: asking the group to go on: %v", err)
	}
}

func (t *trouble) pause() {
	t.asks(func(e *control.Entry) { e.Paused = true }, func(e *control.Entry) { e.Paused = false })
}

func (t *trouble) slowDown() {
	limit := 1 + float64(t.rng.IntN(30))
	t.asks(func(e *control.Entry) { e.Limit = limit }, func(e *control.Entry) { e.Limit = 0 })
}

// obedience is what a process knows about the requests to it.
type obedience struct {
	known bool
	entry control.Entry
	since map[int]int // by partition, the number of batches of records that it first submitted since it learned of a pause
}

// follow makes the process obey requests until ctx is done.
func (p *Process) follow(ctx context.Context) {
	topic := p.world.controlOf(ingest.Kafka{Dial: p.place.Dial, ClientID: p.Name})
	defer topic.Close()
	topic.Follow(ctx, func(asked map[string]control.Entry) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.obeys = obedience{true, asked[p.opts.Group], map[int]int{}}
		p.obeyLocked()
	}, func(err error) { p.world.log.Debug("what is asked cannot be read", "process", p.Name, "error", err) })
}

// obeyLocked makes the loop obey the known requests. The caller holds p.mu.
func (p *Process) obeyLocked() {
	if p.now == nil || !p.obeys.known {
		return
	}
	if e := p.obeys.entry; e.Paused && !p.now.pace.Order().Paused {
		p.did.Paused++
	}
	p.now.pace.Set(pace.Order{Paused: p.obeys.entry.Paused, Limit: p.obeys.entry.Limit})
}

// pauses checks that the process obeys a pause: it may submit what already had its turn, at most one batch per partition, and resubmit what
// it submitted before. The caller holds p.mu.
func (p *Process) pauses(b *event.Batch) {
	if !p.obeys.entry.Paused {
		return
	}
	first := b.Events[0].Record
	if first.Offset < p.submitted[first.Partition] {
		return
	}
	if p.obeys.since[first.Partition]++; p.obeys.since[first.Partition] > 1 {
		p.world.ledger.find("11: %s is paused, and submits the record at %d of partition %d", p.Name, first.Offset, first.Partition)
	}
}
