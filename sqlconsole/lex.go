package sqlconsole

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Pos is a position in a text of statements. Both numbers begin with 1; columns count characters.
type Pos struct{ Line, Column int }

// Error is the error for a statement that is not run, addressed to its author.
type Error struct {
	Pos
	Msg string // what is wrong
	Fix string // empty if Msg implies it
}

func (e *Error) Error() string {
	text := fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Msg)
	if e.Fix != "" {
		text += "; " + e.Fix
	}
	return text
}

// Advice returns the fix.
func (e *Error) Advice() string { return e.Fix }

func wrong(at Pos, fix, format string, args ...any) error {
	return &Error{at, fmt.Sprintf(format, args...), fix}
}

type kind uint8

const (
	end    kind = iota
	word        // a name or keyword
	quoted      // a name in double quotes
	text        // a literal in single quotes
	number
	sign // = < <= > >= ( ) , * ;
)

// token is a token of a statement. Its text is without quotes.
type token struct {
	kind   kind
	text   string
	pos    Pos
	at, to int // byte positions in the text
}

// is reports whether the token is a keyword or sign.
func (t token) is(what string) bool {
	return t.kind == sign && t.text == what || t.kind == word && strings.EqualFold(t.text, what)
}

func (t token) shown() string {
	switch t.kind {
	case end:
		return "the end"
	case text:
		return "'" + cut(t.text) + "'"
	case quoted:
		return `"` + cut(t.text) + `"`
	}
	return cut(t.text)
}

// cut shortens text that errors quote.
func cut(s string) string {
	const most = 60
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most]) + "…"
}

// lexer splits a text into tokens.
type lexer struct {
	text string
	at   int
	pos  Pos
}

func (l *lexer) peek() rune {
	r, _ := utf8.DecodeRuneInString(l.text[l.at:])
	return r
}

func (l *lexer) ended() bool { return l.at >= len(l.text) }

func (l *lexer) step() {
	r, n := utf8.DecodeRuneInString(l.text[l.at:])
	l.at += n
	if l.pos.Column++; r == '\n' {
		l.pos = Pos{l.pos.Line + 1, 1}
	}
}

// blank skips spaces and comments, which go from -- to the end of the line.
func (l *lexer) blank() {
	for !l.ended() {
		switch {
		case strings.HasPrefix(l.text[l.at:], "--"):
			for !l.ended() && l.peek() != '\n' {
				l.step()
			}
		case unicode.IsSpace(l.peek()):
			l.step()
		default:
			return
		}
	}
}

func (l *lexer) next() (token, error) {
	l.blank()
	t := token{pos: l.pos, at: l.at}
	if l.ended() {
		t.to = l.at
		return t, nil
	}
	var err error
	switch r := l.peek(); {
	case r == '\'' || r == '"':
		t.kind = text
		if r == '"' {
			t.kind = quoted
		}
		t.text, err = l.quoted(r)
	case begins(r):
		t.kind, t.text = word, l.while(continues)
	case r >= '0' && r <= '9', (r == '-' || r == '.') && l.digitFollows():
		t.kind, t.text = number, l.number()
	case strings.ContainsRune("=<>(),*;", r):
		t.kind, t.text = sign, l.sign()
	case r == utf8.RuneError:
		err = wrong(l.pos, "write UTF-8", "the text here is not UTF-8")
	default:
		err = wrong(l.pos, "write texts in 'single quotes', and names with such characters in \"double quotes\"", "%q has no meaning here", r)
	}
	t.to = l.at
	return t, err
}

// begins and continues report which runes names consist of, including columns as family:qualifier and tables as namespace:name.
func begins(r rune) bool { return r == '_' || unicode.IsLetter(r) }

func continues(r rune) bool {
	return begins(r) || unicode.IsDigit(r) || r == ':' || r == '.' || r == '-'
}

func (l *lexer) while(is func(rune) bool) string {
	from := l.at
	for !l.ended() && is(l.peek()) {
		l.step()
	}
	return l.text[from:l.at]
}

func (l *lexer) digitFollows() bool {
	rest := l.text[l.at+1:]
	return rest != "" && (rest[0] >= '0' && rest[0] <= '9' || l.text[l.at] == '-' && rest[0] == '.')
}

// number reads anything that looks like a number. The type of what it is compared with determines its value.
func (l *lexer) number() string {
	from := l.at
	l.step()
	for !l.ended() {
		r := l.peek()
		afterE := (r == '+' || r == '-') && (l.text[l.at-1] == 'e' || l.text[l.at-1] == 'E')
		if r < '0' && r != '.' && !afterE || r > '9' && r != 'e' && r != 'E' {
			break
		}
		l.step()
	}
	return l.text[from:l.at]
}

func (l *lexer) sign() string {
	for _, s := range []string{"<=", ">=", "<>"} {
		if strings.HasPrefix(l.text[l.at:], s) {
			l.step()
			l.step()
			return s
		}
	}
	s := l.text[l.at : l.at+1]
	l.step()
	return s
}

// quoted reads a text up to its closing quote. Two quotes in a row stand for one in the text.
func (l *lexer) quoted(quote rune) (string, error) {
	open := l.pos
	var out strings.Builder
	for l.step(); !l.ended(); l.step() {
		r := l.peek()
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(l.text[l.at:], "\ufffd"):
			return "", wrong(l.pos, "write UTF-8", "the text here is not UTF-8")
		case r != quote:
			out.WriteRune(r)
		case l.at+1 < len(l.text) && rune(l.text[l.at+1]) == quote:
			l.step()
			out.WriteRune(quote)
		default:
			l.step()
			return out.String(), nil
		}
	}
	return "", wrong(open, fmt.Sprintf("close it with %c; inside, %[1]c is written twice", quote), "this quote is not closed")
}
