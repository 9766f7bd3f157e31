package operations

import (
	"context"
	"fmt"
	"strings"

	"brine/mask"
	"brine/query"
	"brine/rowkey"
	"brine/schema"
	"brine/serve/client"
)

// Key implements serve.Operations.
func (o *Operations) Key(_ context.Context, of client.KeyOf, rules *mask.Rules) (client.KeyDesign, error) {
	out := client.KeyDesign{Fields: []client.KeyField{}, Parts: []client.KeyPart{}, Scans: []client.KeyScan{}, Splits: []string{},
		Findings: []client.KeyFinding{}}
	keys, found, err := o.keysOf(of)
	if err != nil {
		return out, err
	}
	out.Findings = append(out.Findings, found...)
	key := keys.Newest()
	if key == nil { // the findings give the reason
		return out, nil
	}
	out.Key = key.String()
	for _, f := range key.Bindable() {
		out.Fields = append(out.Fields, client.KeyField{Name: f.Name, Type: f.Type.String()})
	}
	describeRow(&out, keys, of, o.masksKey(of.Table, rules))
	describeScans(&out, keys, of.Where)
	if of.Regions > 1 {
		points, err := key.Splits(of.Regions)
		if err != nil {
			out.Unsplit = err.Error()
		}
		for _, p := range points {
			out.Splits = append(out.Splits, rowkey.Binary(p))
		}
	}
	return out, nil
}

// keysOf returns the requested keys, or none if the expression has mistakes, and the lint findings.
func (o *Operations) keysOf(of client.KeyOf) (rowkey.Keys, []client.KeyFinding, error) {
	lint := rowkey.LintOptions{EventRows: !of.Entity, Servers: of.Servers, Regions: of.Regions}
	for _, text := range of.Queries {
		q, err := rowkey.ParseQuery(text)
		if err != nil {
			return nil, nil, misused("query: %w", err)
		}
		lint.Queries = append(lint.Queries, q)
	}
	if of.Table != "" {
		return o.keysOfTable(of.Table, lint)
	}
	fields, err := keyFields(of.Fields)
	if err != nil {
		return nil, nil, err
	}
	var found []client.KeyFinding
	for _, p := range schema.LintKey("", of.Key, fields, lint) {
		found = append(found, client.KeyFinding{Rule: string(p.Code), Severity: string(p.Severity),
			Column: p.Column, Message: p.Message, Fix: p.Fix})
	}
	key, err := rowkey.Parse(of.Key, fields)
	if err != nil {
		return nil, found, nil //nolint:nilerr // err is the first finding
	}
	return rowkey.One(key), found, nil
}

func (o *Operations) keysOfTable(name string, lint rowkey.LintOptions) (rowkey.Keys, []client.KeyFinding, error) {
	t, err := o.table(name)
	if err != nil {
		return nil, nil, err
	}
	keys := t.RowKeys()
	if len(keys) == 0 {
		return nil, nil, misused("table: no pipeline writes %s, so the types of its key's fields are not known", t.Name)
	}
	lint.EventRows = t.Row == "event"
	var found []client.KeyFinding
	for _, f := range keys.Newest().Lint(lint) {
		found = append(found, client.KeyFinding{Rule: "key-" + f.Rule, Severity: string(f.Severity), Message: f.Msg, Fix: f.Fix})
	}
	return keys, found, nil
}

func keyFields(list []string) (fields []rowkey.Field, err error) {
	for _, text := range list {
		name, typ, ok := strings.Cut(text, ":")
		if !ok || name == "" {
			return nil, misused("field: %q is not NAME:TYPE", text)
		}
		f := rowkey.Field{Name: name}
		if f.Type, err = rowkey.ParseType(typ); err != nil {
			return nil, misused("field %s: %w", name, err)
		}
		fields = append(fields, f)
	}
	return fields, nil
}

// describeRow adds the parts of the key to out, with the bytes of a row if one is given.
func describeRow(out *client.KeyDesign, keys rowkey.Keys, of client.KeyOf, hidden bool) {
	key, row, err := keyRow(keys, of)
	if err != nil {
		out.RowWrong = err.Error()
	}
	parts, err := key.Explain(row)
	if err != nil {
		out.RowWrong = err.Error()
	}
	if len(row) > 0 {
		out.Row, out.Bytes = rowkey.Binary(row), len(row)
	}
	for _, p := range parts {
		shown := client.KeyPart{Expr: p.Expr, Width: p.Width, Doc: p.Doc, Bytes: rowkey.Binary(p.Bytes), Value: p.Value}
		if hidden && len(p.Bytes) > 0 {
			shown.Bytes, shown.Value = mask.Text, mask.Text
		}
		out.Parts = append(out.Parts, shown)
	}
	if hidden && of.Row != "" { // the caller may see what was typed in, but not what it means
		out.RowWrong = ""
	}
}

// keyRow returns the given row, or the row made of the given values, or nil, and the key that fits it.
func keyRow(keys rowkey.Keys, of client.KeyOf) (*rowkey.Key, []byte, error) {
	key := keys.Newest()
	switch {
	case of.Row != "":
		row, err := rowkey.ParseBinary(of.Row)
		if err != nil {
			return key, nil, err
		}
		if fits := keys.Fit(row); fits != nil {
			key = fits
		}
		return key, row, nil
	case len(of.Values) == 0:
		return key, nil, nil
	}
	values, err := query.ParseKeyValues(key, of.Values)
	if err != nil {
		return key, nil, err
	}
	row, err := key.Append(nil, values)
	return key, row, err
}

func describeScans(out *client.KeyDesign, keys rowkey.Keys, where []string) {
	if len(where) == 0 {
		return
	}
	bounds, err := query.ParseKeyWhere(keys, where)
	if err != nil {
		out.Wrong = err.Error()
		return
	}
	scans, err := keys.Scans(bounds)
	if err != nil {
		out.Wrong = err.Error()
		return
	}
	for _, s := range scans[:min(len(scans), mostScans)] {
		out.Scans = append(out.Scans, client.KeyScan{Start: rowkey.Binary(s.Start), Stop: rowkey.Binary(s.Stop), From: s.From, To: s.To})
	}
	if more := len(scans) - mostScans; more > 0 {
		out.Wrong = fmt.Sprintf("%d more ranges not shown", more)
	}
}

// mostScans is the most ranges that are shown.
const mostScans = 1024
