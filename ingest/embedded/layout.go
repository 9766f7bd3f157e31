package embedded

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"sync"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// layout is the byte layout of a request's body in one version. kmsg allocates arrays and counts tags by their announced lengths. check
// walks over a body first, and so finds false lengths without allocating anything.
type layout []part

// part is one field of a layout.
type part struct {
	kind   kind
	size   int    // of a fixed part
	within layout // of an array's elements, or of an optional structure
}

type kind uint8

const (
	fixed kind = iota
	text
	blob
	array
	optional // a structure after a byte that marks its presence
	tags
)

// maxElements bounds the arrays of one request, nested ones included: an answer has as many elements, and each takes more memory than in
// the request.
const maxElements = 4096

var errShort = errors.New("it is shorter than it announces")

// body is the part of a request's body that check has not read yet.
type body struct {
	src      []byte
	flexible bool
	elements int
}

// check reports whether b has the layout and nothing else.
func (l layout) check(b []byte, flexible bool) error {
	in := &body{src: b, flexible: flexible}
	if err := in.walk(l); err != nil {
		return err
	}
	if len(in.src) > 0 {
		return fmt.Errorf("%d bytes follow it", len(in.src))
	}
	return nil
}

func (b *body) walk(l layout) error {
	for _, p := range l {
		if err := b.part(p); err != nil {
			return err
		}
	}
	return nil
}

func (b *body) part(p part) error {
	switch p.kind {
	case fixed:
		return b.skip(p.size)
	case text:
		n, err := b.length(2)
		return errors.Join(err, b.skip(n))
	case blob:
		n, err := b.length(4)
		return errors.Join(err, b.skip(n))
	case array:
		return b.array(p.within)
	case optional:
		return b.optional(p.within)
	default:
		return b.tags()
	}
}

func (b *body) skip(n int) error {
	if n > len(b.src) {
		return errShort
	}
	b.src = b.src[max(n, 0):]
	return nil
}

// length reads a length, of width bytes unless the version has variable lengths. −1 stands for null.
func (b *body) length(width int) (int, error) {
	if b.flexible {
		n, err := b.uvarint()
		return int(n) - 1, err
	}
	if len(b.src) < width {
		return 0, errShort
	}
	n := int(int16(binary.BigEndian.Uint16(b.src)))
	if width == 4 {
		n = int(int32(binary.BigEndian.Uint32(b.src)))
	}
	b.src = b.src[width:]
	return n, nil
}

func (b *body) uvarint() (uint32, error) {
	n, width := binary.Uvarint(b.src)
	if width <= 0 || n > 1<<31-1 {
		return 0, errShort
	}
	b.src = b.src[width:]
	return uint32(n), nil
}

func (b *body) array(element layout) error {
	n, err := b.length(4)
	if err != nil {
		return err
	}
	if b.elements += max(n, 0); b.elements > maxElements {
		return fmt.Errorf("its arrays have more than %d elements", maxElements)
	}
	for range n {
		if err := b.walk(element); err != nil {
			return err
		}
	}
	return nil
}

func (b *body) optional(within layout) error {
	if len(b.src) == 0 {
		return errShort
	}
	there := int8(b.src[0]) >= 0
	b.src = b.src[1:]
	if !there {
		return nil
	}
	return b.walk(within)
}

// tags refuses tagged fields: no client sends any in a request, and their contents are not checked here.
func (b *body) tags() error {
	n, err := b.uvarint()
	if err == nil && n > 0 {
		err = errors.New("it has tagged fields")
	}
	return err
}

// layouts are the layouts in use, by key and version.
var layouts sync.Map

// layoutOf returns the layout of a request in its version. kmsg does not expose it, so it is derived from how the bytes change when a field
// does.
func layoutOf(q kmsg.Request) layout {
	id := [2]int16{q.Key(), min(q.GetVersion(), q.MaxVersion())} // later versions have the layout of the last known one
	if l, ok := layouts.Load(id); ok {
		return l.(layout)
	}
	p := prober{request: q}
	l := p.structure(reflect.ValueOf(q).Elem())
	layouts.Store(id, l)
	return l
}

