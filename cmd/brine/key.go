package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"brine/config"
	"brine/internal/term"
	"brine/query"
	"brine/rowkey"
)

type keyCmd struct {
	Encode  keyEncodeCmd  `cmd:"" help:"Print the row key of field values."`
	Decode  keyDecodeCmd  `cmd:"" help:"Print the fields of a row key."`
	Explain keyExplainCmd `cmd:"" help:"Describe a key part by part, or a row key of it."`
	Range   keyRangeCmd   `cmd:"" help:"Print the rows between which a query scans."`
	Lint    keyLintCmd    `cmd:"" help:"Say what will disappoint about a key, and the fix."`
}

// keyFlags say which key is meant: a table's of the configuration, or an expression with its fields.
type keyFlags struct {
	configFlag
	timeoutFlag
	Key    string            `help:"A key expression instead of a table's key." placeholder:"EXPR"`
	Fields map[string]string `help:"With --key: its fields and their types (text, int, float, bool, time)." placeholder:"NAME=TYPE"`
	JSON   bool              `help:"Print JSON."`
}

var fieldTypes = map[string]rowkey.Type{"text": rowkey.Text, "int": rowkey.Int, "float": rowkey.Float,
	"bool": rowkey.Bool, "time": rowkey.Time}

// parse returns the keys that are meant, several only of a table, and the arguments that do not name the table.
func (f keyFlags) parse(e *env, args []string) (rowkey.Keys, []string, error) {
	if f.Key != "" {
		key, err := f.expression()
		return rowkey.One(key), args, err
	}
	cfg, err := f.load(e)
	if err != nil {
		return nil, nil, err
	}
	t, args, err := leadingTable(cfg, args)
	if err != nil {
		return nil, nil, err
	}
	if len(t.RowKeys()) == 0 {
		return nil, nil, usage(fmt.Errorf("no pipeline writes table %s, so the types of its key's fields are not known", t.Name))
	}
	return t.RowKeys(), args, nil
}

// leadingTable takes the table off the arguments. The only one of the configuration need not be named.
func leadingTable(cfg *config.Config, args []string) (*config.Table, []string, error) {
	name := ""
	if len(args) > 0 {
		name = args[0]
	}
	t, err := table(cfg, name)
	switch {
	case err == nil && name != "":
		return t, args[1:], nil
	case err != nil && len(cfg.Tables) == 1:
		return cfg.Tables[0], args, nil
	}
	return t, args, err
}

// expression is the key of --key.
func (f keyFlags) expression() (*rowkey.Key, error) {
	fields, err := f.fields()
	if err != nil {
		return nil, err
	}
	key, err := rowkey.Parse(f.Key, fields)
	if err != nil {
		return nil, usage(fmt.Errorf("--key: %w", err))
	}
	return key, nil
}

// fields are those given with --key, in the order of their names.
func (f keyFlags) fields() ([]rowkey.Field, error) {
	var fields []rowkey.Field
	for _, name := range slices.Sorted(maps.Keys(f.Fields)) {
		typ, ok := fieldTypes[f.Fields[name]]
		if !ok {
			return nil, usage(fmt.Errorf("--fields %s=%s: the types are text, int, float, bool and time", name, f.Fields[name]))
		}
		fields = append(fields, rowkey.Field{Name: name, Type: typ})
	}
	return fields, nil
}

// where reads conditions on what keys hold.
func where(keys rowkey.Keys, conditions []string) (map[string]rowkey.Bound, error) {
	types := map[string]rowkey.Type{}
	for _, f := range keys.Bindable() {
		types[f.Name] = f.Type
	}
	bounds, err := query.ParseWhere(types, conditions)
	if err != nil {
		return nil, usage(err)
	}
	return bounds, nil
}

// keyRow is a key, and a row of it as the HBase shell prints it.
type keyRow struct {
	keyFlags
	Table string `arg:"" optional:"" help:"Table of the configuration whose key is meant (default: the only one)."`
	Row   string `arg:"" optional:"" help:"The row key, as the HBase shell prints it (\\x00 for bytes that are no letters)."`
}

// read returns the row, and the key that fits it; without a row, or when none fits, the newest.
func (f keyRow) read(e *env) (*rowkey.Key, []byte, error) {
	keys, args, err := f.parse(e, arguments(f.Table, f.Row))
	if err != nil {
		return nil, nil, err
	}
	if len(args) > 1 {
		return nil, nil, usage(fmt.Errorf("there is no table %q; write [TABLE] ROW", args[0]))
	}
	row, err := rowkey.ParseBinary(strings.Join(args, ""))
	if err != nil {
		return nil, nil, usage(err)
	}
	return cmp.Or(keys.Fit(row), keys.Newest()), row, nil
}

// arguments are those that were given.
func arguments(first string, others ...string) []string {
	return slices.DeleteFunc(append([]string{first}, others...), func(a string) bool { return a == "" })
}

