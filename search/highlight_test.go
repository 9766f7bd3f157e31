package search_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"brine/search"
)

func TestHighlight(t *testing.T) {
	for _, c := range []struct{ text, words, want string }{
		{"Green tea, green TEA cup", "tea", "Green [tea], green [TEA] cup"},
		{"Green tea", "GREEN Tea", "[Green] [tea]"},
		{"teapot", "tea", "teapot"},
		{"UA-1545", "1545", "UA-[1545]"},
		{"été à l'Été", "été", "[été] à l'[Été]"},
		{"<b>tea</b>", "tea b", "<[b]>[tea]</[b]>"},
		{"新鲜绿茶杯, 茶", "绿茶杯", "新鲜[绿茶杯], 茶"},
		{"绿茶和红茶", "茶", "绿[茶]和红[茶]"},
		{"绿茶tea", "tea", "绿茶[tea]"},
		{"anything", "…", "anything"},
		{"", "tea", ""},
	} {
		var out strings.Builder
		at, text := 0, []rune(c.text)
		for _, s := range search.Highlight(c.text, c.words) {
			fmt.Fprintf(&out, "%s[%s]", string(text[at:s.From]), string(text[s.From:s.To]))
			at = s.To
		}
		out.WriteString(string(text[at:]))
		if out.String() != c.want {
			t.Errorf("%q in %q: %s, want %s", c.words, c.text, out.String(), c.want)
		}
	}
}

// TestHighlightsAreBounded checks that a text that repeats only the word has the maximum number of spans.
func TestHighlightsAreBounded(t *testing.T) {
	if n := len(search.Highlight(strings.Repeat("tea ", 1000), "tea")); n != 100 {
		t.Errorf("%d spans", n)
	}
}

// FuzzHighlight checks that spans are within the text, sorted and disjoint, for any input.
func FuzzHighlight(f *testing.F) {
	f.Add("Green tea", "tea")
	f.Add("新鲜绿茶杯", "绿茶")
	f.Add("\xff a\u0301", "a")
	f.Fuzz(func(t *testing.T, text, words string) {
		at := 0
		for _, s := range search.Highlight(text, words) {
			if s.From < at || s.To <= s.From || s.To > utf8.RuneCountInString(text) {
				t.Fatalf("span %+v of %q", s, text)
			}
			at = s.To
		}
	})
}

// TestHas checks whether a text has all words, cut as for Highlight.
func TestHas(t *testing.T) {
	for _, c := range []struct {
		text, words string
		want        bool
	}{
		{"Green Tea, 20 bags", "tea 20", true}, {"Green Tea", "tea coffee", false}, {"teapot", "tea", false}, {"", "tea", false}, {"", "", true}, {"tea", "%", true},
		{"it's", "it's", true}, {"its", "it's", false}, {"绿茶叶", "茶叶", true}, {"绿茶叶", "绿叶", false}, {"绿茶叶", "茶", true}, {"绿tea茶", "TEA 茶", true},
		{strings.Repeat("a ", 500) + "b", "b", true}, {"a", strings.Repeat("a ", 500), true},
	} {
		if got := search.Has(c.text, c.words); got != c.want {
			t.Errorf("%.20q has %.20q: %v", c.text, c.words, got)
		}
	}
	var many, other []string
	for i := range 200 { // more than Highlight looks for
		many, other = append(many, fmt.Sprint("w", i)), append(other, fmt.Sprint("w", i+1))
	}
	if !search.Has(strings.Join(many, " "), strings.Join(many, "-")) || search.Has(strings.Join(other, " "), strings.Join(many, " ")) {
		t.Error("not all of many words are looked for")
	}
}
