package search

import (
	"math"
	"unicode"
)

// Span is a part of a text, in characters: from From up to, but not including, To.
type Span struct{ From, To int }

// maxSpans bounds the number of words that Highlight searches for, and the number of spans that it returns.
const maxSpans = 100

// Highlight returns where the words of a Match are in a text, ignoring case: sorted, disjoint, and only the first maxSpans. Words are runs
// of letters and digits; in Chinese, Japanese and Korean, they are pairs of adjacent characters, or a character that stands alone. An
// engine may cut words differently: then it finds a document in which nothing is highlighted.
func Highlight(text, words string) []Span {
	wanted := wordsOf(words, maxSpans)
	if len(wanted) == 0 {
		return nil
	}
	var out []Span
	for r := range runs([]rune(text)) {
		if r.wide {
			out = r.pairs(out, wanted)
		} else if wanted[string(r.text)] {
			out = append(out, Span{r.at, r.at + len(r.text)})
		}
		if len(out) >= maxSpans {
			return out[:maxSpans]
		}
	}
	return out
}

// wordsOf returns the words of a text, or about the first n of them.
func wordsOf(text string, n int) map[string]bool {
	out := map[string]bool{}
	for r := range runs([]rune(text)) {
		if len(out) >= n {
			break
		}
		if !r.wide || len(r.text) == 1 {
			out[string(r.text)] = true
			continue
		}
		for i := range len(r.text) - 1 {
			out[string(r.text[i:i+2])] = true
		}
	}
	return out
}

// Has reports whether a text has all the words of a Match, as Highlight cuts them.
func Has(text, words string) bool {
	missing := wordsOf(words, math.MaxInt)
	for r := range runs([]rune(text)) {
		if !r.wide {
			delete(missing, string(r.text))
			continue
		}
		for i := range r.text {
			for n := 1; n <= 2 && i+n <= len(r.text); n++ {
				delete(missing, string(r.text[i:i+n]))
			}
		}
	}
	return len(missing) == 0
}

// run is a part of a text without spaces or signs: a word, or wide characters.
type run struct {
	at   int
	text []rune // in lower case
	wide bool   // of characters in languages that do not separate words by spaces
}

// pairs adds the spans of a wide run, and joins those that touch.
func (r *run) pairs(out []Span, wanted map[string]bool) []Span {
	first := len(out)
	for i := range r.text {
		for n := 1; n <= 2 && i+n <= len(r.text); n++ {
			if !wanted[string(r.text[i:i+n])] {
				continue
			}
			from, to := r.at+i, r.at+i+n
			if last := len(out) - 1; last >= first && from <= out[last].To {
				out[last].To = max(out[last].To, to)
			} else {
				out = append(out, Span{from, to})
			}
		}
	}
	return out
}

func runs(text []rune) func(yield func(run) bool) {
	return func(yield func(run) bool) {
		for at := 0; at < len(text); {
			wide, to := isWide(text[at]), at
			for to < len(text) && isWord(text[to]) && isWide(text[to]) == wide {
				to++
			}
			if to == at {
				at++
				continue
			}
			lower := make([]rune, to-at)
			for i := range lower {
				lower[i] = unicode.ToLower(text[at+i])
			}
			if !yield(run{at, lower, wide}) {
				return
			}
			at = to
		}
	}
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) }

func isWide(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
}
