package service

import (
	"context"
	"math"
	"time"

	"brine/hbase"
	"brine/indexer"
	"brine/ingest"
	"brine/pressure"
)

// stepOf are the loop's steps as the meter has them. That of fetch is how long workers wait, not how long brokers take.
var stepOf = map[ingest.Step]pressure.Step{ingest.StepRoom: pressure.Room, ingest.StepDecode: pressure.Decode,
	ingest.StepSubmit: pressure.Submit, ingest.StepCommit: pressure.Commit}

// measure adds the half's meter to the hooks of its loop.
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

// measureCalls adds the meters of those whose mutations they carry to the hooks of HBase's client. A call counts for the first of them.
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

// measureIndex adds the half's meter to the hooks of its index's writer.
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

// Pressure is where the half's time went in about the last minute, and which step holds up the others.
func (h *Half) Pressure() pressure.Reading { return h.meter.Read(time.Now()) }

// Backlog is what a half has before it.
type Backlog struct {
	Bytes   int64    `json:"lag_bytes"`               // of the records that lag, as long as those that came were on average
	Seconds float64  `json:"lag_seconds"`             // age of the oldest record that is not settled
	Drain   *float64 `json:"drain_seconds,omitempty"` // until nothing is left, at the rates of the last minute; −1: it grows; nil: not known
	Rate    *float64 `json:"rate,omitempty"`          // offsets a second that are settled, in about the last minute; nil: not known
	Arrives *float64 `json:"arrives,omitempty"`       // offsets a second that are written to the topics
}

// Backlog returns what the half has before it. The service was opened ToRun.
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
