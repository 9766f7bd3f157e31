package hbasetest

import (
	"errors"
	"sort"
	"strings"

	"brine/hbase"
)

func (r *runner) create(name string, words []string) error {
	table := hbase.Table{Name: name}
	var splits [][]byte
	for _, word := range words {
		if keys, ok := strings.CutPrefix(word, "splits="); ok {
			for _, key := range strings.Split(keys, ",") {
				splits = append(splits, parseBytes(key))
			}
			continue
		}
		table.Families = append(table.Families, parseFamily(word))
	}
	return r.ok(r.client.CreateTable(r.ctx, table, splits))
}

// parseFamily parses FAMILY;KEY=VALUE….
func parseFamily(word string) hbase.Family {
	parts := strings.Split(word, ";")
	family := hbase.Family{Name: parts[0], Values: map[string]string{}}
	for _, attribute := range parts[1:] {
		key, value, _ := strings.Cut(attribute, "=")
		family.Values[key] = value
	}
	return family
}

func (r *runner) exists(name string) error {
	_, err := r.client.Describe(r.ctx, name)
	if err != nil && !errors.Is(err, hbase.ErrNoTable) {
		return err
	}
	r.say("%t", err == nil)
	return nil
}

func (r *runner) tables() error {
	tables, err := r.client.Tables(r.ctx)
	if err != nil {
		return err
	}
	var names []string
	for _, t := range tables {
		if strings.HasPrefix(t.Name, r.prefix) {
			names = append(names, t.Name)
		}
	}
	sort.Strings(names)
	r.lines = append(r.lines, names...)
	r.say("%d tables", len(names))
	return nil
}

func (r *runner) describe(name string, words []string) error {
	table, err := r.client.Describe(r.ctx, name)
	if err != nil {
		return err
	}
	for _, f := range table.Families {
		if f.Name != words[0] {
			continue
		}
		out := words[0]
		for _, key := range words[1:] {
			out += " " + key + "=" + f.Values[key]
		}
		r.say("%s", out)
	}
	r.say("%d families", len(table.Families))
	return nil
}

func (r *runner) regions(name string) error {
	regions, err := r.client.Regions(r.ctx, name)
	if err != nil {
		return err
	}
	for _, region := range regions {
		r.say("[%s, %s)", formatBytes(region.Start), formatBytes(region.End))
	}
	r.say("%d regions", len(regions))
	return nil
}

// snapshot takes a snapshot of a table: NAME [flush | skipflush].
func (r *runner) snapshot(table string, words []string) error {
	s := hbase.Snapshot{Table: table, Name: r.prefix + words[0]}
	if len(words) > 1 {
		s.Kind = hbase.SnapshotKind(strings.ToUpper(words[1]))
	}
	return r.ok(r.client.TakeSnapshot(r.ctx, s))
}

func (r *runner) snapshots(table string) error {
	all, err := r.client.Snapshots(r.ctx)
	if err != nil {
		return err
	}
	n := 0
	for _, s := range all {
		if s.Table == table {
			r.say("%s", s.Name)
			n++
		}
	}
	r.say("%d snapshots", n)
	return nil
}
