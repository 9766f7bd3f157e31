package operations

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"
	"time"

	"brine/config"
	"brine/ingest"
	"brine/internal/term"
	"brine/internal/wording"
	"brine/serve/client"
	"brine/service"
	"brine/service/brokers"
	"brine/service/stores"
)

// Timeouts of broker requests about a group. After them, only the local state is shown.
const (
	brokersPatience = 3 * time.Second
	silenceHolds    = 5 * time.Second // after silence about one group, the next is not asked about for this long
	stillHolds      = 4 * time.Second // most time between requests about what does not change: a group, or orders
)

// asked is the brokers' answer about a half's group, with one entry per topic.
type asked struct {
	at     time.Time
	hold   time.Duration // how long it is cached
	groups []*brokers.Group
	err    error
}

// Pipelines implements serve.Operations.
func (o *Operations) Pipelines(ctx context.Context) (client.Pipelines, error) {
	out := client.Pipelines{Pipelines: []client.Pipeline{}}
	for _, p := range o.cfg().Pipelines {
		shown, err := o.state(ctx, p)
		if err != nil {
			return out, err
		}
		for i := range shown.Halves {
			shown.Halves[i].Partitions = nil
		}
		out.Pipelines = append(out.Pipelines, shown)
	}
	return out, nil
}

// Pipeline implements serve.Operations.
func (o *Operations) Pipeline(ctx context.Context, name string) (client.Pipeline, error) {
	p, err := o.pipeline(name)
	if err != nil {
		return client.Pipeline{}, err
	}
	return o.state(ctx, p)
}

// state returns the current state of a pipeline.
func (o *Operations) state(ctx context.Context, p *config.Pipeline) (client.Pipeline, error) {
	out := client.Pipeline{Name: p.Name, Topics: slices.Clone(p.Named()), Pattern: p.TopicPattern, Tables: []string{}, Indexes: []string{},
		Halves: []client.Half{}}
	for _, r := range p.Rows {
		if !slices.Contains(out.Tables, r.Table) {
			out.Tables = append(out.Tables, r.Table)
		}
	}
	for _, d := range p.Documents {
		if !slices.Contains(out.Indexes, d.Index) {
			out.Indexes = append(out.Indexes, d.Index)
		}
	}
	for _, h := range p.Halves() {
		half := o.half(ctx, h)
		if out.Here = out.Here || half.Counts != nil; ctx.Err() != nil {
			return out, ctx.Err()
		}
		out.Halves = append(out.Halves, half)
	}
	return out, nil
}

// half returns the current state of a half: its group as the brokers see it, and this process's own part.
func (o *Operations) half(ctx context.Context, h config.Half) client.Half {
	out := client.Half{Name: h.Name(), Kind: h.Kind, Group: h.Group(), State: "unknown", Lag: -1, Members: []string{},
		Versions: []client.MemberVersion{}}
	known := o.ask(ctx, h)
	if known.err != nil {
		out.Detail = shortly(known.err)
	} else {
		out.Lag, out.State = 0, "stopped"
	}
	var next, end int64
	for _, g := range known.groups {
		for _, at := range g.Positions() {
			out.Partitions = append(out.Partitions, client.Partition{Topic: at.Topic, Partition: at.Partition, Earliest: at.Earliest,
				Committed: at.Committed, Latest: at.Latest, Lag: at.Lag})
		}
		for _, m := range g.Members {
			if out.State = "running"; !slices.Contains(out.Members, m) {
				out.Members = append(out.Members, m)
			}
		}
	}
	o.addAsked(ctx, &out)
	o.addVersions(&out, known.groups)
	o.here(&out, o.service.Half(h.Name()))
	for i := range out.Partitions {
		p := &out.Partitions[i]
		if known.err == nil {
			out.Lag += p.Lag
		}
		settled := p.Earliest
		if p.Committed != nil {
			settled = max(settled, *p.Committed)
		}
		if p.Watermark != nil {
			settled = max(settled, *p.Watermark)
		}
		next, end = next+settled, end+p.Latest
	}
	if known.err == nil {
		out.Rate, out.Arrives = o.rates.observe("next "+out.Name, next, o.now()), o.rates.observe("end "+out.Name, end, o.now())
	}
	return out
}

// addVersions adds what the members of a half's group have reported, as of the last orders that were read.
func (o *Operations) addVersions(out *client.Half, groups []*brokers.Group) {
	reported := o.control.Members()
	for _, g := range groups {
		for _, id := range g.IDs {
			if slices.ContainsFunc(out.Versions, func(v client.MemberVersion) bool { return v.Member == id }) {
				continue // listed for another topic
			}
			v := client.MemberVersion{Member: id}
			if m, ok := reported[id]; ok {
				v.Version, v.Host, v.PID, v.Started = m.Version, m.Host, m.PID, timeText(m.Started)
			}
			out.Versions = append(out.Versions, v)
		}
	}
}

