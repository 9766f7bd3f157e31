package rowkey

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

type argKind uint8

const (
	argEnd argKind = iota
	argName
	argNumber
	argString
)

// arg is one argument of a call: a name, a number with an optional unit, or a string.
type arg struct {
	token
	kind argKind
	unit string
}

// call is a function call whose arguments are taken from left to right.
type call struct {
	*parser
	*function
	offset int
	args   []arg // the arguments left, then argEnd at the closing parenthesis
	taken  int   // offset of the argument last taken
}

// read reads "(" arg { "," arg } ")".
func (c *call) read() error {
	c.next()
	for {
		a, err := c.arg()
		if err != nil {
			return err
		}
		c.args = append(c.args, a)
		switch t := c.next(); {
		case t.is(")"):
			c.args = append(c.args, arg{token: t})
			return nil
		case t.kind == tokEnd:
			return syntaxError(t.offset, c.Name+"( is not closed", "write ) after its last argument")
		case !t.is(","):
			return syntaxError(t.offset, fmt.Sprintf("%s follows a complete argument", t.shown()),
				"put a comma between arguments and ) after the last")
		}
	}
}

func (c *call) arg() (arg, error) {
	t := c.next()
	switch t.kind {
	case tokName:
		if c.tokens[0].is("(") {
			return arg{}, syntaxError(t.offset, "a function takes fields and constants, not another function", c.usageFix())
		}
		return arg{token: t, kind: argName}, nil
	case tokString:
		return arg{token: t, kind: argString}, nil
	case tokNumber:
		a := arg{token: t, kind: argNumber}
		if c.tokens[0].kind == tokName {
			u := c.next()
			switch u.text {
			case "hex":
			case "byte", "bytes":
				a.unit = "bytes"
			default:
				return a, syntaxError(u.offset, fmt.Sprintf("%s is not a unit of length", u.text),
					fmt.Sprintf("write %s for hex digits or %s bytes", t.text, t.text))
			}
		}
		return a, nil
	}
	return arg{}, syntaxError(t.offset, fmt.Sprintf("an argument is missing before %s", t.shown()), c.usageFix())
}

func (c *call) usageFix() string { return "write " + strings.Join(c.Usage, " or ") }

func (c *call) nextIs(kind argKind) bool { return c.args[0].kind == kind }

func (c *call) take() arg {
	a := c.args[0]
	c.taken = a.offset
	if a.kind != argEnd {
		c.args = c.args[1:]
	}
	return a
}

// wrong returns an error at the argument last taken.
func (c *call) wrong(msg, fix string) error { return syntaxError(c.taken, msg, fix) }

// missing returns an error at the next argument.
func (c *call) missing(what string) error {
	return syntaxError(c.args[0].offset, c.Name+" lacks "+what, c.usageFix())
}

// field takes a field of one of the types.
func (c *call) field(types ...Type) (field, error) {
	if !c.nextIs(argName) {
		return field{}, c.missing("a field")
	}
	a := c.take()
	f, err := c.parser.field(a.token)
	if err != nil || slices.Contains(types, f.typ) {
		return f, err
	}
	fix := fmt.Sprintf("%s takes %s", c.Name, joinTypes(types))
	if f.typ == Time && c.Name != "geohash" {
		fix += fmt.Sprintf("; write asc(%s, ms, text) for digits", f.name)
	}
	e := syntaxError(c.taken, f.name+" is "+f.typ.one(), fix)
	e.Field = f.name
	return f, e
}

func joinTypes(types []Type) string {
	var names []string
	for _, t := range types {
		names = append(names, t.String())
	}
	return strings.Join(names, ", ")
}

// unit returns the unit of the next argument, a number.
func (c *call) unit() string { return c.args[0].unit }

// number takes a number within bounds.
func (c *call) number(what string, least, most int) (int, error) {
	if !c.nextIs(argNumber) {
		return 0, c.missing("the " + what)
	}
	unit := c.unit()
	a := c.take()
	n, err := strconv.Atoi(a.text)
	if err != nil || n < least || n > most {
		return 0, c.wrong(fmt.Sprintf("the %s is %s", what, a.text), strings.TrimSpace(fmt.Sprintf("write %d to %d %s", least, most, unit)))
	}
	if unit != "" && c.Name != "md5" && c.Name != "murmur3" && c.Name != "xxhash" {
		return 0, c.wrong("the "+what+" has no unit", "write "+a.text)
	}
	return n, nil
}

// string takes a string.
func (c *call) string() string { return c.take().text }

// takeWord takes the next argument if it is the name word.
func (c *call) takeWord(word string) bool {
	if c.nextIs(argName) && c.args[0].text == word {
		c.take()
		return true
	}
	return false
}

func (c *call) timeUnit() (*unit, error) {
	var names []string
	for _, u := range units {
		if c.takeWord(u.name) {
			return u, nil
		}
		names = append(names, u.name)
	}
	list := strings.Join(names, ", ")
	if !c.nextIs(argName) {
		return nil, c.missing("the unit of time: " + list)
	}
	a := c.take()
	return nil, c.wrong(fmt.Sprintf("%s is not a unit of time", a.text), suggest(a.text, names, "the units are "+list))
}

// bits takes the size of a number.
func (c *call) bits(n *number) (int, error) {
	a := c.args[0]
	bits, err := c.number("number of bits", 1, 64)
	if err != nil {
		return 0, err
	}
	sizes := map[Type][]int{Int: {8, 16, 32, 64}, Float: {32, 64}, Time: {32, 64}}[n.typ]
	switch {
	case !slices.Contains(sizes, bits):
		return 0, c.wrong(fmt.Sprintf("%s has no size of %s bits", n.typ.one(), a.text), "write one of "+strings.Trim(fmt.Sprint(sizes), "[]"))
	case bits == 32 && n.unit != nil && n.unit.div == 1:
		return 0, c.wrong(fmt.Sprintf("32 bits of %s ended in January 1970", n.unit.name),
			fmt.Sprintf("write %s(%s, s, 32) or %s(%s, %s)", c.Name, n.name, c.Name, n.name, n.unit.name))
	}
	return bits, nil
}

// end checks that no argument is left.
func (c *call) end() error {
	if c.nextIs(argEnd) {
		return nil
	}
	a := c.take()
	return c.wrong(fmt.Sprintf("%s does not belong in %s", a.shown(), c.Name), c.usageFix())
}
