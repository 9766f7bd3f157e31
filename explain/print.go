package explain

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"brine/event"
	"brine/internal/term"
	"brine/internal/when"
	"brine/rowkey"
)

// Print writes the report for people. It escapes terminal control characters in texts.
func (r *Report) Print(out io.Writer) {
	head := fmt.Sprintf("record of topic %s, partition %d, offset %d", r.Topic, r.Partition, r.Offset)
	if r.Absent != "" {
		term.Println(out, "%s: %s", head, r.Absent)
	} else {
		term.Println(out, "%s, of %s, %s", head, when.Text(*r.Timestamp), term.Count(r.Bytes, "byte"))
		switch {
		case r.Key != nil:
			term.Println(out, "key %s", clip(*r.Key))
		case r.KeyBytes != nil:
			term.Println(out, "key %s", clip(rowkey.Binary(r.KeyBytes)))
		}
		if r.NoValue {
			term.Println(out, "it has no value")
		}
	}
	for i := range r.Pipelines {
		fmt.Fprintln(out)
		r.Pipelines[i].print(out)
	}
}

func (p *Pipeline) print(out io.Writer) {
	term.Println(out, "pipeline %s%s", p.Pipeline, configured[p.Configured])
	printMade(out, p.Awaits, p.Rejected, p.Events)
	for _, l := range p.Letters {
		state := "open"
		if l.Replayed != nil {
			state = "replayed " + when.Text(*l.Replayed)
			if l.Let != "" {
				state += ", " + l.fixedBy()
			}
		}
		term.Println(out, "  dead letter of its %s, of %s, %s, at %s: %s", l.Half, when.Text(l.Written), state, l.Place,
			sentence(string(l.Reason), l.Field, l.Detail))
		l.Fixed.print(out, l.Half)
	}
	if p.Unread != "" {
		term.Println(out, "  dead letters were not read: %s", p.Unread)
	}
	for i := range p.Halves {
		p.Halves[i].print(out)
	}
}

func (f *Fixed) print(out io.Writer, half string) {
	if f == nil || f.Problem != "" { // the half's outcome says it
		return
	}
	term.Println(out, "  with the fix, its %s:", half)
	printMade(out, f.Awaits, f.Rejected, f.Events)
}

// printMade prints what is made of a record, or the reason that nothing is.
func printMade(out io.Writer, awaits, rejected *Reject, events []Event) {
	if awaits != nil {
		term.Println(out, "  it cannot be decoded yet: %s", awaits)
	}
	if rejected != nil {
		rejected.print(out, "  ")
	}
	for i := range events {
		if len(events) > 1 {
			term.Println(out, "  event %d of %d", i+1, len(events))
		}
		events[i].print(out)
	}
}

var configured = map[Configured]string{
	Earlier: ", by the configuration that was in force when the record arrived",
	Unknown: ", by its current configuration; the one in force when the record arrived is no longer known",
}

var outcomes = map[Outcome]string{
	Written: "written", LeftOut: "left out", DeadLetter: "a dead letter", WillBeOne: "not settled yet; it will be a dead letter",
	NotYet: "not settled yet", NotThere: "MISSING", LetterLost: "LOST", LetterMaybe: "rejected", NotKnown: "not known",
}

func (h *Half) print(out io.Writer) {
	text := outcomes[h.Outcome]
	if h.Why != "" {
		text += ": " + h.Why
	}
	committed := "has committed nothing"
	switch {
	case h.Committed != nil && h.Settled:
		committed = fmt.Sprintf("has committed it, and reads offset %d next", *h.Committed)
	case h.Committed != nil:
		committed = fmt.Sprintf("has not committed it, and reads offset %d next", *h.Committed)
	}
	if text != "" {
		text += "; "
	}
	term.Println(out, "  %s: %sthe group %s %s", h.Half, text, h.Group, committed)
}

// String returns the reject as one line.
func (r *Reject) String() string { return sentence(string(r.Reason), r.Field, r.Detail) }

func sentence(reason, field, detail string) string {
	return (&event.Error{Reason: event.Reason(reason), Field: field, Detail: detail}).Error()
}

