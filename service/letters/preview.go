package letters

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"brine/config"
	"brine/derive"
	"brine/event"
	"brine/hbase"
	"brine/indexer"
	"brine/ingest/deadletter"
	"brine/internal/when"
	"brine/rowkey"
	"brine/service"
	"brine/service/fixes"
	"brine/sink"
	"brine/verify"
)

// Preview shows what would become of dead letters of one half if they were replayed now. It is not safe for concurrent use.
type Preview struct {
	half     config.Half
	fixed    []event.Field // fields that the fix replaces
	decoder  *event.Decoder
	asIs     *event.Decoder // reads the fixed fields unchanged; nil: nothing is fixed
	batch    event.Batch
	rows     *sink.Preview    // nil for documents
	docs     *indexer.Preview // nil for rows
	client   verify.Reader
	engine   indexer.Engine
	Effects  int                  // dead letters that would be written
	Rejected map[event.Reason]int // dead letters that would be rejected again
}

// NewPreview returns a preview of a half's dead letters. s provides the stores that Show reads; without it, only Judge may be called.
func NewPreview(half config.Half, fix *fixes.Fix, s *service.Service) (*Preview, error) {
	p := &Preview{half: half, Rejected: map[event.Reason]int{}}
	schema := half.Pipeline.Schema()
	p.decoder = event.NewDecoder(fix.Apply(schema))
	if fix != nil {
		asIs, err := asIs(schema, fix)
		if err != nil {
			return nil, err
		}
		p.asIs = event.NewDecoder(asIs)
		for _, i := range fix.Of.Fields {
			p.fixed = append(p.fixed, schema.Fields[i])
		}
	}
	if s != nil {
		p.client, p.engine = s.Client(), s.Engine()
	}
	var err error
	if half.Kind == service.Rows {
		p.rows, err = sink.NewPreview(half.Pipeline.Sink())
		return p, err
	}
	p.docs, err = indexer.NewPreview(half.Pipeline.Indexer())
	return p, err
}

// asIs returns a schema that reads the fixed fields unchanged, and checks no other field.
func asIs(s event.Schema, fix *fixes.Fix) (event.Schema, error) {
	as := &fixes.Fix{Of: &event.Fix{Fields: fix.Of.Fields}}
	s.Fields = as.Of.Declared(s.Fields)
	s.Version, s.Sequence, s.Position, s.Lateness, s.Derive = -1, "", nil, 0, nil
	b := derive.New(s.Fields)
	for _, i := range as.Of.Fields {
		if err := b.Fix(s.Fields[i].Name, event.Text, "", s.Fields[i].Name); err != nil {
			return s, err
		}
	}
	as.Of.Deriver = b.Rules()
	return as.Apply(s), nil
}

// Effect is what would become of one dead letter.
type Effect struct {
	Pipeline string       `json:"pipeline"`
	Record   string       `json:"record"`
	Reason   event.Reason `json:"reason"` // why it is a dead letter
	Field    string       `json:"field,omitempty"`
	Fixed    []FixedField `json:"fixed,omitempty"`    // of a record that would be rejected again, only what it has
	Rejected string       `json:"rejected,omitempty"` // why it would be rejected again
	LeftOut  int          `json:"left_out,omitempty"` // number of its events
	Version  int64        `json:"version,omitempty"`
	Places   []Change     `json:"changes"` // never nil
}

// FixedField is a field before and after the fix; empty: null.
type FixedField struct {
	Field  string `json:"field"`
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
}

// Change is what would become of a cell of a row or a field of a document. Rows are formatted as in HBase's shell, fields of documents as
// JSON.
type Change struct {
	In      string      `json:"in"` // table or index
	Row     string      `json:"row"`
	Column  string      `json:"column"`
	Action  string      `json:"action"`
	Now     *sink.Shown `json:"now,omitempty"` // absent: there is none
	At      int64       `json:"now_version,omitempty"`
	Deleted bool        `json:"deleted,omitempty"` // what stays is a delete of that version
	Then    sink.Shown  `json:"then"`
	Version int64       `json:"version"`
}

