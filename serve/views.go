package serve

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"brine/mask"
	"brine/query"
	"brine/rowkey"
	"brine/serve/client"
)

const (
	maxPage  = query.MaxPage
	maxBatch = 1000 // keys or questions per request
	beside   = 16   // questions of one request that run in parallel
	flushed  = 100  // rows of a streamed answer per flush
)

// listed returns the views that the caller may use.
func (c *call) listed() client.Views {
	out := client.Views{Views: []client.View{}}
	for i := range c.opts.Views {
		v := &c.opts.Views[i]
		asks := *c
		asks.endpoint = &endpoint{on: viewSubject(v, false)}
		if asks.scope = c.may(c.id, "", asks.endpoint.on); !asks.scope.open {
			continue
		}
		shown := client.View{Name: v.Name, Path: viewPath(v.Name), Table: v.Shown().Name, Order: string(v.Order),
			PageSize: v.PageSize(), Parameters: []client.Parameter{}, Facets: c.facetsOf(v),
			Batch: c.may(c.id, "", viewSubject(v, true)).open, Reason: asks.ofOthers()}
		for _, p := range v.Parameters() {
			if asks.closed(p.Field) {
				continue
			}
			typ := p.Type.String()
			if p.Words {
				typ = "words"
			}
			shown.Parameters = append(shown.Parameters, client.Parameter{Name: p.Field, Type: typ, Required: p.Required,
				Range: p.Range, List: p.List})
		}
		out.Views = append(out.Views, shown)
	}
	return out
}

// viewRoutes returns the routes of a view.
func viewRoutes(v *query.View) []*endpoint {
	var params []param
	for _, p := range v.Parameters() {
		about := map[bool]string{true: "Words, all of which the field must contain.", false: "Value of the field."}[p.Words]
		if p.List {
			about = "Value of the field; may be repeated, to match any of the values."
		}
		params = append(params, param{in: "query", name: p.Field, about: about, kind: p.Type, unit: p.Unit,
			required: p.Required && !p.Range, list: p.List})
		if p.Range {
			params = append(params, param{in: "query", name: p.Field + ".from", about: "Start of a range of values, inclusive.", kind: p.Type,
				unit: p.Unit},
				param{in: "query", name: p.Field + ".to", about: "End of a range of values, exclusive.", kind: p.Type, unit: p.Unit})
		}
	}
	params = append(params,
		param{in: "query", name: query.PageSize, about: fmt.Sprintf("Maximum number of rows, at most %d (default %d).", maxPage, v.PageSize()),
			kind: rowkey.Int},
		param{in: "query", name: query.PageToken, about: "next_page_token of the previous page, with the same parameters.", kind: rowkey.Text})
	name := v.Name
	firstPage := slices.DeleteFunc(slices.Clone(params), func(p param) bool { return p.name == query.PageToken })
	routes := []*endpoint{
		{method: http.MethodGet, path: viewPath(name), id: "view_" + name,
			about:  "List rows of " + v.Shown().Name + " through the view " + name + ".",
			params: params, answer: client.Page{}, streams: true, on: viewSubject(v, false), handle: func(c *call) error { return c.view(v) }},
		{method: http.MethodGet, path: viewPath(name) + "/events", id: "events_" + name,
			about:  fmt.Sprintf("Watch the first page of the view %s, up to %d rows: sent now and whenever it changes.", name, maxWatched),
			params: firstPage, events: true, on: viewSubject(v, false), handle: func(c *call) error { return c.events(v) }},
		{method: http.MethodPost, path: viewPath(name) + ":batch", id: "batch_" + name,
			about: fmt.Sprintf("Answer up to %d questions of the view %s, each with its first page.", maxBatch, name),
			body:  client.Questions{}, answer: client.Answers{}, on: viewSubject(v, true), handle: func(c *call) error { return c.questions(v) }},
	}
	if hasFacets(v) {
		routes = append(routes, facetRoute(v, params))
	}
	return routes
}

