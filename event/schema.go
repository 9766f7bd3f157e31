package event

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Type is the declared type of a field.
type Type uint8

// The field types of brine.yaml. TimeMS, TimeS and Time become milliseconds since 1970; they differ in the record's form.
const (
	Text    Type = iota + 1 // a JSON string
	Int                     // a JSON number without fraction or exponent that fits 64 bits
	Float                   // a JSON number within the range of a float64
	Bool                    // true or false
	TimeMS                  // an integer: milliseconds since 1970-01-01 UTC
	TimeS                   // an integer: seconds since 1970-01-01 UTC
	Nested                  // any JSON, such as an object or array, as it is in the record
	Time                    // a string or number in the field's TimeFormat
	Decimal                 // a number of up to 38 digits, exactly
	Bytes                   // any bytes; in JSON a string in base64
	Date                    // a day: a string such as 2013-01-31, or an integer of days since 1970-01-01
	TimeUS                  // an integer of microseconds since 1970-01-01 UTC, or a string in RFC 3339
	TimeNS                  // the same in nanoseconds
)

var typeNames = []string{Text: "text", Int: "int", Float: "float", Bool: "bool", TimeMS: "time_ms", TimeS: "time_s",
	Nested: "json", Time: "time", Decimal: "decimal", Bytes: "bytes", Date: "date", TimeUS: "time_us", TimeNS: "time_ns"}

// String returns the type's name in brine.yaml.
func (t Type) String() string {
	if !t.known() {
		return "null"
	}
	return typeNames[t]
}

func (t Type) known() bool { return t > 0 && int(t) < len(typeNames) }

// IsTime reports whether values of the type are times in milliseconds.
func (t Type) IsTime() bool { return t == TimeMS || t == TimeS || t == Time }

// Stored returns the type that a store holds for a field: times for which IsTime is true become TimeMS.
func (t Type) Stored() Type {
	if t.IsTime() {
		return TimeMS
	}
	return t
}

// ParseType finds a type by its name in brine.yaml.
func ParseType(name string) (Type, error) {
	if i := slices.Index(typeNames, name); i > 0 {
		return Type(i), nil
	}
	return 0, fmt.Errorf("no field type %q; write one of %s", name, strings.Join(typeNames[1:], ", "))
}

// Field is one declared field of an event: its name in brine.yaml, its type and where the record holds it.
type Field struct {
	Name string
	Type Type
	Path []string // object keys from the root; nil means the single key Name

	Format, Zone string // of a Time: see ParseTimeFormat
	Numbers      bool   // of a Text: a number is accepted too, as it is written
	Decimal      bool   // of a Text or Float: bytes in base64, a two's complement that counts 10^-Scale
	Scale        int

	Made    bool       // no record holds it: the schema's Derive computes it
	Place   Place      // the part of the record where Path begins
	Const   Value      // the value in every event, whatever its record holds; null: the record is read
	Default Value      // the value if the record lacks the field or has null there; null: nothing
	Convert Conversion // of what the record holds
}

// OfValue reports whether the field is read from the record's value, at its Keys.
func (f Field) OfValue() bool { return f.Place == InValue && f.Const.Null() && !f.Made }

// OfKey reports whether the field is read from the record's key, at its Keys; none are all of the key.
func (f Field) OfKey() bool { return f.Place == InKey && f.Const.Null() && !f.Made }

// Keys returns the object keys from the root of the part of the record that holds the field down to the field.
func (f Field) Keys() []string {
	if len(f.Path) == 0 && f.Place == InValue {
		return []string{f.Name}
	}
	return f.Path
}

