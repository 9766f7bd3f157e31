package completion_test

import (
	"slices"
	"testing"

	"github.com/alecthomas/kong"

	"brine/internal/completion"
)

func TestWords(t *testing.T) {
	var cli struct {
		JSON bool `help:"Print JSON."`
		Show struct {
			What string `arg:"" enum:"rows,documents"`
			Half string `short:"s" enum:"left,right" default:"left"`
		} `cmd:""`
		Set    struct{} `cmd:""`
		Hidden struct{} `cmd:"" hidden:""`
	}
	parser, err := kong.New(&cli, kong.NoDefaultHelp())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ line, want []string }{
		{nil, []string{"show", "set"}},
		{[]string{"s"}, []string{"show", "set"}},
		{[]string{"help", "se"}, []string{"set"}},
		{[]string{"show", ""}, []string{"rows", "documents"}},
		{[]string{"show", "--"}, []string{"--half", "--json"}},
		{[]string{"show", "--half", "l"}, []string{"left"}},
		{[]string{"show", "-s", ""}, []string{"left", "right"}},
		{[]string{"show", "--half", "=", "r"}, []string{"--half=right"}}, // as bash splits it
		{[]string{"--json", "se"}, []string{"set"}},
		{[]string{"set", ""}, nil},
		{[]string{"nothing", "--no"}, nil},
	} {
		var got []string
		for _, w := range completion.Words(parser.Model.Node, c.line) {
			got = append(got, w.Text)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.line, got, c.want)
		}
	}
}
