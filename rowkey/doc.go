// Package rowkey is the row-key language: it parses a key expression such as
//
//	md5(waybill, 4) + waybill + "|" + desc(at, ms) + "|" + action
//
// and encodes, decodes, ranges over, splits by, explains and lints it. It imports nothing else of brine, so a program can use it alone for
// salted, designed row keys. It is pure: a key is a function of the named values alone, never of a clock, an offset or chance, so a replay
// finds the row that the first run wrote.
//
// The invariant: what Append encodes, Decode returns; and the byte order of keys is the order that the expression states.
//
// # Grammar
//
//	key    = part { "+" part } .
//	part   = string | field | call .
//	call   = name "(" arg { "," arg } ")" .
//	arg    = field | number [ unit ] | word | string .
//	string = a Go string in double quotes: "|", "\x00" .
//	field  = name .
//	name   = ( letter | "_" | "@" | "$" ) { letter | digit | "_" | "@" | "$" | "." | "-" } .
//	word   = "text" | "left" | "right" | "us" | "ms" | "s" | "min" | "hour" | "day" .
//	unit   = "hex" | "bytes" | "byte" .
//
// A name before "(" is a function; any other name in the position of a part is a field. A bare field is its text, of any length. It must be
// the last part or be followed by a string, its separator, which its values must not contain. Functions take fields and constants, not
// other functions. The functions, their sizes and their orders are listed in docs/rowkeys.md, which is generated from the table in
// functions.go.
//
// More than one part may hold the same field (a day, and later the exact time). The field is read back from the most exact part, and the
// others are checked against it. HBase compares rows as unsigned bytes from left to right; all orders here refer to that comparison.
package rowkey

//go:generate go test -run TestReference -update
