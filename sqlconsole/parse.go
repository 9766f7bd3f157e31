package sqlconsole

import (
	"slices"
	"strconv"
	"strings"
)

// The limits of a statement.
const (
	MaxStatement = 10_000 // bytes
	maxItems     = 200    // columns or conditions
	maxList      = 1_000  // values of IN
	MaxVersions  = 1_000
)

// Parse parses a statement, which may end with a semicolon. Its errors are *Error.
func Parse(statement string) (*Statement, error) { return parseAt(statement, Pos{1, 1}) }

func parseAt(statement string, at Pos) (*Statement, error) {
	if len(statement) > MaxStatement {
		return nil, wrong(at, "split it into several", "the statement has %d bytes, more than %d", len(statement), MaxStatement)
	}
	p := &parser{lex: lexer{text: statement, pos: at}, out: &Statement{Limit: -1}}
	if err := p.next(); err != nil {
		return nil, err
	}
	for _, c := range clauses() {
		if !p.has(c.words...) {
			if c.must {
				return nil, p.expected(strings.Join(c.words, " "))
			}
			continue
		}
		if err := p.take(len(c.words)); err != nil {
			return nil, err
		}
		if err := c.parse(p); err != nil {
			return nil, err
		}
	}
	if p.token.is(";") {
		if err := p.next(); err != nil {
			return nil, err
		}
	}
	if p.token.kind != end {
		return nil, p.unexpected()
	}
	return p.out, nil
}

// Source is one of several statements in a text, and its position.
type Source struct {
	Text string
	Pos  Pos
}

// Parse parses the statement. Positions in its errors are those in the whole text.
func (s Source) Parse() (*Statement, error) { return parseAt(s.Text, s.Pos) }

// Split splits a text of statements at its semicolons. Whole is false if the last one has no semicolon: more may follow.
func Split(all string) (out []Source, whole bool) {
	l := lexer{text: all, pos: Pos{1, 1}}
	l.blank()
	begin, at := l.at, l.pos
	for {
		t, err := l.next()
		switch {
		case err != nil: // the parser will refuse the rest
			return append(out, Source{all[begin:], at}), false
		case t.kind == end:
			rest := strings.TrimSpace(all[begin:])
			if rest == "" || t.at == begin {
				return out, true
			}
			return append(out, Source{all[begin:], at}), false
		case t.is(";"):
			if strings.TrimSpace(all[begin:t.at]) != "" {
				out = append(out, Source{all[begin:t.at], at})
			}
			l.blank()
			begin, at = l.at, l.pos
		}
	}
}

// parser parses one statement with one token of lookahead.
type parser struct {
	lex   lexer
	token token
	out   *Statement
}

func (p *parser) next() (err error) {
	p.token, err = p.lex.next()
	return err
}

// has reports whether the next tokens are these words.
func (p *parser) has(words ...string) bool {
	ahead, t := p.lex, p.token
	for i, w := range words {
		if i > 0 {
			var err error
			if t, err = ahead.next(); err != nil {
				return false
			}
		}
		if !t.is(w) {
			return false
		}
	}
	return true
}

func (p *parser) take(n int) error {
	for range n {
		if err := p.next(); err != nil {
			return err
		}
	}
	return nil
}

// accept skips a word or sign, if it is next.
func (p *parser) accept(what string) (bool, error) {
	if !p.token.is(what) {
		return false, nil
	}
	return true, p.next()
}

// expect skips a word or sign, and fails if it is not next.
func (p *parser) expect(what, fix string) error {
	if ok, err := p.accept(what); ok || err != nil {
		return err
	}
	return wrong(p.token.pos, fix, "%s is expected here, not %s", what, p.token.shown())
}

func (p *parser) expected(what string) error {
	if p.token.kind != end {
		if err := p.known(); err != nil {
			return err
		}
	}
	return wrong(p.token.pos, "a statement is "+forms(), "%s is expected here, not %s", what, p.token.shown())
}

// unexpected returns the error for tokens after a whole statement.
func (p *parser) unexpected() error {
	if err := p.known(); err != nil {
		return err
	}
	return wrong(p.token.pos, "the clauses come in this order: "+forms(), "%s does not belong here", p.token.shown())
}

