package simulate

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"

	"brine/event"
	"brine/event/avro"
	"brine/event/csv"
	"brine/ingest"
	"brine/ingest/control"
	"brine/ingest/pace"
	"brine/internal/testenv"
	"brine/registry"
	"brine/sink"
)

// Builds with a known fault are found, each by the invariant that it breaks: every check can fail.
func TestPlantedBugsAreFound(t *testing.T) {
	if testenv.Race {
		t.Skip("the checks are the same")
	}
	writer := func(plant func(event.Writer) event.Writer) Bug { return Bug{Writer: plant} }
	option := func(plant func(*ingest.Options)) Bug {
		return Bug{Hooks: func(_ *World, _ *Process, o *ingest.Options) { plant(o) }}
	}
	for _, c := range []struct {
		name, invariant string
		bug             Bug
		plan            func(*Plan) // makes the bug matter; nil: the seed's own
	}{
		{"commits before settle", "5", writer(func(w event.Writer) event.Writer { return hasty{w} }), nil},
		{"version from the wall clock", "3", writer(func(w event.Writer) event.Writer {
			return spoiling{w, func(e *event.Event) { e.Version = time.Now().UnixMilli() }}
		}), nil},
		{"commits after revoke", "5", Bug{Hooks: commitAfterRevoke}, nil},
		{"commits after it was fenced", "5", Bug{Hooks: commitAfterRevoke}, func(p *Plan) {
			p.Processes, p.Partitions, p.Static, p.Protocol = 2, 4, false, byBrokers
			p.Faults = []Fault{{Kind: "freeze process", At: 2 * time.Minute, For: 80 * time.Second, Seed: p.Seed}} // longer than its session
		}},
		{"takes a retry verdict for done", "1", writer(func(w event.Writer) event.Writer {
			return judging{w, func([]event.Failure) []event.Failure { return nil }}
		}), nil},
		{"buries what it can write", "2", writer(func(w event.Writer) event.Writer {
			return judging{w, func(f []event.Failure) []event.Failure {
				for i := range f {
					f[i].Verdict = event.Reject
				}
				return f
			}}
		}), nil},
		{"writes another value", "4", writer(func(w event.Writer) event.Writer {
			return spoiling{w, func(e *event.Event) { e.Values[3] = event.TextValue("S99") }}
		}), nil},
		{"writes backwards", "6", writer(func(w event.Writer) event.Writer { return backwards{w} }), func(p *Plan) { p.MaxBatch = 50 }},
		{"has no budget", "7", option(func(o *ingest.Options) { o.Budget, o.Window = ingest.NewBudget(1<<30), 1000 }), func(p *Plan) {
			p.Records, p.Note = 3000, 3000
			p.Faults = []Fault{{Kind: "no store", At: time.Minute, For: 4 * time.Minute}}
		}},
		{"stays halted", "8", option(func(o *ingest.Options) { o.HaltPause = 24 * time.Hour }), func(p *Plan) {
			p.Faults = append(p.Faults, Fault{Kind: "table disabled", At: 9 * time.Minute, For: time.Minute, Seed: p.Seed})
		}},
		{"seldom commits", "9", option(func(o *ingest.Options) { o.CommitInterval = 20 * time.Second }), func(p *Plan) { p.Window, p.MaxBatch = 1, 1 }},
		{"keeps what its filter leaves out", "3", option(func(o *ingest.Options) { o.Schema.Derive = keeping{o.Schema.Derive} }),
			func(p *Plan) { p.Filter = true }},
		{"makes rows whatever their condition says", "3", writer(func(w event.Writer) event.Writer {
			return spoiling{w, func(e *event.Event) { e.Values[len(e.Values)-1] = event.BoolValue(true) }} // of the condition, which comes last
		}), func(p *Plan) { p.Filter, p.Otherwise = false, sink.Delete }},
		{"writes a tombstone as a change", "4", writer(func(w event.Writer) event.Writer {
			return spoiling{w, func(e *event.Event) { e.Values[6] = event.BoolValue(false) }}
		}), func(p *Plan) { p.Format, p.Tombstones, p.Nulls = "json", true, 0.1 }},
		{"takes a tombstone for a broken record", "2", option(func(o *ingest.Options) { o.Schema.Tombstones, o.Schema.Images = false, event.Images{} }),
			func(p *Plan) { p.Format, p.Tombstones, p.Nulls = "json", true, 0.01 }},
		{"takes two columns of a row for each other", "4", option(func(o *ingest.Options) {
			o.Schema.Format = csv.Format{Columns: []string{"waybill", "at", "action", "note", "id", "station"}}
		}), func(p *Plan) { p.Format, p.Filter, p.Tombstones, p.Otherwise = "csv", false, false, "" }},
		{"takes an outage of the registry for an unknown schema", "2", Bug{Hooks: func(w *World, _ *Process, o *ingest.Options) {
			if names, err := w.registry.client(); err == nil {
				o.Schema.Format = avro.Registered(names.Framing(), impatient{names})
			}
		}}, func(p *Plan) {
			p.Format = "avro"
			p.Faults = []Fault{{Kind: ofRegistry + " away", At: time.Minute, For: time.Minute}}
		}},
		{"is reloaded, and drops a partition", "5", Bug{Reloaded: func(o *ingest.Options) { o.Writer = dropping{o.Writer} }}, nil},
		{"goes on while it is paused", "11", option(func(o *ingest.Options) { o.Pace = new(pace.Pace) }), func(p *Plan) {
			p.Asks = true
			p.Faults = append(p.Faults, Fault{Kind: ofAsked + " pause", At: 2 * time.Minute, For: 3 * time.Minute, Seed: p.Seed})
		}},
		{"records a changed filter too late", "12", Bug{Mark: func(m *control.Mark) { m.Offset += 20 }}, filtering},
		{"records no filter that a killed process had", "12", Bug{Mark: func(m *control.Mark) { m.Until = 0 }}, func(p *Plan) {
			filtering(p)
			p.Processes, p.Records, p.Burst, p.Asks, p.Faults = 1, 2500, 20, false, nil
			for i := range 8 {
				at := time.Duration(i+1) * time.Minute
				p.Faults = append(p.Faults, Fault{Kind: "kill process", At: at, For: 20 * time.Second, Seed: p.Seed},
					Fault{Kind: ofReload + " filter", At: at + time.Second, For: time.Second, Seed: p.Seed + uint64(i)})
			}
		}},
		{"cries collision", "10", Bug{Hooks: func(w *World, p *Process, _ *ingest.Options) { w.collided(p, "none") }}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for seed := uint64(1); seed <= 50; seed++ {
				p := Draw(seed)
				if c.plan != nil {
					c.plan(p)
				}
				r := run(t, p, c.bug)
				if i := slices.IndexFunc(r.Findings, func(f string) bool { return strings.HasPrefix(f, c.invariant+": ") }); i >= 0 {
					t.Logf("seed %d: %s", seed, r.Findings[i])
					return
				}
			}
			t.Error("50 seeds have not found it")
		})
	}
}

