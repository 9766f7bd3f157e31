package service

import (
	"context"
	"math"
	"time"

	"brine/config"
	"brine/hbase"
	"brine/indexer"
	"brine/ingest"
	"brine/internal/backoff"
	"brine/pressure"
	"brine/service/yield"
)

// stepOf maps the loop's steps to the meter's. The fetch step is absent: Awaited counts how long the workers wait, not how long the brokers
// take.
var stepOf = map[ingest.Step]pressure.Step{ingest.StepRoom: pressure.Room, ingest.StepDecode: pressure.Decode,
	ingest.StepSubmit: pressure.Submit, ingest.StepCommit: pressure.Commit}

// measure wraps the loop's hooks to update the half's meter.
func (h *Half) measure(hooks ingest.Hooks) ingest.Hooks {
	m, took, fetched, flight := &h.meter, hooks.Took, hooks.Fetched, hooks.Flight
	hooks.Took = func(i ingest.TookInfo) {
		took(i)
		if i.Step == ingest.StepSettle {
			m.Settled(i.Duration, i.Stored)
		} else if step, ok := stepOf[i.Step]; ok {
			m.Add(step, i.Duration)
		}
	}
	hooks.Awaited = func(i ingest.AwaitedInfo) {
		m.Add(pressure.Fetch, i.Duration-i.Room)
		m.Add(pressure.Room, i.Room)
	}
	hooks.Fetched = func(i ingest.FetchedInfo) {
		fetched(i)
		m.Fetched(i.Records, i.Bytes)
	}
	hooks.Flight = func(ctx context.Context, i ingest.FlightInfo) (context.Context, func(bool)) {
		if ctx = m.In(ctx); flight == nil {
			return ctx, func(bool) {}
		}
		return flight(ctx, i)
	}
	return hooks
}

// measureCalls wraps the HBase client's hooks to update the meters of the halves whose mutations a call carries. A call counts for the
// first of them only.
func measureCalls(hooks hbase.Hooks) hbase.Hooks {
	sent, blocked := hooks.Sent, hooks.Blocked
	hooks.Sent = func(i *hbase.SentInfo) {
		sent(i)
		for ctx := range i.Contexts {
			if m := pressure.At(ctx); m != nil {
				m.Add(pressure.Lane, i.Waited)
				m.Add(pressure.Server, i.Duration)
			}
			return
		}
	}
	hooks.Blocked = func(i hbase.BlockedInfo) {
		if blocked != nil {
			blocked(i)
		}
		if m := pressure.At(i.Context); m != nil {
			m.Blocked(i.Duration)
		}
	}
	return hooks
}

// measureIndex wraps the index writer's hooks to update the half's meter.
func (h *Half) measureIndex(hooks indexer.Hooks) indexer.Hooks {
	call, blocked := hooks.Call, hooks.Blocked
	hooks.Call = func(i *indexer.CallInfo) {
		call(i)
		h.meter.Add(pressure.Lane, i.Waited)
		h.meter.Add(pressure.Server, i.Duration)
	}
	hooks.Blocked = func(i indexer.BlockedInfo) {
		if blocked != nil {
			blocked(i)
		}
		h.meter.Blocked(i.Duration)
	}
	return hooks
}

// way is how a half gives way to others, or they to it. The goroutine of giveWay owns it.
type way struct {
	yield   yield.Half
	settled int64 // at the last look
	looked  time.Time
}

// giveWay slows down the halves that give way, while others are behind and the machine is busy, until ctx is done.
func (s *Service) giveWay(ctx context.Context) {
	busy := s.opts.Busy
	if busy == nil {
		busy = yield.NewMachine().Busy
	}
	for backoff.Wait(ctx, yield.Every) == nil {
		s.yieldOnce(time.Now(), busy())
	}
}

