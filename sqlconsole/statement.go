// Package sqlconsole answers SQL over the rows that brine writes: SELECT from one table, with conditions joined by AND.
//
// A statement takes three steps. Parse parses it. A Catalog plans it: which ranges of the key are read, in which order, what HBase filters
// out, and what is filtered out here. Planning is pure, and refuses what the table cannot answer. Run reads through package query, the only
// reader of the stores, and makes the answer.
//
// The invariants: no statement changes anything, names a file or a host, or evaluates what somebody else wrote. A table is read whole only
// if the statement allows it. Limits bound what is read, held and returned, whatever the statement, and the answer says which limit it
// reached.
package sqlconsole

// Statement is one parsed SELECT.
type Statement struct {
	Explain  bool
	Items    []Item // selected items
	From     Name
	AsOf     *Literal    // a time; nil: now
	Versions int         // 0: rows as they are
	Where    []Condition // all must hold
	Group    *Ref
	Order    *Order
	Limit    int // −1: none
	LimitAt  Pos
	FullScan bool
}

// Name is a name as it is written.
type Name struct {
	Text   string
	Quoted bool
	Pos    Pos
}

// Ref names a column: a field of the key, a field that a column holds, family:qualifier, _key, or the time of one of them.
type Ref struct {
	Name
	Time bool // _time(NAME)
}

// String returns the name of the column in an answer.
func (r Ref) String() string {
	if r.Time {
		return "_time(" + r.Text + ")"
	}
	return r.Text
}

// Item is a selected item.
type Item struct {
	Ref
	Func string // COUNT, MIN, MAX, SUM, AVG, or empty for a column itself
	All  bool   // *, or COUNT(*)
}

func (i Item) String() string {
	inner := i.Ref.String()
	if i.All {
		inner = "*"
	}
	if i.Func == "" {
		return inner
	}
	return i.Func + "(" + inner + ")"
}

// Order is the ORDER BY clause.
type Order struct {
	Ref
	Desc bool
}

// Op is a comparison operator.
type Op string

// The comparison operators. Between takes two values, In any number, IsNull and NotNull none, and the others one.
const (
	Eq      Op = "="
	Lt      Op = "<"
	Le      Op = "<="
	Gt      Op = ">"
	Ge      Op = ">="
	Between Op = "BETWEEN" // two values, both inclusive
	In      Op = "IN"
	Like    Op = "LIKE" // a text that ends in %
	IsNull  Op = "IS NULL"
	NotNull Op = "IS NOT NULL"
	Match   Op = "MATCH" // a text whose words must all be in the column's
)

// Condition compares a column with values.
type Condition struct {
	Ref
	Op     Op
	Values []Literal
}

// Literal is a value as it is written.
type Literal struct {
	kind kind // text, number, or word: TRUE or FALSE
	text string
	Pos  Pos
}
