package shell_test

import (
	"context"
	"io"
	"iter"
	"strings"
	"testing"

	"brine/config"
	"brine/event"
	"brine/query"
	"brine/sqlconsole/shell"
)

// rows is a store with two scans.
type rows struct{ asked int }

func (r *rows) Select(ctx context.Context, s *query.Selection) iter.Seq2[query.Selected, error] {
	return func(yield func(query.Selected, error) bool) {
		r.asked++
		for _, station := range []string{"JFK", "=1+1\x1b[2J"} {
			if ctx.Err() != nil {
				yield(query.Selected{}, ctx.Err())
				return
			}
			row := query.Row{Key: []byte("0ce1W1"), Fields: []query.Field{{Name: "waybill", Value: event.TextValue("W1")},
				{Name: "station", Value: event.TextValue(station)}}}
			if !yield(query.Selected{Row: row}, nil) {
				return
			}
		}
	}
}

func (r *rows) Regions(context.Context, *query.Selection) (touched, all int, err error) {
	return 1, 16, nil
}

func open(t *testing.T, format shell.Format) (s *shell.Shell, out, notes *strings.Builder) {
	t.Helper()
	cfg, problems := config.Load("../../examples/scans.yaml", func(string) (string, bool) { return "", false })
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	catalog, err := cfg.Catalog()
	if err != nil {
		t.Fatal(err)
	}
	out, notes = &strings.Builder{}, &strings.Builder{}
	return &shell.Shell{Catalog: catalog, Store: &rows{}, Format: format, Out: out, Notes: notes}, out, notes
}

// TestFormats checks that each format shows the values, that a spreadsheet gets no formula, and a terminal nothing to act on.
func TestFormats(t *testing.T) {
	for format, want := range map[shell.Format]string{
		shell.Table:    "WAYBILL  STATION\nW1       JFK\n",
		shell.Vertical: "row 2\n  waybill  W1\n  station  =1+1",
		shell.JSON:     `{"columns":[{"name":"waybill","type":"text"},{"name":"station","type":"text"}],"rows":[["W1","JFK"],["W1","=1+1\u001b[2J"]],"stats":{"hbase_ms":`,
		shell.CSV:      "waybill,station\nW1,JFK\nW1,'=1+1",
	} {
		s, out, _ := open(t, format)
		if err := s.Run(t.Context(), "SELECT waybill, station FROM scans WHERE waybill = 'W1'"); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), want) || format != shell.CSV && strings.Contains(out.String(), "\x1b") {
			t.Errorf("%s:\n%q\nlacks %q", format, out, want)
		}
	}
}

// TestInteraction checks that statements may take several lines, that errors do not end the shell, that commands describe, and that \q
// leaves.
func TestInteraction(t *testing.T) {
	s, out, notes := open(t, shell.Table)
	lines := []string{`\d`, `\d scans`, "SELECT waybill", "FROM scans WHERE waybill = 'W1';", "SELECT nothing FROM scans;", `\nosuch`, "SELECT waybill FROM scans LIMIT 1", "", `\x`, `\h`, `\q`, "never"}
	var prompts []string
	err := s.Interact(func(prompt string) (string, error) {
		if len(lines) == 0 {
			return "", io.EOF
		}
		prompts = append(prompts, prompt)
		line := lines[0]
		lines = lines[1:]
		return line, nil
	}, func() (context.Context, context.CancelFunc) { return context.WithCancel(t.Context()) })
	if err != nil || len(lines) != 1 {
		t.Fatalf("%v, left %q", err, lines)
	}
	if prompts[2] != shell.Prompt || prompts[3] != shell.More {
		t.Errorf("%q", prompts)
	}
	for _, want := range []string{"logistics:scans", "station  text", "2 rows; HBase", "1 row; HBase", "statement  ="} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	for _, want := range []string{"has no column nothing", `unknown command \nosuch`, "output format: vertical"} {
		if !strings.Contains(notes.String(), want) {
			t.Errorf("no %q in\n%s", want, notes)
		}
	}
}

// TestAStatementIsGivenUp checks that the shell continues after a cancelled statement.
func TestAStatementIsGivenUp(t *testing.T) {
	s, _, notes := open(t, shell.Table)
	lines := []string{"SELECT waybill FROM scans LIMIT 5;"}
	err := s.Interact(func(string) (string, error) {
		if len(lines) == 0 {
			return "", io.EOF
		}
		line := lines[0]
		lines = nil
		return line, nil
	}, func() (context.Context, context.CancelFunc) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		return ctx, cancel
	})
	if err != nil || notes.String() != "canceled\n" {
		t.Errorf("%v, %q", err, notes)
	}
}

// TestCompletion checks that a word is completed as far as it is unambiguous.
func TestCompletion(t *testing.T) {
	s, _, _ := open(t, shell.Table)
	for line, want := range map[string]string{"sel": "SELECT ", "SELECT stat": "SELECT station ", "SELECT a FROM logi": "SELECT a FROM logistics:scans ", "": "", "SELECT zz": "", "SELECT COUNT(wayb": "SELECT COUNT(waybill "} {
		got, at, ok := s.Complete(line, len(line))
		if !ok {
			got = ""
		}
		if got != want || ok && at != len(got) {
			t.Errorf("%q becomes %q, not %q", line, got, want)
		}
	}
}