// known returns the reason why a feature of SQL is missing here, if the next words name one.
func (p *parser) known() error {
	for _, r := range refusals {
		if p.has(strings.Fields(r.words)...) {
			return wrong(p.token.pos, r.fix, "%s", r.msg)
		}
	}
	return nil
}

// reserved are the words that are names only if quoted.
var reserved = []string{"SELECT", "FROM", "WHERE", "GROUP", "ORDER", "LIMIT", "ALLOW", "AND", "OR", "NOT", "NULL", "TRUE", "FALSE",
	"IN", "IS",
	"LIKE", "BETWEEN", "BY", "EXPLAIN", "AS", "JOIN", "UNION", "HAVING", "DISTINCT", "MATCH"}

func (p *parser) name(what string) (Name, error) {
	t := p.token
	if t.kind != quoted && (t.kind != word || slices.ContainsFunc(reserved, func(w string) bool { return t.is(w) })) {
		if err := p.known(); err != nil && !t.is(",") {
			return Name{}, err
		}
		return Name{}, wrong(t.pos, `write a name that is a keyword, or has other characters, in "double quotes"`,
			"%s is expected here, not %s", what, t.shown())
	}
	if t.text == "" {
		return Name{}, wrong(t.pos, "write the name between the quotes", "the name is empty")
	}
	return Name{t.text, t.kind == quoted, t.pos}, p.next()
}

// ref parses a column, or _time(column).
func (p *parser) ref() (Ref, error) {
	n, err := p.name("a column")
	if err != nil {
		return Ref{}, err
	}
	if !p.token.is("(") {
		return Ref{Name: n}, nil
	}
	if n.Quoted || !strings.EqualFold(n.Text, "_time") {
		return Ref{}, wrong(n.Pos, "there are "+strings.Join(functionNames(), ", ")+" and _time", "there is no function %s", cut(n.Text))
	}
	if err := p.next(); err != nil {
		return Ref{}, err
	}
	of, err := p.name("a column")
	if err != nil {
		return Ref{}, err
	}
	of.Pos = n.Pos
	return Ref{of, true}, p.expect(")", "close it: _time(column)")
}

func parseExplain(p *parser) error {
	p.out.Explain = true
	return nil
}

func parseItems(p *parser) error {
	for {
		i, err := p.item()
		if err != nil {
			return err
		}
		p.out.Items = append(p.out.Items, i)
		if len(p.out.Items) > maxItems {
			return wrong(i.Pos, "select *", "more than %d columns are selected", maxItems)
		}
		if more, err := p.accept(","); !more || err != nil {
			return err
		}
	}
}

func (p *parser) item() (Item, error) {
	at := p.token.pos
	if all, err := p.accept("*"); all || err != nil {
		return Item{All: true, Ref: Ref{Name: Name{Pos: at}}}, err
	}
	i := slices.IndexFunc(functions, func(f function) bool { return p.has(f.name, "(") })
	if i < 0 {
		r, err := p.ref()
		return Item{Ref: r}, err
	}
	if err := p.take(2); err != nil {
		return Item{}, err
	}
	out := Item{Func: functions[i].name}
	if all, err := p.accept("*"); err != nil {
		return Item{}, err
	} else if all {
		if !functions[i].ofRows {
			return Item{}, wrong(at, "name a column", "%s needs a column, not rows", out.Func)
		}
		out.All = true
	} else if out.Ref, err = p.ref(); err != nil {
		return Item{}, err
	}
	out.Pos = at
	return out, p.expect(")", "close it: "+functions[i].form)
}

func parseFrom(p *parser) (err error) {
	p.out.From, err = p.name("a table")
	return err
}

func parseAsOf(p *parser) error {
	l, err := p.literal()
	p.out.AsOf = &l
	return err
}

func parseVersions(p *parser) error {
	t := p.token
	n, err := strconv.Atoi(t.text)
	if t.kind != number || err != nil || n < 1 || n > MaxVersions {
		return wrong(t.pos, "write VERSIONS 10", "%s is not a number of versions from 1 to %d", t.shown(), MaxVersions)
	}
	p.out.Versions = n
	return p.next()
}

func parseWhere(p *parser) error {
	for {
		c, err := p.condition()
		if err != nil {
			return err
		}
		p.out.Where = append(p.out.Where, c)
		if len(p.out.Where) > maxItems {
			return wrong(c.Pos, "use fewer", "there are more than %d conditions", maxItems)
		}
		if more, err := p.accept("AND"); !more || err != nil {
			return err
		}
	}
}

