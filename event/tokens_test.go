package event

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// texts has one field of each kind that can have tokens, and one that cannot.
var texts = Schema{Version: -1, Fields: []Field{{Name: "name", Type: Text}, {Name: "items", Type: Nested}, {Name: "n", Type: Int}}}

func cut(t *testing.T, tokens Tokens, values ...Value) (string, *Error) {
	t.Helper()
	c, err := NewCutter(&tokens, texts)
	if err != nil {
		t.Fatal(err)
	}
	var shown []string
	for range 2 { // the second time with used buffers
		found, reject := c.Cut(values)
		if reject != nil {
			return "", reject
		}
		shown = shown[:0]
		for _, token := range found {
			shown = append(shown, string(token))
		}
	}
	return strings.Join(shown, " "), nil
}

func TestTokens(t *testing.T) {
	name := []TextField{{Field: "name"}}
	for _, c := range []struct {
		tokenizer Tokenizer
		text      string
		want      string
	}{
		{Words, "Red Shoe, red SHOE; size 42", "red shoe size 42"},
		{Words, "Größe ÄRGER don't x_y", "größe ärger don t x y"},
		{Words, " ,;- ", ""},
		{Words, "", ""},
		{Words, "红色的鞋 nike", "红色的鞋 nike"},
		{Words, "cafe\u0301", "cafe\u0301"},
		{CJK, "红色的鞋 Nike红", "红 色 红色 的 色的 鞋 的鞋 nike"},
		{CJK, "红Nike鞋", "红 nike 鞋"},
		{CJK, "コーヒー", "コ ー コー ヒ ーヒ ヒー"},
		{CJK, "서울 시", "서 울 서울 시"},
		{CJK, "ひらがなAB12", "ひ ら ひら が らが な がな ab12"},
		{CJK, "𠮷野", "𠮷 野 𠮷野"},
	} {
		got, reject := cut(t, Tokens{Tokenizer: c.tokenizer, Fields: name, Limit: 64}, TextValue(c.text), Value{}, Value{})
		if reject != nil || got != c.want {
			t.Errorf("%s of %q: %q (%v), want %q", c.tokenizer, c.text, got, reject, c.want)
		}
	}
}

func TestTokensOfJSON(t *testing.T) {
	const items = `[{"name":"Red Shoe","sku":"A1","tags":["new","\u7ea2"]},{"name":null,"n":7},{"na\u006de":{"de":"Schuh"}},["Hat"]]`
	for _, c := range []struct {
		fields []TextField
		want   string
	}{
		{[]TextField{{Field: "items"}}, "red shoe a1 new 红 schuh hat"},
		{[]TextField{{Field: "items", Path: []string{"name"}}}, "red shoe schuh"},
		{[]TextField{{Field: "items", Path: []string{"name", "de"}}, {Field: "name"}}, "schuh hat"},
		{[]TextField{{Field: "items", Path: []string{"tags"}}}, "new 红"},
		{[]TextField{{Field: "items", Path: []string{"n"}}}, ""},
	} {
		got, reject := cut(t, Tokens{Tokenizer: Words, Fields: c.fields, Limit: 64}, TextValue("Hat"), NestedValue(items), Value{})
		if reject != nil || got != c.want {
			t.Errorf("%v: %q (%v), want %q", c.fields, got, reject, c.want)
		}
	}
}

func TestTokensAreLimited(t *testing.T) {
	tokens := Tokens{Tokenizer: Words, Fields: []TextField{{Field: "name"}}, Limit: 3}
	if got, reject := cut(t, tokens, TextValue("a b a c b"), Value{}, Value{}); got != "a b c" || reject != nil {
		t.Errorf("three different ones: %q, %v", got, reject)
	}
	if got, reject := cut(t, tokens, TextValue("a b a c d"), Value{}, Value{}); reject == nil || reject.Reason != TooLarge || reject.Field != "name" {
		t.Errorf("four: %q, %v", got, reject)
	}
	tokens.Cut = true
	if got, reject := cut(t, tokens, TextValue("a b a c d e"), Value{}, Value{}); got != "a b c" || reject != nil {
		t.Errorf("cut: %q, %v", got, reject)
	}
}

