// Package pressure finds where the time of one half of a pipeline goes, and which step holds up the others. Other packages' hooks pass it
// times; it imports none of them.
//
// A worker per partition waits for records (fetch), for a place in the window and for the writer's room (room), decodes (decode) and
// submits (submit). What it has submitted then waits in a lane (lane) or is at a server (server), at the same time as the worker continues.
// The rest of the time until it is settled (settle) goes to dead letters and repeated attempts. Offsets are committed independently
// (commit).
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

// Step is a step in which a batch spends time.
type Step uint8

// The steps.
const (
	Fetch  Step = iota // the worker waits for records: from the broker, or the topic has no more
	Decode             // records to events
	Room               // waiting for the window, the rate, memory, and the writer's room
	Submit             // keys, mutations and documents
	Lane               // after submitting: gathering, waiting for the region's last call, backoff after failures
	Server             // calls to the store
	Settle             // dead letters, and repeated attempts
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

// Steps returns all steps, in the order in which a batch passes them.
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
	rates totals // seconds per second, weighted towards the newest
	known bool
}

// totals are the times of the steps, followed by the time in the store.
type totals [steps + 1]float64

// Add adds the duration of a step.
func (m *Meter) Add(s Step, d time.Duration) { m.ns[s].Add(int64(d)) }

// Blocked counts time of submit as waiting for the writer's room.
func (m *Meter) Blocked(d time.Duration) {
	m.Add(Room, d)
	m.Add(Submit, -d)
}

// Settled adds the time that settled records took, and the part of it that they spent in the store.
func (m *Meter) Settled(took, stored time.Duration) {
	m.Add(Settle, took-stored)
	m.stored.Add(int64(stored))
}

// Fetched counts fetched records.
func (m *Meter) Fetched(records, bytes int) {
	m.records.Add(int64(records))
	m.bytes.Add(int64(bytes))
}

// RecordBytes returns the average length of records, as brokers send them, or 0 before the first.
func (m *Meter) RecordBytes() float64 {
	if n := m.records.Load(); n > 0 {
		return float64(m.bytes.Load()) / float64(n)
	}
	return 0
}

type meterKey struct{}

// In returns a context from which At returns the meter.
func (m *Meter) In(ctx context.Context) context.Context { return context.WithValue(ctx, meterKey{}, m) }

// At returns the meter of a context, or nil if it has none.
func At(ctx context.Context) *Meter {
	m, _ := ctx.Value(meterKey{}).(*Meter)
	return m
}

// Reading is where the time of about the last minute went.
type Reading struct {
	Shares Shares
	Limit  Step // step that holds up the others; see Limits
	Known  bool // there were two reads, with some time measured in between
}

// Shares are the steps' shares of the total time. Their sum is 1, or 0 if no step took any time.
type Shares [steps]float64

// MarshalJSON implements json.Marshaler: it encodes an object by step name.
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

// Limits returns the name of the step that holds up the others, or an empty string if it is unknown.
func (r *Reading) Limits() string {
	if !r.Known {
		return ""
	}
	return r.Limit.String()
}

// atLeast is the shortest span between two reads that counts: shorter ones show single batches.
const atLeast = time.Second

// Read returns where the time went. The first read only begins. Later ones have more weight the further they are apart: two thirds after a
// minute.
func (m *Meter) Read(now time.Time) Reading {
	m.mu.Lock()
	defer m.mu.Unlock()
	if now.Sub(m.at) >= atLeast || now.Before(m.at) { // start over if the clock was set back
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

// read converts times to shares. It divides the store's time between lanes and servers in proportion to the times of their calls, which
// overlap.
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

// limit returns the step where back-pressure begins: the one in which the workers spend the most time. If that is waiting for room, it is
// whatever occupies the room: the servers, unless no call is pending most of the time; then the lanes wait for something else, such as a
// backoff. calls is the average number of pending calls.
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
