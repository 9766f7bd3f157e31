package event

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
)

// Position makes a version of a record's place in its database's log: a number that only grows, and is not a time.
//
// A version has 63 bits, with the epoch in the highest eight:
//
//	LSN      epoch (8) | lsn (55)             Postgres: bytes of log since the cluster began
//	Binlog   epoch (8) | file (23) | pos (32) MySQL: the number at the end of the file's name, and the offset in the file
//
// Positions start over when another server, or another timeline, becomes the source. A table maps what the record says of its source to an
// epoch. Adding a source to it leaves the versions of all earlier records unchanged, so a replay makes the same ones.
//
// Rows that a publisher reads from the table while it streams the log have no position of their own: those of Debezium's incremental
// snapshots of Postgres, and of Maxwell's bootstraps. They get position 0, the start of their epoch: whatever the log says of such a row in
// this epoch is newer, in whichever order the two arrive.
type Position struct {
	LSN       string           // the Int field with an LSN; or:
	File, Pos string           // the Text field with a binlog's file name, and the Int field with the offset in it; no Pos: FILE:OFFSET
	Source    string           // the Text or Int field that names the server or timeline; empty: there is only one, with epoch 0
	Epochs    map[string]int64 // by source
}

// The widths of a version's parts, in bits.
const (
	epochBits = 8
	lsnBits   = 63 - epochBits
	fileBits  = 23
	posBits   = 32
)

func (p *Position) validate(s Schema) error {
	need := func(name string, types ...Type) error {
		at := s.position(name)
		switch {
		case at < 0:
			return fmt.Errorf("field %q, which is part of the version, is not declared; add it to fields", name)
		case !slices.Contains(types, s.Fields[at].Type):
			return fmt.Errorf("field %s, which is part of the version, is declared %s; it must be %s", name, s.Fields[at].Type, types[0])
		}
		return nil
	}
	var errs []error
	if p.LSN != "" {
		errs = append(errs, need(p.LSN, Int))
	} else {
		errs = append(errs, need(p.File, Text))
		if p.Pos != "" {
			errs = append(errs, need(p.Pos, Int))
		}
	}
	if p.Source != "" {
		errs = append(errs, need(p.Source, Text, Int))
	}
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	for source, epoch := range p.Epochs {
		if epoch < 0 || epoch >= 1<<epochBits {
			return fmt.Errorf("epoch %d of %s; an epoch is 0 to %d", epoch, source, 1<<epochBits-1)
		}
	}
	if (p.Source == "") != (len(p.Epochs) == 0) || s.Version != -1 || s.Sequence != "" || s.Lateness != 0 {
		return fmt.Errorf("a version that is a position cannot be combined with another version or a lateness, and epochs need the field " +
			"that names the source")
	}
	return nil
}

// place is a Position bound to the fields of a schema.
type place struct {
	*Position
	lsn, file, pos, source int    // positions of fields; -1: none
	from                   int    // the field of the record that lsn or file is, or is made of
	beside                 *Node  // what the envelope says of a row that may have been read beside the log; nil: not read
	besideIs               string // what it says then
}

func newPlace(s Schema) *place {
	if s.Position == nil {
		return nil
	}
	p := s.Position
	return &place{p, s.position(p.LSN), s.position(p.File), s.position(p.Pos), s.position(p.Source), -1, nil, ""}
}

// readBeside makes the envelope read the field that says whether a row was read beside the log.
func (p *place) readBeside(e *envelope) {
	s := &e.decoder.schema
	p.from = max(p.lsn, p.file)
	if f := s.Fields[p.from]; f.Made {
		of := s.Derive.Sources(f.Name)
		if len(of) != 1 {
			return
		}
		p.from = of[0]
	}
	from := func(path ...string) bool { return slices.Equal(s.Fields[p.from].Path, e.place(path, nil)) }
	switch {
	case p.lsn >= 0 && e.Form == Debezium && from("$source", "lsn"):
		p.beside, p.besideIs = e.read(Nested, e.place([]string{"$source", "snapshot"}, nil)...), "incremental"
	case p.lsn >= 0 && e.Unwrapped && from("$lsn"):
		p.beside, p.besideIs = e.read(Nested, e.place([]string{"$snapshot"}, nil)...), "incremental"
	case p.file >= 0 && p.pos < 0 && e.Form == Maxwell && from("$position"):
		p.beside, p.besideIs = e.kind, "bootstrap-insert"
	}
}

// unplaced reports whether the event is a row that was read beside the log, and has no position.
func (p *place) unplaced(b *Builder) bool {
	return p.beside != nil && b.values[p.from].Null() && b.values[max(p.lsn, p.file)].Null() && string(b.said(p.beside)) == p.besideIs
}

