package sqlconsole

import (
	"strconv"
	"strings"

	"brine/mask"
)

// Audited returns a statement as the audit stores it: regenerated from its meaning, without comments, and without the values that are
// compared with masked or unknown columns.
func (c *Catalog) Audited(s *Statement) string {
	var out strings.Builder
	t, _ := c.table(s.From) // no column of an unknown table is known
	if s.Explain {
		out.WriteString("EXPLAIN ")
	}
	out.WriteString("SELECT ")
	for i, item := range s.Items {
		if i > 0 {
			out.WriteString(", ")
		}
		out.WriteString(item.written())
	}
	out.WriteString(" FROM " + s.From.written())
	if s.AsOf != nil {
		out.WriteString(" AS OF " + s.AsOf.written(false))
	}
	if s.Versions > 0 {
		out.WriteString(" VERSIONS " + strconv.Itoa(s.Versions))
	}
	for i := range s.Where {
		out.WriteString(map[bool]string{true: " WHERE ", false: " AND "}[i == 0])
		out.WriteString(s.Where[i].written(c.hides(t, s.Where[i].Ref)))
	}
	if s.Group != nil {
		out.WriteString(" GROUP BY " + s.Group.written())
	}
	if s.Order != nil {
		out.WriteString(" ORDER BY " + s.Order.written())
		if s.Order.Desc {
			out.WriteString(" DESC")
		}
	}
	if s.Limit >= 0 {
		out.WriteString(" LIMIT " + strconv.Itoa(s.Limit))
	}
	if s.FullScan {
		out.WriteString(" ALLOW FULL SCAN")
	}
	return out.String()
}

// hides reports whether values of a column must not be stored.
func (c *Catalog) hides(t *Table, r Ref) bool {
	if t == nil {
		return true
	}
	col, err := c.resolve(t, r)
	if err != nil || col.masked {
		return true
	}
	if t.Index == nil {
		return false
	}
	f := fieldIn(t.Index, col)
	return f != nil && c.Masks.MasksPlace(t.Index.Name, f.Name)
}

func (n Name) written() string {
	if n.Quoted {
		return `"` + strings.ReplaceAll(n.Text, `"`, `""`) + `"`
	}
	return n.Text
}

func (r Ref) written() string {
	if r.Time {
		return "_time(" + r.Name.written() + ")"
	}
	return r.Name.written()
}

func (i Item) written() string {
	inner := "*"
	if !i.All {
		inner = i.Ref.written()
	}
	if i.Func == "" {
		return inner
	}
	return i.Func + "(" + inner + ")"
}

func (l Literal) written(hidden bool) string {
	switch {
	case hidden:
		return "'" + mask.Text + "'"
	case l.kind == text:
		return "'" + strings.ReplaceAll(l.text, "'", "''") + "'"
	}
	return l.text
}

func (c *Condition) written(hidden bool) string {
	var values []string
	for _, v := range c.Values {
		values = append(values, v.written(hidden))
	}
	begin := c.Ref.written() + " " + string(c.Op)
	switch c.Op {
	case Between:
		return begin + " " + strings.Join(values, " AND ")
	case In:
		return begin + " (" + strings.Join(values, ", ") + ")"
	case IsNull, NotNull:
		return begin
	case Match:
		return "MATCH(" + c.Ref.written() + ", " + values[0] + ")"
	}
	return begin + " " + strings.Join(values, " ")
}
