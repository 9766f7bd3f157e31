package derive

import (
	"fmt"
	"regexp"
	"slices"

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
	if f := refusedNode(tree); f != nil {
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

// refusedNode finds what CEL allows and we do not: Protocol Buffers messages, and regular expressions that come from events.
func refusedNode(tree *ast.AST) (found *Fault) {
	ast.PostOrderVisit(tree.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		switch {
		case found != nil:
		case e.Kind() == ast.StructKind:
			found = faultAt(tree, e, "its result is a Protocol Buffers message, which no field can hold")
		case e.Kind() == ast.ComprehensionKind:
			found = faultAt(tree, e, "it has a loop")
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
