package avro

import "brine/event"

// run reads one record at a time.
type run struct {
	cursor
	b    *event.Builder
	json []byte // the JSON being rendered
}

// value reads a value of the plan's schema, which must be all of data.
func (r *run) value(p *rootPlan, data []byte, b *event.Builder) *event.Error {
	if p.own != "" {
		b.LeaveOut(p.own)
		return r.read(&step{typ: p.typ}, data)
	}
	r.b = b
	return r.read(&p.step, data)
}

func (r *run) read(s *step, data []byte) *event.Error {
	r.cursor = cursor{data: data}
	err := r.step(s)
	switch {
	case err != nil:
	case r.at < len(data):
		err = r.fail("%d bytes follow the value that the schema describes, which ends at byte %d", r.left(), r.at)
	}
	r.data, r.b, r.broken = nil, nil, nil
	return err
}

// own returns why a record is left out whatever its fields; empty: it is not, or it is broken.
func (r *run) own(p *rootPlan, data []byte) event.LeftOut {
	if p.own == "" || r.read(&step{typ: p.typ}, data) != nil {
		return ""
	}
	return p.own
}

// step does with a value what the plan says.
func (r *run) step(s *step) *event.Error {
	switch s.do {
	case pass:
		return r.skip(s.typ)
	case aText:
		p, err := r.bytes("a string")
		if err != nil {
			return err
		}
		return r.b.Text(s.node, p)
	case aLong:
		i, err := r.long()
		if err != nil {
			return err
		}
		return r.b.Int(s.node, i)
	case anInt, aTime, aClock:
		return r.number(s)
	case aFloat, aDouble:
		return r.floating(s)
	case aBool:
		truth, err := r.bool()
		if err != nil {
			return err
		}
		return r.b.Bool(s.node, truth)
	case anEnum:
		i, err := r.index(len(s.typ.symbols), "symbol")
		if err != nil {
			return err
		}
		return r.b.Text(s.node, s.typ.symbols[i])
	case ofUnion:
		i, err := r.index(len(s.steps), "branch")
		if err != nil {
			return err
		}
		return r.step(&s.steps[i])
	}
	return r.rarer(s)
}

// rarer is step for less frequent actions.
func (r *run) rarer(s *step) *event.Error {
	switch s.do {
	case aBinary:
		return r.binary(s.node, s.typ)
	case absent:
		return r.b.Null(s.node)
	case ofRecord:
		return r.record(s)
	case ofMapping, ofArray:
		if r.lacks(s) {
			return r.b.Enter(s.node)
		}
		if s.do == ofMapping {
			return r.mapping(s)
		}
		return r.array(s)
	case render:
		return r.render(s)
	}
	return s.refusal()
}

func (s *step) refusal() *event.Error {
	if s.node.Path() == "" { // the record as a whole
		return &event.Error{Reason: event.Undecodable, Detail: "a record is expected, found " + s.found}
	}
	return s.node.Wrong(s.found)
}

// number passes an int or a long to its field.
func (r *run) number(s *step) *event.Error {
	var i int64
	var err *event.Error
	if s.typ.kind == integer {
		i, err = r.int()
	} else {
		i, err = r.long()
	}
	switch {
	case err != nil:
		return err
	case s.do == aTime:
		return r.b.Time(s.node, i, s.typ.logical.unit())
	case s.do == aClock && s.node.Type().TakesTimes():
		return s.node.Wrong("a time of day, without a date")
	}
	return r.b.Int(s.node, i)
}

// floating passes a float or a double to its field.
func (r *run) floating(s *step) *event.Error {
	f, err := r.float(s.typ.kind)
	if err != nil {
		return err
	}
	return r.b.Float(s.node, f)
}

