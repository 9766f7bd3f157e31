package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var notesExample = example{"../cmd/brine/testdata/nulls/notes.yaml", "notes", "shop.notes", "shop:notes", "notes", "id"}

// TestNullsAreShownAsNulls: a cell that says that its field is null is shown as null by explain, by replay --diff and by the preview of a
// replay of dead letters, and in JSON, too. It looks different from an empty text, and from a text that reads null.
func TestNullsAreShownAsNulls(t *testing.T) {
	t.Parallel()
	j := newJobOf(t, embeddedStack(t), notesExample)
	send := func(i int, fields string) {
		j.sendAt(0, fmt.Sprintf(`{"id":"1","at":%d%s}`, 1700000000000+i, fields), time.UnixMilli(1700000000000+int64(i)))
	}
	send(0, `,"text":"gift","amount":7,"tags":["a"],"from":"Ann"`)
	send(1, `,"text":"","amount":0,"tags":"","from":""`)
	send(2, `,"text":"null","tags":null`)
	send(3, ``)
	j.must("run", "-q", "-c", j.file, "--until-end")
	var text strings.Builder
	for _, asked := range [][]string{{}, {"--json"}} {
		for offset := range 4 {
			out := j.output(append([]string{"explain", "-c", j.file, j.topic, "0", fmt.Sprint(offset)}, asked...)...)
			text.WriteString(out + "\n")
		}
	}
	rows := j.output("query", "-c", j.file, j.table, "id=1", "--json")
	for _, want := range []string{`"text":null`, `"amount":null`, `"tags":null`, `"from":null`} {
		if !strings.Contains(rows, want) {
			t.Errorf("query lacks %s:\n%s", want, rows)
		}
	}
	send(4, `,"text":"","from":"Bob"`)
	send(5, `,"amount":5`)
	send(6, `,"text":"","amount":"many"`)
	for _, asked := range [][]string{{}, {"--json"}} {
		text.WriteString(j.output(append([]string{"replay", "-c", j.file, "--from", "earliest", "--diff", "10"}, asked...)...) + "\n")
	}
	j.ran(exitOK)
	for _, asked := range [][]string{{}, {"--json"}} {
		text.WriteString(j.output(append([]string{"deadletters", "replay", "-c", j.file, "-q", "--half", "rows", "--let", `amount = amount == "many" ? 9 : int(amount)`,
			"--preview", "1"}, asked...)...) + "\n")
	}
	golden(t, filepath.Join("nulls", "shown.txt"), j.steady(text.String()))
}