// validate checks a field against the settings that its type allows.
func (f Field) validate() error {
	switch {
	case f.Type == Time:
		if _, err := ParseTimeFormat(f.Format, f.Zone); err != nil {
			return fmt.Errorf("field %s: %w", f.Name, err)
		}
	case f.Format != "" || f.Zone != "":
		return fmt.Errorf("field %s is declared %s, which has no format and no zone; declare it time", f.Name, f.Type)
	}
	switch {
	case f.Numbers && f.Type != Text:
		return fmt.Errorf("field %s is declared %s; only a text can be made from numbers", f.Name, f.Type)
	case f.Decimal && f.Type != Text && f.Type != Float && f.Type != Decimal:
		return fmt.Errorf("field %s is declared %s; a decimal is declared decimal, text or float", f.Name, f.Type)
	case f.Scale < 0 || f.Scale > maxScale:
		return fmt.Errorf("field %s: the scale is %d; it must be 0 to %d", f.Name, f.Scale, maxScale)
	}
	for _, v := range []Value{f.Const, f.Default} {
		if !v.Null() && v.Type != f.Type.Stored() {
			return fmt.Errorf("field %s is declared %s, but its fixed value is %s", f.Name, f.Type, v.Type)
		}
	}
	if f.Made && (f.Place != InValue || !f.Const.Null() || !f.Default.Null() || !f.Convert.none()) {
		return fmt.Errorf("field %s is made by an expression, so nothing is read: remove its path, value, default and conversions", f.Name)
	}
	if !f.Const.Null() && (f.Place != InValue || len(f.Path) > 0 || !f.Default.Null()) {
		return fmt.Errorf("field %s has a fixed value, so nothing is read: remove its path and its default, or the value", f.Name)
	}
	if err := f.Convert.validate(f); err != nil {
		return err
	}
	return f.validatePlace()
}

// Schema is what a pipeline declares of its records: the fields that it uses, and which of them is the version.
type Schema struct {
	Fields []Field
	// Version is the position of the version's field, an Int or a time; -1 means the record's own timestamp.
	Version int
	// Sequence is the Int field n of versions seq(at, n), where at is Version's field; empty: versions are of one field.
	Sequence string
	// Position makes the version from a place in a database's log instead; nil: it is a field, or the record's timestamp.
	Position *Position
	// Lateness is how far the version, a time, may be behind the record's timestamp; 0: any distance.
	Lateness time.Duration
	// Format is how the records encode these fields; nil: as JSON objects.
	Format Format
	// KeyFormat is how their keys encode the fields that are InKey.
	KeyFormat Format
	// Images are the before- and after-images of the records, if they hold any.
	Images Images
	// Tombstones: a record without a value deletes what its other parts name, and Images.Deleted is true for it. If false, such a record is
	// rejected, or left out by an Envelope.
	Tombstones bool
	// Derive computes the fields that are Made and decides which events are kept; nil: there are none, and all are kept.
	Derive Deriver
	// Masked are the positions of fields whose contents appear in no error.
	Masked []int
	// Fix is applied to records that cannot be written as they are, before their fields are read; nil: nothing.
	Fix *Fix
	// Undeclared counts what records hold besides Fields; nil: it is not counted.
	Undeclared *Undeclared
	// Needed are the positions of fields without which a record becomes nothing: a registry's schema that lacks one is breaking.
	Needed []int
	// HaltBreaking: a record whose schema in the registry cannot be read into Fields halts its partition. If false, the record is read as far
	// as possible, and what cannot be read is rejected.
	HaltBreaking bool
	// Envelope is how the publisher of changes wraps rows; nil: records are as Fields and Images describe. Set by Envelope.Wrap.
	Envelope *Envelope
}

// Validate reports the first fault of the schema: an unnamed or untyped field, two fields on one path, a path through another field's
// value, a version that is not an integer, or images that do not fit the fields.
func (s Schema) Validate() error {
	names := map[string]bool{}
	paths := map[string]string{}
	for _, f := range s.Fields {
		switch {
		case f.Name == "":
			return fmt.Errorf("a field has no name")
		case !f.Type.known():
			return fmt.Errorf("field %s has no type; write one of %s", f.Name, strings.Join(typeNames[1:], ", "))
		case names[f.Name]:
			return fmt.Errorf("field %s is declared twice; remove one", f.Name)
		}
		if err := f.validate(); err != nil {
			return err
		}
		names[f.Name] = true
		if f.Made {
			if s.Derive == nil {
				return fmt.Errorf("field %s is declared as made by an expression, but no expression makes it", f.Name)
			}
			continue
		}
		if !f.Const.Null() {
			continue
		}
		if f.Place == InKey && s.KeyFormat == nil {
			return fmt.Errorf("field %s is in the key, but the keys' format is not set; set it", f.Name)
		}
		if _, objects := s.KeyFormat.(JSONFormat); objects && f.Place == InKey && len(f.Path) == 0 {
			return fmt.Errorf("field %s is the whole key, but keys are JSON objects; give it a path, or take the key as a text", f.Name)
		}
		if other, ok := paths[f.joined(len(f.Keys()))]; ok {
			return fmt.Errorf("fields %s and %s have the same path; keep one: a field can be used in several places", other, f.Name)
		}
		paths[f.joined(len(f.Keys()))] = f.Name
	}
	for _, f := range s.Fields {
		for n := range f.Keys() {
			if other, ok := paths[f.joined(n)]; ok && n > 0 && f.Const.Null() && !f.Made {
				return fmt.Errorf("field %s lies inside field %s, which is declared %s and read as a whole",
					f.Name, other, s.Fields[s.position(other)].Type)
			}
		}
	}
	if s.Position != nil {
		if err := s.Position.validate(s); err != nil {
			return err
		}
	}
	if err := s.Fix.validate(s); err != nil {
		return err
	}
	if err := s.validateVersion(); err != nil {
		return err
	}
	if err := s.validateEnvelope(); err != nil {
		return err
	}
	if err := s.validateTombstones(); err != nil {
		return err
	}
	return s.validateImages()
}

