package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"brine/config"
	"brine/mask"
	"brine/rowkey"
)

type keyCmd struct {
	Encode  keyEncodeCmd  `cmd:"" help:"Print the row key for field values."`
	Decode  keyDecodeCmd  `cmd:"" help:"Print the fields of a row key."`
	Explain keyExplainCmd `cmd:"" help:"Explain a key expression, or a row key, part by part."`
	Range   keyRangeCmd   `cmd:"" help:"Print the scan ranges of a query."`
	Lint    keyLintCmd    `cmd:"" help:"Report likely problems of a key expression, with fixes."`
}

// keyFlags select a key: that of a configured table, or an expression with its fields.
type keyFlags struct {
	configFlag
	timeoutFlag
	Key    string            `help:"Key expression to use instead of a table's key." placeholder:"EXPR"`
	Fields map[string]string `help:"With --key: fields of the key and their types (text, int, float, bool, time)." placeholder:"NAME=TYPE"`
	JSON   bool              `help:"Print JSON."`

	masks mask.Rules
	table string
}

// parse returns the selected keys, of which only a table can have several, and the arguments after the table's name.
func (f *keyFlags) parse(e *env, args []string) (rowkey.Keys, []string, error) {
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
	f.masks, f.table = *cfg.Mask(), t.Name
	if len(t.RowKeys()) == 0 {
		return nil, nil, usage(fmt.Errorf("no pipeline writes table %s, so the types of its key's fields are not known", t.Name))
	}
	return t.RowKeys(), args, nil
}

// leadingTable takes the table's name off the arguments. The name may be left out if the configuration has only one table.
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

// expression parses the key of --key.
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

// fields returns the fields given with --key, sorted by name.
func (f keyFlags) fields() ([]rowkey.Field, error) {
	var fields []rowkey.Field
	for _, name := range slices.Sorted(maps.Keys(f.Fields)) {
		typ, err := rowkey.ParseType(f.Fields[name])
		if err != nil {
			return nil, usage(fmt.Errorf("--fields %s=%s: %w", name, f.Fields[name], err))
		}
		fields = append(fields, rowkey.Field{Name: name, Type: typ})
	}
	return fields, nil
}

// keyRow is a key and one of its rows, as the HBase shell prints it.
type keyRow struct {
	keyFlags
	Table string `arg:"" optional:"" help:"Table of the configuration whose key to use (default: the only one)."`
	Row   string `arg:"" optional:"" help:"The row key, in the HBase shell's notation (such as \\x00 for bytes that are not printable)."`
}

// read returns the row and the key that fits it. Without a row, or if no key fits, it returns the newest key.
func (f *keyRow) read(e *env) (*rowkey.Key, []byte, error) {
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

// arguments returns the arguments that are not empty.
func arguments(first string, others ...string) []string {
	return slices.DeleteFunc(append([]string{first}, others...), func(a string) bool { return a == "" })
}
