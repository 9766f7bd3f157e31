package contract

import (
	"math"
	"slices"
	"strings"

	"brine/event"
)

// draft2020 is the version of JSON Schema.
const draft2020 = "https://json-schema.org/draft/2020-12/schema"

// JSONSchema describes the records' values as JSON Schema (draft 2020-12), and their keys and headers under $defs if fields are in these.
func (t *Terms) JSONSchema() ([]byte, error) {
	value, err := t.value()
	if err != nil {
		return nil, err
	}
	out := object{{"$schema", draft2020}, {"title", "Records of topic " + t.Topic},
		{"description", t.about()}}
	if t.Schema.Tombstones {
		value = nullable(value)
	}
	out = append(out, value...)
	var defs object
	if key := t.keyInJSON(); key != nil {
		defs = defs.with("key", key)
	}
	if headers := t.headers(); headers != nil {
		defs = defs.with("headers", headers)
	}
	if defs != nil {
		out = out.with("$defs", defs)
	}
	return document(out), nil
}

// about returns what a publisher should know besides the fields.
func (t *Terms) about() string {
	said := []string{"Records that pipeline " + t.Pipeline + " of brine accepts. Members that are not listed are ignored."}
	if t.Framing != "" {
		said = append(said, "Each record is preceded by the id of its schema, as "+t.Framing+" writes it.")
	}
	switch {
	case t.KeyFraming != "":
		said = append(said, "Each key is in "+t.KeyFormat+", preceded by the id of its schema, as "+t.KeyFraming+" writes it.")
	case t.KeyFormat == Avro || t.KeyFormat == Protobuf:
		said = append(said, "Each key is in "+t.KeyFormat+".")
	}
	switch t.Format {
	case JSONArray:
		said = append(said, "Each record is an array of objects, every one an event.")
	case CSV:
		said = append(said, "Each record is one row, its values separated by "+quoted(t.Between)+
			", as in RFC 4180; this schema describes its list of values.")
	}
	said = append(said, "Texts are UTF-8. Whole numbers have neither fraction nor exponent.")
	if s := &t.Schema; s.Version < 0 && s.Position == nil {
		said = append(said, "The time of the Kafka record orders changes of one row.")
	}
	if t.Schema.Tombstones {
		said = append(said, deletes)
	}
	return strings.Join(said, " ")
}

// deletes is what a publisher should know about tombstones.
const deletes = "A record without a value (null in Kafka, not the text null) is a delete of what its key names."

func quoted(text string) string { return string(must(marshal(text))) }

func must(b []byte, err error) []byte {
	if err != nil {
		panic("BUG: contract: " + err.Error())
	}
	return b
}

// value describes the records' values.
func (t *Terms) value() (object, error) {
	root := t.part(event.InValue)
	switch t.Format {
	case CSV:
		return t.row(root), nil
	case Raw:
		if whole := t.part(event.WholeValue); whole.field != nil {
			return t.leaf(whole), nil
		}
		return nil, nil
	case JSON, JSONArray:
	default:
		return nil, unfit("records of pipeline %s are %s, which JSON Schema does not describe; omit --format, or use --format %s or "+
			"asyncapi", t.Pipeline, t.Format, map[string]string{Avro: "avro", Protobuf: "proto"}[t.Format])
	}
	record := t.record(root)
	if t.Format == JSONArray {
		return object{{"type", "array"}, {"items", record}, {"maxItems", event.MaxEvents}}, nil
	}
	return record, nil
}

// row describes a row of CSV as an array.
func (t *Terms) row(root *tree) object {
	var items []any
	for _, name := range t.Columns {
		item := object{{"title", name}, {"type", "string"}}
		if n := root.child(name); n != nil && n.field != nil {
			n.texts = true
			item = append(object{{"title", name}}, t.text(n)...)
		}
		items = append(items, item)
	}
	return object{{"type", "array"}, {"prefixItems", items}, {"minItems", len(items)}, {"maxItems", len(items)}}
}