// Effects of a change on what is there.
const (
	Adds     = "adds"     // nothing is there
	Replaces = "replaces" // something older is there
	Stays    = "stays"    // something newer, or a delete that is not older, is there and is not overwritten
	Same     = "same"     // the same is there
	Ties     = "ties"     // another value of the same version is there: the one written last wins
)

// Judge counts a dead letter as written or rejected again. It makes no request to a store, so it does not know the stores' own refusals.
func (p *Preview) Judge(ctx context.Context, l *deadletter.Kept) (rejected *event.Error, err error) {
	if err := p.decoder.Resolve(ctx, l.Record); err != nil {
		return nil, fmt.Errorf("decoding the dead letter of %s: %w", l.Origin(), err)
	}
	failed := p.draftAll(l.Record)
	if errors.As(failed, &rejected) {
		rejected = rejected.Short()
		p.Rejected[rejected.Reason]++
		return rejected, nil
	}
	if failed == nil {
		p.Effects++
	}
	return nil, failed
}

// draftAll decodes a record, and computes what its events would write.
func (p *Preview) draftAll(rec *event.Record) error {
	p.decoder.Reset(&p.batch)
	err := p.decoder.Decode(rec, &p.batch)
	for i := 0; err == nil && i < len(p.batch.Events); i++ {
		err = p.draft(&p.batch.Events[i], nil)
	}
	return err
}

// draft computes what an event would write. It calls write for each cell and field, with the table or index, and the part of it that holds
// the cell.
func (p *Preview) draft(ev *event.Event, write func(in, part string, key []byte, column string, value []byte, version int64)) error {
	if ev.LeftOut != "" {
		return nil
	}
	if p.rows != nil {
		return p.rows.Rows(ev, func(table string, key []byte, cells func() []sink.Cell) {
			if write == nil {
				return
			}
			for _, c := range cells() {
				write(table, table, key, c.Family+":"+c.Qualifier, c.Value, ev.Version)
			}
		})
	}
	failure := p.docs.Changes(ev, func(c indexer.Change) {
		for _, f := range c.Fields {
			if write != nil {
				write(c.Index, c.In(p.engine), c.ID, f.Name, f.JSON, cmp.Or(f.Version, ev.Version))
			}
		}
	})
	if failure == nil {
		return nil
	}
	if err, ok := errors.AsType[*event.Error](failure.Err); ok {
		return err
	}
	return &event.Error{Reason: failure.Reason, Detail: fmt.Sprint(failure.Err)}
}

