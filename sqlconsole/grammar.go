package sqlconsole

import (
	"fmt"
	"strings"

	"brine/internal/term"
)

//go:generate go test -run TestGrammarIsCurrent . -update

// clause is a part of a statement. The parser goes through the clauses in order; the documentation of the grammar is generated from them
// too.
type clause struct {
	words []string // its first words
	form  string   // what follows them
	must  bool
	parse func(*parser) error
	about string
}

// clauses is a function because the parsers that it lists use it for their errors.
func clauses() []clause {
	return []clause{
		{[]string{"EXPLAIN"}, "", false, parseExplain, "Say what would be read, and read nothing."},
		{[]string{"SELECT"}, "item {, item}", true, parseItems, "What is shown."},
		{[]string{"FROM"}, "table", true, parseFrom, "The table, with its namespace or, where that is enough, without it."},
		{[]string{"AS", "OF"}, "time", false, parseAsOf,
			"The rows as they were then, where the table keeps that: several VERSIONS, no TTL, no delete markers, versions that are times."},
		{[]string{"VERSIONS"}, "number", false, parseVersions,
			"Each row as it was written, the last so many times: a row for each, the newest first, with what was written then."},
		{[]string{"WHERE"}, "condition {AND condition}", false, parseWhere, "All of these hold."},
		{[]string{"GROUP", "BY"}, "column", false, parseGroup, "A row for each value of the column, in the order of the values."},
		{[]string{"ORDER", "BY"}, "column [DESC | ASC]", false, parseOrder, "A field by which the key orders the rows."},
		{[]string{"LIMIT"}, "number", false, parseLimit, "At most so many rows, up to " + term.Thousands(MaxRows) + "."},
		{[]string{"ALLOW", "FULL", "SCAN"}, "", false, parseAllow, "The whole table may be read."},
	}
}

// comparison is an operator that a condition may apply to a column.
type comparison struct {
	op    Op
	form  string // what follows
	parse func(*parser) ([]Literal, error)
	about string
}

var comparisons = []comparison{
	{Eq, "value", parseOne, "This value."},
	{Le, "value", parseOne, "At most."},
	{Lt, "value", parseOne, "Less."},
	{Ge, "value", parseOne, "At least."},
	{Gt, "value", parseOne, "More."},
	{Between, "value AND value", parseTwo, "From the first to the second, both inclusive."},
	{In, "(value {, value})", parseList, "One of these."},
	{Like, "'begin%'", parseOne, "A text that begins so."},
	{IsNull, "", parseNone, "There is no value."},
	{NotNull, "", parseNone, "There is one."},
}

const matchForm = "MATCH(column, 'words')"

// function is an aggregate function.
type function struct {
	name, form string
	ofRows     bool // its argument may be *
	about      string
}

var functions = []function{
	{"COUNT", "COUNT(* | column)", true, "How many rows there are, or how many have a value."},
	{"MIN", "MIN(column)", false, "The least value."},
	{"MAX", "MAX(column)", false, "The greatest value."},
	{"SUM", "SUM(column)", false, "The sum of numbers."},
	{"AVG", "AVG(column)", false, "Their mean."},
}

// refusals are words of SQL that this language lacks, but that people may look for.
var refusals = []struct{ words, msg, fix string }{
	{"OR", "conditions are joined by AND alone", "write IN for several values of one column, or ask twice"},
	{"NOT", "NOT stands in IS NOT NULL alone", "ask for what is wanted"},
	{"<>", "what a column is not cannot be asked", "ask for what it is, with IN, < or >"},
	{"JOIN", "a statement reads one table", "read the other one by what this one shows"},
	{"LEFT", "a statement reads one table", "read the other one by what this one shows"},
	{"INNER", "a statement reads one table", "read the other one by what this one shows"},
	{",", "a statement reads one table", "read the other one by what this one shows"},
	{"UNION", "a statement is one SELECT", "ask twice"},
	{"HAVING", "groups have no conditions", "leave HAVING out"},
	{"DISTINCT", "there is no DISTINCT", "write GROUP BY"},
	{"OFFSET", "there is no OFFSET", "go on behind the last row: a condition on the fields of the key"},
	{"AS OF", "AS OF stands behind the table", "write FROM table AS OF '1h'"},
	{"VERSIONS", "VERSIONS stands behind the table", "write FROM table VERSIONS 10"},
	{"AS", "columns have no other names", "leave AS out"},
	{"MATCH", "MATCH is a condition of a column and words", "write WHERE MATCH(column, 'words')"},
	{"INSERT", "statements read, and change nothing", "write by publishing to the topic"},
	{"UPDATE", "statements read, and change nothing", "write by publishing to the topic"},
	{"DELETE", "statements read, and change nothing", "write by publishing to the topic"},
	{"DROP", "statements read, and change nothing", "brine drops no table"},
}

// forms returns the syntax of a statement, on one line.
func forms() string {
	var out []string
	for _, c := range clauses() {
		form := strings.TrimSpace(strings.Join(c.words, " ") + " " + c.form)
		if !c.must {
			form = "[" + form + "]"
		}
		out = append(out, form)
	}
	return strings.Join(out, " ")
}

func comparisonForms() string {
	var out []string
	for _, c := range comparisons {
		out = append(out, string(c.op))
	}
	return strings.Join(append(out, matchForm), ", ")
}

func functionNames() (out []string) {
	for _, f := range functions {
		out = append(out, f.name)
	}
	return out
}

// Grammar returns the language's documentation in Markdown.
func Grammar() string {
	var b strings.Builder
	var items, conditions []string
	for _, f := range functions {
		items = append(items, f.form)
	}
	for _, c := range comparisons {
		conditions = append(conditions, strings.TrimSpace("column "+string(c.op)+" "+c.form))
	}
	fmt.Fprintf(&b, "```\nstatement  = ")
	for i, c := range clauses() {
		form := strings.TrimSpace(strings.Join(c.words, " ") + " " + c.form)
		if !c.must {
			form = "[" + form + "]"
		}
		if i > 0 {
			b.WriteString("\n             ")
		}
		b.WriteString(form)
	}
	fmt.Fprintf(&b, "\nitem       = *\n           | column\n           | %s", strings.Join(items, "\n           | "))
	fmt.Fprintf(&b, "\ncondition  = %s", strings.Join(append(conditions, matchForm), "\n           | "))
	b.WriteString("\ncolumn     = name | \"name\" | family:qualifier | \"family:qualifier\" | _key | _time(column)")
	b.WriteString("\nvalue      = 'text' | number | TRUE | FALSE\n```\n\n| clause | |\n|---|---|\n")
	for _, c := range clauses() {
		fmt.Fprintf(&b, "| `%s` | %s |\n", strings.Join(c.words, " "), c.about)
	}
	b.WriteString("\n| comparison | |\n|---|---|\n")
	for _, c := range comparisons {
		fmt.Fprintf(&b, "| `%s` | %s |\n", strings.TrimSpace(string(c.op)+" "+c.form), c.about)
	}
	fmt.Fprintf(&b, "| `%s` | A text that has all of these words, by the index. |\n", matchForm)
	b.WriteString("\n| function | |\n|---|---|\n")
	for _, f := range functions {
		fmt.Fprintf(&b, "| `%s` | %s |\n", strings.ReplaceAll(f.form, "|", `\|`), f.about)
	}
	return b.String()
}