// text describes a field that is written as a text; an empty one is null.
func (t *Terms) text(n *tree) object {
	leaf := onlyTexts(t.leaf(n))
	if n.why == "" || leaf.get("pattern") == nil && leaf.get("enum") == nil {
		if n.why != "" {
			return leaf.with("minLength", 1)
		}
		return object{{"anyOf", []any{leaf, object{{"const", ""}}}}}
	}
	return leaf
}

// onlyTexts returns the part of a leaf that concerns texts.
func onlyTexts(leaf object) object {
	var out object
	for _, m := range leaf {
		switch m.name {
		case "type":
			m.value = "string"
		case "minimum", "maximum":
			continue
		case "enum":
			m.value = slices.DeleteFunc(slices.Clone(m.value.([]any)), func(v any) bool { _, ok := v.(string); return !ok })
		}
		out = append(out, m)
	}
	return out
}

// node describes what is at n, and below it.
func (t *Terms) node(n *tree) object {
	if n.field != nil {
		leaf := t.leaf(n)
		if n.why != "" {
			return leaf
		}
		if leaf = nullable(leaf); n.column && !anyText(leaf) {
			return object{{"anyOf", []any{leaf, object{{"const", unavailable}}}}}
		}
		return leaf
	}
	return t.branch(n, n.needed())
}

// unavailable is what Debezium writes in place of a value that the database did not send.
const unavailable = "__debezium_unavailable_value"

// anyText reports whether a leaf takes any text.
func anyText(leaf object) bool {
	if leaf.get("pattern") != nil || leaf.get("enum") != nil {
		return false
	}
	switch kind := leaf.get("type").(type) {
	case string:
		return kind == "string"
	case []string:
		return slices.Contains(kind, "string")
	}
	return true
}

// branch describes an object, or an array if the keys are its indexes.
func (t *Terms) branch(n *tree, needed bool) object {
	var properties object
	var required []string
	for _, m := range n.children {
		properties = properties.with(m.key, t.node(m))
		if m.needed() {
			required = append(required, m.key)
		}
	}
	kinds := []string{"object"}
	var items []any
	if n.elements() {
		kinds = append(kinds, "array")
		items = t.items(n)
	}
	if !needed {
		kinds = append(kinds, "null")
	}
	out := object{{"type", oneOrAll(kinds)}, {"properties", properties}}
	if items != nil {
		out = out.with("prefixItems", items)
		if least := n.least(); least > 0 {
			out = out.with("minItems", least)
		}
	}
	if required != nil {
		out = out.with("required", required)
	}
	return out
}

// items describes the declared elements of an array.
func (t *Terms) items(n *tree) []any {
	var out []any
	for i := range n.last() + 1 {
		var item any = object{}
		for _, m := range n.children {
			if at, _ := index(m.key); at == i {
				item = t.node(m)
			}
		}
		out = append(out, item)
	}
	return out
}

// last returns the highest index below n, and least the smallest number of elements that satisfies the needed ones.
func (n *tree) last() (last int) {
	for _, m := range n.children {
		i, _ := index(m.key)
		last = max(last, i)
	}
	return last
}

func (n *tree) least() (least int) {
	for _, m := range n.children {
		if i, _ := index(m.key); m.needed() {
			least = max(least, i+1)
		}
	}
	return least
}

func oneOrAll(kinds []string) any {
	if len(kinds) == 1 {
		return kinds[0]
	}
	return kinds
}

// nullable returns a leaf that also takes null.
func nullable(leaf object) object {
	out := slices.Clone(leaf)
	for i, m := range out {
		switch kind := m.value.(type) {
		case string:
			if m.name == "type" {
				out[i].value = []string{kind, "null"}
			}
		case []string:
			if m.name == "type" {
				out[i].value = append(slices.Clone(kind), "null")
			}
		case []any:
			if m.name == "enum" || m.name == "anyOf" {
				null := any(nil)
				if m.name == "anyOf" {
					null = object{{"type", "null"}}
				}
				out[i].value = append(slices.Clone(kind), null)
			}
		}
	}
	return out
}

// leaf describes a field that is present.
func (t *Terms) leaf(n *tree) object {
	f := n.field
	leaf := t.typed(f, n.texts || f.Convert.FromText)
	if values := enum(f); values != nil {
		leaf = object{{"enum", values}}
	}
	if said := t.says(n); said != "" {
		leaf = append(object{{"description", said}}, leaf...)
	}
	if !f.Default.Null() && f.Convert.Enum == nil {
		leaf = leaf.with("default", said(f.Default))
	}
	return leaf
}