func TestCutterRefuses(t *testing.T) {
	name := []TextField{{Field: "name"}}
	for want, tokens := range map[string]Tokens{
		`no tokenizer "ik"`:              {Tokenizer: "ik", Fields: name, Limit: 1},
		"from no field":                  {Tokenizer: Words, Limit: 1},
		"at most 0 tokens":               {Tokenizer: Words, Fields: name},
		`field "nam" is not declared`:    {Tokenizer: Words, Fields: []TextField{{Field: "nam"}}, Limit: 1},
		"field n is declared int":        {Tokenizer: Words, Fields: []TextField{{Field: "n"}}, Limit: 1},
		"field name is declared text, w": {Tokenizer: Words, Fields: []TextField{{Field: "name", Path: []string{"x"}}}, Limit: 1},
	} {
		if _, err := NewCutter(&tokens, texts); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestMembers(t *testing.T) {
	read := func(object string) string {
		var out []string
		m := new(Members)
		err := m.Read([]byte(object), func(name, value []byte) *Error {
			out = append(out, fmt.Sprintf("%s=%s", name, value))
			return nil
		})
		if err != nil {
			return err.Error()
		}
		return strings.Join(out, " ")
	}
	for object, want := range map[string]string{
		`{}`: "",
		`{"a":"x y","b":7,"c":null,"d":true,"e":{"f":[1, "2"]},"g":1.50}`: `a=x y b=7 d=true e={"f":[1, "2"]} g=1.50`,
		`{"\u0061\n":"\u7ea2\"","":""}`:                                   "a\n=红\" =",
		`{"a":1,"a":2}`:                                                   "a=1 a=2",
		`[1]`:                                                             "wrong_type: an object is expected, found an array",
		`"x"`:                                                             "wrong_type: an object is expected, found a string",
	} {
		if diff := cmp.Diff(want, read(object)); diff != "" {
			t.Errorf("%s: %s", object, diff)
		}
	}
}

// Any text yields different tokens that are not empty and contain no separator, and always the same ones.
func FuzzTokens(f *testing.F) {
	for _, s := range []string{"Red Shoe|x", "红色 Nike鞋", "コーヒー\x00", "\xff\xfe", "İstanbul", "a\u0301 ﾊﾟ"} {
		f.Add(s, `{"a":["x",{"b":"`+strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", ""), "")+`"}]}`)
	}
	decoder := NewDecoder(texts)
	f.Fuzz(func(t *testing.T, text, json string) {
		batch := new(Batch)
		rec := &Record{Value: []byte(`{"items":` + json + `}`)}
		if err := decoder.Decode(rec, batch); err != nil {
			return
		}
		values := batch.Events[0].Values
		values[0] = TextValue(strings.ToValidUTF8(text, "?"))
		for _, tokenizer := range []Tokenizer{Words, CJK} {
			c, err := NewCutter(&Tokens{Tokenizer: tokenizer, Fields: []TextField{{Field: "name"}, {Field: "items"}, {Field: "items", Path: []string{"a"}}}, Limit: 1000, Cut: true}, texts)
			if err != nil {
				t.Fatal(err)
			}
			seen := map[string]bool{}
			first, _ := c.Cut(values)
			for _, token := range first {
				if len(token) == 0 || seen[string(token)] || strings.ContainsAny(string(token), "| \x00") {
					t.Errorf("%s of %q: token %q", tokenizer, text, token)
				}
				seen[string(token)] = true
			}
			n := len(first)
			if again, _ := c.Cut(values); len(again) != n {
				t.Errorf("%d tokens, then %d", n, len(again))
			}
		}
	})
}
