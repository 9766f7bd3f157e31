package service

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"

	"brine/account"
	"brine/command"
	"brine/config"
	"brine/ingest/offsets"
	"brine/publish"
	"brine/service/brokers"
)

// Desk returns a desk that accepts commands and keeps them in the outbox. The caller runs the desk and stops it before the service is
// closed; closeAll closes the desk's connections.
func (s *Service) Desk(outbox *command.Outbox) (d *command.Desk, closeAll func()) {
	k := &s.Config().Kafka
	lookUps := brokers.Open(k)
	sender := publish.NewSender(k.Options(), k.RequestTimeout)
	at := &settledAt{service: s, lookUps: lookUps, known: map[groupPartition]*committedAt{}}
	o := command.Options{
		Machines: s.Config().Machines(), Outbox: outbox, Rows: s.hbase.Client, Publisher: commandPublisher{sender, lookUps},
		Topics: commandTopics{k, lookUps}, Settled: at.settled, Log: s.log,
	}
	if s.accounts != nil {
		o.Late = s.auditLate
	}
	if s.serving != nil {
		o.Hooks = s.serving.Commands()
	}
	d = command.NewDesk(o)
	return d, func() {
		sender.Close()
		lookUps.Close()
	}
}

// commands opens the command desk once and runs it until the service is closed. It returns nil if nobody can send commands.
func (s *Service) commands(ctx context.Context) (*command.Desk, error) {
	if s.accounts == nil || s.desk != nil || len(s.Config().Machines()) == 0 {
		return s.desk, nil
	}
	if err := s.accounts.Migrate(ctx, command.Migrations, command.Versions); err != nil {
		return nil, fmt.Errorf("accounts.connect: %w", err)
	}
	outbox := command.NewOutbox(s.accounts.DB())
	d, closeAll := s.Desk(outbox)
	works, stop := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := d.Run(works); err != nil {
			s.log.Error("command publishing stopped", "error", err)
		}
	}()
	s.desk, s.closeDesk = d, func() {
		stop()
		<-ended
		outbox.Close()
		closeAll()
	}
	return d, nil
}

// auditLate records that a command was applied after its caller was answered that it has no effect.
func (s *Service) auditLate(ctx context.Context, e *command.Entry) error {
	return s.accounts.Audit(ctx, account.Entry{Account: "(brine)", Action: "command.late", Object: e.Table + " " + e.Command + " id=" + e.ID,
		Reason: e.Detail})
}

// commandPublisher publishes commands through the pipelines' brokers.
type commandPublisher struct {
	sender  *publish.Sender
	lookUps *offsets.Client
}

func (p commandPublisher) Partitions(ctx context.Context, topic string) (int, error) {
	ends, err := p.lookUps.Ends(ctx, topic)
	return len(ends), err
}

func (p commandPublisher) Publish(ctx context.Context, topic string, partition int, records []command.Record) (int64, error) {
	list, ids := make([]publish.Record, len(records)), make([]string, len(records))
	for i, r := range records {
		list[i], ids[i] = publish.Record{Key: r.Key, Value: r.Value, Time: r.Time}, r.Command
	}
	offset, err := p.sender.Send(ctx, topic, partition, list, command.Header, ids)
	if errors.Is(err, publish.ErrNever) {
		err = fmt.Errorf("%w: %w", command.ErrRefused, err)
	}
	return offset, err
}

// commandTopics reads the topics of commands.
type commandTopics struct {
	kafka   *config.Kafka
	lookUps *offsets.Client
}

func (t commandTopics) Since(ctx context.Context, topic string, partition int, at time.Time) (from, to int64, whole bool, err error) {
	ends, err := t.lookUps.Ends(ctx, topic)
	if err != nil {
		return 0, 0, false, brokers.Error(err)
	}
	found, err := t.lookUps.At(ctx, topic, at)
	if err != nil {
		return 0, 0, false, brokers.Error(err)
	}
	starts, err := t.lookUps.Starts(ctx, topic) // last: it only grows
	if err != nil {
		return 0, 0, false, brokers.Error(err)
	}
	if n := min(len(ends), len(found), len(starts)); partition >= n {
		return 0, 0, false, fmt.Errorf("topic %s has no partition %d, only %d partitions", topic, partition, n)
	}
	from, to = found[partition], ends[partition]
	if from < 0 {
		from = to
	}
	return from, to, starts[partition] == 0 || starts[partition] < from, nil
}

func (t commandTopics) Records(ctx context.Context, topic string, partition int, from, to int64) iter.Seq2[command.Seen, error] {
	return func(yield func(command.Seen, error) bool) {
		reader := brokers.NewReader(t.kafka, topic)
		defer reader.Close()
		for r, err := range reader.Records(ctx, partition, from, to) {
			var seen command.Seen
			if err == nil {
				seen.Offset = r.Offset
				for _, h := range r.Headers {
					if h.Key == command.Header {
						seen.Command = string(h.Value)
					}
				}
			}
			if !yield(seen, err) {
				return
			}
		}
	}
}

// settledAt returns how far pipelines have settled: from the loop if it runs in this process, and otherwise from the commits of the
// pipeline's group.
type settledAt struct {
	service *Service
	lookUps *offsets.Client

	mu    sync.Mutex
	known map[groupPartition]*committedAt
}

type groupPartition struct {
	group, topic string
	partition    int
}

// committedAt caches what a group has committed.
type committedAt struct {
	mu     sync.Mutex // held during the request to the brokers
	offset int64
	asked  time.Time
}

// committedFor is how long an answer of the brokers is cached. It bounds the request rate, however many callers wait.
const committedFor = 100 * time.Millisecond

func (a *settledAt) settled(ctx context.Context, pipeline, topic string, partition int) (int64, error) {
	if h := a.service.Pipeline(pipeline).Rows(); h != nil && h.loop != nil {
		for _, p := range h.loop.Status().Of(topic) {
			if p.Partition == partition && p.Watermark >= 0 {
				return p.Watermark, nil
			}
		}
	}
	var group string
	for _, p := range a.service.Config().Pipelines {
		if p.Name == pipeline {
			group = p.RowsGroup()
		}
	}
	return a.committed(ctx, groupPartition{group, topic, partition})
}

func (a *settledAt) committed(ctx context.Context, of groupPartition) (int64, error) {
	a.mu.Lock()
	at := a.known[of]
	if at == nil {
		at = &committedAt{}
		a.known[of] = at
	}
	a.mu.Unlock()
	at.mu.Lock()
	defer at.mu.Unlock()
	if time.Since(at.asked) < committedFor {
		return at.offset, nil
	}
	offsets, err := a.lookUps.Committed(ctx, of.group, of.topic, []int{of.partition})
	if err != nil {
		return 0, brokers.Error(err)
	}
	at.offset, at.asked = offsets[of.partition], time.Now()
	return at.offset, nil
}
