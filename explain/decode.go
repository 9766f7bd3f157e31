package explain

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"brine/event"
	"brine/ingest/deadletter"
	"brine/internal/when"
	"brine/rowkey"
)

// events adds the record's events, and what they write.
func (x *explainer) events(ctx context.Context, s *Source, rec *event.Record, p *Pipeline) error {
	d := event.NewDecoder(s.Schema)
	err := d.ResolveSoon(ctx, rec)
	if u, ok := errors.AsType[*event.Unresolved](err); ok {
		p.Awaits = &Reject{Reason: u.Reason, Detail: u.Error()}
		return nil
	}
	if err != nil {
		return err
	}
	var batch event.Batch
	if err := d.Decode(rec, &batch); err != nil {
		p.Rejected = s.rejected("", event.Unknown, err)
		return nil
	}
	writes := writes{explainer: x, source: s}
	if err := writes.open(); err != nil {
		return err
	}
	for i := range batch.Events {
		out, err := writes.event(ctx, &batch.Events[i])
		if err != nil {
			return err
		}
		p.Events = append(p.Events, *out)
	}
	return nil
}

// rejected describes a reject as its dead letter does.
func (s *Source) rejected(half string, reason event.Reason, err error) *Reject {
	fault := &event.Error{Reason: reason}
	if !errors.As(err, &fault) {
		fault.Detail = err.Error()
	}
	short := fault.Short()
	out := &Reject{Half: half, Reason: short.Reason, Field: short.Field, Detail: short.Detail, Fix: deadletter.Fix(short.Reason)}
	if short.Reason == event.BadExpression {
		out.Where = s.where(short.Field)
	}
	return out
}

// where returns the place of a setting, or nil if it is not known.
func (s *Source) where(setting string) *Place {
	if s.Where == nil || setting == "" {
		return nil
	}
	at := s.Where(setting)
	if at.Setting == "" {
		return nil
	}
	return &at
}

// String formats the place as problems of the configuration do.
func (p Place) String() string {
	switch {
	case p.Env != "":
		return p.Setting + " (" + p.Env + ")"
	case p.Line > 0:
		return fmt.Sprintf("%s (%s:%d:%d)", p.Setting, p.File, p.Line, p.Column)
	}
	return p.Setting
}

// describe returns an event as the decoder made it.
func (s *Source) describe(ev *event.Event) *Event {
	out := &Event{Version: ev.Version, LeftOut: ev.LeftOut, Fields: s.fields(ev.Values), Rows: []Row{}, Documents: []Document{}}
	if ev.Former != nil {
		out.Before = s.fields(ev.Former)
	}
	if ev.LeftOut == event.Filtered {
		out.By = s.where(s.When)
		if out.By == nil && s.When != "" {
			out.By = &Place{Setting: s.When}
		}
	}
	return out
}

// fields returns the declared fields. The results of the conditions of rows and documents are reported elsewhere.
func (s *Source) fields(values []event.Value) []Field {
	out := []Field{}
	for i, v := range values[:min(len(values), len(s.Schema.Fields))] {
		f := s.Schema.Fields[i]
		if s.condition(f.Name) {
			continue
		}
		value, text := valueOf(v)
		out = append(out, Field{Name: f.Name, Type: f.Type.String(), Value: value, Made: f.Made, text: text})
	}
	return out
}

// condition reports whether the field of this name holds the result of a row's or a document's when.
func (s *Source) condition(name string) bool {
	if s.Rows != nil {
		for i := range s.Rows.Rows {
			if s.Rows.Rows[i].When == name {
				return true
			}
		}
	}
	if s.Documents != nil {
		for i := range s.Documents.Documents {
			if s.Documents.Documents[i].When == name {
				return true
			}
		}
	}
	return false
}

// valueOf returns a value for JSON and for people.
func valueOf(v event.Value) (value any, text string) {
	switch v.Type {
	case event.Text:
		return string(v.Text()), strconv.Quote(string(v.Text()))
	case event.Int:
		return v.Int(), strconv.FormatInt(v.Int(), 10)
	case event.Float:
		if text = strconv.FormatFloat(v.Float(), 'g', -1, 64); math.IsNaN(v.Float()) || math.IsInf(v.Float(), 0) {
			return text, text // JSON has no such numbers
		}
		return v.Float(), text
	case event.Bool:
		return v.Bool(), strconv.FormatBool(v.Bool())
	case event.TimeMS:
		return v.Int(), strconv.FormatInt(v.Int(), 10) + " (" + when.Text(v.Int()) + ")"
	case event.Nested:
		return json.RawMessage(slices.Clone(v.Text())), string(v.Text())
	}
	if v.Null() {
		return nil, "null"
	}
	if text, ok := v.Textual(); ok {
		return text, text
	}
	text = rowkey.Binary(event.AppendValue(nil, v)) // as a column holds it
	return text, text
}
