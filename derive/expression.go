package derive

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/types"

	"brine/event"
)

// expression is compiled CEL.
type expression struct {
	setting string // for people
	program cel.Program
	direct  answerer // nil: CEL always evaluates it
	typ     event.Type
	names   []int // positions of the fields that it names

	question bool // null is no result
	local    bool // if it has no result, its field holds the reason
}

// compile checks a text and bounds its cost.
func (b *Builder) compile(setting, text string) (expression, *Fault) {
	checked, issues := b.env.Compile(text)
	if issues.Err() != nil {
		return expression{}, b.explain(faultOf(issues))
	}
	tree := checked.NativeRep()
	if f := refusedNode(tree, text); f != nil {
		return expression{}, f
	}
	if b.namesWrong(tree) {
		return expression{}, ErrUnchecked
	}
	typ, ok := outputs[unwrapped(checked.OutputType())]
	if !ok {
		return expression{}, &Fault{Text: fmt.Sprintf("its result is a %s, which no field can hold; make it a text, an int, a float, a bool or "+
			"a time", plain(checked.OutputType().String()))}
	}
	bound, err := b.env.EstimateCost(checked, estimator{})
	if err != nil {
		return expression{}, &Fault{Text: plain(err.Error())}
	}
	if bound.Max > maxCost {
		return expression{}, &Fault{Text: costly(bound.Max)}
	}
	program, err := b.env.Program(checked, cel.EvalOptions(cel.OptOptimize))
	if err != nil {
		return expression{}, &Fault{Text: plain(err.Error())}
	}
	return expression{setting: setting, program: program, direct: b.direct(tree), typ: typ, names: b.named(tree)}, nil
}

func costly(most uint64) string {
	const fix = "read fewer texts, join fewer, or shorten its regular expressions"
	if most > 1<<62 {
		return "its cost for one event has no bound; " + fix
	}
	return fmt.Sprintf("it could cost %d for one event with texts of %d bytes, more than %d; %s", most, maxText, maxCost, fix)
}

// outputs are the field types of results.
var outputs = map[string]event.Type{
	"string": event.Text, "int": event.Int, "double": event.Float, "bool": event.Bool, "google.protobuf.Timestamp": event.TimeMS,
}

// unwrapped returns a type's name without its nullability.
func unwrapped(t *types.Type) string {
	return wrapped.ReplaceAllString(t.String(), "$1")
}

// refusedNode finds what CEL allows and we do not in an expression of this text: Protocol Buffers messages, regular expressions that come
// from events, and numbers that CEL silently makes 0.
func refusedNode(tree *ast.AST, text string) (found *Fault) {
	ast.PostOrderVisit(tree.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		switch {
		case found != nil:
		case e.Kind() == ast.StructKind:
			found = faultAt(tree, e, "its result is a Protocol Buffers message, which no field can hold")
		case e.Kind() == ast.ComprehensionKind:
			found = faultAt(tree, e, "it has a loop")
		case e.Kind() == ast.LiteralKind && e.AsLiteral().Value() == 0.0:
			found = vanished(tree, e, numberAt(tree, e, text))
		case e.Kind() == ast.CallKind && e.AsCall().FunctionName() == "double" && e.AsCall().Args()[0].Kind() == ast.LiteralKind:
			if number, ok := e.AsCall().Args()[0].AsLiteral().Value().(string); ok {
				found = vanished(tree, e, number)
			}
		case e.Kind() == ast.CallKind && e.AsCall().FunctionName() == "matches":
			args := e.AsCall().Args()
			if p := args[len(args)-1]; p.Kind() != ast.LiteralKind {
				found = faultAt(tree, p, "the regular expression must be a literal between quotes")
			} else if text, ok := p.AsLiteral().Value().(string); ok {
				if _, err := regexp.Compile(text); err != nil {
					found = faultAt(tree, p, err.Error())
				}
			}
		}
	}))
	return found
}

// vanished returns the fault of a number that is not 0, but too small for a float.
func vanished(tree *ast.AST, e ast.Expr, number string) *Fault {
	mantissa, _, _ := strings.Cut(strings.ToLower(number), "e")
	if f, err := strconv.ParseFloat(number, 64); err == nil && f == 0 && strings.ContainsAny(mantissa, "123456789") {
		return faultAt(tree, e, number+" is too small for a float and would be 0; write 0.0 if that is meant")
	}
	return nil
}

// numberAt returns the number that a literal of an expression's text is.
func numberAt(tree *ast.AST, e ast.Expr, text string) string {
	at, ok := tree.SourceInfo().GetOffsetRange(e.ID())
	characters := []rune(text)
	if !ok || int(at.Start) > len(characters) {
		return ""
	}
	rest := string(characters[at.Start:])
	if sign, number, ok := strings.Cut(rest, "-"); ok && sign == "" {
		rest = "-" + strings.TrimLeft(number, " \t\r\n")
	}
	return number.FindString(rest)
}

// number is how CEL writes a double.
var number = regexp.MustCompile(`^-?[0-9]*\.?[0-9]*(?:[eE][+-]?[0-9]+)?`)

func faultAt(tree *ast.AST, e ast.Expr, text string) *Fault {
	at := tree.SourceInfo().GetStartLocation(e.ID())
	return &Fault{Line: at.Line(), Column: at.Column() + 1, Text: text}
}

// named returns the fields that an expression names.
func (b *Builder) named(tree *ast.AST) []int {
	var out []int
	for _, name := range names(tree) {
		if i := b.position(name); i >= 0 && !slices.Contains(out, i) {
			out = append(out, i)
		}
	}
	slices.Sort(out)
	return out
}

// namesWrong reports whether an expression names a let whose own expression is wrong.
func (b *Builder) namesWrong(tree *ast.AST) bool {
	return slices.ContainsFunc(names(tree), func(name string) bool { return slices.Contains(b.wrong, name) })
}

// names returns the names in an expression, with repetitions.
func names(tree *ast.AST) (out []string) {
	ast.PostOrderVisit(tree.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() == ast.IdentKind {
			out = append(out, e.AsIdent())
		}
	}))
	return out
}
