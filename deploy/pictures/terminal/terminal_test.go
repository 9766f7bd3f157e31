package terminal

import (
	"encoding/xml"
	"reflect"
	"strings"
	"testing"
)

func TestEscapesBecomeStyles(t *testing.T) {
	got := parse("a\x1b[1;31mb c\x1b[0m d\n\x1b[7me\nf\x1b[38;5;4mg")
	want := [][]run{
		{{style{}, 0, "a"}, {style{color: colors[1], bold: true}, 1, "b c"}, {style{}, 4, " d"}},
		{{style{reverse: true}, 0, "e"}},
		{{style{reverse: true}, 0, "f"}, {style{color: colors[4], reverse: true}, 1, "g"}}, // a style lasts until it is changed
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

func TestPictureHasEveryLetter(t *testing.T) {
	picture := Draw("a < b", "one  <two>\n  ██░ 3\n")
	var doc struct {
		Texts []string `xml:"text"`
		Rects []struct {
			Width string `xml:"width,attr"`
		} `xml:"rect"`
	}
	if err := xml.Unmarshal(picture, &doc); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(doc.Texts, "|"); got != "a < b|one|<two>|3" {
		t.Errorf("texts are %q", got)
	}
	if len(doc.Rects) != 3 || doc.Rects[1].Width != "15.6" || doc.Rects[2].Width != "7.8" {
		t.Errorf("boxes are %v: one is the window, one of two columns, one of one", doc.Rects)
	}
}
