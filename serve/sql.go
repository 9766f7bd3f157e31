package serve

import (
	"bytes"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"brine/account"
	"brine/query"
	"brine/serve/client"
	"brine/sqlconsole"
)

const sqlPath = root + "/sql"

// SQL configures what statements may name, and their limits in addition to those of package sqlconsole.
type SQL struct {
	Catalog  *sqlconsole.Catalog // nil: no statements
	Timeout  time.Duration       // per statement; default 30 s
	InFlight int                 // statements that read at a time; default 4
	// Unsent bounds the bytes of answers that clients have not read completely. Beyond it, the answer that has been on its way longest is cut
	// off. The default is what InFlight statements may hold.
	Unsent int64
}

// sqlRoutes returns the routes of statements, which both listeners have.
func (s *Server) sqlRoutes() []*endpoint {
	if s.opts.SQL.Catalog == nil {
		return nil
	}
	return []*endpoint{{
		method: http.MethodPost, path: sqlPath, id: "sql", role: account.Support, reasons: true,
		about: "Answer a SELECT over the rows of one table, within limits. An answer that reaches a limit names it.",
		body:  client.SQL{}, answer: client.SQLAnswer{}, streams: true, line: client.SQLLine{}, within: s.opts.SQL.Timeout,
		handle: (*call).statement,
	}, {
		method: http.MethodGet, path: sqlPath, id: "sql_names", role: account.Support,
		about:  "List the tables and columns that the caller's statements may name, and the language's keywords, for completion.",
		answer: client.SQLNames{}, handle: (*call).sqlNames,
	}}
}

// sqlNames answers with what statements may name. It reads no row.
func (c *call) sqlNames() error {
	catalog := c.catalog()
	out := client.SQLNames{Tables: []client.SQLTable{}, Words: (&sqlconsole.Catalog{}).Words()}
	for i := range catalog.Tables {
		t := client.SQLTable{Table: catalog.Tables[i].Name, Columns: []client.SQLColumn{}}
		columns, err := catalog.Describe(t.Table)
		if err != nil {
			return err
		}
		for _, col := range columns {
			t.Columns = append(t.Columns, client.SQLColumn{Name: col.Name, Type: col.Type})
		}
		out.Tables = append(out.Tables, t)
	}
	return c.json(out)
}

// statement answers a statement. The statement is in the audit before anything is read for it. For a refused statement, the audit records
// only that there was one, because its text may be anything.
func (c *call) statement() error {
	if err := c.mustSay(); err != nil {
		return err
	}
	var given client.SQL
	if err := c.body(&given); err != nil {
		return err
	}
	catalog := c.catalog()
	parsed, err := sqlconsole.Parse(given.Statement)
	var plan *sqlconsole.Plan
	if err == nil {
		plan, err = catalog.Plan(parsed, time.Now())
	}
	if err != nil {
		if err := c.recordSQL("sql.refused", ""); err != nil {
			return err
		}
		return wrongSQL(err)
	}
	strictest := *catalog
	strictest.Masks = c.opts.Masks
	if err := c.recordSQL("sql", strictest.Audited(parsed)); err != nil {
		return err
	}
	a, err := c.selected(plan)
	if err != nil {
		return err
	}
	defer c.unsent.begin(a.Bytes(), c.cutOff)()
	c.answerSQL(a)
	return nil
}

// selected runs a plan, in one of the places of statements. It releases the place before a byte is sent, so a client that reads slowly, or
// not at all, does not keep others from asking.
func (c *call) selected(plan *sqlconsole.Plan) (*sqlconsole.Answer, error) {
	select {
	case c.sql <- struct{}{}:
		defer func() { <-c.sql }()
	default:
		c.opts.Hooks.Shed()
		return nil, refuse(overloaded, "too many statements are reading")
	}
	deadline, _ := c.ctx.Deadline()
	stores := query.Selector{Client: c.opts.Rows, Docs: c.opts.Docs}
	a, err := sqlconsole.Run(c.ctx, stores, plan, sqlconsole.Limits{Time: time.Until(deadline) * 9 / 10})
	if err != nil {
		return nil, wrongSQL(err)
	}
	return a, nil
}

// unsent are the answers to statements that are on their way to their clients.
//
// The invariant: they hold at most the limit, except for a single larger one.
type unsent struct {
	limit   int64
	mu      sync.Mutex
	bytes   int64
	answers []*unsentAnswer // oldest first
}

type unsentAnswer struct {
	bytes  int64
	cutOff func() // called with unsent.mu locked, and never after end
}

