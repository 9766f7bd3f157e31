package serve

import (
	"bytes"
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"brine/command"
	"brine/mask"
	"brine/query"
	"brine/rowkey"
	"brine/serve/client"
)

// maxRow is the length of the longest row key that HBase accepts.
const maxRow = 1<<15 - 1

// listedTables returns the tables that the caller may read.
func (c *call) listedTables() client.Tables {
	out := client.Tables{Tables: []client.Table{}}
	for i := range c.opts.Tables {
		t := &c.opts.Tables[i]
		asks := *c
		asks.endpoint = &endpoint{on: tableSubject(t, false)}
		if asks.scope = c.may(c.id, "", asks.endpoint.on); !asks.scope.open {
			continue
		}
		shown := client.Table{Name: t.Name, Path: tablePath(t.Name), Key: []client.KeyField{}, Reason: asks.ofOthers(),
			States: []string{}, Commands: []client.Transition{}}
		for _, f := range t.KeyFields() {
			shown.Key = append(shown.Key, client.KeyField{Name: f.Name, Type: f.Type.String()})
		}
		if i := slices.IndexFunc(c.opts.Machines, func(m command.Machine) bool { return m.Table.Name == t.Name }); i >= 0 {
			asks.machine(&shown, &c.opts.Machines[i])
		}
		out.Tables = append(out.Tables, shown)
	}
	return out
}

// machine adds the commands that the caller may send. It adds none if the state is masked for the caller, who could find it by trying.
func (c *call) machine(t *client.Table, m *command.Machine) {
	if masked(c.masks(c.id), &m.Table, m.State) {
		return
	}
	t.State = m.State
	for i := range m.Commands {
		of := &m.Commands[i]
		for _, state := range append(slices.Clone(of.From), of.To) {
			if !slices.Contains(t.States, state) {
				t.States = append(t.States, state)
			}
		}
		if c.opts.Commands != nil && c.id != nil && !c.scope.byKey && slices.Contains(of.Roles, string(c.id.Role)) {
			t.Commands = append(t.Commands, client.Transition{Name: of.Name, From: of.From, To: of.To, Take: append([]string{}, of.Take...)})
		}
	}
}

// tableRoutes returns the routes of a table.
func tableRoutes(t *query.Table) []*endpoint {
	path := tablePath(t.Name) + "/rows"
	name := strings.ReplaceAll(t.Name, ":", "_")
	var fields []param
	for _, f := range t.KeyFields() {
		fields = append(fields, param{in: "query", name: f.Name, about: "Field of the row key.", kind: f.Type, unit: f.Unit, required: true})
	}
	return []*endpoint{
		{method: http.MethodGet, path: path + "/{key}", id: "row_" + name, about: "Get a row of " + t.Name + " by its key.",
			params: []param{{in: "path", name: "key", about: "Row key as in answers, escaped for a URL path.", kind: rowkey.Text, required: true}},
			answer: client.Row{}, conditional: true, missing: true, on: tableSubject(t, false),
			handle: func(c *call) error { return c.rowByKey(t) }},
		{method: http.MethodGet, path: path, id: "find_" + name, about: "Get a row of " + t.Name + " by all fields of its key.",
			params: fields, answer: client.Row{}, conditional: true, missing: true, on: tableSubject(t, false),
			handle: func(c *call) error { return c.rowByFields(t) }},
		{method: http.MethodPost, path: path + ":batch", id: "rows_" + name,
			about: fmt.Sprintf("Get up to %d rows of %s by their keys.", maxBatch, t.Name),
			body:  client.Keys{}, answer: client.Found{}, on: tableSubject(t, true), handle: func(c *call) error { return c.rowsByKeys(t) }},
	}
}

func (c *call) rowByKey(t *query.Table) error {
	row, err := parseRow("path.key", c.r.PathValue("key"))
	if err != nil {
		return err
	}
	rows, err := query.ByRow(c.ctx, c.rows(), *t, [][]byte{row})
	if err != nil {
		return err
	}
	return c.row(t, &rows[0])
}

