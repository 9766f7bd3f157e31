package reindex

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"time"
)

// Phase is a part of the work. Each begins when the previous one is done for all sources.
type Phase string

// The phases, in order.
const (
	Scanning   Phase = "scanning"    // the tables; not with FromTopic
	CatchingUp Phase = "catching up" // reading the topics until little is left
	Swapping   Phase = "swapping"    // the new index takes the place of the old one
	Finishing  Phase = "finishing"   // reading what was written to the old index until then
	Done       Phase = "done"
)

// state is the stored state of a reindex: everything that a later process needs to resume.
type state struct {
	Owner   string    `json:"owner,omitempty"` // the process at work; empty: it has stopped properly
	Asked   string    `json:"asked"`           // a digest of what is being built
	From    From      `json:"from"`
	Phase   Phase     `json:"phase"`
	Began   time.Time `json:"began"`
	Made    bool      `json:"made,omitempty"` // the new index was created: if it no longer exists, it must not be recreated silently
	Sources []*source `json:"sources"`
	Former  []string  `json:"former,omitempty"` // the indexes that were replaced

	Refused  int64    `json:"refused,omitempty"`  // documents that the new index refuses
	Examples []string `json:"examples,omitempty"` // the first of them
}

// source is the progress of one pipeline's documents.
type source struct {
	Pipeline string        `json:"pipeline"`
	Rows     int64         `json:"rows,omitempty"`   // rows of the table in the new index
	Ranges   []*rangeState `json:"ranges,omitempty"` // of the table
	// Offsets are the offsets of the topic, by partition, before which everything is in the new index; nothing is of a partition that is
	// missing.
	Offsets map[int]int64 `json:"offsets,omitempty"`
}

// rangeState is a part of a table: the rows from Next up to, but not including, To are still to be read.
type rangeState struct {
	Next []byte `json:"next"`
	To   []byte `json:"to"` // empty: the end of the table
	Done bool   `json:"done,omitempty"`
}

const maxExamples = 10

// refuse records a document that the new index refuses.
func (s *state) refuse(what string) {
	s.Refused++
	if len(s.Examples) < maxExamples {
		s.Examples = append(s.Examples, what)
	}
}

// asked returns a digest of what is built: a reindex that was begun for something else cannot be resumed.
func (o *Options) asked() string {
	h := sha256.New()
	for i := range o.Sources {
		s := &o.Sources[i]
		d := &s.Documents.Documents[0]
		if d.Routing != "" {
			fmt.Fprintln(h, "routing", d.Routing)
		}
		fmt.Fprintln(h, o.Index, o.From, s.Pipeline, s.Table, s.Ingest.Topic, d.Key, d.Changes, d.Deleted, d.Every, d.Time,
			d.Set, s.Documents.Schema)
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:16])
}

// begin returns the initial state of a reindex.
func (o *Options) begin() *state {
	s := &state{Asked: o.asked(), From: o.From, Phase: Scanning, Began: time.Now().UTC()}
	if o.From == FromTopic {
		s.Phase = CatchingUp
	}
	for i := range o.Sources {
		s.Sources = append(s.Sources, &source{Pipeline: o.Sources[i].Pipeline})
	}
	return s
}

func decodeState(text []byte) (*state, error) {
	s := &state{}
	if err := json.Unmarshal(text, s); err != nil {
		return nil, fmt.Errorf("the state of an earlier reindex cannot be read: %w; --again starts over", err)
	}
	return s, nil
}
