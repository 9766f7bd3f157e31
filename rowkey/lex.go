package rowkey

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// tokenKind is the kind of a token of an expression.
type tokenKind uint8

const (
	tokEnd tokenKind = iota
	tokName
	tokNumber
	tokString
	tokMark // one of + ( ) ,
)

type token struct {
	kind   tokenKind
	text   string // for a string, its bytes
	offset int
}

func (t token) is(mark string) bool { return t.kind == tokMark && t.text == mark }

// shown returns the token as an error names it.
func (t token) shown() string {
	switch t.kind {
	case tokEnd:
		return "the end"
	case tokString:
		return strconv.Quote(t.text)
	}
	return t.text
}

// lex cuts an expression into tokens, the last of which is tokEnd.
func lex(expr string) ([]token, error) {
	if !utf8.ValidString(expr) {
		return nil, syntaxError(0, "the expression is not UTF-8", `write other bytes as "\xff"`)
	}
	var tokens []token
	for at := 0; at < len(expr); {
		c, n := utf8.DecodeRuneInString(expr[at:])
		switch {
		case unicode.IsSpace(c):
		case c < utf8.RuneSelf && strings.ContainsRune("+(),", c):
			tokens = append(tokens, token{tokMark, expr[at : at+n], at})
		case c == '"':
			t, length, err := lexString(expr, at)
			if err != nil {
				return nil, err
			}
			tokens = append(tokens, t)
			n = length
		case c >= '0' && c <= '9':
			n = span(expr[at:], func(c rune) bool { return c >= '0' && c <= '9' })
			tokens = append(tokens, token{tokNumber, expr[at : at+n], at})
		case beginsName(c):
			n = span(expr[at:], continuesName)
			tokens = append(tokens, token{tokName, expr[at : at+n], at})
		default:
			return nil, strayCharacter(c, at)
		}
		at += n
	}
	return append(tokens, token{kind: tokEnd, offset: len(expr)}), nil
}

func lexString(expr string, at int) (token, int, error) {
	quoted, err := strconv.QuotedPrefix(expr[at:])
	if err != nil {
		return token{}, 0, syntaxError(at, "this string is not closed, or contains an unknown escape",
			`end it with ", and write a quote as \", a backslash as \\ and other bytes as \x00`)
	}
	s, err := strconv.Unquote(quoted)
	if err != nil {
		return token{}, 0, syntaxError(at, "this is not a string", `write it as "|" or "\x00"`)
	}
	return token{tokString, s, at}, len(quoted), nil
}

// span returns the length of the longest prefix of s whose characters satisfy in.
func span(s string, in func(rune) bool) int {
	if n := strings.IndexFunc(s, func(c rune) bool { return !in(c) }); n >= 0 {
		return n
	}
	return len(s)
}

func beginsName(c rune) bool {
	return unicode.IsLetter(c) || strings.ContainsRune("_@$", c)
}

func continuesName(c rune) bool {
	return beginsName(c) || unicode.IsDigit(c) || strings.ContainsRune(".-", c)
}

func strayCharacter(c rune, at int) error {
	e := &SyntaxError{Offset: at, Msg: fmt.Sprintf("the character %c has no meaning here", c),
		Fix: `join fields, functions and strings in double quotes with +`}
	switch c {
	case '\'', '`', '“', '”':
		e.Fix = `write strings in double quotes, as in "|"`
	case '|', '#', ':', '/', ';', '.':
		e.Fix = fmt.Sprintf("write it as a string, %q, and join the parts with +", string(c))
	case '-', '−':
		e.Fix = "write desc(at, ms) for a time counted down from the greatest value"
	case '%':
		e.Fix = "write salt(16, field) for a bucket number"
	}
	return e
}
