package avro

import (
	"encoding/base64"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"brine/event"
)

// maxJSON bounds the JSON of a value: the schema's names and symbols may be far longer than the bytes that stand for them.
const maxJSON = 16 << 20

// render passes a value to its field as JSON: records and maps as objects, unions as the value they hold, enums as strings, bytes as
// base64, decimals with all their digits, and times as the numbers that they are.
func (r *run) render(s *step) *event.Error {
	r.json = r.json[:0]
	if err := r.appendJSON(s.typ); err != nil {
		if err.Field == "" || err == r.broken {
			err.Field = below(s.node.Path(), err.Field)
			r.broken = nil
		}
		return err
	}
	err := r.b.JSON(s.node, r.json)
	if cap(r.json) > 1<<20 {
		r.json = nil
	}
	return err
}

func below(path, name string) string {
	switch {
	case name == "":
		return path
	case path == "":
		return name
	}
	return path + "." + name
}

func (r *run) appendJSON(t *typ) *event.Error {
	if len(r.json) > maxJSON {
		return &event.Error{Reason: event.TooLarge, Detail: "its JSON is longer than " + strconv.Itoa(maxJSON>>20) + " MiB"}
	}
	switch t.kind {
	case null:
		r.json = append(r.json, "null"...)
	case boolean:
		truth, err := r.bool()
		r.json = strconv.AppendBool(r.json, truth)
		return err
	case integer:
		i, err := r.int()
		r.json = strconv.AppendInt(r.json, i, 10)
		return err
	case long:
		i, err := r.long()
		r.json = strconv.AppendInt(r.json, i, 10)
		return err
	case float, double:
		return r.appendFloat(t)
	case text:
		return r.appendText("a string")
	case enum:
		i, err := r.index(len(t.symbols), "symbol")
		if err == nil {
			r.json = appendQuoted(r.json, t.symbols[i])
		}
		return err
	case bytes, fixed:
		return r.appendBinary(t)
	case union:
		i, err := r.index(len(t.branches), "branch")
		if err != nil {
			return err
		}
		return r.appendJSON(t.branches[i])
	default:
		return r.appendCompound(t)
	}
	return nil
}

func (r *run) appendFloat(t *typ) *event.Error {
	f, err := r.float(t.kind)
	switch {
	case err != nil:
		return err
	case math.IsNaN(f) || math.IsInf(f, 0):
		return &event.Error{Reason: event.WrongType, Detail: "it contains NaN or infinity, which JSON cannot represent"}
	}
	r.json = strconv.AppendFloat(r.json, f, 'g', -1, 64)
	return nil
}

func (r *run) appendText(what string) *event.Error {
	p, err := r.bytes(what)
	switch {
	case err != nil:
		return err
	case !utf8.Valid(p):
		return r.fail("invalid UTF-8 in %s before byte %d", what, r.at)
	}
	r.json = appendQuoted(r.json, p)
	return nil
}

func appendQuoted(dst, text []byte) []byte {
	dst, err := jsontext.AppendQuote(dst, text)
	if err != nil {
		panic("BUG: avro: checked UTF-8 cannot be quoted: " + err.Error())
	}
	return dst
}

func (r *run) appendBinary(t *typ) *event.Error {
	p, err := r.raw(t)
	if err != nil {
		return err
	}
	switch t.logical {
	case decimal:
		var ok bool
		if r.json, ok = event.AppendDecimal(r.json, p, t.scale); !ok {
			return &event.Error{Reason: event.WrongType, Detail: "a decimal in it has more than 38 digits"}
		}
		return nil
	case uuid:
		r.json = append(appendUUID(append(r.json, '"'), p), '"')
		return nil
	}
	r.json = append(r.json, '"')
	r.json = base64.StdEncoding.AppendEncode(r.json, p)
	r.json = append(r.json, '"')
	return nil
}

// appendCompound appends a record, an array or a map.
func (r *run) appendCompound(t *typ) (err *event.Error) {
	if err = r.enter(); err != nil {
		return err
	}
	switch t.kind {
	case record:
		err = r.appendRecord(t)
	default:
		err = r.appendBlocks(t)
	}
	r.depth--
	return err
}

func (r *run) appendRecord(t *typ) *event.Error {
	r.json = append(r.json, '{')
	for i := range t.fields {
		if i > 0 {
			r.json = append(r.json, ',')
		}
		r.json = append(r.json, t.fields[i].quoted...)
		if err := r.appendJSON(t.fields[i].typ); err != nil {
			return r.in(t.fields[i].name, err)
		}
	}
	r.json = append(r.json, '}')
	return nil
}

func (r *run) appendBlocks(t *typ) *event.Error {
	open, end := byte('['), byte(']')
	if t.kind == mapping {
		open, end = '{', '}'
	}
	r.json = append(r.json, open)
	for first := true; ; {
		b, err := r.block(t.leastItem())
		if err != nil {
			return err
		}
		if b.items == 0 {
			break
		}
		for range b.items {
			if !first {
				r.json = append(r.json, ',')
			}
			first = false
			if err := r.appendItem(t); err != nil {
				return err
			}
		}
		if err := r.ended(b); err != nil {
			return err
		}
	}
	r.json = append(r.json, end)
	return nil
}

func (r *run) appendItem(t *typ) *event.Error {
	if t.kind == mapping {
		if err := r.appendText("a key"); err != nil {
			return err
		}
		r.json = append(r.json, ':')
	}
	return r.appendJSON(t.items)
}
