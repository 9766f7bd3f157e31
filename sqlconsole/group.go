package sqlconsole

import (
	"bytes"
	"math"
	"math/big"
	"slices"
	"strings"

	"brine/event"
	"brine/query"
)

// result returns the type of a function of a column.
func (i *Item) result(c *column) event.Type {
	switch i.Func {
	case "COUNT":
		return event.Int
	case "AVG":
		if c.typ == event.Decimal {
			return event.Decimal
		}
		return event.Float
	}
	return c.typ
}

// groups collects the results of functions over rows.
type groups struct {
	plan  *Plan
	all   map[string]*group // by the type and bytes of the value
	order []*group          // in order of arrival
	held  int64             // bytes of their values
}

// group is the rows with one value of the column of GROUP BY, or all rows.
type group struct {
	value event.Value
	folds []fold // one per item
}

// fold is the state of a function.
type fold struct {
	n        int64       // rows, or values
	best     event.Value // the least for MIN, the greatest for MAX
	sum      float64
	whole    int64
	overflow bool
	exact    *big.Rat // of decimals
	places   int      // after the point, of the decimal with the most
}

func newGroups(p *Plan) *groups {
	g := &groups{plan: p, all: map[string]*group{}}
	if p.group == nil {
		g.of(event.Value{}) // all rows are a group, even if there are none
	}
	return g
}

func (g *groups) of(v event.Value) *group {
	key := string(event.AppendValue([]byte{byte(v.Type)}, v))
	if v.Type == event.Decimal && bytes.IndexByte(v.Text(), '.') >= 0 { // 1.5 and 1.50 are the same number
		key = "decimal " + string(bytes.TrimRight(bytes.TrimRight(v.Text(), "0"), "."))
	} else if v.Type == event.Decimal {
		key = "decimal " + string(v.Text())
	}
	found := g.all[key]
	if found == nil {
		found = &group{value: owned(v), folds: make([]fold, len(g.plan.columns))}
		g.all[key] = found
		g.order = append(g.order, found)
		g.held += held(v) + int64(len(found.folds))*held(event.Value{})
	}
	return found
}

// cut drops the groups after the first n.
func (g *groups) cut(n int) { g.order = g.order[:n] }

func (g *groups) add(row *query.Selected) error {
	var v event.Value
	if g.plan.group != nil {
		v = g.plan.group.in(row)
	}
	into := g.of(v)
	for i, c := range g.plan.columns {
		if c == nil {
			into.folds[i].n++ // COUNT(*)
		} else if v := c.in(row); !v.Null() {
			g.held += into.folds[i].add(g.plan.Statement.Items[i].Func, v)
		}
	}
	return nil
}

// add adds a value, and returns by how many bytes the state has grown.
func (f *fold) add(function string, v event.Value) (grown int64) {
	f.n++
	switch {
	case function == "MIN" && f.n > 1 && compare(v, f.best) >= 0, function == "MAX" && f.n > 1 && compare(v, f.best) <= 0:
	case function == "MIN", function == "MAX":
		grown = held(v) - held(f.best)
		f.best = owned(v)
	case function != "SUM" && function != "AVG":
	case v.Type == event.Int:
		f.sum += float64(v.Int())
		sum := f.whole + v.Int()
		f.overflow = f.overflow || (sum > f.whole) != (v.Int() > 0) && v.Int() != 0
		f.whole = sum
	case v.Type == event.Float:
		f.sum += v.Float()
	case v.Type == event.Decimal:
		f.addDecimal(string(v.Text()))
	}
	return grown
}

func (f *fold) addDecimal(number string) {
	if f.exact == nil {
		f.exact = new(big.Rat)
	}
	one, ok := new(big.Rat).SetString(number)
	if !ok {
		return // decimals are never written like this
	}
	f.exact.Add(f.exact, one)
	if _, behind, has := strings.Cut(number, "."); has {
		f.places = max(f.places, len(behind))
	}
}

// meanPlaces is how many more decimal places a mean has than its values.
const meanPlaces = 6

// decimal returns the exact sum, or the mean, rounded to some more places than its values have, and to 38 digits.
func (f *fold) decimal(i *Item) (event.Value, error) {
	if i.Func == "SUM" {
		if v, ok := event.DecimalValue(f.exact.FloatString(f.places)); ok {
			return v, nil
		}
		return event.Value{}, wrong(i.Pos, "use AVG, or fewer rows", "the sum of %s does not fit 38 digits", i.Ref)
	}
	mean := new(big.Rat).Quo(f.exact, new(big.Rat).SetInt64(f.n))
	for places := f.places + meanPlaces; places > 0; places-- {
		text := strings.TrimRight(mean.FloatString(places), "0")
		if v, ok := event.DecimalValue(strings.TrimSuffix(text, ".")); ok {
			return v, nil
		}
	}
	v, _ := event.DecimalValue(mean.FloatString(0)) // it lies between two that fit
	return v, nil
}

// rows returns the answer: the groups sorted by value, null first.
func (g *groups) rows(limit int) (out [][]event.Value, err error) {
	slices.SortFunc(g.order, func(a, b *group) int {
		switch {
		case a.value.Null() && b.value.Null():
			return 0
		case a.value.Null():
			return -1
		case b.value.Null():
			return 1
		}
		return compare(a.value, b.value)
	})
	for _, one := range g.order[:min(limit, len(g.order))] {
		row := make([]event.Value, len(one.folds))
		for i := range one.folds {
			item := &g.plan.Statement.Items[i]
			if item.Func == "" {
				row[i] = g.plan.columns[i].asShown(one.value)
				continue
			}
			if row[i], err = one.folds[i].value(item, g.plan.columns[i]); err != nil {
				return nil, err
			}
		}
		out = append(out, row)
	}
	return out, nil
}

// value returns the function's result; null if there were no values.
func (f *fold) value(i *Item, c *column) (v event.Value, err error) {
	switch {
	case i.Func == "COUNT":
		return event.IntValue(f.n), nil
	case f.n == 0:
		return v, nil
	case i.Func == "MIN", i.Func == "MAX":
		return c.asShown(f.best), nil
	case c.typ == event.Decimal:
		return f.decimal(i)
	case i.Func == "AVG":
		return finite(f.sum/float64(f.n), i)
	case c.typ == event.Float:
		return finite(f.sum, i)
	case f.overflow:
		return v, wrong(i.Pos, "use AVG, or fewer rows", "the sum of %s does not fit 64 bits", i.Ref)
	}
	return event.IntValue(f.whole), nil
}

func finite(f float64, i *Item) (event.Value, error) {
	if math.IsInf(f, 0) {
		return event.Value{}, wrong(i.Pos, "use fewer rows", "the sum of %s is more than a number holds", i.Ref)
	}
	return event.FloatValue(f), nil
}
