// Package shell runs statements of package sqlconsole for a person or a script: from a text, or one by one from a terminal, along with the
// commands that begin with a backslash.
package shell

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"brine/internal/term"
	"brine/sqlconsole"
)

// Shell runs statements. It belongs to one goroutine.
type Shell struct {
	Catalog *sqlconsole.Catalog
	Store   sqlconsole.Store
	Limits  sqlconsole.Limits
	Format  Format
	Out     io.Writer // answers
	Notes   io.Writer // what answers have no place for

	asked bool // an answer was printed
}

// Run runs the statements of a text, up to the first that fails.
func (s *Shell) Run(ctx context.Context, text string) error {
	statements, _ := sqlconsole.Split(text)
	for _, source := range statements {
		if err := s.one(ctx, source); err != nil {
			return err
		}
	}
	return nil
}

func (s *Shell) one(ctx context.Context, source sqlconsole.Source) error {
	statement, err := source.Parse()
	if err != nil {
		return err
	}
	plan, err := s.Catalog.Plan(statement, time.Now())
	if err != nil {
		return err
	}
	answer, err := sqlconsole.Run(ctx, s.Store, plan, s.Limits)
	if err != nil {
		return err
	}
	return s.print(answer)
}

// The prompts for the first line of a statement, and for further lines.
const (
	Prompt = "brine> "
	More   = "   ... "
)

// Interact runs the lines that read returns until it returns io.EOF, which is no error. It prints the error of a statement, and continues
// with the next. Each statement has its own context, which statement makes and the person can cancel.
func (s *Shell) Interact(read func(prompt string) (string, error), statement func() (context.Context, context.CancelFunc)) error {
	var text strings.Builder
	for {
		prompt := Prompt
		if text.Len() > 0 {
			prompt = More
		}
		line, err := read(prompt)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if command, ok := strings.CutPrefix(strings.TrimSpace(line), `\`); ok {
			text.Reset()
			if !s.command(command) {
				return nil
			}
			continue
		}
		text.WriteString(line + "\n")
		if _, whole := sqlconsole.Split(text.String()); !whole && text.Len() <= sqlconsole.MaxStatement && strings.TrimSpace(line) != "" {
			continue
		}
		ctx, cancel := statement()
		if err := s.Run(ctx, text.String()); err != nil {
			fmt.Fprintf(s.Notes, "%v\n", term.Line(said(ctx, err)))
		}
		cancel()
		text.Reset()
	}
}

// said returns the text of an error: that a statement was cancelled is no error.
func said(ctx context.Context, err error) string {
	if errors.Is(ctx.Err(), context.Canceled) {
		return "canceled"
	}
	return err.Error()
}

// command runs a command that begins with a backslash. It returns false for \q.
func (s *Shell) command(line string) (more bool) {
	name, arg, _ := strings.Cut(line, " ")
	switch name {
	case "q":
		return false
	case "d":
		if err := s.Describe(strings.TrimSuffix(strings.TrimSpace(arg), ";")); err != nil {
			fmt.Fprintf(s.Notes, "%v\n", err)
		}
	case "x":
		s.Format = map[bool]Format{true: Table, false: Vertical}[s.Format == Vertical]
		fmt.Fprintf(s.Notes, "output format: %s\n", s.Format)
	case "h", "?":
		fmt.Fprintf(s.Out, "%s\n%s", sqlconsole.Grammar(), `
\d          tables
\d TABLE    columns of a table
\x          toggle between one line per row and one line per column
\q          quit (or Ctrl-D); Ctrl-C cancels the running statement
`)
	default:
		fmt.Fprintf(s.Notes, "unknown command \\%s: use \\d, \\x, \\h or \\q\n", term.Line(name))
	}
	return true
}

// Describe prints the tables, or the columns of one.
func (s *Shell) Describe(table string) error {
	w := term.Table{Out: s.Out}
	if table == "" {
		w.Row("TABLE", "KEY")
		for i := range s.Catalog.Tables {
			t := &s.Catalog.Tables[i]
			w.Row(t.Name, fmt.Sprint(t.Keys.Newest()))
		}
		w.Flush()
		return nil
	}
	columns, err := s.Catalog.Describe(table)
	if err != nil {
		return err
	}
	w.Row("COLUMN", "TYPE", "HELD BY")
	for _, c := range columns {
		w.Row(c.Name, c.Type, c.HeldBy)
	}
	w.Flush()
	return nil
}

// Complete returns the line with the word that ends at pos completed as far as it is unambiguous among the language's words, tables and
// columns. ok is false if there is nothing to add.
func (s *Shell) Complete(line string, pos int) (completed string, at int, ok bool) {
	begin := pos
	for begin > 0 && !strings.ContainsRune(" ,(=<>", rune(line[begin-1])) {
		begin--
	}
	typed := line[begin:pos]
	if typed == "" {
		return line, pos, false
	}
	var fit []string
	for _, w := range s.Catalog.Words() {
		if len(w) >= len(typed) && strings.EqualFold(w[:len(typed)], typed) && !slices.Contains(fit, w) {
			fit = append(fit, w)
		}
	}
	if len(fit) == 0 {
		return line, pos, false
	}
	common := fit[0]
	for _, w := range fit[1:] {
		for !strings.HasPrefix(strings.ToLower(w), strings.ToLower(common)) {
			common = common[:len(common)-1]
		}
	}
	if len(common) < len(typed) || common == typed && len(fit) > 1 {
		return line, pos, false
	}
	if len(fit) == 1 {
		common += " "
	}
	return line[:begin] + common + line[pos:], begin + len(common), true
}