// Show judges a dead letter, and returns all that is known of it.
func (p *Preview) Show(ctx context.Context, l *deadletter.Kept) (*Effect, error) {
	e := &Effect{Pipeline: p.half.Name(), Record: l.Origin().Among(p.half.Pipeline.Several()), Reason: l.Reason, Field: l.Field,
		Places: []Change{}}
	before := p.before(l.Record)
	rejected, err := p.Judge(ctx, l)
	switch {
	case err != nil:
		return nil, err
	case rejected != nil:
		e.Rejected = rejected.Error()
		for i, f := range p.fixed {
			if before[i] != "" { // else the record has none, or cannot be read
				e.Fixed = append(e.Fixed, FixedField{Field: f.Name, Before: before[i]})
			}
		}
		return e, nil
	}
	for i := range p.batch.Events {
		ev := &p.batch.Events[i]
		if ev.LeftOut != "" {
			e.LeftOut++
			continue
		}
		if e.Version = ev.Version; i == 0 {
			for k, f := range p.fixed {
				e.Fixed = append(e.Fixed, FixedField{f.Name, before[k], textOf(p.value(ev, f.Name))})
			}
		}
		if err := p.compare(ctx, ev, e); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// before returns the fixed fields as in the record's first event, empty if it cannot be read.
func (p *Preview) before(rec *event.Record) []string {
	out := make([]string, len(p.fixed))
	if p.asIs == nil {
		return out
	}
	var b event.Batch
	if p.asIs.Decode(rec, &b) != nil || len(b.Events) == 0 {
		return out
	}
	for i, f := range p.fixed {
		out[i] = textOf(b.Events[0].Values[p.position(f.Name)])
	}
	return out
}

func (p *Preview) position(field string) int {
	return slices.IndexFunc(p.half.Pipeline.Schema().Fields, func(f event.Field) bool { return f.Name == field })
}

func (p *Preview) value(ev *event.Event, field string) event.Value {
	return ev.Values[p.position(field)]
}

func textOf(v event.Value) string {
	switch v.Type {
	case event.Int:
		return fmt.Sprint(v.Int())
	case event.Float:
		return fmt.Sprint(v.Float())
	case event.Bool:
		return fmt.Sprint(v.Bool())
	case event.TimeMS:
		return when.Text(v.Int())
	}
	if text, ok := v.Textual(); ok {
		return text
	}
	return string(v.Text())
}

// compare adds to e what an event would write, and what is there now.
func (p *Preview) compare(ctx context.Context, ev *event.Event, e *Effect) error {
	var in, key string
	var there []Change
	var markers verify.Markers
	var failed error
	err := p.draft(ev, func(to, part string, row []byte, column string, value []byte, version int64) {
		if failed != nil {
			return
		}
		if to != in || string(row) != key {
			in, key = to, string(row)
			if there, markers, failed = p.standing(ctx, part, row); failed != nil {
				return
			}
		}
		c := Change{In: to, Row: rowkey.Binary(row), Column: column, Action: Adds, Then: p.shown(to, column, value), Version: version}
		if i := slices.IndexFunc(there, func(x Change) bool { return x.Column == column }); i >= 0 {
			c.Now, c.At = there[i].Now, there[i].At
			switch {
			case c.At > version:
				c.Action = Stays
			case c.At < version:
				c.Action = Replaces
			case *c.Now == c.Then:
				c.Action = Same
			default:
				c.Action = Ties
			}
		}
		if c.Action == Adds || c.Action == Replaces {
			if at := markers.Hiding([]byte(column), version); at >= 0 {
				c.Action, c.Deleted, c.Now, c.At = Stays, true, nil, at
			}
		}
		e.Places = append(e.Places, c)
	})
	return cmp.Or(failed, err)
}

// shown returns the value of a cell or of a document's field for people.
func (p *Preview) shown(in, column string, value []byte) sink.Shown {
	switch {
	case p.rows != nil:
		return p.rows.Show(in, column, value)
	case string(value) == "null":
		return sink.Shown{}
	}
	return sink.ShownText(string(value))
}

// standing returns the current cells of a row in a table, with its delete markers, or fields of a document in a part of an index.
func (p *Preview) standing(ctx context.Context, in string, key []byte) (out []Change, markers verify.Markers, err error) {
	if p.rows != nil {
		found, err := p.client.GetAll(ctx, in, []hbase.Get{{Row: bytes.Clone(key)}})
		if errors.Is(err, hbase.ErrNoTable) {
			return nil, nil, nil
		}
		if err != nil {
			return nil, nil, fmt.Errorf("reading what is stored in %s: %w", in, err)
		}
		for _, c := range found[0].Cells {
			out = append(out, p.standingAt(in, string(c.Family)+":"+string(c.Qualifier), c.Value, c.Timestamp))
		}
		if markers, err = verify.MarkersOf(ctx, p.client, in, key); err != nil {
			return nil, nil, fmt.Errorf("reading what is deleted in %s: %w", in, err)
		}
		return out, markers, nil
	}
	refs, docs := []indexer.Ref{{Index: in, ID: bytes.Clone(key)}}, make([]indexer.Stored, 1)
	if err := p.engine.Get(ctx, refs, docs); err != nil {
		return nil, nil, fmt.Errorf("reading what is stored in %s: %w", in, err)
	}
	if !docs[0].Found {
		return nil, nil, nil
	}
	fields, err := indexer.Fields(docs[0].Source)
	for _, f := range fields {
		out = append(out, p.standingAt(in, f.Name, f.JSON, cmp.Or(f.Version, docs[0].Version)))
	}
	return out, nil, err
}

func (p *Preview) standingAt(in, column string, value []byte, version int64) Change {
	now := p.shown(in, column, value)
	return Change{Column: column, Now: &now, At: version}
}
