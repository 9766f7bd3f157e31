package top

import (
	"cmp"
	"slices"
	"time"

	"brine/internal/term"
	"brine/pressure"
	"brine/skew"
)

// Snapshot is the state of all brines and of the cluster at one moment.
type Snapshot struct {
	At       time.Time
	Problems []string // which brines, or the cluster, did not answer, and why

	pipelines []pipeline
	regions   []region
	keys      []heavyKey
	hot       []skew.HotSpot
}

// Pipeline is what a brine's admin port reports of one half of a pipeline. Counts are since its start.
type Pipeline struct {
	Name    string `json:"pipeline"` // pipeline.half
	State   string `json:"state"`    // one word
	Group   string `json:"group"`
	Events  int64  `json:"events"` // settled
	Lag     int64  `json:"lag"`    // offsets; −1 while unknown
	Retries int64  `json:"retries"`
	Dead    int64  `json:"dead_letters"`
	Waiting string `json:"waiting,omitempty"` // the reason that a partition makes no progress
	Limit   string `json:"limit,omitempty"`   // the step that holds up the others

	Drain   *float64 `json:"drain_seconds,omitempty"` // until nothing is left; −1: the lag grows; nil: not known
	Rate    *float64 `json:"rate,omitempty"`          // offsets settled per second, in about the last minute; nil: not known
	Arrives *float64 `json:"arrives,omitempty"`       // offsets that arrive per second
	Kept    *float64 `json:"retention_seconds,omitempty"`

	Partitions int             `json:"partitions"`
	RateLimit  float64         `json:"rate_limit,omitempty"` // the limit of its whole group in records per second; 0: none
	Time       pressure.Shares `json:"time,omitzero"`        // of the steps, in about the last minute

	Members []Member `json:"members,omitempty"`         // of its group, if requested
	Unknown string   `json:"members_unknown,omitempty"` // the reason that the brokers did not report them
}

// Member is one of a group's members, as the brokers know it, with the version of brine that it has reported.
type Member struct {
	ID         string `json:"id"`
	Client     string `json:"client"`
	Host       string `json:"host"`
	Partitions int    `json:"partitions"`
	Version    string `json:"version,omitempty"`
}

type pipeline struct {
	Pipeline
	brine string  // its admin port
	rate  float64 // events per second
}

// region is what brines and the cluster report of a region.
type region struct {
	name, table, server, start string
	rows                       float64 // per second, written by the brines that are asked
	reads, writes              float64 // per second, by all clients
	mb                         int64
	hot                        bool
}

type heavyKey struct {
	table, field, key string
	share, rows       float64
}

const keyColumns = 60

func (s *Snapshot) addKeys(table, field string, all []skew.Heavy) {
	for _, h := range all {
		s.keys = append(s.keys, heavyKey{table: table, field: field, key: term.Clip(cmp.Or(h.Text, h.Key.String()), keyColumns),
			share: h.Share, rows: float64(h.Rows)})
	}
}

// setRegions sets the regions in the order of their tables and start keys.
func (s *Snapshot) setRegions(regions map[string]*region) {
	for _, r := range regions {
		s.regions = append(s.regions, *r)
	}
	slices.SortFunc(s.regions, func(a, b region) int { return cmp.Or(cmp.Compare(a.table, b.table), cmp.Compare(a.start, b.start)) })
}
