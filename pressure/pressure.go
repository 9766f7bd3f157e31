// Package pressure finds where the time of one half of a pipeline goes, and which step holds up the others. It is given times by the hooks
// of others and imports none of them.
//
// A worker per partition waits for records (fetch), for a place in the window and for the writer's room (room), decodes (decode) and hands
// over (submit). What it has handed over waits in a lane and is at a server at the same time; what is left until it is settled (settle) are
// dead letters and attempts that are made again. Offsets are committed beside all that (commit).
package pressure

import (
	"context"
	"encoding/json"
	"math"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// Step is where a batch's time goes.
type Step uint8

// The steps.
const (
	Fetch  Step = iota // the worker waits for records: the broker, or the topic has no more
	Decode             // records to events
	Room               // waiting for the window, the rate, memory and the writer's room
	Submit             // keys, mutations and documents
	Lane               // of what was handed over: gathering, waiting for the region's last call, pauses after failures
	Server             // calls of the store
	Settle             // dead letters, and attempts that are made again
	Commit             // of offsets

	steps
)

var names = [steps]string{"fetch", "decode", "room", "submit", "lane", "server", "settle", "commit"}

func (s Step) String() string {
	if s >= steps {
		return ""
	}
	return names[s]
}

// Steps are all of them, in the order of a batch's way.
func Steps() [steps]Step {
	return [steps]Step{Fetch, Decode, Room, Submit, Lane, Server, Settle, Commit}
}

// Meter adds up the time of one half. It is safe for concurrent use; Add costs one atomic addition.
type Meter struct {
	ns             [steps]atomic.Int64
	stored         atomic.Int64 // time in the store of what has settled: lanes and servers together
	records, bytes atomic.Int64 // fetched

	mu    sync.Mutex
	at    time.Time
	last  totals
	rates totals // seconds a second, newer ones with more weight
	known bool
}

// totals are the times of the steps, and behind them that in the store.
type totals [steps + 1]float64

// Add notes that a step took so long.
func (m *Meter) Add(s Step, d time.Duration) { m.ns[s].Add(int64(d)) }

// Blocked notes that so much of the time of submit was waiting for the writer's room.
func (m *Meter) Blocked(d time.Duration) {
	m.Add(Room, d)
	m.Add(Submit, -d)
}

// Settled notes how long what has settled took, and for how much of it the store had it.
func (m *Meter) Settled(took, stored time.Duration) {
	m.Add(Settle, took-stored)
	m.stored.Add(int64(stored))
}

// Fetched notes what came.
func (m *Meter) Fetched(records, bytes int) {
	m.records.Add(int64(records))
	m.bytes.Add(int64(bytes))
}

// RecordBytes is how long records are on average, as brokers send them; 0: none came yet.
func (m *Meter) RecordBytes() float64 {
	if n := m.records.Load(); n > 0 {
		return float64(m.bytes.Load()) / float64(n)
	}
	return 0
}

type meterKey struct{}

// In returns a context by which At finds the meter.
func (m *Meter) In(ctx context.Context) context.Context { return context.WithValue(ctx, meterKey{}, m) }

// At returns the meter of a context; nil if it has none.
func At(ctx context.Context) *Meter {
	m, _ := ctx.Value(meterKey{}).(*Meter)
	return m
}

// Reading is where the time went in about the last minute.
type Reading struct {
	Shares Shares
	Limit  Step // that holds the others up; see Limits
	Known  bool // there were two looks, with something between
}

// Shares are those of the steps, of the time of all. Their sum is 1, or 0 if nothing took any.
type Shares [steps]float64

// MarshalJSON implements json.Marshaler: an object, by the names of the steps.
func (s Shares) MarshalJSON() ([]byte, error) {
	out := []byte{'{'}
	for i, share := range s {
		if i > 0 {
			out = append(out, ',')
		}
		out = strconv.AppendFloat(append(append(append(out, '"'), names[i]...), `":`...), math.Round(share*1000)/1000, 'g', -1, 64)
	}
	return append(out, '}'), nil
}

// UnmarshalJSON implements json.Unmarshaler.
func (s *Shares) UnmarshalJSON(text []byte) error {
	var byName map[string]float64
	if err := json.Unmarshal(text, &byName); err != nil {
		return err
	}
	for i, name := range names {
		s[i] = byName[name]
	}
	return nil
}

// Limits returns the name of the step that holds the others up; empty if it is not known.
func (r *Reading) Limits() string {
	if !r.Known {
		return ""
	}
	return r.Limit.String()
}

// atLeast is between two looks that times are taken from: shorter spans show single batches.
const atLeast = time.Second

// Read returns where the time went. The first look begins; later ones have the more weight, the longer they are apart: after a minute two
// thirds.
func (m *Meter) Read(now time.Time) Reading {
	m.mu.Lock()
	defer m.mu.Unlock()
	if now.Sub(m.at) >= atLeast || now.Before(m.at) { // a clock that was set back begins again
		m.observe(now)
	}
	if !m.known {
		return Reading{}
	}
	return read(m.rates)
}

func (m *Meter) observe(now time.Time) {
	var all totals
	for i := range m.ns {
		all[i] = time.Duration(m.ns[i].Load()).Seconds()
	}
	all[steps] = time.Duration(m.stored.Load()).Seconds()
	span, before, first := now.Sub(m.at).Seconds(), m.last, m.at.IsZero()
	m.at, m.last = now, all
	if first || span <= 0 {
		return
	}
	weight := 1 - math.Exp(-span/60)
	if !m.known {
		weight = 1
	}
	moved := 0.0
	for i := range all {
		more := max(0, all[i]-before[i]) / span
		moved += more
		m.rates[i] += weight * (more - m.rates[i])
	}
	m.known = m.known || moved > 0
}

// read makes shares of the times. The store's time is divided between lanes and servers as their calls' was, which overlap.
func read(t totals) Reading {
	r := Reading{Known: true}
	lane, server, stored := t[Lane], t[Server], t[steps]
	if calls := lane + server; calls > 0 {
		t[Lane], t[Server] = stored*lane/calls, stored*server/calls
	} else {
		t[Settle] += stored
	}
	sum := 0.0
	for i := range steps {
		sum += t[i]
	}
	if sum > 0 {
		for i := range steps {
			r.Shares[i] = t[i] / sum
		}
	}
	r.Limit = limit(t, server)
	return r
}

// limit is where back-pressure begins: what the workers do most. Where that is waiting for room, it is what keeps the room: the servers,
// unless for most of the time no call is out; then the lanes wait for something else, such as a pause after failures. calls is how many
// calls are pending on average.
func limit(t totals, calls float64) Step {
	const hardlyAny = .5
	most := Fetch
	for _, s := range []Step{Decode, Room, Submit} {
		if t[s] > t[most] {
			most = s
		}
	}
	switch {
	case most != Room:
		return most
	case t[Settle] > t[Lane]+t[Server]:
		return Settle
	case calls < hardlyAny:
		return Lane
	}
	return Server
}
