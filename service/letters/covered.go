package letters

import (
	"errors"

	"brine/config"
	"brine/event"
	"brine/ingest/deadletter"
	"brine/mask"
	"brine/service/brokers"
	"brine/service/fixes"
)

// Covered is what may be shown of a dead letter of a pipeline that masks fields: no part of the raw record, but its fields one by one.
type Covered struct {
	Key    string
	Value  string
	Detail string
	Fields []CoveredField // as in the record's first event; nil: the record cannot be parsed
}

// CoveredField is a field: mask.Text if masked, empty if null.
type CoveredField struct {
	Name, Text string
}

// Cover returns what may be shown of a dead letter, or nil if all of it may be shown.
func Cover(d *brokers.DeadLetters, rules *mask.Rules, l *deadletter.Kept) *Covered {
	h, ok := d.Half(l.Group)
	if !ok && rules.Nothing() {
		return nil
	}
	if !ok { // of a renamed group, whose masking is unknown
		return &Covered{Key: mask.Bytes(l.Record.Key), Value: mask.Bytes(l.Record.Value), Detail: mask.Text}
	}
	p := h.Pipeline
	if !rules.Any(p.Name) {
		return nil
	}
	s := p.Schema()
	why := s.HideKept(&event.Error{Reason: l.Reason, Field: l.Field, Detail: l.Detail}, today(h, l)...)
	out := &Covered{Key: mask.Bytes(l.Record.Key), Value: mask.Bytes(l.Record.Value), Detail: why.Detail}
	whole := &fixes.Fix{Of: &event.Fix{}}
	for i, f := range s.Fields {
		if f.Fixable() == "" && f.Name != s.Images.Deleted {
			whole.Of.Fields = append(whole.Of.Fields, i)
		}
	}
	as, err := asIs(s, whole)
	if err != nil || as.Validate() != nil {
		return out
	}
	var b event.Batch
	if event.NewDecoder(as).Decode(l.Record, &b) != nil || len(b.Events) == 0 {
		return out
	}
	for _, i := range whole.Of.Fields {
		name := s.Fields[i].Name
		v := b.Events[0].Values[i]
		out.Fields = append(out.Fields, CoveredField{name, mask.If(!v.Null() && rules.MasksField(p.Name, name), textOf(v))})
	}
	return out
}

// today returns how today's expressions reject a dead letter's record, if one of them does and no schema must be asked for.
func today(h config.Half, l *deadletter.Kept) []*event.Error {
	if l.Reason != event.BadExpression {
		return nil
	}
	p, err := NewPreview(h, nil, nil)
	if err != nil {
		return nil
	}
	if rejected, ok := errors.AsType[*event.Error](p.draftAll(l.Record)); ok {
		return []*event.Error{rejected.Short()}
	}
	return nil
}

// Hide covers a dead letter's JSON. It does nothing if c is nil.
func (c *Covered) Hide(o *deadletter.Object) {
	if c == nil {
		return
	}
	whole := o.Value != nil || o.Bytes != nil || o.Headers != nil
	o.Key, o.KeyBytes, o.Headers, o.Value, o.Bytes = nil, nil, nil, nil, nil
	o.KeyHidden, o.Detail = c.Key, c.Detail
	if !whole {
		return
	}
	o.ValueHidden = c.Value
	for _, f := range c.Fields {
		if o.Fields == nil {
			o.Fields = map[string]any{}
		}
		o.Fields[f.Name] = f.Text
	}
}

// Hide covers an effect of a preview.
func (e *Effect) Hide(pipeline string, rules *mask.Rules) {
	for i := range e.Fixed {
		if f := &e.Fixed[i]; rules.MasksField(pipeline, f.Field) {
			f.Before, f.After = mask.Text, mask.Text
		}
	}
	for i := range e.Places {
		c := &e.Places[i]
		c.Row = mask.If(rules.MasksKey(c.In), c.Row)
		if rules.MasksPlace(c.In, c.Column) {
			c.Then.Cover(mask.Text)
			c.Now.Cover(mask.Text)
		}
	}
}
