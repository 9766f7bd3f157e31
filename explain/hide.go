package explain

import (
	"encoding/json"
	"errors"
	"slices"

	"brine/event"
	"brine/mask"
)

var hidden = json.RawMessage(`"` + mask.Text + `"`)

// Hide masks what pipelines mask: in the record, in what it becomes, and in what is stored.
func (r *Report) Hide(rules *mask.Rules, schemas func(pipeline string) event.Schema) {
	for i := range r.Pipelines {
		p := &r.Pipelines[i]
		if !rules.Any(p.Pipeline) {
			continue
		}
		if r.Key != nil || r.KeyBytes != nil {
			masked := mask.Text
			r.Key, r.KeyBytes = &masked, nil
		}
		s, today, earlier := schemas(p.Pipeline), p.today(), p.Configured == Earlier
		was := &s
		if earlier {
			was = &p.schema
		}
		p.Rejected.hide(&s, earlier)
		for n := range p.Letters {
			l := &p.Letters[n]
			l.Detail = s.HideKept(&event.Error{Reason: l.Reason, Field: l.Field, Detail: l.Detail}, today...).Detail
			l.Let = mask.If(l.Let != "", l.Let)
			if f := l.Fixed; f != nil {
				f.Problem = mask.If(f.Problem != "", f.Problem) // it quotes the fix
				f.Rejected.hide(&s, false)
				for e := range f.Events {
					f.Events[e].hide(rules, p.Pipeline, &s, &s)
				}
			}
		}
		for n := range p.Events {
			p.Events[n].hide(rules, p.Pipeline, &s, was)
		}
		for n := range p.Halves {
			if h := &p.Halves[n]; h.Outcome != "" {
				h.Outcome, h.Why = p.outcome(h) // the old text may quote what is now masked
			}
		}
	}
}

// today returns how the current configuration rejects the record and its events; nothing if they are explained by an earlier one.
func (p *Pipeline) today() (all []*event.Error) {
	if p.Configured == Earlier {
		return nil
	}
	add := func(r *Reject) {
		if r != nil {
			all = append(all, &event.Error{Reason: r.Reason, Field: r.Field, Detail: r.Detail})
		}
	}
	add(p.Rejected)
	for i := range p.Events {
		for n := range p.Events[i].Rejected {
			add(&p.Events[i].Rejected[n])
		}
	}
	return all
}

// hide masks what may quote the record in a reject, which may be of an earlier configuration.
func (r *Reject) hide(s *event.Schema, earlier bool) {
	if r == nil {
		return
	}
	err := &event.Error{Reason: r.Reason, Field: r.Field, Detail: r.Detail}
	if earlier {
		r.Detail = s.HideKept(err).Detail
	} else if e, ok := errors.AsType[*event.Error](s.Hide(err)); ok {
		r.Detail = e.Detail
	}
}

// hide masks an event that was made by the schema was. If that is not s, the current one, its fields may hold what is masked today under
// other names, or as computed then, so only those stay that are read alike.
func (e *Event) hide(rules *mask.Rules, pipeline string, s, was *event.Schema) {
	for _, fields := range [][]Field{e.Fields, e.Before} {
		for i := range fields {
			if f := &fields[i]; (rules.MasksField(pipeline, f.Name) || !readAlike(f.Name, s, was)) && f.Value != nil {
				f.Value, f.text = mask.Text, mask.Text
			}
		}
	}
	if e.Awaits != nil { // it names a row, whose key may have been made by another configuration
		e.Awaits.Detail = event.Hidden
	}
	for i := range e.Conditions {
		c := &e.Conditions[i]
		c.Fault = mask.If(c.Fault != "", c.Fault)
	}
	for i := range e.Rejected {
		e.Rejected[i].hide(s, s != was)
	}
	for i := range e.Rows {
		e.Rows[i].hide(rules)
	}
	for i := range e.Documents {
		d := &e.Documents[i]
		d.ID = mask.If(rules.MasksKey(d.Index), d.ID)
		for n := range d.Fields {
			if f := &d.Fields[n]; rules.MasksPlace(d.Index, f.Name) {
				f.Value = hidden
				if f.Now != nil {
					f.Now = hidden
				}
			}
		}
	}
}

func (r *Row) hide(rules *mask.Rules) {
	if rules.MasksKey(r.Table) {
		r.Row = mask.Text
		for i := range r.Parts {
			r.Parts[i].Bytes, r.Parts[i].Value = []byte(mask.Text), mask.Text
		}
	}
	for i := range r.Cells {
		if c := &r.Cells[i]; rules.MasksPlace(r.Table, c.Column) {
			c.Value.Cover(mask.Text)
			c.Now.Cover(mask.Text)
		}
	}
}

// readAlike reports whether two schemas read a field from the same place of the record.
func readAlike(name string, s, was *event.Schema) bool {
	if s == was {
		return true
	}
	at := func(in *event.Schema) int {
		return slices.IndexFunc(in.Fields, func(f event.Field) bool { return f.Name == name })
	}
	i, j := at(s), at(was)
	if i < 0 || j < 0 {
		return false
	}
	a, b := &s.Fields[i], &was.Fields[j]
	return !a.Made && !b.Made && a.Place == b.Place && a.Where() == b.Where()
}
