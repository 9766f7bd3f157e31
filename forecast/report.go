package forecast

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"brine/event"
	"brine/internal/term"
	"brine/plan"
)

// Report is what would become of sampled records if a pipeline wrote them into a table now.
type Report struct {
	Pipeline string              `json:"pipeline"`
	Table    string              `json:"table"`
	Records  int                 `json:"records"`
	Rejected map[string]Rejected `json:"rejected,omitempty"`           // dead letters by reason
	LeftOut  map[string]int64    `json:"left_out_by_reason,omitempty"` // events that become nothing
	Filtered int                 `json:"filtered,omitempty"`           // events for which the when of the table's rows fails
	LookedUp int                 `json:"looked_up,omitempty"`          // records that lack fields of their keys, whose rows are not predicted
	Expired  map[string]int      `json:"expired,omitempty"`            // by family: older than its TTL, so that HBase hides them immediately
	*plan.Forecast
	Collided []plan.Pair `json:"collided,omitempty"` // the first of the events that share a row
	Capacity *plan.Sheet `json:"capacity,omitempty"` // see AddCapacity

	sample Sample
	target *Target
}

// Rejected is the dead letters with one reason.
type Rejected struct {
	Records int    `json:"records"`
	First   string `json:"first"` // its error
	Place   string `json:"place"` // of the first
	at      int64
}

// plus returns the sum of both. The first error is that of the record that comes first in the sample.
func (r Rejected) plus(o Rejected) Rejected {
	n := r.Records + o.Records
	if r.Records == 0 || o.at < r.at {
		r = o
	}
	r.Records = n
	return r
}

// Place returns where in the sample a record of a finding is.
func (r *Report) Place(at int64) string { return r.sample.describe(at) }

// CollisionRule is the rule of the advice that events share rows.
const CollisionRule = "collision"

// Warnings returns what a person should know before anything is written.
func (r *Report) Warnings() []plan.Advice {
	var out []plan.Advice
	for _, family := range slices.Sorted(maps.Keys(r.Expired)) {
		out = append(out, r.expired(family))
	}
	if n := r.LeftOut[string(event.Filtered)] + int64(r.Filtered); n > 0 && r.Rows == 0 {
		out = append(out, plan.Advice{Rule: "filtered", Fix: "correct the when of the pipeline or of its rows, unless this is intended",
			Msg: fmt.Sprintf("none of %s becomes a row of %s: when leaves out %s", term.Count(r.Records, "record"), r.Table,
				term.Count(int(n), "event"))})
	}
	for _, reason := range slices.Sorted(maps.Keys(r.Rejected)) {
		x := r.Rejected[reason]
		out = append(out, plan.Advice{Rule: "dead-letter", Msg: fmt.Sprintf("%s of %s would become dead letters, the first (%s) because of %s",
			term.Thousands(int64(x.Records)), term.Count(r.Records, "record"), x.Place, strings.TrimSpace(x.First))})
	}
	for _, a := range r.Advice {
		if t := r.FirstTie; a.Rule == plan.TieRule && t != nil {
			a.Msg += fmt.Sprintf("; such as row %s: %s, and %s", cmp.Or(r.target.Table.Masked, t.Row.String()),
				r.Place(t.Events[0]), r.Place(t.Events[1]))
		}
		out = append(out, a)
	}
	return out
}

func (r *Report) expired(family string) plan.Advice {
	n, are, them := r.Expired[family], "are", "them"
	if n == 1 {
		are, them = "is", "it"
	}
	return plan.Advice{Rule: "expired", Fix: "raise the ttl or leave it out",
		Msg: fmt.Sprintf("%s of %s %s older than the TTL of family %s of %s: HBase would hide %s at once",
			term.Thousands(int64(n)), term.Count(r.Records, "event"), are, family, r.Table, them)}
}

// shownText is the most columns of an event that are shown: most events differ within them.
const shownText = 200

// FirstCollision describes the first two events that share a row, or returns "" if there are none.
func (r *Report) FirstCollision() string {
	if len(r.Collided) == 0 {
		return ""
	}
	pair := r.Collided[0]
	text := func(i int) string {
		return r.Place(pair.Events[i].At) + ": " + term.Clip(strings.ReplaceAll(pair.Events[i].Text, "\n", " "), shownText)
	}
	return fmt.Sprintf("row %s belongs to %s, and to %s", pair.Row, text(0), text(1))
}

// AddCapacity computes what the table needs under a load, if the sample has rows for it. If the load does not set how long rows are kept,
// AddCapacity uses the longest TTL of the families; it returns an error if one of them has none.
func (r *Report) AddCapacity(load plan.Load) error {
	if r.Rows == 0 {
		return nil
	}
	if load.Keep == 0 {
		for _, f := range r.target.Table.Families {
			ttl, ok := r.target.TTL[f.Name]
			if !ok {
				return fmt.Errorf("family %s of %s has no ttl, so it is unknown how long its rows are kept", f.Name, r.Table)
			}
			load.Keep = max(load.Keep, ttl)
		}
	}
	r.Capacity = r.Sheet(load)
	return nil
}