// view answers a question of a view.
func (c *call) view(v *query.View) error {
	question, err := c.question(v, maxPage)
	if err != nil {
		return err
	}
	if c.lines {
		return c.stream(question)
	}
	page, err := c.page(c.ctx, question, c.opts.PageBytes)
	if err != nil {
		return err
	}
	return c.send(append(page.append(nil), '\n'))
}

// question returns the question that a request asks of a view, for a page of at most most rows.
func (c *call) question(v *query.View, most int) (*query.Question, error) {
	limit, err := pageSize(c.values.Get(query.PageSize))
	if err != nil {
		return nil, err
	}
	after, err := c.place(c.values.Get(query.PageToken))
	if err != nil {
		return nil, err
	}
	q, err := v.Question(query.Request{Given: c.own(given(c.values)), Limit: min(cmp.Or(limit, v.PageSize()), most), After: after})
	if err == nil && c.scope.byKey && q.ByIndex() {
		return nil, refuse(badRequest, "without an account the view answers only through the key; remove what only the index finds")
	}
	return q, err
}

// given converts parameters to arguments: NAME.from and NAME.to are the ends of a range. The parameters of pages are not arguments.
func given(values url.Values) (out []query.Given) {
	at := map[string]int{}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if name == query.PageSize || name == query.PageToken {
			continue
		}
		field, end, _ := strings.Cut(name, ".")
		if _, known := at[field]; !known {
			at[field] = len(out)
			out = append(out, query.Given{Field: field})
		}
		g := &out[at[field]]
		switch end {
		case "from":
			g.From = values.Get(name)
		case "to":
			g.To = values.Get(name)
		default:
			g.Values = values[name]
		}
	}
	return out
}

// page reads an answer to its end, or to the first row with which it has left bytes.
func (c *call) page(ctx context.Context, q *query.Question, left int) (*page, error) {
	if q.ByIndex() {
		c.reading.finds()
	}
	a, err := q.Ask(ctx, c.rows(), c.opts.Docs)
	if err != nil {
		return nil, err
	}
	var p page
	var text rowText
	for f, err := range c.shown(a.Rows, q.Shows()) {
		if err != nil {
			return nil, err
		}
		if len(p.rows) > 0 {
			p.rows = append(p.rows, ',')
		}
		p.rows = text.append(p.rows, q, &f)
		if len(p.rows) >= left { // the page is short, and its token continues
			p.next = c.token(query.Cursor(f.After))
			return &p, nil
		}
	}
	p.next = c.token(a.Next())
	return &p, nil
}

// stream sends an answer row by row. It sends nothing before the first row, so that an error until then is an ordinary problem.
func (c *call) stream(q *query.Question) error {
	a, err := q.Ask(c.ctx, c.opts.Rows, c.opts.Docs)
	if err != nil {
		return err
	}
	out := http.NewResponseController(c.w)
	var text rowText
	var line []byte
	n := 0
	for f, err := range c.shown(a.Rows, q.Shows()) {
		if err != nil && n == 0 {
			return err
		}
		if err != nil {
			c.problemLine(err)
			return nil
		}
		if n++; n == 1 {
			c.w.Header().Set("Content-Type", linesType)
		}
		line = append(text.append(append(line[:0], `{"row":`...), q, &f), "}\n"...)
		if _, err := c.w.Write(line); err != nil {
			return nil // the client is gone
		}
		if n%flushed == 0 {
			_ = out.Flush() // the next write reports the error
		}
	}
	c.w.Header().Set("Content-Type", linesType)
	_ = encode(c.w, client.Line{End: &client.End{Next: c.token(a.Next())}}) // an error means that the client is gone
	return nil
}

