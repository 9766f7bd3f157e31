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
		{[]string{"EXPLAIN"}, "", false, parseExplain, "Shows what would be read, without reading it."},
		{[]string{"SELECT"}, "item {, item}", true, parseItems, "The columns to show."},
		{[]string{"FROM"}, "table", true, parseFrom, "The table, with or, if that is unambiguous, without its namespace."},
		{[]string{"AS", "OF"}, "time", false, parseAsOf,
			"The rows as they were then, if the table keeps that: several VERSIONS, no TTL, no delete markers, versions that are times."},
		{[]string{"VERSIONS"}, "number", false, parseVersions,
			"Each row's last writes, up to this number: one row per write, newest first, with what it wrote."},
		{[]string{"WHERE"}, "condition {AND condition}", false, parseWhere, "Only rows for which all conditions hold."},
		{[]string{"GROUP", "BY"}, "column", false, parseGroup, "One row per value of the column, in the order of the values."},
		{[]string{"ORDER", "BY"}, "column [DESC | ASC]", false, parseOrder, "A field that the key orders rows by."},
		{[]string{"LIMIT"}, "number", false, parseLimit, "The maximum number of rows, up to " + term.Thousands(MaxRows) + "."},
		{[]string{"ALLOW", "FULL", "SCAN"}, "", false, parseAllow, "Allows the statement to read the whole table."},
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
	{Eq, "value", parseOne, "Equal to the value."},
	{Le, "value", parseOne, "Less than or equal to the value."},
	{Lt, "value", parseOne, "Less than the value."},
	{Ge, "value", parseOne, "Greater than or equal to the value."},
	{Gt, "value", parseOne, "Greater than the value."},
	{Between, "value AND value", parseTwo, "From the first to the second value, both inclusive."},
	{In, "(value {, value})", parseList, "Equal to one of the values."},
	{Like, "'begin%'", parseOne, "A text with this prefix."},
	{IsNull, "", parseNone, "Has no value."},
	{NotNull, "", parseNone, "Has a value."},
}

const matchForm = "MATCH(column, 'words')"

// function is an aggregate function.
type function struct {
	name, form string
	ofRows     bool // its argument may be *
	about      string
}

var functions = []function{
	{"COUNT", "COUNT(* | column)", true, "The number of rows, or of rows with a value."},
	{"MIN", "MIN(column)", false, "The smallest value."},
	{"MAX", "MAX(column)", false, "The greatest value."},
	{"SUM", "SUM(column)", false, "The sum of numbers."},
	{"AVG", "AVG(column)", false, "The mean of numbers."},
}

// refusals are words of SQL that this language lacks, but that people may look for.
var refusals = []struct{ words, msg, fix string }{
	{"OR", "conditions can only be joined with AND", "write IN for several values of one column, or use two statements"},
	{"NOT", "NOT is only supported in IS NOT NULL", "write the condition without NOT"},
	{"<>", "there is no comparison for inequality", "write what the column is, with IN, < or >"},
	{"JOIN", "a statement reads one table", "query the other table with the result of this statement"},
	{"LEFT", "a statement reads one table", "query the other table with the result of this statement"},
	{"INNER", "a statement reads one table", "query the other table with the result of this statement"},
	{",", "a statement reads one table", "query the other table with the result of this statement"},
	{"UNION", "a statement is one SELECT", "use two statements"},
	{"HAVING", "groups cannot have conditions", "remove HAVING"},
	{"DISTINCT", "there is no DISTINCT", "write GROUP BY"},
	{"OFFSET", "there is no OFFSET", "continue after the last row with a condition on the key's fields"},
	{"AS OF", "AS OF belongs after the table", "write FROM table AS OF '1h'"},
	{"VERSIONS", "VERSIONS belongs after the table", "write FROM table VERSIONS 10"},
	{"AS", "columns cannot be renamed", "remove AS"},
	{"MATCH", "MATCH is a condition on a column and words", "write WHERE MATCH(column, 'words')"},
	{"INSERT", "statements only read", "write by publishing to the topic"},
	{"UPDATE", "statements only read", "write by publishing to the topic"},
	{"DELETE", "statements only read", "write by publishing to the topic"},
	{"DROP", "statements only read", "brine never drops a table"},
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
	fmt.Fprintf(&b, "| `%s` | A text that contains all of these words, found through the index. |\n", matchForm)
	b.WriteString("\n| function | |\n|---|---|\n")
	for _, f := range functions {
		fmt.Fprintf(&b, "| `%s` | %s |\n", strings.ReplaceAll(f.form, "|", `\|`), f.about)
	}
	return b.String()
}
