package event

import (
	"bytes"
	"fmt"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// Tokenizer is how a text is cut into tokens. Row keys are made of tokens, so a tokenizer's result for a text never changes.
type Tokenizer string

// The tokenizers of brine.yaml.
const (
	// Words: adjacent letters, digits and marks, in lower case.
	Words Tokenizer = "words"
	// CJK: for Han, kana and hangul, every character and every two neighbours, so that a word of one character is found as well as a longer
	// one; for all else, Words.
	CJK Tokenizer = "cjk"
)

// Tokens determines which tokens of an event are taken.
type Tokens struct {
	Tokenizer Tokenizer
	Fields    []TextField
	Limit     int  // maximum number of different tokens of one event
	Cut       bool // beyond Limit, take the first ones; if false, reject the event
}

// TextField is where texts are: a Text field, or the texts within a Nested one.
type TextField struct {
	Field string
	Path  []string // object keys within a Nested field, through arrays; nil: all its texts
}

// Cutter cuts events into tokens. It is not safe for concurrent use.
type Cutter struct {
	tokens Tokens
	at     []int // positions of the fields in the schema
	found  [][]byte
	buf    []byte // for the lower-case words found
	scrap  Batch  // for texts within JSON that had escapes
	json   jsontext.Decoder
	input  bytes.Buffer
}

// NewCutter binds tokens to the schema of the events.
func NewCutter(t *Tokens, s Schema) (*Cutter, error) {
	c := &Cutter{tokens: *t}
	switch {
	case t.Tokenizer != Words && t.Tokenizer != CJK:
		return nil, fmt.Errorf("no tokenizer %q; write %s or %s", t.Tokenizer, Words, CJK)
	case len(t.Fields) == 0:
		return nil, fmt.Errorf("tokens are taken from no field; name one")
	case t.Limit < 1:
		return nil, fmt.Errorf("at most %d tokens are taken; allow at least one", t.Limit)
	}
	for _, f := range t.Fields {
		pos := s.position(f.Field)
		switch {
		case pos < 0:
			return nil, fmt.Errorf("field %q is not declared; add it to fields", f.Field)
		case s.Fields[pos].Type == Nested, s.Fields[pos].Type == Text && f.Path == nil:
		default:
			return nil, fmt.Errorf("field %s is declared %s, which has no tokens; use a text or json", f.Field, s.Fields[pos].Type)
		}
		c.at = append(c.at, pos)
	}
	return c, nil
}

// Cut returns the different tokens of an event's values in order of first occurrence. They are valid until the next call and as long as the
// values.
func (c *Cutter) Cut(values []Value) ([][]byte, *Error) {
	c.found, c.buf, c.scrap.texts = c.found[:0], c.buf[:0], c.scrap.texts[:0]
	for i, at := range c.at {
		switch v := values[at]; v.Type {
		case Text:
			c.text(v.text)
		case Nested:
			c.input = *bytes.NewBuffer(v.text)
			c.json.Reset(&c.input, jsontext.AllowDuplicateNames(true)) // as the record was read
			c.nested(v.text, c.tokens.Fields[i].Path)
		}
	}
	if len(c.found) <= c.tokens.Limit {
		return c.found, nil
	}
	if !c.tokens.Cut {
		return nil, &Error{Reason: TooLarge, Field: c.tokens.Fields[0].Field,
			Detail: fmt.Sprintf("its words are more than %d different tokens", c.tokens.Limit)}
	}
	return c.found[:c.tokens.Limit], nil
}

// nested finds the texts at a path of the next value, which is valid JSON.
func (c *Cutter) nested(json []byte, path []string) {
	switch kind := c.json.PeekKind(); kind {
	case '{':
		c.token()
		for c.json.PeekKind() != '}' {
			name := c.scrap.text(c.value(json))
			switch {
			case len(path) == 0:
				c.nested(json, nil)
			case path[0] == string(name):
				c.nested(json, path[1:])
			default:
				c.value(json)
			}
		}
		c.token()
	case '[':
		c.token()
		for c.json.PeekKind() != ']' {
			c.nested(json, path)
		}
		c.token()
	default:
		if raw := c.value(json); kind == '"' && len(path) == 0 {
			c.text(c.scrap.text(raw))
		}
	}
}

func (c *Cutter) token() {
	if _, err := c.json.ReadToken(); err != nil {
		panic("BUG: event: a checked JSON cannot be read: " + err.Error())
	}
}

// value reads the next value and returns it where it lasts: within json.
func (c *Cutter) value(json []byte) []byte {
	raw, err := c.json.ReadValue()
	if err != nil {
		panic("BUG: event: a checked JSON cannot be read: " + err.Error())
	}
	end := int(c.json.InputOffset())
	return json[end-len(raw) : end]
}

// text finds the tokens of one text.
func (c *Cutter) text(t []byte) {
	word := len(c.buf) // where the current word begins
	before := 0        // bytes of the ideograph right before
	for at := 0; at < len(t); {
		r, n := utf8.DecodeRune(t[at:])
		if ideograph := c.tokens.Tokenizer == CJK && isCJK(r); ideograph {
			word = c.endWord(word)
			c.add(t[at : at+n])
			if before > 0 {
				c.add(t[at-before : at+n])
			}
			before = n
		} else if before = 0; unicode.In(r, unicode.L, unicode.N, unicode.M) {
			c.buf = utf8.AppendRune(c.buf, unicode.ToLower(r))
		} else {
			word = c.endWord(word)
		}
		at += n
	}
	c.endWord(word)
}

// endWord takes the word gathered since word, and returns where the next one begins.
func (c *Cutter) endWord(word int) int {
	if word < len(c.buf) {
		c.add(c.buf[word:])
	}
	return len(c.buf)
}

// add takes a token once. It stops at the first token over the limit.
func (c *Cutter) add(token []byte) {
	same := func(t []byte) bool { return bytes.Equal(t, token) }
	if len(c.found) <= c.tokens.Limit && !slices.ContainsFunc(c.found, same) {
		c.found = append(c.found, token)
	}
}

// isCJK reports whether r is written without spaces between words, or in syllables. U+30FC lengthens a kana and belongs to no script.
func isCJK(r rune) bool {
	return r == 'ー' || unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
}