// said returns a value of the configuration as JSON.
func said(v event.Value) any {
	switch v.Type {
	case event.Int, event.TimeMS:
		return v.Int()
	case event.Float:
		return v.Float()
	case event.Bool:
		return v.Bool()
	default:
		if text, ok := v.Textual(); ok {
			return text
		}
		return string(v.Text())
	}
}

// says returns what a publisher should know about a field.
func (t *Terms) says(n *tree) string {
	f := n.field
	var parts []string
	if n.why != "" {
		parts = append(parts, n.why)
	}
	switch f.Type {
	case event.TimeMS:
		parts = append(parts, "milliseconds since 1970 (UTC)")
	case event.TimeS:
		parts = append(parts, "seconds since 1970 (UTC)")
	case event.TimeUS:
		parts = append(parts, "microseconds since 1970 (UTC), or an RFC 3339 time")
	case event.TimeNS:
		parts = append(parts, "nanoseconds since 1970 (UTC), or an RFC 3339 time")
	case event.Date:
		parts = append(parts, "a date, or days since 1970")
	case event.Bytes:
		parts = append(parts, "bytes in base64")
	case event.Decimal:
		parts = append(parts, t.decimal(f)+"at most 38 digits, all of which are kept")
	case event.Time:
		if format, err := event.ParseTimeFormat(f.Format, f.Zone); err == nil {
			parts = append(parts, strings.TrimSuffix(format.Expects()+" in "+f.Zone, " in "))
		}
	}
	if f.Decimal && t.Format != Avro {
		parts = append(parts, "a decimal as Kafka Connect writes it, bytes in base64")
	}
	if f.Convert.Enum != nil && f.Convert.Else != "" {
		parts = append(parts, "one of "+strings.Join(sorted(f.Convert.Enum), ", ")+"; anything else means "+f.Convert.Else)
	}
	return strings.Join(parts, "; ")
}

// decimal says how a decimal is written where no type of the format's own keeps it.
func (t *Terms) decimal(f *event.Field) string {
	switch {
	case t.Format == Avro && !f.Decimal:
		return "a decimal number as a text, such as 12.50, or bytes of the logical type decimal with the publisher's own scale; "
	case t.Format == Protobuf && !t.packets():
		return "a decimal number as a text, such as 12.50; "
	}
	return ""
}

