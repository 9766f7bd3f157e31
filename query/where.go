package query

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"brine/internal/when"
	"brine/rowkey"
)

// parseWhere parses conditions as people write them. field=value binds a field, and field=from..to limits one, from inclusive and to
// exclusive (from..=to: inclusive), either side possibly empty. field==value binds it to exactly the rest of the text, even if that
// contains ".." or begins with "=". Times are in the formats of when.Time; an end that is a bare date means the beginning of that day, UTC.
// Its errors are *Fault.
func parseWhere(fields map[string]rowkey.Field, conditions []string) (map[string]rowkey.Bound, error) {
	where := make(map[string]rowkey.Bound, len(conditions))
	for _, c := range conditions {
		name, text, ok := strings.Cut(c, "=")
		if !ok {
			return nil, notCondition(c)
		}
		f, ok := fields[name]
		if !ok {
			return nil, named(name, "no field %q in the key; it has %s", name, strings.Join(slices.Sorted(maps.Keys(fields)), ", "))
		}
		if _, twice := where[name]; twice {
			return nil, named(name, "field %q is given twice: write %s=from..to for a range", name, name)
		}
		b, err := parseBound(f, text)
		if err != nil {
			return nil, &Fault{Arg: name, Msg: err.Error()}
		}
		where[name] = b
	}
	return where, nil
}

// ParseKeyWhere parses conditions on the fields of keys, like parseWhere.
func ParseKeyWhere(keys rowkey.Keys, conditions []string) (map[string]rowkey.Bound, error) {
	return parseWhere(byName(keys.Bindable()), conditions)
}

// ParseKeyValues parses field=value for the fields of a key, and returns their values in its order, null for missing ones. A value to
// encode is never a range, whatever it contains.
func ParseKeyValues(key *rowkey.Key, values []string) ([]rowkey.Value, error) {
	exact := make([]string, len(values))
	for i, v := range values {
		exact[i] = v
		if name, value, ok := strings.Cut(v, "="); ok && !strings.HasPrefix(value, "=") {
			exact[i] = name + "==" + value
		}
	}
	given, err := ParseKeyWhere(rowkey.One(key), exact)
	if err != nil {
		return nil, err
	}
	var fields []rowkey.Value
	for _, name := range key.Fields() {
		fields = append(fields, given[name].Equal)
	}
	return fields, nil
}

func notCondition(c string) error {
	return &Fault{Msg: fmt.Sprintf("%q is not a condition: write field=value or field=from..to", c)}
}

func parseBound(f rowkey.Field, text string) (b rowkey.Bound, err error) {
	if exact, ok := strings.CutPrefix(text, "="); ok {
		b.Equal, err = ParseValue(f, exact)
		return b, err
	}
	from, to, isRange := strings.Cut(text, "..")
	if !isRange {
		b.Equal, err = ParseValue(f, text)
		return b, err
	}
	return parseRange(f, from, to)
}

// parseRange parses the ends of a range, either possibly empty; "=" in front of to makes it inclusive.
func parseRange(f rowkey.Field, from, to string) (b rowkey.Bound, err error) {
	if from != "" {
		if b.From, err = ParseValue(f, from); err != nil {
			return b, err
		}
	}
	to, b.Through = strings.CutPrefix(to, "=")
	if to != "" {
		b.To, err = ParseValue(f, to)
	}
	return b, err
}

// ParseValue parses one value of a key field as people write it. An integer that counts time is its number, or a time in the formats of
// when.Time, rounded down to the unit as those of events are.
func ParseValue(f rowkey.Field, text string) (rowkey.Value, error) {
	switch typ := f.Type; typ {
	case rowkey.Text:
		return rowkey.Value{Type: typ, Text: []byte(text)}, nil
	case rowkey.Int:
		i, err := strconv.ParseInt(text, 10, 64)
		switch {
		case err == nil:
		case f.Unit == 0:
			return rowkey.Value{}, fmt.Errorf("%q is not a whole number", text)
		default:
			if i, err = when.Count(text, time.Now(), f.Unit); err != nil {
				return rowkey.Value{}, err
			}
		}
		return rowkey.Value{Type: typ, Int: i}, nil
	case rowkey.Float:
		f, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return rowkey.Value{}, fmt.Errorf("%q is not a number", text)
		}
		return rowkey.Value{Type: typ, Int: int64(math.Float64bits(f))}, nil
	case rowkey.Bool:
		b, err := strconv.ParseBool(text)
		if err != nil {
			return rowkey.Value{}, fmt.Errorf("%q is not true or false", text)
		}
		if b {
			return rowkey.Value{Type: typ, Int: 1}, nil
		}
		return rowkey.Value{Type: typ}, nil
	case rowkey.Time:
		t, err := when.Time(text, time.Now())
		if err != nil {
			return rowkey.Value{}, err
		}
		return rowkey.Value{Type: typ, Int: t.UnixMilli()}, nil
	}
	return rowkey.Value{}, fmt.Errorf("BUG: field type %d", f.Type)
}
