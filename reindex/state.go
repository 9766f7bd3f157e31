package reindex

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"time"
)

// Phase is a part of the work. Each begins when the one before is done for all sources.
type Phase string

// The phases, in their order.
const (
	Scanning   Phase = "scanning"    // the tables; not with FromTopic
	CatchingUp Phase = "catching up" // reading the topics until little is left
	Swapping   Phase = "swapping"    // the new index takes the place of the old one
	Finishing  Phase = "finishing"   // reading what was written to the old index until then
	Done       Phase = "done"
)

// state is what is kept of a reindex: all that a later process needs to resume.
type state struct {
	Owner   string    `json:"owner,omitempty"` // the process at work; empty: it has stopped in order
	Asked   string    `json:"asked"`           // digest of what is being built
	From    From      `json:"from"`
	Phase   Phase     `json:"phase"`
	Began   time.Time `json:"began"`
	Made    bool      `json:"made,omitempty"` // the new index is there: if it is not any more, it must not be silently made again
	Sources []*source `json:"sources"`
	Former  []string  `json:"former,omitempty"` // the indexes whose place is taken

	Refused  int64    `json:"refused,omitempty"`  // documents that the new index does not take
	Examples []string `json:"examples,omitempty"` // the first of them
}

// source is the progress of one pipeline's documents.
type source struct {
	Pipeline string        `json:"pipeline"`
	Rows     int64         `json:"rows,omitempty"`   // of the table that are in the new index
	Ranges   []*rangeState `json:"ranges,omitempty"` // of the table
	// of the topic, by partition: all before them is in the new index; of one that is not named nothing
	Offsets map[int]int64 `json:"offsets,omitempty"`
}

// rangeState is a part of a table: rows from Next up to, and without, To are to be read.
type rangeState struct {
	Next []byte `json:"next"`
	To   []byte `json:"to"` // empty: the end of the table
	Done bool   `json:"done,omitempty"`
}

const maxExamples = 10

// refuse notes a document that the new index does not take.
func (s *state) refuse(what string) {
	s.Refused++
	if len(s.Examples) < maxExamples {
		s.Examples = append(s.Examples, what)
	}
}

// asked is a digest of what is built: a reindex that was begun for something else cannot be resumed.
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

// begin is the state of a reindex that has done nothing.
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
		return nil, fmt.Errorf("what is kept of an earlier reindex cannot be read: %w; --again begins again", err)
	}
	return s, nil
}