// here adds the state of a half that this process runs.
func (o *Operations) here(out *client.Half, h *service.Half) {
	if h == nil {
		return
	}
	loop, ok := h.Running()
	if !ok {
		return
	}
	st := o.service.StatusOf(h)
	out.Regions = st.Regions
	out.Counts = &client.HalfCounts{Events: st.Events, Batches: st.Batches, Retries: st.Retries, Retried: st.Retried, Cause: st.Cause,
		DeadLetters: st.Dead, Ties: st.Ties}
	out.Paused, out.RateLimit = st.Paused || out.Paused, max(st.RateLimit, out.RateLimit)
	out.Step, out.LagBytes, out.Drain = st.Limit, &st.Bytes, st.Drain
	worst, why := ingest.Running, ""
	for i := range loop.Partitions {
		p := &loop.Partitions[i]
		age := p.Age(o.now()).Seconds()
		at := slices.IndexFunc(out.Partitions, func(x client.Partition) bool { return x.Topic == p.Topic && x.Partition == p.Partition })
		if at < 0 { // the brokers did not answer
			at = len(out.Partitions)
			out.Partitions = append(out.Partitions, client.Partition{Topic: p.Topic, Partition: p.Partition, Earliest: -1, Latest: p.End})
		}
		x := &out.Partitions[at]
		x.Here, x.State, x.Reason, x.Detail, x.Age = true, string(p.State), string(p.Reason), p.Detail, &age
		x.Since = p.Since.UTC().Format(time.RFC3339Nano)
		if p.Watermark >= 0 {
			x.Watermark = &p.Watermark
			x.Latest = max(x.Latest, p.End)
			x.Lag = max(0, x.Latest-p.Watermark)
		}
		if x.Committed == nil && p.Committed >= 0 {
			x.Committed = &p.Committed
		}
		if worse(p.State, worst) {
			worst, why = p.State, loop.Name(*p)+" is "+string(p.State)+": "+cmp.Or(p.Detail, string(p.Reason))
		}
		if out.Age == nil || age > *out.Age {
			out.Age = &age
		}
	}
	switch {
	case !loop.Joined || loop.NoTopic:
		out.State, out.Detail = "joining", cmp.Or(loop.Detail, out.Detail)
	case worst != ingest.Running:
		out.State, out.Detail = string(worst), why
	case len(loop.Partitions) > 0:
		out.State = string(ingest.Running)
	}
}

// worse reports whether state a is worse than b.
func worse(a, b ingest.State) bool {
	order := []ingest.State{ingest.Running, ingest.Draining, ingest.Starting, ingest.Retrying, ingest.Waiting, ingest.Halted}
	return slices.Index(order, a) > slices.Index(order, b)
}

// ask returns where a half's group is in its topics, from the brokers or from the cache.
func (o *Operations) ask(ctx context.Context, h config.Half) asked {
	o.asking.Lock()
	defer o.asking.Unlock()
	now := o.now()
	before, ok := o.groups[h.Name()]
	if ok && now.Sub(before.at) < before.hold {
		return before
	}
	if o.silent.err != nil && now.Sub(o.silent.at) < silenceHolds {
		return o.silent
	}
	patience := brokersPatience
	if deadline, ok := ctx.Deadline(); ok {
		patience = min(patience, time.Until(deadline)/2)
	}
	within, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	known := asked{hold: o.hold}
	known.groups, known.err = brokers.Groups(within, o.brokers, o.cfg(), []config.Half{h}, "")
	known.at = o.now()
	if ctx.Err() != nil { // a canceled request says nothing about the brokers
		return known
	}
	if o.silent = (asked{}); within.Err() != nil && known.err != nil {
		o.silent = known
	}
	if ok && before.err == nil && known.err == nil && reflect.DeepEqual(before.groups, known.groups) {
		known.hold = min(2*before.hold, stillHolds) // an open console costs an idle brine next to nothing
	}
	o.groups[h.Name()] = known
	return known
}

// forgetGroups has the next requests about groups sent to the brokers.
func (o *Operations) forgetGroups() {
	o.asking.Lock()
	defer o.asking.Unlock()
	clear(o.groups)
}

// shortly formats an error for people.
func shortly(err error) string { return term.Clip(wording.Plain(fmt.Sprint(err)), stores.ShownCause) }
