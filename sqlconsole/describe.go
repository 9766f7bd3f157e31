package sqlconsole

import (
	"slices"
	"strings"

	"brine/event"
)

// Described describes, for people, a column that statements may name.
type Described struct{ Name, Type, HeldBy string }

// Describe returns the columns of a table.
func (c *Catalog) Describe(table string) (out []Described, err error) {
	t, err := c.table(Name{Text: table, Pos: Pos{1, 1}})
	if err != nil {
		return nil, err
	}
	for _, name := range t.names() {
		col := &column{ref: Ref{Name: Name{Text: name}}}
		if err := t.field(col); err != nil {
			return nil, err
		}
		var held []string
		if col.inKey {
			held = append(held, "the key")
		}
		if col.of != nil {
			held = append(held, col.of.Family+":"+col.of.Qualifier)
		}
		if c.Masks.MasksPlace(t.Name, name) || c.Masks.MasksKeyField(t.Name, name) {
			held = append(held, "masked")
		}
		out = append(out, Described{name, TypeName(col.typ), strings.Join(held, ", ")})
	}
	return append(out, Described{KeyName, TypeName(event.Text), "the row's key as answers show it"}), nil
}

// TypeName returns the name by which people know a type.
func TypeName(t event.Type) string {
	if t == event.TimeMS {
		return "time"
	}
	return t.String()
}

// Words returns all words that a statement may have, for completion: the language's, tables and columns.
func (c *Catalog) Words() (out []string) {
	for _, clause := range clauses() {
		out = append(out, clause.words...)
	}
	for _, f := range functions {
		out = append(out, f.name)
	}
	for _, comparison := range comparisons {
		out = append(out, strings.Fields(string(comparison.op))...)
	}
	out = append(out, "AND", "DESC", "TRUE", "FALSE", KeyName)
	for i := range c.Tables {
		out = append(append(out, c.Tables[i].Name), c.Tables[i].names()...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