func (p *parser) condition() (Condition, error) {
	if p.has("MATCH", "(") {
		return p.match()
	}
	if err := p.known(); err != nil {
		return Condition{}, err
	}
	r, err := p.ref()
	if err != nil {
		return Condition{}, err
	}
	for _, c := range comparisons {
		if words := strings.Fields(string(c.op)); p.has(words...) {
			if err := p.take(len(words)); err != nil {
				return Condition{}, err
			}
			values, err := c.parse(p)
			return Condition{r, c.op, values}, err
		}
	}
	if err := p.known(); err != nil {
		return Condition{}, err
	}
	return Condition{}, wrong(p.token.pos, "write one of "+comparisonForms(), "a comparison is expected here, not %s", p.token.shown())
}

// match parses MATCH(column, 'words').
func (p *parser) match() (Condition, error) {
	const form = "write MATCH(column, 'words')"
	if err := p.take(2); err != nil {
		return Condition{}, err
	}
	r, err := p.ref()
	if err != nil {
		return Condition{}, err
	}
	if err := p.expect(",", form); err != nil {
		return Condition{}, err
	}
	l, err := p.literal()
	if err != nil {
		return Condition{}, err
	}
	if l.kind != text {
		return Condition{}, wrong(l.Pos, form, "words are expected here, not %s", cut(l.text))
	}
	return Condition{r, Match, []Literal{l}}, p.expect(")", form)
}

func parseOne(p *parser) ([]Literal, error) {
	v, err := p.literal()
	return []Literal{v}, err
}

func parseNone(*parser) ([]Literal, error) { return nil, nil }

func parseTwo(p *parser) ([]Literal, error) {
	from, err := p.literal()
	if err == nil {
		err = p.expect("AND", "write BETWEEN from AND to")
	}
	if err != nil {
		return nil, err
	}
	to, err := p.literal()
	return []Literal{from, to}, err
}

func parseList(p *parser) (out []Literal, err error) {
	if err := p.expect("(", "write IN ('a', 'b')"); err != nil {
		return nil, err
	}
	for {
		v, err := p.literal()
		if err != nil {
			return nil, err
		}
		if out = append(out, v); len(out) > maxList {
			return nil, wrong(v.Pos, "use fewer", "there are more than %d values", maxList)
		}
		if more, err := p.accept(","); err != nil {
			return nil, err
		} else if !more {
			return out, p.expect(")", "write IN ('a', 'b')")
		}
	}
}

func (p *parser) literal() (Literal, error) {
	t := p.token
	switch {
	case t.kind == text, t.kind == number, t.is("TRUE"), t.is("FALSE"):
		return Literal{t.kind, t.text, t.pos}, p.next()
	case t.is("NULL"):
		return Literal{}, wrong(t.pos, "write IS NULL or IS NOT NULL", "nothing is equal to NULL")
	case t.kind == word || t.kind == quoted:
		return Literal{}, wrong(t.pos, "write a text in 'single quotes'", "a value is expected here, not the name %s", t.shown())
	}
	return Literal{}, wrong(t.pos, "write a 'text', a number, TRUE or FALSE", "a value is expected here, not %s", t.shown())
}

func parseGroup(p *parser) error {
	r, err := p.ref()
	p.out.Group = &r
	return err
}

func parseOrder(p *parser) error {
	r, err := p.ref()
	if err != nil {
		return err
	}
	p.out.Order = &Order{Ref: r}
	if p.out.Order.Desc, err = p.accept("DESC"); err != nil || p.out.Order.Desc {
		return err
	}
	_, err = p.accept("ASC")
	return err
}

func parseLimit(p *parser) error {
	t := p.token
	n, err := strconv.Atoi(t.text)
	if t.kind != number || err != nil || n < 0 || n > MaxRows {
		return wrong(t.pos, "write LIMIT 100", "%s is not a number of rows from 0 to %d", t.shown(), MaxRows)
	}
	p.out.Limit, p.out.LimitAt = n, t.pos
	return p.next()
}

func parseAllow(p *parser) error {
	p.out.FullScan = true
	return nil
}