// yieldOnce looks at all halves once.
func (s *Service) yieldOnce(now time.Time, busy float64) {
	cfg := s.Config()
	first, loads := false, map[*Half]yield.Load{}
	comesFirst := func(h *Half) bool {
		p := cfg.Pipeline(h.pipeline.Name)
		return p != nil && p.GivesWay != nobody && p.GivesWay != h.kind
	}
	for _, h := range s.all() {
		load, known := s.loadOf(h, now)
		if !known {
			continue
		}
		loads[h] = load
		first = first || comesFirst(h) && load.Behind()
	}
	for h, load := range loads {
		before := h.way.yield.Limit()
		if h.yields(cfg) {
			h.way.yield.Look(load, first, busy)
		} else {
			h.way.yield.Free()
		}
		s.hold(h, before, h.way.yield.Limit())
	}
}

// yields reports whether the half gives way to the other half of its pipeline.
func (h *Half) yields(cfg *config.Config) bool {
	p := cfg.Pipeline(h.pipeline.Name)
	return p != nil && len(p.Halves()) > 1 && p.GivesWay == h.kind
}

// hold applies a changed limit to a half.
func (s *Service) hold(h *Half, before, limit float64) {
	if limit == before {
		return
	}
	h.opts.Pace.Bound(limit)
	switch free, was := math.IsInf(limit, 1), math.IsInf(before, 1); {
	case was:
		s.log.Info("pipeline throttled: others are behind, and the machine is busy", "pipeline", h.name, "records_a_second", math.Round(limit))
	case free:
		s.log.Info("pipeline no longer throttled", "pipeline", h.name)
	}
}

const nobody = "nobody" // value of gives_way

// loadOf returns how far a half is behind and how fast it has moved since the last look. It returns known false on the first look.
func (s *Service) loadOf(h *Half, now time.Time) (l yield.Load, known bool) {
	status := h.loop.Status()
	for _, p := range status.Partitions {
		l.Lag += p.Lag()
	}
	settled, span := h.settled.Load(), now.Sub(h.way.looked).Seconds()
	if known = !h.way.looked.IsZero() && span > 0; known {
		l.Settled = float64(settled-h.way.settled) / span
	}
	h.way.settled, h.way.looked = settled, now
	if flow := h.flow; flow != nil {
		if f := flow(); f.Known {
			l.Arrives = f.Arrived
		}
	}
	l.Asked = status.Limit * status.Share
	if rate := h.opts.RecordsPerSecond; rate > 0 && (l.Asked == 0 || rate < l.Asked) {
		l.Asked = rate
	}
	if left, ok := s.kept.left(status.Partitions, now); ok {
		l.Left = max(left.Time, time.Second)
	}
	l.Young = s.kept.young(status.Partitions, now)
	return l, known
}

// Pressure returns how the half spent its time over about the last minute, and which step holds up the others.
func (h *Half) Pressure() pressure.Reading { return h.meter.Read(time.Now()) }

// Backlog is what a half has yet to process.
type Backlog struct {
	Bytes   int64    `json:"lag_bytes"`               // of the lagging records, estimated from the average size of records so far
	Seconds float64  `json:"lag_seconds"`             // age of the oldest unsettled record
	Drain   *float64 `json:"drain_seconds,omitempty"` // until the lag is 0, at the rates of the last minute; −1: it grows; nil: unknown
	Rate    *float64 `json:"rate,omitempty"`          // settled offsets per second, over about the last minute; nil: unknown
	Arrives *float64 `json:"arrives,omitempty"`       // offsets per second written to the topics
}

// Backlog returns the half's backlog. The service must have been opened ToRun.
func (h *Half) Backlog(now time.Time) (b Backlog) {
	lag := int64(0)
	for _, p := range h.loop.Status().Partitions {
		lag += p.Lag()
		b.Seconds = max(b.Seconds, p.Age(now).Seconds())
	}
	b.Bytes, b.Seconds = int64(float64(lag)*h.meter.RecordBytes()), math.Round(b.Seconds*1000)/1000
	if h.flow == nil {
		return b
	}
	flow := h.flow()
	if seconds := math.Round(flow.Drain); flow.Drains {
		if math.IsInf(seconds, 1) {
			seconds = -1
		}
		b.Drain = &seconds
	}
	if flow.Known {
		settled, arrived := math.Round(flow.Settled*10)/10, math.Round(flow.Arrived*10)/10
		b.Rate, b.Arrives = &settled, &arrived
	}
	return b
}
