package config

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"brine/internal/when"
)

// Bytes is a size in bytes, written as 64MiB.
type Bytes int64

// sizeUnits are in the order to try them, so that a longer unit comes before its own ending.
var sizeUnits = []struct {
	name  string
	bytes int64
}{
	{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40},
	{"kB", 1e3}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"B", 1},
}

// parseBytes parses 64MiB, 1.5GiB, 4096B or a plain number of bytes.
func parseBytes(s string) (Bytes, error) {
	number, unit := s, int64(1)
	for _, u := range sizeUnits {
		if n, ok := strings.CutSuffix(s, u.name); ok {
			number, unit = strings.TrimSpace(n), u.bytes
			break
		}
	}
	if n, err := strconv.ParseInt(number, 10, 64); err == nil {
		if n < 0 || n > math.MaxInt64/unit {
			return 0, errors.New("is out of range")
		}
		return Bytes(n * unit), nil
	}
	f, err := strconv.ParseFloat(number, 64)
	if err != nil || math.IsNaN(f) || unit == 1 {
		return 0, errors.New("is not a size")
	}
	if f *= float64(unit); f < 0 || f >= math.MaxInt64 {
		return 0, errors.New("is out of range")
	}
	return Bytes(f), nil
}

// UnmarshalText parses a size as in the configuration, for flags.
func (b *Bytes) UnmarshalText(text []byte) error {
	n, err := parseBytes(string(text))
	*b = n
	if err != nil {
		return fmt.Errorf("%q %w; write a size such as 300B, 64KiB or 32GiB", text, err)
	}
	return nil
}

// String returns the size in the largest unit that divides it.
func (b Bytes) String() string {
	for i := 3; i >= 0; i-- {
		if u := sizeUnits[i]; b != 0 && int64(b)%u.bytes == 0 {
			return fmt.Sprintf("%d%s", int64(b)/u.bytes, u.name)
		}
	}
	return strconv.FormatInt(int64(b), 10) + "B"
}

// Duration is a time.Duration that flags parse as in the configuration.
type Duration time.Duration

// UnmarshalText parses durations such as 92d, 1d12h, 10s, 5ms.
func (d *Duration) UnmarshalText(text []byte) error {
	n, err := when.Duration(string(text))
	*d = Duration(n)
	if err != nil {
		return fmt.Errorf("%q %w; write a time such as 92d, 1d12h, 10s or 5ms", text, err)
	}
	return nil
}

const day = 24 * time.Hour

// DurationText formats a duration as a user would write it: 92d, 1h30m, 100ms.
func DurationText(d time.Duration) string {
	if d >= day && d%day == 0 {
		return strconv.FormatInt(int64(d/day), 10) + "d"
	}
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = s[:len(s)-2]
	}
	if strings.HasSuffix(s, "h0m") {
		s = s[:len(s)-2]
	}
	return s
}

// set parses a scalar into the field v. The message of its flaw continues a sentence about the value: "is not a size".
func set(v reflect.Value, s shape, d *definition, value string) *flaw {
	switch s {
	case text:
		return setText(v, d, value)
	case path:
		return setPath(v, d, value)
	case truth:
		if value != "true" && value != "false" {
			return &flaw{Type, "is not true or false", fmt.Sprintf("write %s: true or %s: false", d.name, d.name)}
		}
		v.SetBool(value == "true")
		return nil
	}
	n, err := number(s, value)
	if err != nil {
		return &flaw{Type, err.Error(), "write " + d.name + ": " + exampleOf(d)}
	}
	for _, bound := range []struct {
		text, word string
		sign       int64
	}{{d.min, "least", 1}, {d.max, "most", -1}} {
		if limit, err := number(s, bound.text); err == nil && (n < limit && bound.sign > 0 || n > limit && bound.sign < 0) {
			return &flaw{Range, "is out of range", "write at " + bound.word + " " + bound.text}
		}
	}
	v.SetInt(n)
	return nil
}

// number parses a whole number, a duration in nanoseconds or a size in bytes.
func number(s shape, value string) (int64, error) {
	switch s {
	case duration:
		d, err := when.Duration(value)
		return int64(d), err
	case size:
		b, err := parseBytes(value)
		return int64(b), err
	}
	n, err := strconv.ParseInt(value, 10, 64)
	if errors.Is(err, strconv.ErrRange) {
		return 0, errors.New("is out of range")
	} else if err != nil {
		return 0, errors.New("is not a whole number")
	}
	return n, nil
}

func setText(v reflect.Value, d *definition, value string) *flaw {
	if value == "" {
		return &flaw{Missing, "is empty", "write " + d.name + ": " + exampleOf(d)}
	}
	if len(d.choices) > 0 && !slices.Contains(d.choices, value) {
		fix := "write " + oneOf(d.choices)
		if near := nearest(value, d.choices); near != "" {
			fix = "did you mean " + near + "? It can be " + oneOf(d.choices)
		}
		return &flaw{Choice, "is not a valid choice", fix}
	}
	v.SetString(value)
	return nil
}

func setPath(v reflect.Value, d *definition, value string) *flaw {
	keys := strings.Split(value, ".")
	if slices.Contains(keys, "") {
		return &flaw{Type, "has an empty key", "write " + d.name + ": " + exampleOf(d) + ", or a list of keys"}
	}
	v.Set(reflect.ValueOf(Path(keys)))
	return nil
}

// exampleOf returns the example for a fix.
func exampleOf(d *definition) string {
	switch {
	case d.example != "":
		return d.example
	case len(d.choices) > 0:
		return d.choices[0]
	case d.fallback != "":
		return d.fallback
	case shapeOf(d.typ) == object:
		defs, _ := definitionsOf(d.typ)
		return "{ " + defs[0].name + ": " + exampleOf(&defs[0]) + " }"
	case d.typ == reflect.TypeFor[time.Duration]():
		return "10s"
	}
	return "…"
}

// quote quotes a value and shortens a long one.
func quote(s string) string {
	const most = 60
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "…"
	}
	return strconv.Quote(s)
}
