package query

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// View is a named kind of question: the arguments that it requires and accepts are known in advance. Open returns a Reader that answers it.
type View struct {
	Name     string
	Table    Table
	Where    []Arg     // required in every question
	Optional []Arg     // optional arguments
	Order    TimeOrder // of its rows; empty: as in the key
	Limit    int       // rows per page by default; 0 means DefaultPage
	Families []string  // the families that a page reads; nil: all. The others are read when one row is opened
	Get      *Table    // show its rows instead, found by the fields of Table's rows
	Counts   []string  // fields of the index by whose values Count counts
}

// The sizes of a view's pages.
const (
	DefaultPage = 100
	MaxPage     = 10_000
)

// maxOptional is the most optional arguments, because Check tries all combinations.
const maxOptional = 10

// TimeOrder is the order of rows by the time in their key.
type TimeOrder string

// The orders of a view.
const (
	Newest TimeOrder = "newest"
	Oldest TimeOrder = "oldest"
)

// Arg is a field that a view is asked by.
type Arg struct {
	Field string
	Range bool // from..to is allowed, too
}

// ParseArg parses an Arg as people write it: a field's name, with ".." after it if it may have a range.
func ParseArg(s string) (Arg, error) {
	name, ranged := strings.CutSuffix(s, "..")
	if name == "" || strings.ContainsAny(name, "=. \t\n") {
		return Arg{}, refuse("write station, or at.. for one that may have a range", "%q names no field", s)
	}
	return Arg{name, ranged}, nil
}

func (a Arg) String() string {
	if a.Range {
		return a.Field + ".."
	}
	return a.Field
}

// args returns all arguments that a question may give.
func (v *View) args() []Arg { return slices.Concat(v.Where, v.Optional) }

// arg returns the argument of that field.
func (v *View) arg(name string) (a Arg, known bool) {
	for _, list := range [...][]Arg{v.Where, v.Optional} {
		if i := slices.IndexFunc(list, func(a Arg) bool { return a.Field == name }); i >= 0 {
			return list[i], true
		}
	}
	return Arg{}, false
}

func (v *View) page() int { return cmp.Or(v.Limit, DefaultPage) }

// shown returns the table whose rows are shown.
func (v *View) shown() *Table {
	if v.Get != nil {
		return v.Get
	}
	return &v.Table
}

// ViewError is a question that cannot be asked, or a view that cannot be answered.
type ViewError struct {
	Msg string // what is wrong
	Fix string // what would help
}

func (e *ViewError) Error() string { return e.Msg + "; " + e.Fix }

// Advice returns the fix, which also ends the error's text.
func (e *ViewError) Advice() string { return e.Fix }

// refuse returns a ViewError whose message is made of format and args.
func refuse(fix, format string, args ...any) error {
	return &ViewError{Msg: fmt.Sprintf(format, args...), Fix: fix}
}

// Check returns the reason that the view cannot be served, with the fix, or nil.
func (v *View) Check() error {
	if err := v.checkArgs(); err != nil {
		return err
	}
	if v.Limit < 0 || v.Limit > MaxPage {
		return refuse("write a smaller limit; the cursor continues", "a page of %d rows is not between 1 and %d", v.Limit, MaxPage)
	}
	for _, asked := range v.combinations() {
		if err := v.checkAsked(asked); err != nil {
			return err
		}
	}
	if err := v.checkCounts(); err != nil {
		return err
	}
	if _, err := v.shown().Families(v.Families); len(v.Families) > 0 && err != nil {
		return refuse("write the families of table "+v.shown().Name, "%v", err)
	}
	if v.Get == nil {
		return nil
	}
	if err := v.Table.CheckLookup(*v.Get); err != nil {
		return refuse("fill a column of table "+v.Table.Name+" with it, or remove get", "%v", err)
	}
	return nil
}

func (v *View) checkArgs() error {
	if len(v.Optional) > maxOptional {
		return refuse("split it into two views", "%d fields are optional, more than %d", len(v.Optional), maxOptional)
	}
	seen := map[string]bool{}
	for _, a := range v.args() {
		if seen[a.Field] {
			return refuse("keep it in where, if every query gives it, or else in optional", "%s is named twice", a.Field)
		}
		if a.Field == PageSize || a.Field == PageToken {
			return refuse("give the pipeline's field another name", "%s is a paging parameter of the HTTP API, so no argument can have that name",
				a.Field)
		}
		seen[a.Field] = true
	}
	if len(seen) == 0 {
		return refuse("name in where the fields that every query gives", "it takes no field")
	}
	return nil
}

// combinations returns the sets of arguments that a question may give.
func (v *View) combinations() [][]Arg {
	all := [][]Arg{v.Where}
	for _, a := range v.Optional {
		for _, with := range all {
			all = append(all, append(slices.Clone(with), a))
		}
	}
	return all
}

// checkAsked returns the reason that questions with exactly these arguments have no answer, or nil.
func (v *View) checkAsked(asked []Arg) error {
	byKey := v.Table.keyServes(asked)
	if byKey == nil {
		return v.checkKeyOrder(asked)
	}
	byIndex := v.Table.indexServes(asked)
	switch {
	case byIndex != nil:
		return refuse(adviceOf(byIndex), "with %s, neither the key nor the index answers: the key, because %s; the index, because %s",
			names(asked), said(byKey),
			said(byIndex))
	case v.Get != nil:
		return refuse("remove get, or remove these",
			"with %s, the index answers, because %s, and its answers are rows of table %s", names(asked), said(byKey), v.Table.Name)
	case v.Order != "" && v.Table.Index.Newest == "":
		return refuse("add one to its fields, or remove order",
			"with %s, the index %s answers, but it has no date of the key to order by", names(asked), v.Table.Index.Name)
	}
	return nil
}

func (v *View) checkCounts() error {
	if len(v.Counts) > 0 && v.Table.Index == nil {
		return refuse("remove counts", "only an index can count, but table %s has no documents", v.Table.Name)
	}
	for _, name := range v.Counts {
		f, err := v.Table.Index.of(name)
		if err == nil && f.Words {
			err = refuse("declare a keyword", "%s of index %s is searched by words, which cannot be counted", f.Name, v.Table.Index.Name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// adviceOf returns the fix of an error, or "" if it has none.
func adviceOf(err error) string {
	var advised interface{ Advice() string }
	if !errors.As(err, &advised) {
		return ""
	}
	return advised.Advice()
}

// said returns the text of an error without its fix.
func said(err error) string { return strings.TrimSuffix(err.Error(), "; "+adviceOf(err)) }

func names(args []Arg) string {
	if len(args) == 0 {
		return "nothing"
	}
	out := make([]string, len(args))
	for i, a := range args {
		out[i] = a.String()
	}
	return strings.Join(out, " ")
}