type keyEncodeCmd struct {
	keyFlags
	Table  string   `arg:"" optional:"" help:"Table of the configuration whose key is meant (default: the only one)."`
	Values []string `arg:"" optional:"" name:"field=value" help:"One for each field of the key. Times: 2013-01-31T08:00:00Z, ms since 1970, or how long ago, as 2h."`
}

// Help is shown under the command's own help.
func (keyEncodeCmd) Help() string {
	return `Examples:
  brine key encode scans -c examples/scans.yaml waybill=UA-1545-20130101-EWR at=2013-01-01T10:17:00Z action=DEPART
  brine key encode --key 'md5(user, 4) + user' --fields user=text user=42`
}

func (c *keyEncodeCmd) Run(e *env) error {
	keys, values, err := c.parse(e, arguments(c.Table, c.Values...))
	if err != nil {
		return err
	}
	key := keys.Newest() // that of new rows
	given, err := where(rowkey.One(key), exactly(values))
	if err != nil {
		return err
	}
	fields := make([]rowkey.Value, 0, len(given))
	for _, name := range key.Fields() {
		fields = append(fields, given[name].Equal)
	}
	row, err := key.Append(nil, fields)
	if err != nil {
		return usage(err)
	}
	if c.JSON {
		return json.NewEncoder(e.stdout).Encode(map[string]any{"row": rowkey.Binary(row), "bytes": len(row)})
	}
	fmt.Fprintln(e.stdout, rowkey.Binary(row))
	return nil
}

// exactly makes field==value of field=value: a value to encode is no range, whatever is in it.
func exactly(values []string) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = v
		if name, value, ok := strings.Cut(v, "="); ok && !strings.HasPrefix(value, "=") {
			out[i] = name + "==" + value
		}
	}
	return out
}

type keyDecodeCmd struct{ keyRow }

// Help is shown under the command's own help.
func (keyDecodeCmd) Help() string {
	return `Example:
  brine key decode scans -c examples/scans.yaml '3ddbUA-1545-20130101-EWR|\x7F\xFF\xFE\xC4\x0Ab\xC6\x9F|DEPART'`
}

func (c *keyDecodeCmd) Run(e *env) error {
	key, row, err := c.read(e)
	if err != nil {
		return err
	}
	if len(row) == 0 {
		return usage(errors.New("give the row key to decode"))
	}
	values, err := key.Decode(row)
	if err != nil {
		return usage(err)
	}
	if c.JSON {
		out := map[string]any{}
		for i, name := range key.Fields() {
			out[name] = keyValueJSON(values[i])
		}
		return json.NewEncoder(e.stdout).Encode(out)
	}
	w := tabwriter.NewWriter(e.stdout, 0, 0, 2, ' ', 0)
	for i, name := range key.Fields() {
		fmt.Fprintf(w, "%s\t%s\n", name, keyValueText(values[i]))
	}
	return w.Flush()
}

type keyExplainCmd struct{ keyRow }

// Help is shown under the command's own help.
func (keyExplainCmd) Help() string {
	return `Examples:
  brine key explain scans -c examples/scans.yaml
  brine key explain --key 'salt(16, user) + user + "|" + desc(at, ms)' --fields user=text --fields at=time`
}

func (c *keyExplainCmd) Run(e *env) error {
	key, row, err := c.read(e)
	if err != nil {
		return err
	}
	parts, err := key.Explain(row)
	if err != nil {
		err = usage(err) // said after the parts that were found before it
	}
	if c.JSON {
		type part struct {
			Expr  string `json:"expr"`
			Width int    `json:"width"`
			Doc   string `json:"doc"`
			Bytes string `json:"bytes,omitempty"`
			Value string `json:"value,omitempty"`
		}
		out := make([]part, len(parts))
		for i, p := range parts {
			out[i] = part{p.Expr, p.Width, p.Doc, rowkey.Binary(p.Bytes), p.Value}
		}
		return errors.Join(json.NewEncoder(e.stdout).Encode(map[string]any{"key": key.String(), "parts": out}), err)
	}
	fmt.Fprintln(e.stdout, key)
	w := tabwriter.NewWriter(e.stdout, 0, 0, 2, ' ', 0)
	for _, p := range parts {
		width := "variable"
		if p.Width > 0 {
			width = term.Count(p.Width, "byte")
		}
		fmt.Fprintf(w, "  %s\t%s\t%s\t%s\t%s\n", p.Expr, width, rowkey.Binary(p.Bytes), term.Line(p.Value), p.Doc)
	}
	return errors.Join(w.Flush(), err)
}

// hashed is shown for a field that the key holds only as a hash.
const hashed = "(only its hash is in the key)"

func keyValueText(v rowkey.Value) string {
	switch v.Type {
	case 0:
		return hashed
	case rowkey.Text:
		return rowkey.Binary(v.Text)
	}
	return v.String()
}

func keyValueJSON(v rowkey.Value) any {
	switch v.Type {
	case rowkey.Text, rowkey.Time:
		return v.String()
	case rowkey.Int:
		return v.Int
	case rowkey.Bool:
		return v.Int != 0
	case rowkey.Float:
		return v.Float()
	}
	return nil
}
