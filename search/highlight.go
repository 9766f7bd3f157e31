package search

import "unicode"

// Span is a part of a text, in characters: from the first to before the last.
type Span struct{ From, To int }

// maxSpans bounds the words that Highlight looks for, and what it finds in one text.
const maxSpans = 100

// Highlight finds where the words of a Match stand in a text, whatever their case: in order and apart, the first maxSpans of them. Words
// are runs of letters and digits; of Chinese, Japanese and Korean, each two characters that stand together, or one that stands alone. An
// engine may cut otherwise: then a document is found, and nothing of it is highlighted.
func Highlight(text, words string) []Span {
	wanted := map[string]bool{}
	for r := range runs([]rune(words)) {
		if len(wanted) >= maxSpans {
			break
		}
		if !r.wide || len(r.text) == 1 {
			wanted[string(r.text)] = true
			continue
		}
		for i := range len(r.text) - 1 {
			wanted[string(r.text[i:i+2])] = true
		}
	}
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

// run is a part of a text without spaces or signs: a word, or wide characters.
type run struct {
	at   int
	text []rune // in lower case
	wide bool   // of characters that words are not parted by spaces of
}

// pairs adds the spans of a wide run; those that meet are one.
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
