package config

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"brine/event"
	"brine/internal/when"
	"brine/rowkey"
	"brine/rowkey/eventkey"
	"brine/sink"
)

// writers returns the entries of rows, of all pipelines, that write the table.
func writers(c *Config, table string) []*Rows {
	var out []*Rows
	for _, p := range c.Pipelines {
		out = append(out, p.entriesOf(table)...)
	}
	return out
}

// entriesOf returns the pipeline's entries that write a table.
func (p *Pipeline) entriesOf(table string) []*Rows {
	var out []*Rows
	for i := range p.Rows {
		if p.Rows[i].Table == table {
			out = append(out, &p.Rows[i])
		}
	}
	return out
}

// rowsOf returns the first entry that writes a table, or nil if there is none.
func (p *Pipeline) rowsOf(table string) *Rows {
	if all := p.entriesOf(table); len(all) > 0 {
		return all[0]
	}
	return nil
}

// Writes reports whether an entry of the pipeline's rows writes a table.
func (p *Pipeline) Writes(table string) bool { return p.rowsOf(table) != nil }

// MasksWriter reports whether the header that names the writer must not be shown because a masked field is read from it.
func (p *Pipeline) MasksWriter() bool {
	return p.WriterHeader != "" && slices.ContainsFunc(p.Schema().Fields, func(f event.Field) bool {
		return f.Where() == "$header."+p.WriterHeader && p.config.Mask().MasksField(p.Name, f.Name)
	})
}

// Uses reports whether the pipeline depends on a table: it writes the table, or documents for its rows, or looks up keys in it.
func (p *Pipeline) Uses(table string) bool {
	return p.KeyFrom.Table == table || p.Writes(table) || slices.ContainsFunc(p.Documents, func(d Documents) bool { return d.Table == table })
}

// firstTable returns the table of the first entry, or "" if there is none.
func (p *Pipeline) firstTable() string {
	if len(p.Rows) == 0 {
		return ""
	}
	return p.Rows[0].Table
}

// name returns what a problem of the pipeline p calls the entry.
func (r *Rows) name(p *Pipeline) string {
	if r.pipeline == p {
		return r.setting
	}
	return "pipeline " + r.pipeline.Name
}

// eventField returns the field of the event that fills a field of the key, or "" for a word.
func (r *Rows) eventField(name string) string {
	if i := slices.IndexFunc(r.As, func(f KeyField) bool { return f.Name == name }); i >= 0 {
		return r.As[i].Field
	}
	if r.isWord(name) {
		return ""
	}
	return name
}

func (r *Rows) isWord(name string) bool {
	return slices.ContainsFunc(r.Each, func(e Each) bool { return e.Name == name })
}

// keyType returns the type of a field in the key.
func (r *Rows) keyType(name string) rowkey.Type {
	if r.isWord(name) {
		return rowkey.Text
	}
	return keyType(r.pipeline, r.eventField(name))
}

// keyField returns a field of the key.
func (r *Rows) keyField(name string) rowkey.Field {
	f := rowkey.Field{Name: name, Type: r.keyType(name)}
	if from := r.pipeline.field(r.eventField(name)); from != nil {
		f.Unit, f.Whole = eventkey.Unit(from.eventType()), from.whole()
	}
	return f
}

// keyFields returns the fields that a key can use.
func (r *Rows) keyFields() []rowkey.Field {
	names := make([]string, 0, len(r.pipeline.Fields))
	for _, f := range r.pipeline.Fields {
		names = append(names, f.Name)
	}
	for _, f := range r.As {
		names = append(names, f.Name)
	}
	for _, e := range r.Each {
		names = append(names, e.Name)
	}
	var out []rowkey.Field
	for i, name := range names {
		if !slices.Contains(names[:i], name) {
			out = append(out, r.keyField(name))
		}
	}
	return out
}

// deleted returns the field that marks an event of the entry as a delete, or "" if there is none.
func (r *Rows) deleted() string { return cmp.Or(r.Deleted, r.pipeline.Images.Deleted) }

func (d *Documents) deleted(p *Pipeline) string { return cmp.Or(d.Deleted, p.Images.Deleted) }

func (r *Rows) columnNames() []string {
	var out []string
	for _, c := range r.Set {
		out = append(out, c.Name)
	}
	for _, c := range r.Pack {
		out = append(out, c.Name)
	}
	if r.Empty != "" {
		out = append(out, r.Empty+":")
	}
	return out
}

