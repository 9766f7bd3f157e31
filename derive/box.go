package derive

import (
	"fmt"
	"unsafe"

	"cel.dev/cel-go/common/types"

	"brine/event"
)

// box holds a field's value for CEL. Putting a value in an interface allocates memory each time. A box instead keeps the memory and the
// interfaces that point to it, and overwrites it for the next event. So the result of an evaluation must be read before the next one
// begins, and CEL, which keeps nothing of an event beyond an evaluation, never sees two values in one box.
type box struct {
	name  string
	field int // position

	text   types.String
	number types.Int
	float  types.Double
	at     types.Timestamp

	boxed [event.TimeMS + 1]any // by type: point to the above
}

// open prepares the box, which must not be moved afterwards.
func (b *box) open(name string, field int) {
	b.name, b.field = name, field
	b.boxed[event.Text] = pointed(types.String(""), unsafe.Pointer(&b.text))
	b.boxed[event.Int] = pointed(types.Int(0), unsafe.Pointer(&b.number))
	b.boxed[event.Float] = pointed(types.Double(0), unsafe.Pointer(&b.float))
	b.boxed[event.TimeMS] = pointed(types.Timestamp{}, unsafe.Pointer(&b.at))
}

// pointed returns an interface of like's type, which must not be a pointer type, whose value is what data points to.
func pointed(like any, data unsafe.Pointer) any {
	(*[2]unsafe.Pointer)(unsafe.Pointer(&like))[1] = data // an interface is its type and a pointer to its value
	return like
}

// null, yes and no need no memory.
var null, yes, no any = types.NullValue, types.True, types.False

// fill returns v boxed, or the error that it cannot be.
func (b *box) fill(v event.Value) any {
	switch v.Type {
	case event.Text:
		t := v.Text()
		if len(t) > maxText {
			return types.NewErr("%s is %d bytes long, more than the %d that expressions can read", b.name, len(t), maxText)
		}
		b.text = types.String(unsafe.String(unsafe.SliceData(t), len(t)))
	case event.Int:
		b.number = types.Int(v.Int())
	case event.Float:
		b.float = types.Double(v.Float())
	case event.TimeMS, event.TimeUS, event.TimeNS, event.Date:
		b.at = types.Timestamp{Time: v.Instant()}
		return b.boxed[event.TimeMS]
	case event.Bool:
		if v.Bool() {
			return yes
		}
		return no
	case 0:
		return null
	default:
		return types.NewErr("%s is %s", b.name, fmt.Sprint(v.Type))
	}
	return b.boxed[v.Type]
}
