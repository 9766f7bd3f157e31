package hbasetest

import (
	"errors"
	"strings"

	"brine/hbase"
)

// compareOps are the words for comparisons of the stored value with the given one.
var compareOps = map[string]hbase.CompareOp{
	"less": hbase.Less, "at-most": hbase.LessOrEqual, "is": hbase.Equal,
	"is-not": hbase.NotEqual, "at-least": hbase.GreaterOrEqual, "greater": hbase.Greater,
}

// mutateRow applies mutations of one row as one.
func (r *runner) mutateRow(table string, more [][]string) error {
	b, err := batchOf(table, more)
	if err != nil {
		return err
	}
	return r.ok(r.client.MutateRow(r.ctx, b))
}

// check applies mutations of one row if it satisfies "ROW COLUMN OP [VALUE]".
func (r *runner) check(table string, words []string, more [][]string) error {
	b, err := batchOf(table, more)
	if err != nil {
		return err
	}
	if len(words) < 4 {
		words = append(words, "")
	}
	family, qualifier := parseColumn(words[1])
	condition := hbase.IfAbsent(family, qualifier)
	if op, ok := compareOps[words[2]]; ok {
		condition = hbase.IfValue(family, qualifier, op, parseBytes(words[3]))
	} else if words[2] != "absent" {
		return errors.New("no such comparison: " + words[2])
	}
	applied, err := r.client.CheckAndMutate(r.ctx, b, condition)
	if err != nil {
		return err
	}
	r.say("%t", applied)
	return nil
}

// increment adds to counters: "ROW COLUMN=N…".
func (r *runner) increment(table string, words []string) error {
	var amounts []hbase.Amount
	for _, word := range words[1:] {
		column, by, _ := strings.Cut(word, "=")
		family, qualifier := parseColumn(column)
		amounts = append(amounts, hbase.Amount{Family: family, Qualifier: qualifier, By: parseInt(by)})
	}
	result, err := r.client.Increment(r.ctx, table, parseBytes(words[0]), amounts...)
	if err != nil {
		return err
	}
	r.timeless(result)
	return nil
}

// append appends bytes to values: "ROW COLUMN=VALUE…".
func (r *runner) append(table string, words []string) error {
	var suffixes []hbase.Suffix
	for _, word := range words[1:] {
		column, value, _ := strings.Cut(word, "=")
		family, qualifier := parseColumn(column)
		suffixes = append(suffixes, hbase.Suffix{Family: family, Qualifier: qualifier, Value: parseBytes(value)})
	}
	result, err := r.client.Append(r.ctx, table, parseBytes(words[0]), suffixes...)
	if err != nil {
		return err
	}
	r.timeless(result)
	return nil
}

// values is get without timestamps, for cells whose timestamps the server set.
func (r *runner) values(table string, words []string) error {
	g, err := parseGet(words)
	if err != nil {
		return err
	}
	result, err := r.client.Get(r.ctx, table, g)
	if err != nil {
		return err
	}
	r.timeless(result)
	return nil
}

func (r *runner) timeless(result hbase.Result) {
	if len(result.Cells) == 0 {
		r.say("none")
	}
	for _, c := range result.Cells {
		r.say("%s %s:%s=%s", formatBytes(c.Row), formatBytes(c.Family), formatBytes(c.Qualifier), formatBytes(c.Value))
	}
}