func (c *call) rowByFields(t *query.Table) error {
	fields := map[string]string{}
	for name := range c.values {
		fields[name] = c.values.Get(name)
	}
	keys, err := t.RowsOf(fields)
	if err != nil {
		return err
	}
	rows, err := query.ByKey(c.ctx, c.rows(), *t, keys)
	if err != nil {
		return err
	}
	return c.row(t, &rows[0])
}

// row answers with one row, unless the client has this version.
func (c *call) row(t *query.Table, r *query.Row) error {
	if absent(r) || !c.owns(r) {
		return refuse(notThere, "there is no such row")
	}
	tag := etag(r)
	c.w.Header().Set("ETag", tag)
	for has := range strings.SplitSeq(c.r.Header.Get("If-None-Match"), ",") {
		if has = strings.TrimPrefix(strings.TrimSpace(has), "W/"); has == tag || has == "*" {
			c.w.WriteHeader(http.StatusNotModified)
			return nil
		}
	}
	*r = r.Masked(c.masks(c.id), t.Name)
	var text rowText
	return c.send(append(text.append(nil, nil, &query.Found{Row: *r}), '\n'))
}

// etag returns a tag that changes with any of the row's cells. In a table with commands it starts with the version that commands are
// accepted on, and is nothing more unless another cell is newer.
func etag(r *query.Row) string {
	tag := strconv.FormatInt(cmp.Or(r.StateVersion, r.Version), 10)
	if r.StateVersion > 0 && r.Version > r.StateVersion {
		tag += "." + strconv.FormatInt(r.Version, 10)
	}
	return strconv.Quote(tag)
}

// absent reports whether a row does not exist or is marked as deleted, which is the same to readers.
func absent(r *query.Row) bool { return len(r.Fields) == 0 || r.Deleted }

func (c *call) rowsByKeys(t *query.Table) error {
	var asked client.Keys
	if err := c.body(&asked); err != nil {
		return err
	}
	if n := len(asked.Keys); n == 0 || n > maxBatch {
		return wrong("body.keys", fmt.Sprintf("are %d, not between 1 and %d", n, maxBatch), "split them into several requests")
	}
	keys := make([][]byte, len(asked.Keys))
	for i, text := range asked.Keys {
		var err error
		if keys[i], err = parseRow(fmt.Sprintf("body.keys[%d]", i), text); err != nil {
			return err
		}
	}
	if err := c.record("keys=" + mask.If(c.opts.Masks.MasksKey(t.Name), strings.Join(asked.Keys, ","))); err != nil {
		return err
	}
	rows, err := query.ByRow(c.ctx, c.opts.Rows, *t, keys)
	if err != nil {
		return err
	}
	var text rowText
	var found, missing []byte
	for i := range rows {
		if absent(&rows[i]) || !c.owns(&rows[i]) {
			missing = append(quote(missing, asked.Keys[i]), ',')
		} else {
			found = append(text.append(found, nil, &query.Found{Row: rows[i].Masked(c.masks(c.id), t.Name)}), ',')
		}
	}
	out := append(append([]byte(`{"rows":[`), bytes.TrimSuffix(found, []byte(","))...), `],"missing":[`...)
	return c.send(append(append(out, bytes.TrimSuffix(missing, []byte(","))...), "]}\n"...))
}

// parseRow parses a row key as answers show it.
func parseRow(at, text string) ([]byte, error) {
	row, err := rowkey.ParseBinary(text)
	switch {
	case err != nil:
		return nil, wrong(at, err.Error(), "copy it unchanged from an answer")
	case len(row) == 0 || len(row) > maxRow:
		return nil, wrong(at, fmt.Sprintf("has %d bytes, not between 1 and %d", len(row), maxRow), "copy it unchanged from an answer")
	}
	return row, nil
}
