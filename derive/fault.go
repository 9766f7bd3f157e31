package derive

import (
	"fmt"
	"regexp"
	"strings"

	"cel.dev/cel-go/cel"
)

// Fault is an error in an expression.
type Fault struct {
	Line, Column int // position in its text, from 1; 0: all of it
	Text         string
}

// ErrUnchecked is the fault of an expression whose only known fault is that it names a faulty let.
var ErrUnchecked = &Fault{Text: "it uses a field whose own expression is wrong"}

func (f *Fault) Error() string {
	switch f.Line {
	case 0:
		return f.Text
	case 1:
		return fmt.Sprintf("at character %d: %s", f.Column, f.Text)
	}
	return fmt.Sprintf("at line %d, character %d: %s", f.Line, f.Column, f.Text)
}

// faultOf returns the first issue that CEL found.
func faultOf(issues *cel.Issues) *Fault {
	all := issues.Errors()
	if len(all) == 0 {
		return &Fault{Text: plain(issues.Err().Error())}
	}
	first := all[0]
	f := &Fault{Text: plain(first.Message)}
	if first.Location != nil && first.Location.Line() > 0 {
		f.Line, f.Column = first.Location.Line(), first.Location.Column()+1
	}
	return f
}

var (
	wrapped   = regexp.MustCompile(`wrapper\(([\w.]+)\)`)
	container = regexp.MustCompile(` \(in container '[^']*'\)`)
	undefined = regexp.MustCompile(`^undeclared reference to '([^']*)'`)
	operands  = regexp.MustCompile(`^found no matching overload for '_(\W+)_' applied to '\(([\w.]+), ([\w.]+)\)'`)
	arguments = regexp.MustCompile(`^found no matching overload for '(\w+)' applied to '(.*)'`)
)

// fieldTypes are the configuration's names of CEL's types.
var fieldTypes = strings.NewReplacer("string", "text", "double", "float", "timestamp", "time")

// mismatch rewords that an operator or a function does not take its operands.
func mismatch(message string) string {
	if m := operands.FindStringSubmatch(message); m != nil {
		return fieldTypes.Replace(m[1]+" does not accept "+m[2]+" with "+m[3]) + "; convert one with double(), int() or string()"
	}
	if m := arguments.FindStringSubmatch(message); m != nil {
		return m[1] + "() does not accept " + fieldTypes.Replace(m[2])
	}
	return message
}

// most is the length to which a fault is truncated: CEL lists everything with which a text could have continued.
const most = 400

// plain returns CEL's message in the terms of a configuration.
func plain(message string) string {
	message = wrapped.ReplaceAllString(container.ReplaceAllString(message, ""), "$1")
	message = strings.NewReplacer("google.protobuf.Timestamp", "timestamp", "google.protobuf.Duration", "duration").Replace(message)
	message, _, _ = strings.Cut(strings.TrimPrefix(message, "Syntax error: "), " expecting {")
	message = mismatch(message)
	switch m := undefined.FindStringSubmatch(message); {
	case m == nil:
	case m[1] == "has":
		message = "there is no has(); compare with null: field != null"
	case m[1] == "now":
		message = "there is no now: a replay would give another result; compare with the event's own times"
	case m[1] == "exists" || m[1] == "all" || m[1] == "map" || m[1] == "filter" || m[1] == "exists_one":
		message = "there is no " + m[1] + "(): expressions have no loops, so that their cost is known"
	default:
		message = "there is no field and no function " + m[1]
	}
	switch {
	case message == "mismatched input '<EOF>'":
		message = "it is incomplete"
	case strings.Contains(message, "token recognition error at: '$'"):
		message = "a name cannot begin with $; declare a field with that path, and use the field"
	case strings.Contains(message, "recursion limit exceeded"), strings.Contains(message, "max recursion depth exceeded"):
		message = fmt.Sprintf("it is nested more than %d levels deep; each + of a chain adds one level", maxNesting)
	case strings.Contains(message, "code point size exceeds limit"):
		message = fmt.Sprintf("it is longer than %d characters", maxSource)
	case strings.Contains(message, "node count exceeds limit"):
		message = fmt.Sprintf("it has more than %d names, values and calls", maxNodes)
	}
	if len(message) > most {
		message = strings.ToValidUTF8(message[:most], "") + "…"
	}
	return message
}