func familyOf(column string) string {
	family, _, _ := strings.Cut(column, ":")
	return family
}

// members reports whether the column stands for one column per member of its field, and returns their prefix.
func (c *Column) members() (prefix string, ok bool) {
	_, qualifier, _ := strings.Cut(c.Name, ":")
	return strings.CutSuffix(qualifier, "*")
}

// wholeRecord is the field that stands for the record itself.
const wholeRecord = "*"

// packed returns a packed column by name, or nil if there is none.
func (r *Rows) packed(column string) *PackedColumn {
	if i := slices.IndexFunc(r.Pack, func(c PackedColumn) bool { return c.Name == column }); i >= 0 {
		return &r.Pack[i]
	}
	return nil
}

// packedFields returns the fields of a packed column: those that it names, else all fields of the pipeline.
func (p *Pipeline) packedFields(column *PackedColumn) []PackedField {
	if len(column.Fields) > 0 {
		return column.Fields
	}
	out := make([]PackedField, len(p.Fields))
	for i := range p.Fields {
		out[i] = PackedField{Name: p.Fields[i].Name, Field: p.Fields[i].Name}
	}
	return out
}

// pack describes a packed column for the sink and queries. An undeclared field has no type, and is reported separately.
func (p *Pipeline) pack(column *PackedColumn) *event.Pack {
	out := &event.Pack{Packing: event.Packing(column.Format)}
	for _, f := range p.packedFields(column) {
		packed := event.PackedField{Name: f.Name, Field: f.Field}
		if declared := p.field(f.Field); declared != nil {
			packed.Type = declared.eventType()
		}
		out.Fields = append(out.Fields, packed)
	}
	return out
}

// sink describes the entry for the sink.
func (r *Rows) sink() sink.Rows {
	p := r.pipeline
	out := sink.Rows{Table: p.config.Table(r.Table).sink(), Nulls: sink.NullPolicy(r.Nulls), Empty: r.Empty}
	for _, column := range r.Set {
		family, qualifier, _ := strings.Cut(column.Name, ":")
		c := sink.Column{Family: family, Qualifier: qualifier, Field: column.Field}
		if prefix, ok := column.members(); ok {
			c.Qualifier, c.Members = prefix, &sink.Members{Except: column.Except, Limit: column.Limit}
			c.Field = strings.TrimPrefix(c.Field, wholeRecord)
		}
		out.Columns = append(out.Columns, c)
	}
	for i := range r.Pack {
		family, qualifier, _ := strings.Cut(r.Pack[i].Name, ":")
		out.Columns = append(out.Columns, sink.Column{Family: family, Qualifier: qualifier, Pack: p.pack(&r.Pack[i])})
	}
	for _, f := range r.As {
		if out.As == nil {
			out.As = map[string]string{}
		}
		out.As[f.Name] = f.Field
	}
	if len(r.Each) > 0 {
		out.Each = &sink.Each{Name: r.Each[0].Name, Tokens: r.Each[0].tokens()}
	}
	out.Deletes = sink.Deletes{Field: r.deleted(), Hard: r.HardDeletes}
	if r.When != "" {
		out.When, out.Otherwise = r.setting+".when", sink.Otherwise(r.Otherwise)
	}
	if d, ok := r.ttlFor(); ok {
		out.TTL.For = d
	} else {
		out.TTL.Until = r.TTL
	}
	return out
}

// ttlFor returns the ttl if it is a duration rather than a field name. It returns 0 if the duration is invalid.
func (r *Rows) ttlFor() (time.Duration, bool) {
	if r.TTL == "" || fieldNames.MatchString(r.TTL) {
		return 0, false
	}
	d, _ := when.Duration(r.TTL)
	return d, true
}

// texts returns the fields that words come from, as the user wrote them.
func (e *Each) texts() []string { return append(e.Words[:len(e.Words):len(e.Words)], e.CJK...) }

func (e *Each) tokens() event.Tokens {
	out := event.Tokens{Tokenizer: event.Words, Limit: e.Limit, Cut: e.Beyond == "cut"}
	if len(e.CJK) > 0 {
		out.Tokenizer = event.CJK
	}
	for _, text := range e.texts() {
		out.Fields = append(out.Fields, textField(text))
	}
	return out
}

// textField parses field or field.path.
func textField(text string) event.TextField {
	name, path, inside := strings.Cut(text, ".")
	f := event.TextField{Field: name}
	if inside {
		f.Path = strings.Split(path, ".")
	}
	return f
}
