package simulate

import (
	"context"
	"time"

	"brine/event"
	"brine/ingest"
	"brine/ingest/control"
	"brine/ingest/pace"
)

// ofAsked begins the names of the faults that are asked for: only plans with Asks have them.
const ofAsked = "asked to"

const (
	controlTopic = "brine.control"
	controlEvery = 5 * time.Second
	putWithin    = 2 * time.Minute // longer than brokers are away for
)

// controlOf opens what people ask of pipelines. Whoever uses it does so alone: it holds a mutex while it waits for brokers.
func (w *World) controlOf(k ingest.Kafka) *control.Topic {
	k.Brokers = w.kafka.ListenAddrs()
	return control.Open(control.Options{Kafka: k, Topic: controlTopic, RequestTimeout: requestTime, Every: controlEvery, Logger: w.log})
}

// ask changes what is asked of the group.
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

// asks asks for something for as long as the fault lasts. The brokers may miss its beginning, but not its end.
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

// obedience is what a process knows of what is asked of it.
type obedience struct {
	known bool
	entry control.Entry
	since map[int]int // by partition, batches of records that it submitted for the first time since it knows of a pause
}

// follow has the process do what is asked, until ctx ends.
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

// obeyLocked has the loop do what is asked, once that is known. p.mu is held.
func (p *Process) obeyLocked() {
	if p.now == nil || !p.obeys.known {
		return
	}
	if e := p.obeys.entry; e.Paused && !p.now.pace.Order().Paused {
		p.did.Paused++
	}
	p.now.pace.Set(pace.Order{Paused: p.obeys.entry.Paused, Limit: p.obeys.entry.Limit})
}

// pauses holds the process to a pause: what had its turn already is submitted, a batch of a partition at most, and again what was before.
// p.mu is held.
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