// filtering is a plan that changes filters and has no other fault.
func filtering(p *Plan) {
	p.Filter, p.Faults, p.Protocol, p.Poison, p.Nulls = true, nil, "", 0, 0
	for i := range 8 {
		p.Faults = append(p.Faults, Fault{Kind: ofReload + " filter", At: time.Duration(i+1) * time.Minute, For: time.Second, Seed: p.Seed + uint64(i)})
	}
}

// hasty reports events as durable as soon as they are submitted.
type hasty struct{ event.Writer }

func (h hasty) Submit(ctx context.Context, b *event.Batch) event.Flight {
	h.Writer.Submit(ctx, b)
	return landed{}
}

type landed struct{}

func (landed) Wait(context.Context, event.Until) (event.Outcome, error) { return event.Outcome{}, nil }

// dropping reports what arrives in the first partition as durable without writing it.
type dropping struct{ event.Writer }

func (d dropping) Submit(ctx context.Context, b *event.Batch) event.Flight {
	if b.Events[0].Record.Partition == 0 {
		return landed{}
	}
	return d.Writer.Submit(ctx, b)
}

// keeping keeps every event.
type keeping struct{ event.Deriver }

func (k keeping) Evaluator() event.Evaluator { return keepingAll{k.Deriver.Evaluator()} }

type keepingAll struct{ event.Evaluator }

func (k keepingAll) Derive(values []event.Value) (bool, *event.Error) {
	_, err := k.Evaluator.Derive(values)
	return true, err
}

// impatient never waits for a schema.
type impatient struct{ *registry.Client }

