// Package rowkey is the row-key language: it parses a key expression such as
//
//	md5(waybill, 4) + waybill + "|" + desc(at, ms) + "|" + action
//
// and encodes, decodes, ranges over, splits by, explains and lints it. Anyone can import it who wants
// salted, designed row keys and nothing else of ours. It imports nothing of ours and is pure: a key is a function of
// the named values alone, never of a clock, an offset or chance, so a replay finds the row that the first run wrote.
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
// A name before "(" is a function, any other name at the place of a part is a field. A bare field is its text, of any
// length: it must be the last part or be followed by a string, its separator, which its values may then not contain.
// Functions take fields and constants, not other functions. The functions, their sizes and their orders are listed in
// docs/rowkeys.md, which is generated from the table in functions.go.
//
// A field may be held by more than one part (a day, and later the exact time): it is read back from the most exact one, and
// the others are checked against it. HBase compares rows as unsigned bytes, left to right; all orders here are meant so.
package rowkey

//go:generate go test -run TestReference -update
