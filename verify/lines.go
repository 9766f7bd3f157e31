package verify

import (
	"fmt"

	"brine/event"
	"brine/rowkey"
)

// FindingLine is a finding as a line of JSON.
type FindingLine struct {
	Kind     Kind     `json:"finding"`
	Table    string   `json:"table,omitempty"`
	Index    string   `json:"index,omitempty"`
	Row      string   `json:"row,omitempty"` // as HBase's shell shows it
	Document string   `json:"document,omitempty"`
	Column   string   `json:"column,omitempty"` // family:qualifier, or the document's field; absent for all of it
	Expected *int64   `json:"expected_version,omitempty"`
	Found    *int64   `json:"found_version,omitempty"`
	Reason   string   `json:"reason"`
	Records  []Record `json:"records,omitempty"`
}

// Line returns the finding as JSON.
func (f *Finding) Line() FindingLine {
	out := FindingLine{Kind: f.Kind, Column: f.Column, Reason: f.Reason, Records: f.Records}
	switch {
	case f.Kind == Lost:
	case f.Document:
		out.Index, out.Document = f.Table, string(f.Key)
	default:
		out.Table, out.Row = f.Table, fmt.Sprint(rowkey.Binary(f.Key))
	}
	if f.Expected >= 0 {
		out.Expected = &f.Expected
	}
	if f.Found >= 0 {
		out.Found = &f.Found
	}
	return out
}

// ReportLine is a whole verification as a line of JSON.
type ReportLine struct {
	Result       string       `json:"result"` // equal or differs
	Problems     int64        `json:"problems"`
	Ties         int64        `json:"ties"` // rows and documents that depend on the order in which changes of one version were applied
	Seconds      float64      `json:"seconds"`
	Sources      []SourceLine `json:"sources"`
	Tables       []TableLine  `json:"tables"`
	Rejected     int64        `json:"rejected"`      // records that cannot be written, and are dead letters
	DeadLettered int64        `json:"dead_lettered"` // what would be missing without the dead letters
	Lost         int64        `json:"lost"`          // records that are neither written nor dead letters
}

// SourceLine is what was read of a source.
type SourceLine struct {
	Pipeline string `json:"pipeline"` // pipeline.half
	Topic    string `json:"topic"`
	Records  int64  `json:"records"`
	Ahead    int64  `json:"ahead"`                    // offsets that are not committed yet
	Unknown  int64  `json:"unknown_filter,omitempty"` // offsets written by a configuration that is no longer known

	LeftOut  map[event.LeftOut]int64 `json:"left_out_by_reason,omitempty"` // events that make nothing
	Filtered map[string]int64        `json:"filtered,omitempty"`           // events whose condition fails, by table or index
}

// TableLine is what was seen in a table or an index.
type TableLine struct {
	Table    string         `json:"table,omitempty"`
	Index    string         `json:"index,omitempty"`
	Rows     int64          `json:"rows"` // expected
	Cells    int64          `json:"cells"`
	Compared int64          `json:"compared"`
	Repeats  int64          `json:"repeats"`
	Expired  int64          `json:"expired"`
	Newer    int64          `json:"newer"`
	Unjudged int64          `json:"unjudged,omitempty"` // cells that a record of an unknown filter, or of others, may have written
	Others   []string       `json:"others,omitempty"`   // from where else it was written: pipelines and topics that are not verified
	Ties     int64          `json:"ties"`
	FirstTie *TieLine       `json:"first_tie,omitempty"`
	Found    map[Kind]int64 `json:"found"` // every kind, 0 included
	Digest   string         `json:"digest"`
	Expected string         `json:"expected_digest"`
}

// TieLine is a row or a document that depends on the order in which two records of one version were applied.
type TieLine struct {
	Key     string   `json:"key"` // as HBase's shell shows it
	Column  string   `json:"column,omitempty"`
	Version int64    `json:"version"`
	Records []Record `json:"records"`
}

func (t *Tie) line() *TieLine {
	if t == nil {
		return nil
	}
	return &TieLine{fmt.Sprint(rowkey.Binary(t.Key)), t.Column, t.Version, t.Records}
}

// Line returns the report as JSON, without its findings.
func (r *Report) Line() ReportLine {
	out := ReportLine{Result: "equal", Problems: r.Problems(), Seconds: r.Took.Seconds(), Rejected: r.Rejected, DeadLettered: r.DeadLettered,
		Lost: r.Lost}
	if out.Problems > 0 {
		out.Result = "differs"
	}
	for _, s := range r.Sources {
		out.Sources = append(out.Sources, SourceLine{s.Name, s.Topic, s.Records, s.Ahead, s.Unknown, s.LeftOut, s.Filtered})
	}
	for _, t := range r.Tables {
		of := TableLine{Table: t.Name, Rows: t.Rows, Cells: t.Cells, Compared: t.Compared, Repeats: t.Repeats, Expired: t.Expired,
			Newer: t.Newer, Unjudged: t.Unjudged, Others: t.Others, Ties: t.Ties, FirstTie: t.Tie.line(),
			Found: map[Kind]int64{}, Digest: fmt.Sprintf("%016x", t.Digest), Expected: fmt.Sprintf("%016x", t.Expected)}
		if t.Documents {
			of.Table, of.Index = "", t.Name
		}
		for _, kind := range Kinds {
			if kind != Lost {
				of.Found[kind] = t.Found[kind]
			}
		}
		out.Ties += t.Ties
		out.Tables = append(out.Tables, of)
	}
	return out
}
