package query

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// View is a kind of question with a name: what it must and may be asked by is known before anyone asks. Open makes one that
// answers.
type View struct {
	Name     string
	Table    Table
	Where    []Arg     // every question gives these
	Optional []Arg     // any of these may be given besides
	Order    TimeOrder // of its rows; empty: as the key has them
	Limit    int       // rows of a page, unless the question says how many; 0 means DefaultPage
	Families []string  // all that a page reads; nil: everything. The others are read when one row is opened
	Get      *Table    // its rows are shown instead, found by the fields of Table's
	Counts   []string  // fields of the index by whose values Count counts
}

// Pages of a view.
const (
	DefaultPage = 100
	MaxPage     = 10_000
)

// maxOptional bounds the combinations that Check goes through.
const maxOptional = 10

// TimeOrder says how rows are ordered by the time in their key.
type TimeOrder string

// The orders of a view.
const (
	Newest TimeOrder = "newest"
	Oldest TimeOrder = "oldest"
)

// Arg is a field that a view is asked by.
type Arg struct {
	Field string
	Range bool // from..to too, instead of a value
}

// ParseArg reads an Arg as people write it: a field's name, with ".." behind it when it may be limited.
func ParseArg(s string) (Arg, error) {
	name, ranged := strings.CutSuffix(s, "..")
	if name == "" || strings.ContainsAny(name, "=. \t\n") {
		return Arg{}, fmt.Errorf("%q names no field; write station, or at.. for one that may have a range", s)
	}
	return Arg{name, ranged}, nil
}

func (a Arg) String() string {
	if a.Range {
		return a.Field + ".."
	}
	return a.Field
}

// args are all that a question may give.
func (v *View) args() []Arg { return slices.Concat(v.Where, v.Optional) }

func (v *View) page() int { return cmp.Or(v.Limit, DefaultPage) }

// shown is the table whose rows are shown.
func (v *View) shown() *Table {
	if v.Get != nil {
		return v.Get
	}
	return &v.Table
}

// Check says why the view cannot be served, and what would: by "what is wrong; the fix".
func (v *View) Check() error {
	if err := v.checkArgs(); err != nil {
		return err
	}
	if v.Limit < 0 || v.Limit > MaxPage {
		return fmt.Errorf("a page of %d rows is not within 1 and %d; write a smaller limit, people go on with the cursor", v.Limit, MaxPage)
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
		return fmt.Errorf("%w; write the families of table %s", err, v.shown().Name)
	}
	if v.Get == nil {
		return nil
	}
	if err := v.Table.CheckLookup(*v.Get); err != nil {
		return fmt.Errorf("%w; fill a column of table %s with it, or remove get", err, v.Table.Name)
	}
	return nil
}

func (v *View) checkArgs() error {
	if len(v.Optional) > maxOptional {
		return fmt.Errorf("%d fields are optional, more than %d; make two views of it", len(v.Optional), maxOptional)
	}
	seen := map[string]bool{}
	for _, a := range v.args() {
		if seen[a.Field] {
			return fmt.Errorf("%s is named twice; keep it in where, if every question gives it, or in optional", a.Field)
		}
		seen[a.Field] = true
	}
	if len(seen) == 0 {
		return errors.New("it is asked by no field; name those that every question gives in where")
	}
	return nil
}

// combinations are the sets of arguments that a question may give.
func (v *View) combinations() [][]Arg {
	all := [][]Arg{v.Where}
	for _, a := range v.Optional {
		for _, with := range all {
			all = append(all, append(slices.Clone(with), a))
		}
	}
	return all
}

// checkAsked says why questions that give just these arguments have no answer.
func (v *View) checkAsked(asked []Arg) error {
	byKey := v.Table.keyServes(asked)
	if byKey == nil {
		return v.checkKeyOrder(asked)
	}
	byIndex := v.Table.indexServes(asked)
	switch {
	case byIndex != nil:
		return fmt.Errorf("asked by %s, neither answers: the key, since %s; the index, since %w", names(asked), said(byKey), byIndex)
	case v.Get != nil:
		return fmt.Errorf("asked by %s, the index answers, since %s, and its answers are rows of table %s; remove get, or leave these out", names(asked), said(byKey), v.Table.Name)
	case v.Order != "" && v.Table.Index.Newest == "":
		return fmt.Errorf("asked by %s, the index %s answers, and it has no date of the key to order by; add one to its fields, or remove order", names(asked), v.Table.Index.Name)
	}
	return nil
}

func (v *View) checkCounts() error {
	if len(v.Counts) > 0 && v.Table.Index == nil {
		return fmt.Errorf("counts are the index's, and no documents stand beside table %s; remove counts", v.Table.Name)
	}
	for _, name := range v.Counts {
		f, err := v.Table.Index.of(name)
		if err == nil && f.Words {
			err = fmt.Errorf("%s of index %s is found by its words, which cannot be counted; declare a keyword", f.Name, v.Table.Index.Name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// said is what an error says is wrong, without the fix.
func said(err error) string {
	text, _, _ := strings.Cut(err.Error(), "; ")
	return text
}

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
