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
	held  int64             // bytes of their values, as the answer shows them
	added int               // rows

	values []event.Value // of the row that is being added, one per item
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
	g := &groups{plan: p, all: map[string]*group{}, values: make([]event.Value, len(p.columns))}
	if p.group == nil {
		g.begin(keyOf(event.Value{}), event.Value{}) // all rows are a group, even if there are none
		g.held = g.size(event.Value{})
	}
	return g
}

// keyOf returns the text by which groups tell values apart.
func keyOf(v event.Value) string {
	if v.Type == event.Decimal && bytes.IndexByte(v.Text(), '.') >= 0 { // 1.5 and 1.50 are the same number
		return "decimal " + string(bytes.TrimRight(bytes.TrimRight(v.Text(), "0"), "."))
	} else if v.Type == event.Decimal {
		return "decimal " + string(v.Text())
	} else if v.Type == event.Float && v.Float() == 0 { // −0, too
		v = event.FloatValue(0)
	}
	return string(event.AppendValue([]byte{byte(v.Type)}, v))
}

// begin adds a group without rows. The caller counts its size.
func (g *groups) begin(key string, v event.Value) *group {
	one := &group{value: owned(v), folds: make([]fold, len(g.plan.columns))}
	g.all[key] = one
	g.order = append(g.order, one)
	return one
}

// size returns the bytes of a group without rows, each time that the statement names its value.
func (g *groups) size(v event.Value) int64 {
	named := 1
	for _, item := range g.plan.Statement.Items {
		if item.Func == "" {
			named++
		}
	}
	size := int64(len(g.plan.columns)) * held(event.Value{})
	if g.plan.group != nil {
		size += int64(named) * held(g.plan.group.asShown(v))
	}
	return size
}

// cut drops the groups after the first n.
func (g *groups) cut(n int) { g.order = g.order[:n] }

// add adds a row to its group. It returns false and adds nothing if the groups would have more than limit bytes: a value is only copied
// once there is room for it.
func (g *groups) add(row *query.Selected, limit int64) (fits bool) {
	var v event.Value
	if g.plan.group != nil {
		v = g.plan.group.in(row)
	}
	key := keyOf(v)
	into := g.all[key]
	var grows int64
	if into == nil {
		grows = g.size(v)
	}
	for i, c := range g.plan.columns {
		if c == nil {
			continue
		}
		g.values[i] = c.in(row)
		var before fold
		if into != nil {
			before = into.folds[i]
		}
		if before.replaces(g.plan.Statement.Items[i].Func, g.values[i]) {
			grows += held(c.asShown(g.values[i])) - held(c.asShown(before.best))
		}
	}
	if g.held+grows > limit {
		return false
	}
	if into == nil {
		into = g.begin(key, v)
	}
	g.held += grows
	g.added++
	for i, c := range g.plan.columns {
		if c == nil {
			into.folds[i].n++ // COUNT(*)
		} else if !g.values[i].Null() {
			into.folds[i].add(g.plan.Statement.Items[i].Func, g.values[i])
		}
	}
	return true
}

// replaces reports whether add would keep the value.
func (f *fold) replaces(function string, v event.Value) bool {
	switch {
	case v.Null():
		return false
	case function == "MIN":
		return f.n == 0 || compare(v, f.best) < 0
	case function == "MAX":
		return f.n == 0 || compare(v, f.best) > 0
	}
	return false
}

// add adds a value that is not null.
func (f *fold) add(function string, v event.Value) {
	if f.replaces(function, v) {
		f.best = owned(v)
	}
	f.n++
	switch {
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
