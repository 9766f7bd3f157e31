package query

import (
	"fmt"
	"slices"
	"strings"

	"brine/rowkey"
)

// keyServes returns the reason that the key does not answer questions with these arguments, or nil. It treats arguments that may be ranges
// as ranges, the harder case.
func (t Table) keyServes(asked []Arg) error {
	var q rowkey.Query
	for _, a := range asked {
		switch {
		case !a.Range:
			q.Equal = append(q.Equal, a.Field)
		case q.Range != "":
			return fmt.Errorf("it ranges over %s and %s, but a scan ranges over one field", q.Range, a.Field)
		default:
			q.Range = a.Field
		}
	}
	if len(asked) == 0 {
		return fmt.Errorf("it would be the whole of table %s", t.Name)
	}
	if len(t.Keys) == 1 {
		_, err := t.Keys[0].Key.Serves(q)
		return err
	}
	_, _, err := t.tails(func(k *rowkey.Key) (rowkey.Tail, error) { return k.TailOf(q) })
	return err
}

// indexServes returns the reason that the index does not answer them, or nil.
func (t Table) indexServes(asked []Arg) error {
	if t.Index == nil {
		return refuse("bind the key's fields from the left, or add an index", "no pipeline writes documents for table %s", t.Name)
	}
	for _, a := range asked {
		f, err := t.Index.of(a.Field)
		switch {
		case err != nil:
			return err
		case a.Range && (f.Words || f.Exact || f.Type == rowkey.Bool):
			return refuse("write it without the dots", "%s of index %s has no ranges", f.Name, t.Index.Name)
		}
	}
	return nil
}

// of returns the index's field that is filled from the event's field name or, if there is none, the one with that name.
func (x *Index) of(name string) (*IndexField, error) {
	for _, is := range []func(IndexField) bool{
		func(f IndexField) bool { return f.Field == name },
		func(f IndexField) bool { return f.Name == name },
	} {
		if i := slices.IndexFunc(x.Fields, is); i >= 0 {
			return &x.Fields[i], nil
		}
	}
	var has []string
	for _, f := range x.Fields {
		has = append(has, f.Field)
	}
	return nil, refuse("set it in documents, or remove it", "index %s has no %s, only %s", x.Name, name, strings.Join(has, ", "))
}

// checkKeyOrder returns the reason that the key's rows for these arguments are not in the view's order, or nil.
func (v *View) checkKeyOrder(asked []Arg) error {
	if v.Order == "" {
		return nil
	}
	at := v.Table.keyTime()
	if at == "" {
		return refuse("remove order", "the key %s holds no time to order by", v.Table.key())
	}
	for _, k := range v.Table.Keys {
		if err := v.checkTimeOrder(k.Key, at, asked); err != nil {
			return err
		}
	}
	return nil
}

func (v *View) checkTimeOrder(key *rowkey.Key, at string, asked []Arg) error {
	oneTime := slices.Contains(asked, Arg{Field: at})
	got, ok := timeOrder(key, at, asked)
	switch {
	case !ok && oneTime:
	case !ok:
		return refuse("remove order, or write a key in which "+at+" comes right after these",
			"with %s, the key %s does not return rows in the order of %s", names(asked), key, at)
	case got.Then != "":
		return refuse(fmt.Sprintf("remove order, or write %s(%s, ms) before %s", turned[v.Order], at, got.Then),
			"with %s, the key %s returns the rows of one %s in the order of %s, not of %s", names(asked), key, got.Unit, got.Then, at)
	case !oneTime && got.Desc != (v.Order == Newest):
		has := map[bool]TimeOrder{true: Newest, false: Oldest}[got.Desc]
		return refuse(fmt.Sprintf("write order: %s, or a key that reverses %s with %s", has, at, turned[v.Order]),
			"with %s, the key %s returns the %s first", names(asked), key, has)
	}
	return nil
}

var turned = map[TimeOrder]string{Newest: "desc", Oldest: "asc"}

// keyTime returns the first time that orders rows of the newest key.
func (t Table) keyTime() string {
	for _, f := range t.key().Bindable() {
		if f.Type == rowkey.Time {
			return f.Name
		}
	}
	return ""
}

// timeOrder returns how the key orders rows by their time at, with these arguments.
func timeOrder(key *rowkey.Key, at string, asked []Arg) (rowkey.TimeOrder, bool) {
	return key.TimeOrder(at, func(name string) bool { return slices.Contains(asked, Arg{Field: name}) })
}

// key returns the key of new rows, for what all keys have in common.
func (t Table) key() *rowkey.Key { return t.Keys.Newest() }

// keyFields returns the fields that the keys can be asked by. A key that lacks a field reports that when asked.
func (t Table) keyFields() map[string]rowkey.Field { return byName(t.Keys.Bindable()) }

func byName(fields []rowkey.Field) map[string]rowkey.Field {
	out := make(map[string]rowkey.Field, len(fields))
	for _, f := range fields {
		out[f.Name] = f
	}
	return out
}
