package rowkey_test

import (
	"fmt"
	"strings"
	"testing"

	"brine/rowkey"
)

// TestReference writes docs/rowkeys.md (with -update, which go generate passes) or checks that it matches the code.
func TestReference(t *testing.T) {
	var b strings.Builder
	b.WriteString(referenceHead)
	for _, f := range rowkey.Functions() {
		fmt.Fprintf(&b, "### %s\n\n", f.Name)
		for _, usage := range f.Usage {
			fmt.Fprintf(&b, "- `%s`\n", usage)
		}
		fmt.Fprintf(&b, "\n%s\n\n", f.Doc)
		writeExamples(t, &b, f.Name+"(")
	}
	b.WriteString("## Designs\n\nKeys as people have published them. Where a text of any length is followed by another part, a separator is added.\n\n")
	b.WriteString("| design | key | row |\n|---|---|---|\n")
	for _, d := range publishedDesigns(t) {
		fmt.Fprintf(&b, "| %s | `%s` | `%s` |\n", d.name, cell(d.key), cell(d.row))
	}
	b.WriteString(referenceTail)
	golden(t, "../docs/rowkeys.md", b.String())
}

func writeExamples(t *testing.T, b *strings.Builder, begins string) {
	b.WriteString("| key | values | row |\n|---|---|---|\n")
	for _, d := range vectors {
		if !strings.HasPrefix(d.expr, begins) {
			continue
		}
		k, err := rowkey.Parse(d.expr, designFields)
		if err != nil {
			t.Fatal(err)
		}
		values := make([]string, len(d.values))
		for i, v := range d.values {
			values[i] = fmt.Sprintf("%s = %s", k.Fields()[i], v)
		}
		row := rowkey.Binary(appendRow(t, k, d.values...))
		fmt.Fprintf(b, "| `%s` | %s | `%s` |\n", cell(d.expr), strings.Join(values, ", "), cell(row))
	}
	b.WriteString("\n")
}

// cell escapes | for a Markdown table.
func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }

const referenceHead = `# Row keys

<!-- Made from the code by go generate ./rowkey; do not edit. -->

A row key is written as parts joined with ` + "`+`" + `:

` + "```" + `
md5(waybill, 4) + waybill + "|" + desc(at, ms) + "|" + action
` + "```" + `

It is computed from the event alone, so a replay writes the same row; and it can be read back: ` + "`brine key decode`" + ` shows the
fields of a row. HBase sorts rows by their unsigned bytes from left to right, and all orders below refer to that. Rows are shown as
HBase's shell shows them, with ` + "`\\xNN`" + ` for bytes that cannot be printed.

## Grammar

` + "```" + `
key    = part { "+" part } .
part   = string | field | call .
call   = name "(" arg { "," arg } ")" .
arg    = field | number [ unit ] | word | string .
string = a Go string in double quotes: "|", "\x00" .
field  = name .
name   = ( letter | "_" | "@" | "$" ) { letter | digit | "_" | "@" | "$" | "." | "-" } .
word   = "text" | "left" | "right" | "us" | "ms" | "s" | "min" | "hour" | "day" .
unit   = "hex" | "bytes" | "byte" .
` + "```" + `

## Fields and strings

- A **string** stands for itself: a separator, or a constant.
- A **bare field** is the field's text, of any length. It must be the last part, or be followed by a string, its separator; an event whose
  value contains the separator becomes a dead letter. Texts sort by their bytes. If one text begins with another, the separator decides
  their order, so ranges over such texts are simplest with ` + "`\"\\x00\"`" + ` as the separator.
- Numbers and times need a function: ` + "`asc`, `desc` or `fixed`" + `, which set their width and their order, or ` + "`reverse`" + `, which
  has no order.
- A key may contain a field twice, such as the hour that groups rows, and later the exact time: it is read back from the
  most exact part, and the others are checked against it.

## Functions

Functions take fields and constants, not other functions. Arguments in brackets are optional.

`

const referenceTail = `
## Ranges

A query binds fields from the left, each to one value. It may bind the last one to a range, from a value (inclusive) to a value (exclusive,
` + "`at=from..to`" + `; inclusive, ` + "`at=from..=to`" + `) in the field's own order, even where the key counts down. Two equals signs bind a value literally,
even if it contains ` + "`..`" + ` or begins with ` + "`=`" + `: ` + "`waybill==a..b`" + `. Hashes are computed from the bound fields; if the fields of a salt are
not bound, all its buckets are read; the stop row is always the prefix + 1. If the key holds a time in a coarser unit, the range includes
the whole units in which it begins and ends. A hash or salt of such a time is computed from the coarser time.

A value that the key holds more coarsely than the event reads back as the key holds it, unless a column holds it too:

| part | reads back |
|---|---|
| a time in hours, seconds, … | the first millisecond of that hour or second |
| a float in 32 bits | the nearest such float |
| a geohash | the middle of its cell |
| a hash or salt alone | nothing: the field is null, and the row is found only by its exact value |

To query a range of a geohash, bind its first digits under the name ` + "`geohash`" + `: ` + "`area=440305 geohash=ws10`" + `.

## Split points

Tables are split evenly: hex hashes at hex digits (16 regions of ` + "`md5(waybill, 4)`" + ` at 1000, 2000, … f000), byte hashes at bytes, reversed ints
at decimal digits, and salts at buckets or, if there are more regions than buckets, inside the hash that follows the salt. The split points
of any other key come from a sample.
`
