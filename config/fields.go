package config

import (
	"brine/event"
	"brine/rowkey"
	"slices"
	"strings"
	"time"
)

func (p *Pipeline) field(name string) *Field {
	if i := slices.IndexFunc(p.Fields, func(f Field) bool { return f.Name == name }); i >= 0 {
		return &p.Fields[i]
	}
	return nil
}

// eventType returns 0 if the type is missing or unknown, which is reported separately.
func (f *Field) eventType() event.Type {
	t, err := event.ParseType(f.Type)
	if err != nil {
		return 0
	}
	return t
}

// unit returns the precision of a time, such as second, or "" if the field may have milliseconds or is not a time.
func (f *Field) unit() string {
	switch f.eventType() {
	case event.TimeS:
		return "second"
	case event.Time:
		if format, err := event.ParseTimeFormat(f.Format, f.Zone); err == nil {
			return format.Unit()
		}
	}
	return ""
}

// whole returns what all values of a time are whole numbers of, counted in UTC as keys count them, or 0 if that is not known.
func (f *Field) whole() time.Duration {
	whole := map[string]time.Duration{"second": time.Second, "minute": time.Minute, "hour": time.Hour, "day": 24 * time.Hour}[f.unit()]
	if whole > time.Minute && (f.Zone != "" && f.Zone != "UTC" || strings.Contains(f.Format, "%z")) {
		return 0
	}
	return whole
}

var keyTypes = map[event.Type]rowkey.Type{
	event.Text: rowkey.Text, event.Int: rowkey.Int, event.Float: rowkey.Float, event.Bool: rowkey.Bool,
	event.TimeMS: rowkey.Time, event.TimeS: rowkey.Time, event.Time: rowkey.Time,
	event.Date: rowkey.Int, event.TimeUS: rowkey.Int, event.TimeNS: rowkey.Int,
}

func keyType(p *Pipeline, field string) rowkey.Type {
	if f := p.field(field); f != nil {
		return keyTypes[f.eventType()]
	}
	return 0
}

func typeName(p *Pipeline, field string) string {
	if f := p.field(field); f != nil {
		return f.Type
	}
	return "absent"
}

// places maps the beginning of a path to a part of the record other than what its format finds in the value.
var places = map[string]event.Place{
	"$key": event.WholeKey, "$value": event.WholeValue, "$header": event.InHeader, "$topic": event.RecordTopic,
	"$partition": event.RecordPartition, "$offset": event.RecordOffset, "$timestamp": event.RecordTime,
}

// event returns the field as the decoder needs it. Its errors are reported separately.
func (f *Field) event() event.Field {
	place, path := f.place()
	out := event.Field{Name: f.Name, Type: f.eventType(), Place: place, Path: path, Format: f.Format, Zone: f.Zone,
		Numbers: f.From == "number", Decimal: f.From == "decimal", Scale: f.Scale, Made: f.made,
		Convert: event.Conversion{FromText: f.From == "text", Trim: f.Trim, Case: event.Case(f.Case), Else: f.Else}}
	for _, v := range f.Enum {
		if out.Convert.Enum == nil {
			out.Convert.Enum = map[string]string{}
		}
		out.Convert.Enum[v.Name] = string(v.To)
	}
	if f.Default != "" {
		out.Default, _ = f.given(f.Default)
	}
	if f.Value != "" {
		out.Const, _ = f.given(f.Value)
	}
	return out
}

// given returns a value that the configuration sets for the field.
func (f *Field) given(text Scalar) (event.Value, error) {
	as := event.Field{Name: f.Name, Type: f.eventType(), Format: f.Format, Zone: f.Zone}
	if _, err := event.ParseTimeFormat(f.Format, f.Zone); as.Type == 0 || err != nil {
		return event.Value{}, nil //nolint:nilerr // reported at the type or the format
	}
	return as.ValueOf(string(text))
}

// place returns the part of the record that holds the field, and the keys within that part.
func (f *Field) place() (event.Place, []string) {
	if len(f.Path) == 0 || !strings.HasPrefix(f.Path[0], "$") {
		return event.InValue, f.Path
	}
	first, rest := f.Path[0], f.Path[1:]
	if literal, ok := strings.CutPrefix(first, "$$"); ok {
		return event.InValue, append([]string{"$" + literal}, rest...)
	}
	switch place, ok := places[first]; {
	case !ok: // a field of an envelope
		return event.InValue, f.Path
	case place == event.WholeKey && len(rest) > 0:
		return event.InKey, rest
	case place == event.InHeader:
		return place, []string{strings.Join(rest, ".")} // header names may contain dots
	default:
		return place, rest
	}
}

// beside reports whether the field is outside the record's value.
func (f *Field) beside() bool {
	place, _ := f.place()
	return f.Value != "" || place != event.InValue
}

// always reports whether every event has a value for the field.
func (p *Pipeline) always(name string) bool {
	f := p.field(name)
	if f == nil {
		return false
	}
	switch place, _ := f.place(); place {
	case event.RecordTopic, event.RecordPartition, event.RecordOffset:
		return true
	default:
		return f.Default+f.Value != ""
	}
}