// begin adds an answer, and cuts off older ones if they would exceed the limit together. The returned function removes it.
func (u *unsent) begin(bytes int64, cutOff func()) (end func()) {
	a := &unsentAnswer{bytes, cutOff}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.answers = append(u.answers, a)
	for u.bytes += bytes; u.bytes > u.limit && len(u.answers) > 1; {
		oldest := u.answers[0]
		u.remove(oldest)
		oldest.cutOff()
	}
	return func() {
		u.mu.Lock()
		defer u.mu.Unlock()
		u.remove(a)
	}
}

// remove removes an answer that is still there.
func (u *unsent) remove(a *unsentAnswer) {
	if i := slices.Index(u.answers, a); i >= 0 {
		u.answers = slices.Delete(u.answers, i, i+1)
		u.bytes -= a.bytes
	}
}

// mustSay takes the reason for reading other people's rows.
func (c *call) mustSay() (err error) {
	if c.opts.Accounts != nil {
		c.reason, err = c.givenReason()
	}
	return err
}

// recordSQL audits a statement, if callers are known.
func (c *call) recordSQL(action, object string) error {
	if c.opts.Accounts == nil {
		return nil
	}
	return c.audit(action, object, c.reason)
}

// wrongSQL converts the error of a statement that has no answer.
func wrongSQL(err error) error {
	fault, ok := errors.AsType[*sqlconsole.Error](err)
	if !ok {
		return err
	}
	return refuse(badRequest, fault.Error(), client.Wrong{Location: "body.statement", Message: fault.Msg, Fix: fault.Fix,
		Line: fault.Line, Column: fault.Column})
}

// catalog returns what the caller's statements may name: the tables that the caller may read completely, with its masking rules.
func (c *call) catalog() *sqlconsole.Catalog {
	all := c.opts.SQL.Catalog
	out := &sqlconsole.Catalog{Masks: c.masks(c.id)}
	whole := map[string]bool{}
	for i := range all.Tables {
		t := &all.Tables[i]
		if c.opts.Accounts == nil || c.reads(c.id, &t.Table) == (scope{open: true}) {
			whole[t.Name] = true
			out.Tables = append(out.Tables, *t)
		}
	}
	for i := range all.Views {
		if v := &all.Views[i]; whole[v.Table.Name] && whole[v.Shown().Name] {
			out.Views = append(out.Views, *v)
		}
	}
	return out
}

// answerSQL sends an answer row by row, because it may be long and should not be held twice.
func (c *call) answerSQL(a *sqlconsole.Answer) {
	columns := []client.SQLColumn{}
	for _, col := range a.Columns {
		columns = append(columns, client.SQLColumn{Name: col.Name, Type: sqlconsole.TypeName(col.Type)})
	}
	end := client.SQLEnd{Reached: a.Reached, Stats: client.SQLStats{HBase: milliseconds(a.Stats.HBase), Total: milliseconds(a.Stats.Total),
		Read: a.Stats.Read, Returned: len(a.Rows), Regions: a.Stats.Regions}}
	out := &sender{w: c.w}
	if c.lines {
		c.w.Header().Set("Content-Type", linesType)
		out.line(client.SQLLine{Columns: columns})
		for _, row := range a.Rows {
			out.line(client.SQLLine{Row: sqlconsole.JSONValues(row)})
		}
		out.line(client.SQLLine{End: &end})
		return
	}
	c.w.Header().Set("Content-Type", jsonType)
	out.text(`{"columns":`)
	out.json(columns)
	out.text(`,"rows":[`)
	for i, row := range a.Rows {
		if i > 0 {
			out.text(",")
		}
		out.json(sqlconsole.JSONValues(row))
	}
	out.text("]")
	if end.Reached != "" {
		out.text(`,"reached":`)
		out.json(end.Reached)
	}
	out.text(`,"stats":`)
	out.json(end.Stats)
	out.text("}\n")
}

func milliseconds(d time.Duration) float64 { return d.Seconds() * 1000 }

// sender sends the parts of an answer. After an error it sends nothing more, because the client is gone.
type sender struct {
	w   http.ResponseWriter
	buf bytes.Buffer
	err error
}

func (o *sender) text(s string) {
	if o.err == nil {
		_, o.err = o.w.Write([]byte(s))
	}
}

func (o *sender) line(v any) {
	o.json(v)
	o.text("\n")
}

func (o *sender) json(v any) {
	if o.err != nil {
		return
	}
	o.buf.Reset()
	o.err = encode(&o.buf, v)
	o.text(strings.TrimSuffix(o.buf.String(), "\n"))
}
