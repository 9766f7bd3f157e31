package main

import (
	"fmt"
	"strings"

	"brine/config"
	"brine/plan"
)

// foresight is what would become of sampled records if a pipeline wrote them into a table now.
type foresight struct {
	Pipeline string              `json:"pipeline"`
	Table    string              `json:"table"`
	Records  int                 `json:"records"`
	Rejected map[string]rejected `json:"rejected,omitempty"`  // dead letters by reason
	LookedUp int                 `json:"looked_up,omitempty"` // records that lack fields of their keys: their rows are not foreseen
	Expired  map[string]int      `json:"expired,omitempty"`   // by family: older than its TTL, so HBase hides them as they are written
	*plan.Forecast
	Collided []plan.Pair `json:"collided,omitempty"` // the first of the events that share a row
	Capacity *plan.Sheet `json:"capacity,omitempty"`

	table *config.Table
}

// rejected are the dead letters of one reason.
type rejected struct {
	Records int    `json:"records"`
	First   string `json:"first"`
	Place   string `json:"place"` // of the first
	at      int64
}

// and adds up two; of the first ones the one that stands first in the sample remains.
func (r rejected) and(o rejected) rejected {
	n := r.Records + o.Records
	if r.Records == 0 || o.at < r.at {
		r = o
	}
	r.Records = n
	return r
}

// warnings are what a person should know before writing.
func (f *foresight) warnings(source sampleSource) []plan.Advice {
	var out []plan.Advice
	for _, family := range sortedKeys(f.Expired) {
		are, them := "are", "them"
		if f.Expired[family] == 1 {
			are, them = "is", "it"
		}
		out = append(out, plan.Advice{Rule: "expired", Fix: "raise the ttl or leave it out",
			Msg: fmt.Sprintf("%s of %s %s older than the TTL of family %s of %s: HBase would hide %s at once",
				thousands(int64(f.Expired[family])), count(f.Records, "event"), are, family, f.Table, them)})
	}
	for _, reason := range sortedKeys(f.Rejected) {
		r := f.Rejected[reason]
		out = append(out, plan.Advice{Rule: "dead-letter", Msg: fmt.Sprintf("%s of %s would become dead letters, the first (%s) because of %s",
			thousands(int64(r.Records)), count(f.Records, "record"), r.Place, strings.TrimSpace(r.First))})
	}
	if f.Forecast != nil {
		for _, a := range f.Advice {
			if t := f.FirstTie; a.Rule == plan.TieRule && t != nil {
				a.Msg += fmt.Sprintf("; such as row %s: %s, and %s", t.Row, source.place(t.Events[0]), source.place(t.Events[1]))
			}
			out = append(out, a)
		}
	}
	return out
}