func (i impatient) Schema(ctx context.Context, id registry.ID) (*registry.Schema, error) {
	s, err := i.Client.Schema(ctx, id)
	if failed := new(registry.Error); errors.As(err, &failed) && failed.Outcome == registry.Retry {
		unknown := *failed
		unknown.Outcome = registry.Unknown
		return nil, &unknown
	}
	return s, err
}

// spoiling changes events before they are written.
type spoiling struct {
	event.Writer
	spoil func(*event.Event)
}

func (s spoiling) Submit(ctx context.Context, b *event.Batch) event.Flight {
	for i := range b.Events {
		s.spoil(&b.Events[i])
	}
	return s.Writer.Submit(ctx, b)
}

// judging changes the outcomes of events.
type judging struct {
	event.Writer
	judge func([]event.Failure) []event.Failure
}

func (j judging) Submit(ctx context.Context, b *event.Batch) event.Flight {
	return judged{j.Writer.Submit(ctx, b), j.judge}
}

type judged struct {
	event.Flight
	judge func([]event.Failure) []event.Failure
}

func (j judged) Wait(ctx context.Context, until event.Until) (event.Outcome, error) {
	outcome, err := j.Flight.Wait(ctx, until)
	outcome.Failures = j.judge(outcome.Failures)
	return outcome, err
}

// backwards writes the events of a batch from last to first.
type backwards struct{ event.Writer }

func (w backwards) Submit(ctx context.Context, b *event.Batch) event.Flight {
	slices.Reverse(b.Events)
	return mirrored{w.Writer.Submit(ctx, b), len(b.Events)}
}

type mirrored struct {
	event.Flight
	of int
}

func (m mirrored) Wait(ctx context.Context, until event.Until) (event.Outcome, error) {
	outcome, err := m.Flight.Wait(ctx, until)
	failures, pending := slices.Clone(outcome.Failures), slices.Clone(outcome.Pending)
	for i := range failures {
		failures[i].Index = m.of - 1 - failures[i].Index
	}
	for i := range pending {
		pending[i] = m.of - 1 - pending[i]
	}
	slices.Reverse(failures)
	slices.Reverse(pending)
	return event.Outcome{Failures: failures, Pending: pending}, err
}

// commitAfterRevoke makes a process commit, in its next generation or epoch, what it had of the partitions that it lost, as kafka-go's
// Reader does.
func commitAfterRevoke(w *World, p *Process, o *ingest.Options) {
	var mu sync.Mutex
	reached, lost := map[int]int64{}, map[int]int64{}
	o.Hooks.Position = func(i ingest.PositionInfo) {
		mu.Lock()
		defer mu.Unlock()
		reached[i.Partition] = i.Watermark
	}
	o.Hooks.Revoked = func(i ingest.RevokedInfo) {
		mu.Lock()
		defer mu.Unlock()
		for _, id := range i.Partitions {
			if offset, ok := reached[id]; ok {
				lost[id] = offset
			}
		}
	}
	o.Hooks.Assigned = func(i ingest.AssignedInfo) {
		mu.Lock()
		defer mu.Unlock()
		for _, id := range i.Partitions {
			delete(lost, id)
		}
		q := &kafka.OffsetCommitRequest{GroupID: group, GenerationID: i.Generation, Topics: map[string][]kafka.OffsetCommit{}}
		for id, offset := range lost {
			q.Topics[topic] = append(q.Topics[topic], kafka.OffsetCommit{Partition: id, Offset: offset})
		}
		if len(lost) > 0 && o.Group == group {
			w.lives.Go(func() { commitAs(w, p, q) })
		}
		clear(lost)
	}
}

// commitAs commits as the member that a process is.
func commitAs(w *World, p *Process, q *kafka.OffsetCommitRequest) {
	transport := &kafka.Transport{Dial: p.place.Dial}
	defer transport.CloseIdleConnections()
	if info := w.kafka.GroupInfo(group); info != nil {
		for _, m := range info.Members {
			if m.ClientID == p.client() {
				q.MemberID = m.MemberID
			}
		}
	}
	client := &kafka.Client{Addr: kafka.TCP(w.kafka.ListenAddrs()...), Transport: transport, Timeout: 5 * time.Second}
	_, _ = client.OffsetCommit(context.Background(), q)
}