// binary passes bytes or a fixed to its field.
func (r *run) binary(n *event.Node, t *typ) *event.Error {
	if t.logical == variable {
		return r.variable(n, t)
	}
	p, err := r.raw(t)
	switch {
	case err != nil:
		return err
	case t.logical == decimal:
		return r.b.Decimal(n, p, t.scale)
	case t.logical == uuid:
		var room [36]byte
		return r.b.Text(n, r.b.Keep(appendUUID(room[:0], p)))
	}
	return r.b.Bytes(n, p)
}

// variable passes a decimal that comes with its scale to its field.
func (r *run) variable(n *event.Node, t *typ) *event.Error {
	var scale int64
	var value []byte
	var err *event.Error
	for i := range t.fields {
		if t.fields[i].typ.kind == integer {
			scale, err = r.int()
		} else {
			value, err = r.bytes("bytes")
		}
		if err != nil {
			return r.in(t.fields[i].name, err)
		}
	}
	return r.b.Decimal(n, value, int(scale))
}

// raw cuts out bytes or a fixed.
func (r *run) raw(t *typ) ([]byte, *event.Error) {
	if t.kind == bytes {
		return r.bytes("bytes")
	}
	if err := r.need(t.size, "a fixed"); err != nil {
		return nil, err
	}
	return r.cut(t.size), nil
}

func appendUUID(dst, p []byte) []byte {
	const digits = "0123456789abcdef"
	for i, c := range p {
		if i == 4 || i == 6 || i == 8 || i == 10 {
			dst = append(dst, '-')
		}
		dst = append(dst, digits[c>>4], digits[c&15])
	}
	return dst
}

// lacks reads an array or a map that stands for a column which the publisher could not send. It returns false, and reads nothing, if the
// value is any other.
func (r *run) lacks(s *step) bool {
	start := r.cursor
	b, err := r.block(s.typ.leastItem())
	r.cursor = start
	if err != nil || !s.node.MayLack(b.items) {
		return false // an error is worded by the reader of the value
	}
	r.json = r.json[:0]
	if r.appendJSON(s.typ) == nil && r.b.Lacks(s.node, r.json) {
		return true
	}
	r.cursor = start
	return false
}

func (r *run) record(s *step) *event.Error {
	if err := r.b.Enter(s.node); err != nil {
		return err
	}
	for i := range s.steps {
		if err := r.step(&s.steps[i]); err != nil {
			return r.in(s.typ.fields[i].name, err)
		}
	}
	if r.b.Looks() {
		for _, name := range s.rest {
			r.b.Undeclared(s.node, name)
		}
	}
	return nil
}

// mapping reads the values of the node's keys.
func (r *run) mapping(s *step) *event.Error {
	if err := r.b.Enter(s.node); err != nil {
		return err
	}
	wanted := s.node.Children()
	for {
		b, err := r.block(s.typ.leastItem())
		if err != nil || b.items == 0 {
			return err
		}
		for range b.items {
			key, err := r.bytes("a key")
			if err != nil {
				return err
			}
			of := &step{typ: s.typ.items}
			for i := range wanted {
				if wanted[i].Key() == string(key) {
					of = &s.steps[i]
				}
			}
			if err := r.step(of); err != nil {
				return r.in(string(key), err)
			}
		}
		if err := r.ended(b); err != nil {
			return err
		}
	}
}

// array reads the items at the positions that the node asks for.
func (r *run) array(s *step) *event.Error {
	if err := r.b.Enter(s.node); err != nil {
		return err
	}
	for first, next := 0, 0; ; {
		b, err := r.block(s.typ.leastItem())
		if err != nil || b.items == 0 {
			return err
		}
		last := first + b.items
		for ; next < len(s.at) && s.at[next] < last; next++ {
			if err := r.skipItems(s.typ, s.at[next]-first); err != nil {
				return err
			}
			if err := r.step(&s.steps[next]); err != nil {
				return err
			}
			first = s.at[next] + 1
		}
		if err := r.skipItems(s.typ, last-first); err != nil {
			return err
		}
		if err := r.ended(b); err != nil {
			return err
		}
		first = last
	}
}