func sorted(table map[string]string) (keys []string) {
	for key := range table {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// enum returns the only values of a field, or nil if there are others, or if they may have another case or spaces around them.
func enum(f *event.Field) (values []any) {
	if c := &f.Convert; c.Enum == nil || c.Else != "" || c.Trim || c.Case != event.AnyCase {
		return nil
	}
	for _, key := range sorted(f.Convert.Enum) {
		values = append(values, key)
		if n, ok := index(key); ok {
			values = append(values, n)
		}
	}
	return values
}

const (
	wholePattern  = `^[+-]?[0-9]+$`
	numberPattern = `^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?$`
	truthPattern  = `^(true|false|1|0)$`
	base64Pattern = `^[A-Za-z0-9+/]+={0,2}$`
	bytesPattern  = `^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$`
	datePattern   = `^[0-9]{4}-[0-9]{2}-[0-9]{2}$`
)

// typed describes the type of a field; if texts is set, a text in place of the value is taken too.
func (t *Terms) typed(f *event.Field, texts bool) object {
	spaced := func(pattern string) string {
		if f.Convert.Trim {
			return `^\s*` + strings.Trim(pattern, "^$") + `\s*$`
		}
		return pattern
	}
	whole := func(low, high int64) object {
		if f.Name == t.versionName() {
			low = 0
		}
		if f.Name == t.Schema.Sequence && f.Name != "" {
			low, high = 0, 999
		}
		kinds := []string{"integer"}
		var out object
		if texts {
			kinds = append(kinds, "string")
			out = out.with("pattern", spaced(wholePattern))
		}
		return append(object{{"type", oneOrAll(kinds)}, {"minimum", low}, {"maximum", high}}, out...)
	}
	switch f.Type {
	case event.Text:
		return t.textual(f)
	case event.Int, event.TimeMS:
		return whole(math.MinInt64, math.MaxInt64)
	case event.TimeS:
		return whole(math.MinInt64/1000, math.MaxInt64/1000)
	case event.Float:
		if f.Decimal {
			return object{{"type", []string{"number", "string"}}, {"pattern", base64Pattern}}
		}
		out := object{{"type", "number"}, {"minimum", -math.MaxFloat64}, {"maximum", math.MaxFloat64}}
		if texts {
			out[0].value = []string{"number", "string"}
			out = out.with("pattern", spaced(numberPattern))
		}
		return out
	case event.Decimal:
		if f.Decimal {
			return object{{"type", []string{"number", "string"}}, {"pattern", base64Pattern}}
		}
		if texts {
			return object{{"type", []string{"number", "string"}}, {"pattern", spaced(numberPattern)}}
		}
		return object{{"type", "number"}}
	case event.Bytes:
		return object{{"type", "string"}, {"contentEncoding", "base64"}, {"pattern", spaced(bytesPattern)}}
	case event.Date:
		return object{{"type", []string{"integer", "string"}}, {"pattern", spaced(datePattern)}}
	case event.TimeUS, event.TimeNS:
		pattern, _ := timed(&event.Field{Type: event.Time}).get("pattern").(string)
		return object{{"type", []string{"integer", "string"}}, {"pattern", spaced(pattern)}}
	case event.Bool:
		if texts {
			return object{{"type", []string{"boolean", "string"}}, {"pattern", spaced(truthPattern)}}
		}
		return object{{"type", "boolean"}}
	case event.Time:
		return timed(f)
	default: // json: anything
		return object{}
	}
}

// versionName returns the field that orders changes, or an empty string if none does by itself.
func (t *Terms) versionName() string {
	if v := t.Schema.Version; v >= 0 {
		return t.Schema.Fields[v].Name
	}
	return ""
}

// textual describes a text.
func (t *Terms) textual(f *event.Field) object {
	switch {
	case f.Decimal:
		return object{{"type", []string{"string", "object", "number"}}, {"pattern", base64Pattern}}
	case f.Numbers:
		return object{{"type", []string{"string", "number"}}}
	case f.Convert.Enum != nil:
		return object{{"type", []string{"string", "number", "boolean"}}}
	}
	return object{{"type", "string"}}
}

// timed describes a time with its own format.
func timed(f *event.Field) object {
	format, err := event.ParseTimeFormat(f.Format, f.Zone)
	if err != nil {
		return object{{"type", "string"}}
	}
	switch {
	case strings.HasPrefix(f.Format, "epoch_"):
		return object{{"type", []string{"number", "string"}}, {"pattern", format.Pattern()}}
	case f.Format == "" || f.Format == event.RFC3339:
		return object{{"type", "string"}, {"format", "date-time"}, {"pattern", format.Pattern()}}
	}
	return object{{"type", "string"}, {"pattern", format.Pattern()}}
}

// key describes the records' keys; nil: no field is in them.
func (t *Terms) key() object {
	if whole := t.part(event.WholeKey); whole.field != nil {
		return t.asText(whole)
	}
	root := t.part(event.InKey)
	switch {
	case root.field != nil:
		return t.leaf(root)
	case len(root.children) == 0:
		return nil
	}
	return t.branch(root, root.needed())
}

// asText describes a part of the record that is a text.
func (t *Terms) asText(n *tree) object {
	n.texts = true
	return onlyTexts(t.leaf(n))
}

// headers describes the records' headers; nil: no field is one.
func (t *Terms) headers() object {
	root := t.part(event.InHeader)
	if len(root.children) == 0 {
		return nil
	}
	var properties object
	var required []string
	for _, n := range root.children {
		properties = properties.with(n.key, t.asText(n))
		if n.why != "" {
			required = append(required, n.key)
		}
	}
	out := object{{"type", "object"}, {"properties", properties}}
	if required != nil {
		out = out.with("required", required)
	}
	return out
}