// version returns the version of an event with these values. A position that does not fit, or whose source has no epoch, halts the
// partition: all later events would fail the same way, and none must be lost to dead letters.
func (p *place) version(fields []Field, b *Builder) (int64, *Error) {
	values, begins := b.values, p.unplaced(b)
	for _, f := range []int{p.lsn, p.file, p.pos, p.source} {
		if f >= 0 && values[f].Null() && (f == p.source || !begins) {
			return 0, &Error{Reason: MissingField, Field: fields[f].Where(), Detail: "it is part of the version of the event"}
		}
	}
	epoch, err := p.epoch(fields, values)
	if err != nil {
		return 0, err
	}
	var at int64
	if begins {
		return epoch << lsnBits, nil
	}
	if p.lsn >= 0 {
		at, err = part(fields[p.lsn], values[p.lsn].Int(), lsnBits)
	} else {
		at, err = p.binlog(fields, values)
	}
	if err != nil {
		return 0, err
	}
	version := epoch<<lsnBits | at
	if version == math.MaxInt64 {
		return 0, &Error{Reason: BadVersion, Halts: true, Detail: fmt.Sprintf("HBase reserves %d to mean now", version)}
	}
	return version, nil
}

func (p *place) binlog(fields []Field, values []Value) (int64, *Error) {
	name, of := values[p.file].Text(), p.pos
	var pos int64
	var fault *Error
	if of >= 0 {
		pos, fault = part(fields[of], values[of].Int(), posBits)
	} else {
		colon, ok := bytes.LastIndexByte(name, ':'), false
		if of = p.file; colon >= 0 {
			pos, ok, fault = written(fields[of], name[colon+1:], posBits)
		}
		if !ok {
			return 0, &Error{Reason: BadVersion, Field: fields[of].Where(),
				Detail: "a position must be a binlog's file name, a colon and a number, found " + Quoted(name)}
		}
		name = name[:colon]
	}
	file, ok, wrong := written(fields[p.file], name[bytes.LastIndexByte(name, '.')+1:], fileBits)
	switch {
	case !ok:
		return 0, &Error{Reason: BadVersion, Field: fields[p.file].Where(),
			Detail: "a binlog's file name must end with a dot and a number, found " + Quoted(name)}
	case wrong != nil:
		return 0, wrong
	}
	return file<<posBits | pos, fault
}

// written is part for a number that is written in digits; ok is false if it is none.
func written(f Field, digits []byte, bits int) (n int64, ok bool, err *Error) {
	switch u, wrong := strconv.ParseUint(string(digits), 10, 63); {
	case errors.Is(wrong, strconv.ErrRange) && allDigits(digits):
		return 0, true, unfit(f, string(digits), bits)
	case wrong != nil:
		return 0, false, nil //nolint:nilerr // ok says it
	default:
		n, err = part(f, int64(u), bits)
		return n, true, err
	}
}

// beyond returns what makes the error of a number that is the value of a field and does not fit 64 bits; nil: the field is no part of the
// position.
func (p *place) beyond(fields []Field, field int) func(digits []byte) *Error {
	if p == nil {
		return nil
	}
	f := fields[field]
	switch field {
	case p.lsn:
		return func(digits []byte) *Error { return unfit(f, string(digits), lsnBits) }
	case p.pos:
		return func(digits []byte) *Error { return unfit(f, string(digits), posBits) }
	case p.source:
		return func(digits []byte) *Error { return withoutEpoch(f, digits) }
	}
	return nil
}

// part checks that a number fits its width.
func part(f Field, n int64, bits int) (int64, *Error) {
	if n < 0 {
		return 0, &Error{Reason: BadVersion, Field: f.Where(), Detail: fmt.Sprintf("%d is negative", n)}
	}
	if n >= 1<<bits {
		return 0, unfit(f, strconv.FormatInt(n, 10), bits)
	}
	return n, nil
}

func unfit(f Field, number string, bits int) *Error {
	err := &Error{Reason: BadVersion, Field: f.Where(), Halts: true,
		Detail: fmt.Sprintf("%s does not fit the %d bits that a version has for it; write to a new table, where versions start again", number,
			bits)}
	return err.Short()
}

// epoch looks up the epoch of the event's source.
func (p *place) epoch(fields []Field, values []Value) (int64, *Error) {
	if p.source < 0 {
		return 0, nil
	}
	name, v := []byte(nil), values[p.source]
	if name = v.Text(); v.Type == Int {
		var room [20]byte
		name = strconv.AppendInt(room[:0], v.Int(), 10)
	}
	epoch, ok := p.Epochs[string(name)]
	if !ok {
		return 0, withoutEpoch(fields[p.source], name)
	}
	return epoch, nil
}

func withoutEpoch(f Field, source []byte) *Error {
	return &Error{Reason: BadVersion, Field: f.Where(), Halts: true,
		Detail: Quoted(source) + " has no epoch, so its positions cannot be compared with those of other sources; add it to epochs, with a " +
			"higher number than the sources before it"}
}