// path returns the path of the field in the record.
func (f *Field) path() []string {
	switch place, keys := f.place(); {
	case len(f.Path) == 0:
		return []string{f.Name}
	case place == event.InHeader:
		return append([]string{f.Path[0]}, keys...)
	}
	return f.Path
}

// checkPlace checks a path that begins with $.
func (l *loader) checkPlace(p *Pipeline, f *Field, setting string) {
	if len(f.Path) == 0 || !strings.HasPrefix(f.Path[0], "$") || strings.HasPrefix(f.Path[0], "$$") {
		return
	}
	setting += ".path"
	first := f.Path[0]
	switch _, ok := places[first]; {
	case !ok && p.envelope() != nil:
		return
	case !ok:
		names := []string{"$header.name", "$key", "$offset", "$partition", "$timestamp", "$topic", "$value"}
		l.fault(setting, FieldPath, first+" is not a part of a record", didYouMean(first, names, "write one of "+strings.Join(names, ", ")+
			"; for a member of the value whose name begins with $, write $"+first))
		return
	}
	place, keys := f.place()
	t := f.eventType()
	want := ""
	switch {
	case place == event.InHeader && keys[0] == "":
		l.fault(setting, FieldPath, "names no header", "write $header.name")
		return
	case place == event.InKey && p.KeyFormat == "text":
		l.fault(setting, FieldPath, "is in the key, which the pipeline reads as plain text",
			"write key_format: json, avro or protobuf, or path: $key")
		return
	case place == event.WholeKey && len(keys) == 0 && p.KeyFormat == formatProtobuf:
		l.fault(setting, FieldPath, "is the whole key, which is a message (key_format: protobuf)", "name a field of the message: $key.name")
		return
	case place != event.InKey && place != event.InHeader && len(keys) > 0:
		l.fault(setting, FieldPath, first+" has no parts", "write path: "+first)
		return
	case place == event.RecordTopic && t != event.Text:
		want = "text"
	case !place.Replayable() && t != event.Int:
		want = "int"
	case place == event.RecordTime && !t.TakesTimes():
		want = "time_ms"
	case t == event.Nested && place != event.InKey && (place != event.WholeKey || !bySchema(p.KeyFormat)):
		want = "text"
	}
	if want != "" && t != 0 {
		l.fault(setting, FieldTypes, first+" is not "+f.Type, "declare the field "+want)
	}
}

// checkConversion checks the conversions of a field's value.
func (l *loader) checkConversion(p *Pipeline, f *Field, setting string) {
	t := f.eventType()
	for _, given := range []struct {
		name string
		text Scalar
	}{{".default", f.Default}, {".value", f.Value}} {
		if given.text == "" {
			continue
		}
		if _, err := f.given(given.text); err != nil {
			l.fault(setting+given.name, FieldTypes, quote(string(given.text))+" is not "+f.Type, "write it as it would appear in a record")
		}
	}
	if f.Default != "" && p.Changes == changesPartial {
		l.fault(setting+".default", FieldTypes, "would be written if a change lacks the field, although that means it did not change",
			"remove it, or changes: partial")
	}
	if f.Value != "" {
		for _, name := range []string{".path", ".default", ".from", ".trim", ".case", ".enum"} {
			if l.has(setting + name) {
				l.fault(setting+name, FieldTypes, "does nothing in a field with a fixed value: nothing is read", "remove it, or the value")
			}
		}
		return
	}
	switch {
	case t == 0:
	case f.From == "text" && (t == event.Text || t == event.Nested || t == event.Time || t.Written()):
		l.fault(setting+".from", FieldTypes, "does nothing: the field is declared "+f.Type+", which accepts text as is", "remove it")
	case f.Trim && t == event.Nested:
		l.fault(setting+".trim", FieldTypes, "the field is declared json, which is never trimmed", "remove it")
	case f.Case != "" && t != event.Text:
		l.fault(setting+".case", FieldTypes, "only text has upper and lower case, but the field is declared "+f.Type,
			"remove it, or declare it text")
	case len(f.Enum) > 0 && t != event.Text:
		l.fault(setting+".enum", FieldTypes, "it lists texts, but the field is declared "+f.Type, "declare it text")
	case f.Else != "" && len(f.Enum) == 0:
		l.fault(setting+".else", FieldTypes, "is for values that enum does not list, but there is no enum",
			"write enum: { \"1\": created }, or remove it")
	default:
		l.checkEnum(f, setting+".enum")
	}
}

// checkEnum checks that the listed values can occur: texts are trimmed and converted to their case before the lookup.
func (l *loader) checkEnum(f *Field, setting string) {
	as := event.Conversion{Trim: f.Trim, Case: event.Case(f.Case)}
	for _, v := range f.Enum {
		if turned := as.Turn(v.Name); turned != v.Name {
			l.faultName(join(setting, v.Name), FieldTypes, "never matches: texts are trimmed and converted to their case first",
				"write "+quote(turned))
		}
	}
}

// moves returns why a partition or an offset may fill only columns.
func (f *Field) moves() string {
	return "field " + f.Name + " is " + f.Path[0] + ", which changes if the record is copied to another topic"
}