func (s Schema) validateVersion() error {
	if s.Lateness < 0 {
		return fmt.Errorf("the lateness is %v; it must be 0 or more", s.Lateness)
	}
	if s.Version == -1 {
		if s.Sequence != "" {
			return fmt.Errorf("sequence field %s orders equal versions, but no field is the version; name one", s.Sequence)
		}
		return nil
	}
	if s.Version < -1 || s.Version >= len(s.Fields) {
		return fmt.Errorf("version is field %d of %d", s.Version, len(s.Fields))
	}
	switch f := s.Fields[s.Version]; {
	case !f.Type.Orders():
		return fmt.Errorf("version %s is declared %s; it must be an int or a time", f.Name, f.Type)
	case !f.Const.Null() || !f.Default.Null():
		return fmt.Errorf("version %s has a default or fixed value, which orders nothing; read it from the record", f.Name)
	case !f.Place.Replayable():
		return fmt.Errorf("version %s is %s, which changes if the record is copied to another topic; use a field of the record's content",
			f.Name, f.Where())
	}
	if s.Sequence == "" {
		return nil
	}
	n := s.position(s.Sequence)
	switch {
	case n < 0:
		return fmt.Errorf("the sequence %s is not declared; add it to fields", s.Sequence)
	case s.Fields[n].Type != Int:
		return fmt.Errorf("the sequence %s is declared %s; it must be int", s.Sequence, s.Fields[n].Type)
	case !s.Fields[n].Place.Replayable():
		return fmt.Errorf("the sequence %s is %s, which changes if the record is copied to another topic", s.Sequence, s.Fields[n].Where())
	case s.Fields[s.Version].Type == Int:
		return fmt.Errorf("version %s is declared int, but a sequence counts within a time; declare it time_ms, time_s or time",
			s.Fields[s.Version].Name)
	}
	return nil
}

// Recorded returns the fields that records hold.
func (s Schema) Recorded() []Field {
	return slices.DeleteFunc(slices.Clone(s.Fields), func(f Field) bool { return f.Made })
}

func (s Schema) position(name string) int {
	return slices.IndexFunc(s.Fields, func(f Field) bool { return f.Name == name })
}

// Untimed describes versions that are not milliseconds since 1970, such as "versions lsn(…)"; empty: they are, or an integer is declared.
func (s Schema) Untimed() string {
	switch {
	case s.Sequence != "":
		return "versions seq(…, " + s.Sequence + ")"
	case s.Position != nil && s.Position.LSN != "":
		return "versions lsn(" + s.Position.LSN + ")"
	case s.Position != nil:
		return "versions binlog(" + strings.TrimSuffix(s.Position.File+", "+s.Position.Pos, ", ") + ")"
	}
	return ""
}

// TieFix returns what makes one of several changes with the same version win, whatever the order they are applied in, or what comes
// closest to that, for people.
func (s Schema) TieFix() string {
	switch {
	case s.Position != nil:
		return "changes share a position only within one event of the log: the one made last wins as long as all changes of a row are in one " +
			"partition"
	case s.Sequence != "":
		return "let " + s.Sequence + " differ for changes of one millisecond"
	case s.Version >= 0 && s.Fields[s.Version].Type == Int:
		return "let the version, " + s.Fields[s.Version].Name + ", grow with each change"
	}
	return "version: seq(at, n) breaks ties, where n counts the changes of one millisecond"
}

// joined returns the first n keys of the field's path, and its place, as one map key; U+0000 keeps ["a.b"] and ["a", "b"] apart.
func (f Field) joined(n int) string {
	return string('0'+rune(f.Place)) + "\x00" + strings.Join(f.Keys()[:n], "\x00")
}
