package propose

import (
	"fmt"
	"slices"
	"strings"

	"brine/event"
	"brine/internal/term"
)

// YAML returns the configuration with key number choice, from 0, and describes the others in comments.
func (p *Proposal) YAML(choice int) []byte {
	w := &writer{}
	k, topic := &p.Keys[choice], name(p.opts.Topic)
	w.line(0, "# brine.yaml for topic %s, proposed by brine init from %s.", p.opts.Topic, p.opts.Source)
	read := "were read"
	if p.Records == 1 {
		read = "was read"
	}
	w.line(0, "# %s %s%s. What this file says about values comes from those; review it before use.", records(p.Records), read,
		p.empty()+p.bad())
	if p.Single {
		w.line(0, "# One record proves little: which field identifies records, which are always there and which times tie, only more of them")
		w.line(0, "# show. Run brine init again when there are some.")
	}
	if p.opts.Texts {
		w.line(0, "# The pipeline reads JSON: send the file with brine publish, which turns each row into an object.")
	}
	if p.opts.Container != "" {
		w.line(0, "# The sample is an Avro container file. Records in the topic are no such files: each is one value, and brine reads it")
		if p.opts.Registry != nil {
			w.line(0, "# by the schema whose id it begins with, or has in a header. Compare the fields with the schema in the registry.")
		} else {
			w.line(0, "# by the schema below, with nothing before it. If each begins with the id of a schema in a registry, run brine init again")
			w.line(0, "# with --registry URL, or add framing: confluent to the pipeline, which skips the id.")
		}
		w.line(0, "# The file's records may have fields that whatever wrote it added, and they lack the keys and times of the topic's.")
	}
	w.line(0, "#")
	w.line(0, "#   brine check --connect    compares it with the servers")
	w.line(0, "#   brine tables apply       creates the table")
	w.line(0, "#   brine run                writes")
	w.line(0, "")
	w.line(0, "kafka:")
	w.line(1, "brokers: [%s]", strings.Join(quoted(p.opts.Brokers), ", "))
	w.line(1, "group: brine")
	w.line(0, "")
	w.line(0, "hbase:")
	w.line(1, "connect: %s", quote(p.opts.HBase))
	w.line(0, "")
	for _, line := range p.encoding.sections {
		w.line(0, "%s", line)
	}
	if p.encoding.sections != nil {
		w.line(0, "")
	}
	p.table(w, k, topic)
	w.line(0, "")
	p.pipeline(w, k, topic)
	return []byte(w.String())
}

func (p *Proposal) bad() string {
	if p.Bad == 0 {
		return ""
	}
	what := "not JSON objects"
	if p.encoding.fields != nil {
		what = "not of the schema"
	}
	return fmt.Sprintf("; %s %s and would be dead letters", term.Thousands(int64(p.Bad))+" of them are", what)
}

// table writes the table, and the other keys as comments.
func (p *Proposal) table(w *writer, k *Key, table string) {
	w.line(0, "tables:")
	w.line(1, "%s:", table)
	w.line(2, "row: %s", k.Row+rowNote(k.Row))
	w.line(2, "# Answers: %s.", k.Reads)
	w.line(2, "# %s", p.measured(k))
	w.line(2, "key: %s", k.Expr)
	for i := range p.Keys {
		if other := &p.Keys[i]; other != k {
			w.line(2, "#")
			w.line(2, "# Or, with row: %s, for %s:", other.Row, other.Reads)
			w.line(2, "# key: %s", other.Expr)
			if other.Splits != nil {
				w.line(2, "# and, instead of regions, %s", other.regions())
			}
			w.line(2, "# %s", p.measured(other))
		}
	}
	w.line(2, "families:")
	w.line(3, "d: { versions: 1, compression: gz, bloom: row }")
	w.line(2, "%-27s # the key spreads rows over them evenly from the first write", k.regions())
}

// regions returns the setting that creates the table in several regions.
func (k *Key) regions() string {
	if k.Splits == nil {
		return fmt.Sprintf("regions: %d", regions)
	}
	return `splits: ["` + strings.Join(k.Splits, `", "`) + `"]`
}

func rowNote(row string) string {
	if row == "entity" {
		return "                 # all changes of one entity go into one row; in each column the newest version wins"
	}
	return "                  # each record is a row of its own"
}

// measured returns what the sample shows about a key.
func (p *Proposal) measured(k *Key) string {
	text := fmt.Sprintf("In the sample: %s, at most %.0f %% of them in one of 16 equal regions", term.Count(k.Rows, "row"), 100*k.Spread)
	switch {
	case k.Row == "event" && k.Clash > 0:
		text += fmt.Sprintf("; %s would overwrite a different one: add a field that tells them apart", records(k.Clash))
	case k.Row == "event":
		text += "; no record overwrites a different one"
	}
	return text + "."
}

func records(n int) string { return term.Count(n, "record") }