func (r *Reject) print(out io.Writer, indent string) {
	what := "it cannot be written"
	if r.Half != "" {
		what = "its " + r.Half + " cannot be written"
	}
	term.Println(out, "%s%s: %s", indent, what, r)
	if r.Where != nil {
		term.Println(out, "%s  the expression is %s", indent, r.Where)
	}
	if r.Fix != "" {
		term.Println(out, "%s  fix: %s", indent, r.Fix)
	}
}

func (e *Event) print(out io.Writer) {
	term.Println(out, "  version %d", e.Version)
	printFields(out, "", e.Fields)
	printFields(out, "before the change: ", e.Before)
	if e.LeftOut != "" {
		by := ""
		if e.By != nil {
			by = " by " + e.By.String()
		}
		term.Println(out, "  left out: %s%s", e.LeftOut, by)
	}
	for _, c := range e.Conditions {
		answer := "holds"
		switch {
		case c.Fault != "":
			answer = "has no result"
		case !c.Holds:
			answer = "does not hold; otherwise: " + c.Otherwise
		}
		term.Println(out, "  %s, of %s: %s", c.Place, c.Of, answer)
	}
	if e.Awaits != nil {
		term.Println(out, "  it cannot be written yet: %s", e.Awaits)
	}
	for i := range e.Rejected {
		e.Rejected[i].print(out, "  ")
	}
	for i := range e.Rows {
		e.Rows[i].print(out)
	}
	for i := range e.Documents {
		e.Documents[i].print(out)
	}
}

func printFields(out io.Writer, head string, fields []Field) {
	if head != "" && len(fields) > 0 {
		term.Println(out, "  %s", head)
	}
	t := term.Table{Out: out}
	for _, f := range fields {
		typ := f.Type
		if f.Made {
			typ += ", let"
		}
		t.Row("   ", f.Name, typ, clip(f.text))
	}
	t.Flush()
}

func (r *Row) print(out io.Writer) {
	term.Println(out, "  row of %s: %s", r.Table, r.Row)
	key := "    key " + r.Key
	if r.Bucket != nil {
		key += ", salt bucket " + strconv.Itoa(*r.Bucket)
	}
	term.Println(out, "%s", key)
	if r.Region != "" {
		term.Println(out, "    region %s on %s", r.Region, r.Server)
	}
	if r.Problem != "" {
		term.Println(out, "    %s", r.Problem)
	}
	if r.TTL > 0 {
		term.Println(out, "    kept for %d ms", r.TTL)
	}
	t := term.Table{Out: out}
	for _, c := range r.Cells {
		what, now := strings.ReplaceAll(c.Write, "_", " "), ""
		if c.Value != nil {
			what = clip(c.Value.String())
		}
		if c.Now != nil {
			now = c.Now.String()
		}
		t.Row("   ", c.Column, what, "at "+strconv.FormatInt(c.Version, 10), found(c.State, now, c.At))
	}
	t.Flush()
}

func (d *Document) print(out io.Writer) {
	where := d.Index
	if d.Part != "" {
		where = d.Part
	}
	term.Println(out, "  document of %s: %s", where, d.ID)
	switch {
	case d.Problem != "":
		term.Println(out, "    %s", d.Problem)
	case !d.Found:
		term.Println(out, "    the index has no such document")
	}
	t := term.Table{Out: out}
	for _, f := range d.Fields {
		t.Row("   ", f.Name, clip(string(f.Value)), "at "+strconv.FormatInt(f.Version, 10), found(f.State, string(f.Now), f.At))
	}
	t.Flush()
}

// found describes the stored data.
func found(s State, now string, at *int64) string {
	text := string(s)
	if now != "" {
		text += ": " + clip(now)
	}
	if at != nil {
		text += " at " + strconv.FormatInt(*at, 10)
	}
	return text
}

// clip shortens a text that would fill a screen.
func clip(text string) string {
	const most = 120
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + fmt.Sprintf("… (%d bytes)", len(text))
}
