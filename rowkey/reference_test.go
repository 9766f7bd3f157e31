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
fields of a row. HBase sorts rows by their bytes, unsigned, left to right, and all orders below are meant so. Rows are shown as
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

- A **string** is itself: a separator, or a constant.
- A **bare field** is its text, of any length. It must be the last part, or be followed by a string, its separator; an event whose
  value holds the separator becomes a dead letter. Texts sort by bytes; one that begins another sorts by where the separator sorts,
  so a range over such texts is simplest behind ` + "`\"\\x00\"`" + `.
- Numbers and times go through a function: ` + "`asc`, `desc` or `fixed`" + `, which say their width and their order, or ` + "`reverse`" + `, which
  has none.
- A field may stand in the key twice, such as the hour that rows are gathered by, and later the exact time: it is read back from the
  most exact one, and the other is compared with it.

## Functions

Functions take fields and constants, not other functions. An argument in brackets can be left out.

`

const referenceTail = `
## Ranges

A query binds fields from the left: each to one value, the last one perhaps from a value (inclusive) to a value (exclusive,
` + "`at=from..to`" + `; inclusive, ` + "`at=from..=to`" + `) in the field's own order, also where the key counts down. A value that holds ` + "`..`" + `, or begins
with ` + "`=`" + `, is bound as it stands by two equals signs: ` + "`waybill==a..b`" + `. Hashes are computed from the bound fields; a salt whose fields are not bound is
asked in all its buckets; the stop row is always the prefix + 1. Where the key holds a time in a coarser unit, the units in which the
range begins and ends are in it as a whole. A hash or salt of such a time is taken of the coarser time.

What the key holds coarser than the event has it is read back as it is held:

| part | reads back |
|---|---|
| a time in hours, seconds, … | the first millisecond of that hour or second |
| a float in 32 bits | the nearest such float |
| a geohash | the middle of its cell |
| a hash or salt alone | nothing: the field is null, and the row is found only by its exact value |

A range over a geohash is one of its first digits, bound under the name ` + "`geohash`" + `: ` + "`area=440305 geohash=ws10`" + `.

## Split points

Regions are cut evenly: hex hashes at hex digits (16 regions of ` + "`md5(waybill, 4)`" + ` at 1000, 2000, … f000), byte hashes at bytes, salts at
buckets, and inside the hash that follows them when there are more regions than buckets; reversed ints at decimal digits. A key that
begins otherwise takes its split points from a sample.
`
