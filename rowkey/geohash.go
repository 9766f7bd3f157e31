package rowkey

import (
	"fmt"
	"math"
	"strings"
)

// GeohashBound is the name under which Ranges accepts the prefix of a geohash, unless a field has that name.
const GeohashBound = "geohash"

// geohash is the cell of a place, in base 32. Each digit holds five bits, which halve the longitude and the latitude in turn, starting with
// the longitude. Cells whose geohashes share a prefix lie within one larger cell.
type geohash struct {
	fields [2]field // latitude and longitude, in degrees
	n      int      // digits
}

const geohashDigits = "0123456789bcdefghjkmnpqrstuvwxyz"

func (g *geohash) width() int     { return g.n }
func (g *geohash) reads() []field { return g.fields[:] }
func (g *geohash) expr() string   { return fmt.Sprintf("geohash(%s, %d)", joinNames(g.fields[:]), g.n) }

func (g *geohash) doc() string {
	return fmt.Sprintf("the geohash of %s in %d digits: places that are near each other mostly side by side", joinNames(g.fields[:]), g.n)
}

// halves is the remaining interval of an axis.
type halves struct{ low, high float64 }

// axes holds the full intervals of a geohash's fields.
var axes = [2]halves{{-90, 90}, {-180, 180}}

func (h halves) middle() float64 { return (h.low + h.high) / 2 } // exact: 45 degrees halved at most 30 times

// side returns the half that x lies in: 1 for the upper.
func (h halves) side(x float64) int {
	if x >= h.middle() {
		return 1
	}
	return 0
}

func (h *halves) keep(side int) {
	if side == 1 {
		h.low = h.middle()
	} else {
		h.high = h.middle()
	}
}

func (g *geohash) append(dst []byte, values []Value) ([]byte, error) {
	var place [2]float64
	for i := range g.fields {
		f := &g.fields[i]
		v, err := f.of(values)
		if err != nil {
			return dst, err
		}
		place[i] = v.Float()
		if most := axes[i].high; !(math.Abs(place[i]) <= most) { // false for NaN
			return dst, f.refuse("is %s, which is not between -%g and %g degrees", v, most, most)
		}
		if f.kept != nil {
			rounded, err := f.kept.round(f, *v)
			if err != nil {
				return dst, err
			}
			place[i] = rounded.Float()
		}
	}
	left, digit := axes, 0
	for bit := range 5 * g.n {
		axis := 1 - bit%2
		side := left[axis].side(place[axis])
		left[axis].keep(side)
		if digit = digit<<1 | side; bit%5 == 4 {
			dst, digit = append(dst, geohashDigits[digit]), 0
		}
	}
	return dst, nil
}

func (g *geohash) measure(row []byte) (int, error) {
	n, err := measureFixed(row, g.n)
	if err == nil {
		err = checkGeohash(row[:n])
	}
	return n, err
}

func checkGeohash(b []byte) error {
	for _, c := range b {
		if strings.IndexByte(geohashDigits, c) < 0 {
			return fmt.Errorf("%s is not a geohash digit; the digits are %s", quote([]byte{c}), geohashDigits)
		}
	}
	return nil
}

// decode sets the fields to the middle of the cell.
func (g *geohash) decode(b []byte, values []Value) error {
	left, bit := axes, 0
	for _, c := range b {
		digit := strings.IndexByte(geohashDigits, c)
		for shift := 4; shift >= 0; shift-- {
			left[1-bit%2].keep(digit >> shift & 1)
			bit++
		}
	}
	for i, f := range g.fields {
		if !f.elsewhere {
			values[f.pos] = FloatValue(left[i].middle())
		}
	}
	return nil
}

func (g *geohash) verify(b []byte, values []Value) error { return verifyAgain(g, b, values) }

// round returns the middle of the cell that v, a value of f, lies in.
func (g *geohash) round(f *field, v Value) (Value, error) {
	axis, bits := 0, 5*g.n/2
	if f.pos == g.fields[1].pos {
		axis, bits = 1, 5*g.n-bits
	}
	left := axes[axis]
	for range bits {
		left.keep(left.side(v.Float()))
	}
	return FloatValue(left.middle()), nil
}

// geohash returns the part whose prefix Ranges accepts, or nil if there is none.
func (k *Key) geohash() *geohash {
	for _, f := range k.fields {
		if f.name == GeohashBound {
			return nil
		}
	}
	for _, s := range k.slots {
		if g, ok := s.part.(*geohash); ok {
			return g
		}
	}
	return nil
}
