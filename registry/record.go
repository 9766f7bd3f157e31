package registry

import (
	"context"
	"errors"

	"brine/event"
)

// PartOf returns the part of records that a Reader of the nodes below root reads. A Reader is given either as the record's value.
func PartOf(root *event.Node) Part {
	if root.OfKeys() {
		return Key
	}
	return Value
}

// Of reads the framing of a part of a record. It is pure, and allocates only for an error, with which the record is rejected.
func (f Framing) Of(rec *event.Record, part Part) (Framed, *event.Error) {
	if part == Key {
		return f.of(rec, rec.Key, part)
	}
	return f.of(rec, rec.Value, part)
}

// of reads the framing of data, a part of the record.
func (f Framing) of(rec *event.Record, data []byte, part Part) (Framed, *event.Error) {
	var header func(name string) ([]byte, bool)
	if len(rec.Headers) > 0 {
		header = func(name string) ([]byte, bool) { return LastHeader(rec, name) }
	}
	framed, err := f.Frame(part, data, header)
	if err != nil {
		return Framed{}, &event.Error{Reason: event.Undecodable, Detail: err.Error()}
	}
	return framed, nil
}

// LastHeader returns the last header with a name.
func LastHeader(rec *event.Record, name string) ([]byte, bool) {
	for i := len(rec.Headers) - 1; i >= 0; i-- {
		if rec.Headers[i].Key == name {
			return rec.Headers[i].Value, true
		}
	}
	return nil, false
}

// Judge converts the error of a schema that a record needs to what an event.Resolver returns: an *event.Unresolved with the verdict on the
// waiting record or, if no schema will ever come, the *event.Error with which the record is rejected. Judge returns any other error
// unchanged.
func Judge(err error) error {
	e, ok := errors.AsType[*Error](err)
	switch {
	case !ok:
		return err
	case e.Outcome == Unknown:
		return &event.Error{Reason: event.UnknownSchema, Detail: e.Error()}
	case e.Outcome == Denied:
		return &event.Unresolved{Verdict: event.Halt, Reason: event.Denied, Err: e}
	}
	return &event.Unresolved{Verdict: event.Retry, Reason: event.Unavailable, Err: e}
}

// Unframed returns the format of records that a registry's serializer framed but that can be read without their schema, such as JSON: what
// follows the frame is read as in, and no request is sent to a registry.
func Unframed(f Framing, in event.Format) event.Format { return unframed{f, in} }

type unframed struct {
	framing Framing
	in      event.Format
}

// NewReader implements event.Format.
func (u unframed) NewReader(root *event.Node) event.Reader {
	r := &unframedReader{framing: u.framing, part: PartOf(root), in: u.in.NewReader(root)}
	r.resolver, _ = r.in.(event.Resolver)
	return r
}

type unframedReader struct {
	framing  Framing
	part     Part
	in       event.Reader
	resolver event.Resolver // nil: in needs no resolving
	rec      event.Record   // the current record, without its frame
}

// Read implements event.Reader.
func (r *unframedReader) Read(rec *event.Record, b *event.Builder) *event.Error {
	if err := r.open(rec); err != nil {
		return err
	}
	return r.in.Read(&r.rec, b)
}

// Resolve implements event.Resolver.
func (r *unframedReader) Resolve(ctx context.Context, rec *event.Record) error {
	if r.resolver == nil || r.open(rec) != nil {
		return nil //nolint:nilerr // Read rejects records without a frame
	}
	return r.resolver.Resolve(ctx, &r.rec)
}

// Own implements event.Recognizer.
func (r *unframedReader) Own(rec *event.Record) event.LeftOut {
	in, ok := r.in.(event.Recognizer)
	if !ok || r.open(rec) != nil {
		return ""
	}
	return in.Own(&r.rec)
}

// open removes the frame from a record.
func (r *unframedReader) open(rec *event.Record) *event.Error {
	framed, err := r.framing.of(rec, rec.Value, r.part)
	if err != nil {
		return err
	}
	r.rec = *rec
	if r.rec.Value = framed.Data; len(framed.Data) == 0 {
		return &event.Error{Reason: event.Undecodable, Detail: "nothing follows " + framed.ID.String()}
	}
	return nil
}