// pipeline writes the pipeline.
func (p *Proposal) pipeline(w *writer, k *Key, table string) {
	w.line(0, "pipelines:")
	w.line(1, "%s:", table)
	w.line(2, "topic: %s", quote(p.opts.Topic))
	if c := p.encoding.changes; c == nil || c.form != event.CanalProtobuf {
		w.line(2, "format: %s", p.encoding.name)
	}
	for _, line := range p.encoding.lines {
		w.line(2, "%s", line)
	}
	if c := p.encoding.changes; c != nil {
		setting, _ := c.envelope(p.Fields)
		w.line(2, "%s", setting)
		if c.unwrapped.marks() {
			w.line(2, "deletes: marked               # by __deleted or __op; a record without a value after one says nothing new")
		}
		w.line(2, "images: { deleted: %s }", c.gone)
	}
	if t := p.tombstones; t != nil {
		if t.settings(w); p.encoding.changes == nil {
			w.line(2, "images: { deleted: %s }", t.gone)
		}
	}
	w.line(2, "fields:")
	for _, f := range p.Fields {
		w.line(3, "%s", declaration(f))
	}
	p.version(w)
	if p.Partial {
		w.line(2, "changes: partial              # a record carries only the fields that it changes")
	} else {
		w.line(2, "changes: whole                # a record carries all fields")
	}
	w.line(2, "rows:")
	w.line(3, "- table: %s", table)
	w.line(4, "set:")
	columns := p.columns(k)
	stores := p.storesNulls()
	inBytes := func(f Field) bool { return stores && f.Type == event.Bytes }
	for _, f := range columns {
		if !inBytes(f) {
			w.line(5, "%q: %s", "d:"+f.Name, f.Name)
		}
	}
	if slices.ContainsFunc(columns, inBytes) {
		w.line(4, "pack:                       # any bytes are a value of a column, but a map may lack one")
	}
	for _, f := range columns {
		if inBytes(f) {
			w.line(5, "%q: { format: msgpack, fields: { %s: %[2]s } }", "d:"+f.Name, f.Name)
		}
	}
	if stores {
		w.line(4, "nulls: store                # a column that becomes null loses its former value")
	}
}

// storesNulls reports whether nulls of the records are values: a database's changes carry all columns of a row.
func (p *Proposal) storesNulls() bool {
	return p.encoding.changes != nil && p.Entity != "" && !p.Partial
}

// columns returns the fields that cannot be read back from the key, but at least one, because a row needs a cell.
func (p *Proposal) columns(k *Key) []Field {
	out := slices.DeleteFunc(slices.Clone(p.Fields), func(f Field) bool {
		return slices.Contains(k.fields, f.Name) || p.encoding.changes.orders(f.Name)
	})
	if len(out) == 0 {
		return p.Fields[:1]
	}
	return out
}

// version writes the version, and the alternatives to it.
func (p *Proposal) version(w *writer) {
	best := p.Versions[0]
	if p.tombstones != nil && best.Field == "" {
		w.line(2, "# No version: a record without a value has only its own time.")
	} else if best.Field == "" {
		w.line(2, "# No version: no field orders the changes of one %s, so the time of the Kafka record does.", p.Entity)
	} else {
		w.line(2, "version: %-20s # orders the changes of one %s%s", best.Field, p.Entity, tied(best))
	}
	if c := p.encoding.changes; c != nil && c.log != noPlace {
		w.line(2, "# After a failover these positions start over: see epochs in docs/rows.md.")
	}
	for _, v := range p.Versions[1:] {
		what := "version: " + v.Field
		if v.Field == "" {
			if what = "none, for the time of the Kafka record"; !p.opts.Keyed {
				continue // of a file: the time when it is published
			}
		}
		w.line(2, "# Or %s: %s.", what, strings.TrimPrefix(tied(v), "; "))
	}
}

func tied(v Version) string {
	if v.Ties == 0 {
		return "; no ties in the sample"
	}
	return fmt.Sprintf("; %s of the sample tie, and which of them wins depends on the order they are applied in", records(v.Ties))
}

// declaration returns a field as an entry of the mapping of fields.
func declaration(f Field) string {
	text := f.Type.String()
	var more []string
	if f.Place == event.WholeKey || f.Place == event.InKey && len(f.Path) == 0 {
		more = append(more, "path: $key")
	} else if f.Place == event.WholeValue {
		more = append(more, "path: $value")
	} else if f.Place == event.InHeader {
		more = append(more, `path: ["$header", `+quote(f.Path[0])+"]")
	} else if f.Place == event.InKey {
		more = append(more, "path: ["+strings.Join(append([]string{`"$key"`}, quoted(f.Path)...), ", ")+"]")
	} else if len(f.Path) > 0 {
		more = append(more, "path: ["+strings.Join(quoted(f.Path), ", ")+"]")
	}
	if f.Type == event.Time && f.Format != event.RFC3339 {
		more = append(more, "format: "+quote(f.Format))
	}
	if f.Numbers {
		more = append(more, "from: number")
	}
	if len(more) > 0 {
		text = "{ type: " + text + ", " + strings.Join(more, ", ") + " }"
	}
	text = f.Name + ": " + text
	if f.Note != "" {
		text = fmt.Sprintf("%-28s # %s", text, f.Note)
	}
	return text
}

// writer writes lines, with two spaces per level.
type writer struct{ strings.Builder }

func (w *writer) line(depth int, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if text != "" {
		w.WriteString(strings.Repeat("  ", depth))
	}
	w.WriteString(strings.TrimRight(text, " ") + "\n")
}

func quoted(texts []string) []string {
	out := make([]string, len(texts))
	for i, text := range texts {
		out[i] = quote(text)
	}
	return out
}

// quote returns a text quoted so that YAML reads it as this text.
func quote(text string) string {
	plain := text != "" && strings.Trim(text, "0123456789.+-eE_") != "" && strings.IndexFunc(text, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("._-/", r)
	}) < 0 && !slices.Contains([]string{"true", "false", "null", "yes", "no", "on", "off", "y", "n"}, strings.ToLower(text))
	if plain {
		return text
	}
	return fmt.Sprintf("%q", text)
}