// prober derives the layout of a request.
type prober struct{ request kmsg.Request }

var tagsType = reflect.TypeFor[kmsg.Tags]()

// structure returns the layout of s, which is a part of the request.
func (p prober) structure(s reflect.Value) (l layout) {
	for i := range s.NumField() {
		if f := s.Type().Field(i); f.Type != tagsType && (f.Name != "Version" || s.Addr().Interface() != any(p.request)) {
			l = append(l, p.field(s.Field(i))...)
		}
	}
	if p.request.IsFlexible() && (len(l) > 0 || s.Addr().Interface() == any(p.request)) {
		l = append(l, part{kind: tags})
	}
	return l
}

// field returns what f adds to the layout: nothing if this version does not have it, or if it is a tagged field.
func (p prober) field(f reflect.Value) layout {
	before := reflect.ValueOf(f.Interface())
	defer f.Set(before)
	text2, blob2 := "aa", []byte("aa")
	switch f.Interface().(type) {
	case string:
		return p.variable(text, f, reflect.ValueOf(""), reflect.ValueOf(text2))
	case *string:
		return p.variable(text, f, reflect.Zero(f.Type()), reflect.ValueOf(&text2))
	case []byte:
		return p.variable(blob, f, reflect.Zero(f.Type()), reflect.ValueOf(blob2))
	}
	switch f.Kind() {
	case reflect.Slice:
		return p.slice(f)
	case reflect.Pointer:
		return p.pointer(f)
	case reflect.Struct:
		return p.structure(f)
	}
	return p.scalar(f, before)
}

// variable returns a part with a length, which is 0 for the first value and 2 for the second.
func (p prober) variable(k kind, f, empty, two reflect.Value) layout {
	if p.size(f, two)-p.size(f, empty) != 2 {
		return nil
	}
	return layout{{kind: k}}
}

// scalar returns a part of fixed size. A tagged field adds more than its size when it differs from its default.
func (p prober) scalar(f, byDefault reflect.Value) layout {
	other := reflect.New(f.Type()).Elem()
	switch {
	case !byDefault.IsZero():
	case f.Kind() == reflect.Bool:
		other.SetBool(true)
	case f.CanFloat():
		other.SetFloat(1)
	case f.CanInt():
		other.SetInt(1)
	case f.CanUint():
		other.SetUint(1)
	default: // an id of 16 bytes
		other.Index(0).SetUint(1)
	}
	f.Set(byDefault)
	one := p.request.AppendTo(nil)
	f.Set(other)
	two := p.request.AppendTo(nil)
	if len(one) != len(two) || bytes.Equal(one, two) {
		return nil
	}
	size := int(f.Type().Size())
	return layout{{kind: fixed, size: size}}
}

func (p prober) slice(f reflect.Value) layout {
	one, two := reflect.MakeSlice(f.Type(), 1, 1), reflect.MakeSlice(f.Type(), 2, 2)
	for _, element := range []reflect.Value{one.Index(0), two.Index(0), two.Index(1)} {
		setDefault(element)
	}
	none := p.size(f, reflect.Zero(f.Type()))
	first, second := p.size(f, one)-none, p.size(f, two)-none
	if first == 0 || second != 2*first {
		return nil
	}
	f.Set(one)
	element := f.Index(0)
	if element.Kind() == reflect.Struct {
		return layout{{kind: array, within: p.structure(element)}}
	}
	return layout{{kind: array, within: p.field(element)}}
}

func (p prober) pointer(f reflect.Value) layout {
	there := reflect.New(f.Type().Elem())
	setDefault(there.Elem())
	if p.size(f, reflect.Zero(f.Type())) == p.size(f, there) {
		return nil
	}
	return layout{{kind: optional, within: p.structure(f.Elem())}}
}

// size returns the size of the request in bytes when f is v.
func (p prober) size(f, v reflect.Value) int {
	f.Set(v)
	return len(p.request.AppendTo(nil))
}

// setDefault sets the fields of a structure to their defaults.
func setDefault(v reflect.Value) {
	if d, ok := v.Addr().Interface().(interface{ Default() }); ok {
		d.Default()
	}
}