// questions answers many questions of a view.
func (c *call) questions(v *query.View) error {
	var asked client.Questions
	if err := c.body(&asked); err != nil {
		return err
	}
	size := min(asked.PageSize, maxPage)
	switch n := len(asked.Questions); {
	case n == 0 || n > maxBatch:
		return wrong("body.questions", fmt.Sprintf("are %d, not between 1 and %d", n, maxBatch), "split them into several requests")
	case size < 0:
		return wrong("body.page_size", "is negative", "omit it for the view's own")
	case n*max(size, map[bool]int{true: v.PageSize()}[size == 0]) > maxPage:
		return wrong("body.page_size", fmt.Sprintf("the answers could have more than %d rows in total", maxPage),
			"give a smaller one, or fewer questions")
	}
	questions := make([]*query.Question, len(asked.Questions))
	parameters := v.Parameters()
	for i, q := range asked.Questions {
		at := fmt.Sprintf("body.questions[%d]", i)
		values, err := c.valid(parameters, q, at)
		if err != nil {
			return err
		}
		if questions[i], err = v.Question(query.Request{Given: c.own(given(values)), Limit: size}); err != nil {
			return atPlace(at, err)
		}
	}
	if err := c.record(c.askedBody(asked.Questions)); err != nil {
		return err
	}
	pages := make([]*page, len(questions))
	var g errgroup.Group
	var taken atomic.Int64 // of the questions; a goroutine for each would grow its stack for each
	for range min(beside, len(questions)) {
		g.Go(func() (err error) {
			for i := taken.Add(1) - 1; i < int64(len(questions)) && err == nil; i = taken.Add(1) - 1 {
				pages[i], err = c.page(c.ctx, questions[i], c.opts.PageBytes/len(questions))
			}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	out := []byte(`{"answers":[`)
	for i, p := range pages {
		if i > 0 {
			out = append(out, ',')
		}
		out = p.append(out)
	}
	return c.send(append(out, "]}\n"...))
}

// valid returns the parameters of one of several questions.
func (c *call) valid(parameters []query.Parameter, q map[string]client.Values, at string) (url.Values, error) {
	values := url.Values{}
	for name, list := range q {
		field, end, cut := strings.Cut(name, ".")
		known := slices.ContainsFunc(parameters, func(p query.Parameter) bool {
			return p.Field == field && (!cut || p.Range && (end == "from" || end == "to"))
		})
		switch {
		case !known || c.closed(field):
			return nil, wrong(at+"."+name, "the view has no such parameter", "GET "+viewsPath+" lists them")
		case cut && len(list) != 1:
			return nil, wrong(at+"."+name, "takes one value", "")
		}
		values[name] = list
	}
	return values, nil
}

// shown returns the rows of an answer that may be shown, masked.
func (c *call) shown(rows iter.Seq2[query.Found, error], table string) iter.Seq2[query.Found, error] {
	return query.Masked(func(yield func(query.Found, error) bool) {
		for f, err := range rows {
			if err == nil && !c.owns(&f.Row) {
				continue
			}
			if !yield(f, err) {
				return
			}
		}
	}, c.masks(c.id), table)
}

// token returns the token of a place in an answer. With accounts, it is sealed for the caller, because it contains a key.
func (c *call) token(at query.Cursor) string {
	if c.opts.Accounts == nil || at == "" {
		return string(at)
	}
	return c.opts.Accounts.Seal(c.sealedFor(), string(at))
}

// place returns the place of a token.
func (c *call) place(token string) (query.Cursor, error) {
	if c.opts.Accounts == nil || token == "" {
		return query.Cursor(token), nil
	}
	at, ok := c.opts.Accounts.Unseal(c.sealedFor(), token)
	if !ok {
		return "", wrong("query."+query.PageToken, "was not issued to this account", "copy it unchanged from an answer")
	}
	return query.Cursor(at), nil
}

func (c *call) sealedFor() string {
	if c.id == nil {
		return "anybody"
	}
	return fmt.Sprintf("account %d, %s", c.id.Account.ID, c.id.Role)
}

// askedBody returns what questions ask, without what is masked for anybody.
func (c *call) askedBody(questions []map[string]client.Values) string {
	var out strings.Builder
	for i, q := range questions {
		if i > 0 {
			out.WriteString("; ")
		}
		for j, name := range slices.Sorted(maps.Keys(q)) {
			field, _, _ := strings.Cut(name, ".")
			if j > 0 {
				out.WriteString(" ")
			}
			out.WriteString(name + "=" + mask.If(masked(c.opts.Masks, c.endpoint.on.source, field), strings.Join(q[name], ",")))
		}
	}
	return out.String()
}
