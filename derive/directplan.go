package derive

import (
	"bytes"

	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"

	"brine/event"
)

// direct returns an answerer that evaluates a checked expression without CEL, or nil if the expression does not have such a form.
func (b *Builder) direct(tree *ast.AST) answerer { return planner{b, tree}.answerer(tree.Expr()) }

// planner makes answerers from an expression's tree.
type planner struct {
	builder *Builder
	tree    *ast.AST
}

func (p planner) answerer(e ast.Expr) answerer {
	if o, ok := p.operand(e); ok {
		if simple(o.typ) {
			return &o
		}
		return nil
	}
	if e.Kind() == ast.CallKind && e.AsCall().FunctionName() == operators.Add {
		if texts := p.texts(nil, e); texts != nil {
			return joined(texts)
		}
		return nil
	}
	if e.Kind() == ast.CallKind && e.AsCall().FunctionName() == operators.Conditional {
		args := e.AsCall().Args()
		out := &either{p.condition(args[0]), p.answerer(args[1]), p.answerer(args[2])}
		if out.when != nil && out.then != nil && out.otherwise != nil {
			return out
		}
		return nil
	}
	if c := p.condition(e); c != nil {
		return asked{c}
	}
	return nil
}

// simple reports whether values of a type are compared, and returned, directly.
func simple(t event.Type) bool {
	return t == event.Text || t == event.Int || t == event.Float || t == event.Bool
}

// operand returns a field or constant. A null constant has type 0.
func (p planner) operand(e ast.Expr) (o operand, ok bool) {
	switch e.Kind() {
	case ast.IdentKind:
		name := e.AsIdent()
		i, known := p.builder.position(name), p.tree.ReferenceMap()[e.ID()]
		if i < 0 || known == nil || known.Name != name || known.Value != nil {
			return o, false
		}
		return operand{field: i, typ: p.builder.fields[i].Type.Stored()}, true
	case ast.LiteralKind:
		o.field = constant
		switch v := e.AsLiteral().(type) {
		case types.String:
			o.fixed = event.TextValue(string(v))
		case types.Int:
			o.fixed = event.IntValue(int64(v))
		case types.Double:
			o.fixed = event.FloatValue(float64(v))
		case types.Bool:
			o.fixed = event.BoolValue(bool(v))
		case types.Null:
		default:
			return o, false
		}
		o.typ = o.fixed.Type
		return o, true
	}
	return o, false
}

// texts appends the operands of a chain of +, or returns nil if they are not all texts.
func (p planner) texts(out []operand, e ast.Expr) []operand {
	if e.Kind() == ast.CallKind && e.AsCall().FunctionName() == operators.Add {
		for _, arg := range e.AsCall().Args() {
			if out = p.texts(out, arg); out == nil {
				return nil
			}
		}
		return out
	}
	if o, ok := p.operand(e); ok && o.typ == event.Text {
		return append(out, o)
	}
	return nil
}

func (p planner) condition(e ast.Expr) condition {
	if o, ok := p.operand(e); ok && o.typ == event.Bool {
		return &o
	}
	if e.Kind() != ast.CallKind {
		return nil
	}
	call := e.AsCall()
	switch name, args := call.FunctionName(), call.Args(); name {
	case operators.LogicalAnd:
		if terms := p.conditions(args); terms != nil {
			return all(terms)
		}
	case operators.LogicalOr:
		if terms := p.conditions(args); terms != nil {
			return some(terms)
		}
	case operators.LogicalNot:
		if c := p.condition(args[0]); c != nil {
			return not{c}
		}
	case operators.In:
		return p.member(args[0], args[1])
	default:
		if finds := finders[name]; finds != nil && call.IsMemberFunction() && len(args) == 1 {
			return p.looking(call.Target(), args[0], finds)
		}
		if wants, ok := comparisons[name]; ok {
			return p.comparison(args[0], args[1], wants, name != operators.Equals && name != operators.NotEquals)
		}
	}
	return nil
}

// conditions returns all conditions, or nil if one of the arguments is not a condition.
func (p planner) conditions(args []ast.Expr) (out []condition) {
	for _, arg := range args {
		c := p.condition(arg)
		if c == nil {
			return nil
		}
		out = append(out, c)
	}
	return out
}

// comparisons say whether they hold if the left operand is less, equal, greater.
var comparisons = map[string][3]bool{
	operators.Equals: {false, true, false}, operators.NotEquals: {true, false, true},
	operators.Less: {true, false, false}, operators.LessEquals: {true, true, false},
	operators.Greater: {false, false, true}, operators.GreaterEquals: {false, true, true},
}

func (p planner) comparison(left, right ast.Expr, wants [3]bool, ordered bool) condition {
	l, ok := p.operand(left)
	r, fine := p.operand(right)
	null := l.typ == 0 || r.typ == 0
	if !ok || !fine || null && ordered || !null && (l.typ != r.typ || !simple(l.typ)) {
		return nil
	}
	return &comparison{left: l, right: r, wants: wants, ordered: ordered}
}

var finders = map[string]func(text, part []byte) bool{
	"startsWith": bytes.HasPrefix, "endsWith": bytes.HasSuffix, "contains": bytes.Contains,
}

func (p planner) looking(text, part ast.Expr, finds func(text, part []byte) bool) condition {
	in, ok := p.operand(text)
	sought, fine := p.operand(part)
	if !ok || !fine || in.typ != event.Text || sought.typ != event.Text {
		return nil
	}
	return &looking{in, sought, finds}
}

// maxMembers is the largest number of constants that are searched linearly; for more, CEL has a table.
const maxMembers = 16

func (p planner) member(e, list ast.Expr) condition {
	o, ok := p.operand(e)
	if !ok || o.typ != event.Text && o.typ != event.Int || list.Kind() != ast.ListKind || len(list.AsList().OptionalIndices()) > 0 ||
		list.AsList().Size() > maxMembers {
		return nil
	}
	out := &member{operand: o}
	for _, element := range list.AsList().Elements() {
		c, ok := p.operand(element)
		if !ok || c.field != constant || c.typ != o.typ {
			return nil
		}
		out.list = append(out.list, c.fixed)
	}
	return out
}
