package config

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"brine/query"
)

// View finds a view by name; nil if there is none.
func (c *Config) View(name string) *View {
	return byName(c.Views, func(v *View) bool { return v.Name == name })
}

// Query is the view as it is asked.
func (v *View) Query(c *Config) (query.View, error) {
	out := query.View{Name: v.Name, Order: query.TimeOrder(v.Order), Limit: v.Limit, Families: v.Families, Counts: v.Counts}
	var err error
	if out.Table, err = c.readable(v.Table); err != nil {
		return out, err
	}
	if v.Get != "" {
		get, err := c.readable(v.Get)
		if err != nil {
			return out, err
		}
		out.Get = &get
	}
	for _, list := range []struct {
		texts []string
		args  *[]query.Arg
	}{{v.Where, &out.Where}, {v.Optional, &out.Optional}} {
		for _, text := range list.texts {
			a, err := query.ParseArg(text)
			if err != nil {
				return out, err
			}
			*list.args = append(*list.args, a)
		}
	}
	return out, nil
}

// readable is a table as it is read back.
func (c *Config) readable(name string) (query.Table, error) {
	t := c.Table(name)
	if t == nil {
		names := make([]string, len(c.Tables))
		for i, t := range c.Tables {
			names[i] = t.Name
		}
		return query.Table{}, fmt.Errorf("tables has no %s; %s", name, didYouMean(name, names, "add it to tables"))
	}
	out, ok := c.Query(t)
	if !ok {
		return out, fmt.Errorf("no pipeline writes table %s, so the types of its fields are not known; name it in a pipeline's rows", name)
	}
	return out, nil
}

var viewNames = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,99}$`)

// checkView finds what keeps a view from being answered.
func (l *loader) checkView(c *Config, v *View) {
	setting := join("views", v.Name)
	if !viewNames.MatchString(v.Name) {
		l.faultName(setting, Name, "is no name of a view", "use lower-case letters, digits, \"_\" and \"-\", a letter first")
	}
	for _, t := range c.Tables {
		if _, short, _ := strings.Cut(t.Name, ":"); t.Name == v.Name || short == v.Name {
			l.faultName(setting, Duplicate, "table "+t.Name+" has this name too, and brine query takes both", "give the view another name")
		}
	}
	for _, named := range []struct{ at, table string }{{".table", v.Table}, {".get", v.Get}} {
		if _, err := c.readable(named.table); named.table != "" && err != nil {
			message, fix := cutFix(err.Error())
			l.fault(setting+named.at, UnknownTable, message, fix)
			return
		}
	}
	q, err := v.Query(c)
	if err == nil {
		err = q.Check()
	}
	if err != nil {
		message, fix := cutFix(err.Error())
		l.faultName(setting, ViewCode, message, fix)
	}
}

// cutFix takes "what is wrong; the fix" apart.
func cutFix(text string) (message, fix string) {
	i := strings.LastIndex(text, "; ")
	if i < 0 {
		return text, "see docs/queries.md"
	}
	return text[:i], text[i+2:]
}

// Shown is the table whose rows the view shows.
func (v *View) Shown(c *Config) *Table { return c.Table(cmp.Or(v.Get, v.Table)) }

// Usage is how a question is written: waybill=… [at=from..to].
func (v *View) Usage() string {
	var out []string
	for i, text := range append(slices.Clone(v.Where), v.Optional...) {
		name, ranged := strings.CutSuffix(text, "..")
		usage := name + "=…"
		if ranged {
			usage = name + "=from..to"
		}
		if i >= len(v.Where) {
			usage = "[" + usage + "]"
		}
		out = append(out, usage)
	}
	return strings.Join(out, " ")
}
