package skew

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Cause is the reason why a place is hot.
type Cause string

// The causes.
const (
	Monotonic    Cause = "monotonic key"   // new rows all lie after (or before) the older ones
	HeavyRow     Cause = "one heavy row"   // one row is written over and over
	HeavyKey     Cause = "one heavy key"   // most rows begin with the same value
	FewBuckets   Cause = "too few buckets" // the salt's input has few values, so few of its buckets get rows
	UnevenSplits Cause = "uneven splits"   // the region's range holds more of the keys than others do
	LoadedServer Cause = "loaded server"   // none of its regions is hot, but it has many or warm ones
	Unknown      Cause = "unknown"         // too few of its rows were sampled
)

// HotSpot is a region or server that takes much more than the mean, with the cause and the actions that help.
type HotSpot struct {
	Table    string    `json:"table,omitempty"` // of a region
	Region   *Region   `json:"region,omitempty"`
	Server   string    `json:"server"`
	Since    time.Time `json:"since"`
	Seconds  float64   `json:"seconds"`         // since Since
	Severity string    `json:"severity"`        // notice; warning from 2 times the mean; critical from 4 times
	Rate     float64   `json:"rows_per_second"` // now
	Times    float64   `json:"times_mean"`
	Share    float64   `json:"share"` // of all rows
	Cause    Cause     `json:"cause"`
	Why      string    `json:"why"`
	Values   Values    `json:"values,omitempty"` // the numbers in Why, by name
	Heavy    *Heavy    `json:"heavy,omitempty"`
	Sampled  int       `json:"sampled_rows"` // number of rows from which cause and effects are derived
	Actions  []Action  `json:"actions"`      // best first
}

// Values are numbers by name, for programs that word them themselves.
type Values map[string]float64

// ActionKind is a kind of action. brine itself can carry out splits and moves.
type ActionKind string

// The kinds of action.
const (
	Split    ActionKind = "split"
	Move     ActionKind = "move"
	Salt     ActionKind = "salt"
	OwnTable ActionKind = "own table"
)

// Action is something that helps, with its expected effect.
type Action struct {
	Kind    ActionKind `json:"kind"`
	Table   string     `json:"table"`
	Region  string     `json:"region,omitempty"`  // to be split or moved
	At      Key        `json:"at,omitempty"`      // first row of the second half; empty if the servers choose
	AtText  string     `json:"at_text,omitempty"` // its fields
	To      string     `json:"to,omitempty"`      // server
	Buckets int        `json:"buckets,omitempty"`
	Fields  []string   `json:"fields,omitempty"` // of the salt; empty: all of the key
	Key     Key        `json:"key,omitempty"`    // prefix of the rows that get a table of their own
	Text    string     `json:"text"`
	Effect  *Effect    `json:"effect,omitempty"` // nil if too few rows were sampled
}

// String returns the action with its expected effect.
func (a Action) String() string {
	if a.Effect == nil {
		return a.Text
	}
	places := "regions"
	if a.Kind == Move {
		places = "servers"
	}
	return fmt.Sprintf("%s: max/mean of %s from %.2f to %.2f, the largest share from %.1f %% to %.1f %%", a.Text, places,
		a.Effect.Before, a.Effect.After, 100*a.Effect.LargestBefore, 100*a.Effect.LargestAfter)
}

// Effect is how evenly rows lie over places of one kind (regions; servers for a move), before and after an action.
type Effect struct {
	Before        float64 `json:"before_max_mean"`
	After         float64 `json:"after_max_mean"`
	LargestBefore float64 `json:"before_largest_share"`
	LargestAfter  float64 `json:"after_largest_share"`
}

func effect(before, after []float64) *Effect {
	b, a := Measure(before), Measure(after)
	return &Effect{Before: b.MaxMean, After: a.MaxMean, LargestBefore: b.MaxMean / float64(len(before)),
		LargestAfter: a.MaxMean / float64(len(after))}
}

func severity(times float64) string {
	switch {
	case times >= 4:
		return "critical"
	case times >= 2:
		return "warning"
	}
	return "notice"
}

// evidence is the data from which the causes of a table's hot spots are derived.
type evidence struct {
	table   string
	shape   Shape
	regions []Load
	now     []float64 // rows of the last seconds, per region
	total   float64
	began   time.Time
	rows    []drawn // of the whole table, in order of arrival
	heads   []Heavy
}

// These are the numbers of sampled rows from which a cause is derived: the newest enoughRows of the whole table, or more if fewer than
// fewRows of them lie in the region. Fewer than fewRows prove nothing.
const (
	enoughRows = 4500 // enough for a salt of 1,024 buckets too, see usedBuckets
	fewRows    = 48
)

// Advise returns each hot region with its cause and the actions that help.
func (c *Counter) Advise(table string) []HotSpot {
	e := c.evidence(table)
	if e.total == 0 {
		return nil
	}
	now := c.now()
	var spots []HotSpot
	for _, i := range e.hottest() {
		h, of, in := e.explained(i)
		of.act(&h, i, in)
		h.Seconds = now.Sub(h.Since).Seconds()
		spots = append(spots, h)
	}
	c.keep(spots)
	return spots
}

// evidence gathers the data from which the causes of the hot regions are derived; it gathers nothing if no region is hot.
func (c *Counter) evidence(table string) evidence {
	c.mu.Lock()
	shape := c.shape
	c.mu.Unlock()
	e := evidence{table: table, shape: shape, regions: c.read().Regions, began: c.began}
	hot := false
	for _, l := range e.regions {
		e.now = append(e.now, float64(l.now))
		e.total += float64(l.now)
		hot = hot || l.HotSince != nil
	}
	if hot {
		c.mu.Lock()
		e.rows = c.sample.all()
		c.mu.Unlock()
		e.heads = c.Heavy()
	}
	return e
}

// hottest returns the hot regions, hottest first.
func (e *evidence) hottest() (hot []int) {
	for i, l := range e.regions {
		if l.HotSince != nil {
			hot = append(hot, i)
		}
	}
	slices.SortStableFunc(hot, func(a, b int) int { return cmp.Compare(e.now[b], e.now[a]) })
	return hot
}

// Heavy returns the values of the first field that is whole in the row which at least 1 % of the rows have.
func (c *Counter) Heavy() []Heavy {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tick()
	out := heavy(c.heads[0], c.heads[1], leastShare)
	for i := range out {
		out[i].Text = c.shape.text(out[i].Key)
	}
	return out
}

const leastShare = 0.01

// HeavyFields returns the values of declared fields that at least 1 % of the events have, by field.
func (c *Counter) HeavyFields() map[string][]Heavy {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tick()
	out := make(map[string][]Heavy, len(c.fields))
	for name, s := range c.fields {
		all := heavy(s[0], s[1], leastShare)
		for i := range all {
			all[i].Text = Printable(all[i].Key)
		}
		out[name] = all
	}
	return out
}

func (s *Shape) text(beginning []byte) string {
	if s.Text == nil {
		return ""
	}
	return Printable([]byte(s.Text(beginning)))
}

// explained returns why region i is hot, and the evidence for it.
func (e *evidence) explained(i int) (h HotSpot, of evidence, in inside) {
	l := e.regions[i]
	h = HotSpot{Table: e.table, Region: &l.Region, Server: l.Region.Server, Since: *l.HotSince, Rate: e.now[i] / nowSpan,
		Share: e.now[i] / e.total}
	h.Times = h.Share * float64(len(e.now))
	h.Severity = severity(h.Times)
	of, in = e.since(*l.HotSince, i)
	h.Sampled = len(in.rows)
	of.explain(&h, in)
	return h, of, in
}
