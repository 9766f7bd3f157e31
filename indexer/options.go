package indexer

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"brine/event"
	"brine/rowkey"
)

// Changes describes what the events of a pipeline carry.
type Changes string

// The kinds of change.
const (
	Whole   Changes = "whole"   // every field: the document is replaced, unless it is newer
	Partial Changes = "partial" // some fields: each is merged into the document by its version
)

// Column maps a field of the event to a field of the document. A null value is not a field in Whole and, in Partial, no change unless
// Document.Nulls says so.
type Column struct {
	Name  string
	Field string
	Type  Type // empty: keyword for text, long for int, double for float, boolean for bool, date for times
}

// Document describes the document that an event becomes in one index.
type Document struct {
	Index   string
	Key     *rowkey.Key // the key of the row that the document belongs to
	Set     []Column
	Changes Changes
	Nulls   bool   // in Partial, a null that was sent (see event.Unsent) ends the field's older value, unless the event is a delete
	Deleted string // the event's bool field that marks a delete; empty: documents are not deleted

	When  string // a condition of the schema's Derive: see event.Event.Holds; empty: every event becomes a document
	Hides bool   // an event for which When does not hold marks its document as deleted, like Deleted; otherwise the document stays as it is

	Every Every         // if the engine is Partitioned: the index has one part for each such span of Time; empty: no parts
	Time  string        // the event's time field that determines the part of a document; one of Key's, so that it never changes
	Keep  time.Duration // how long the rows are kept, by version: expired parts are dropped, if there are parts; 0: forever

	// Routing is the field of Set whose value determines the shard of a document. The key yields the value, so that it never changes. Empty:
	// the id determines the shard.
	Routing string

	// Purge is the time after which a deleted document is removed, by its version in ms since 1970; 0: it stays, marked. A removed document no
	// longer has a version: an older change that arrives afterwards creates it again.
	Purge time.Duration
}

// Options configures a Writer.
type Options struct {
	Schema    event.Schema
	Documents []Document

	Calls            int   // the most bulk calls in flight; default 3
	MaxBulkDocuments int   // per bulk call; default 1,000
	MaxBulkBytes     int   // bytes of documents per bulk call; default 4 MiB
	MaxDocumentBytes int   // a larger document is rejected; default 8 MiB
	MaxBufferedBytes int64 // documents in memory at which Submit waits; default 32 MiB
	// MaxRecentBytes is the size of the documents of partial changes that are held as last written, so that the next change needs no read;
	// default 24 MiB.
	MaxRecentBytes int
	CallTimeout    time.Duration // per call; default 60 s
	RetryFor       time.Duration // how long after Submit an event is sent again before its verdict is retry; default 30 s
	Pause          time.Duration // before the first resend; it doubles up to MaxPause, less up to half at random; default 100 ms
	MaxPause       time.Duration // default 5 s
	ProbeEvery     time.Duration // the interval between two documents of an index that are probed (Hooks.Probe); default 5 s

	Hooks Hooks
}

// Conditions returns the conditions of the documents.
func (o *Options) Conditions() []event.Condition {
	var of, fields []string
	for i := range o.Documents {
		of, fields = append(of, o.Documents[i].Index), append(fields, o.Documents[i].When)
	}
	return o.Schema.Conditions(of, fields)
}

// EnsureDefaults sets zero fields to their defaults. New calls it.
func (o *Options) EnsureDefaults() {
	o.Calls = cmp.Or(o.Calls, 3)
	o.MaxBulkDocuments = cmp.Or(o.MaxBulkDocuments, 1000)
	o.MaxBulkBytes = cmp.Or(o.MaxBulkBytes, 4<<20)
	o.MaxDocumentBytes = cmp.Or(o.MaxDocumentBytes, 8<<20)
	o.MaxBufferedBytes = cmp.Or(o.MaxBufferedBytes, 32<<20)
	o.MaxRecentBytes = cmp.Or(o.MaxRecentBytes, 24<<20)
	o.CallTimeout = cmp.Or(o.CallTimeout, time.Minute)
	o.RetryFor = cmp.Or(o.RetryFor, 30*time.Second)
	o.Pause = cmp.Or(o.Pause, 100*time.Millisecond)
	o.MaxPause = cmp.Or(o.MaxPause, 5*time.Second)
	o.ProbeEvery = cmp.Or(o.ProbeEvery, 5*time.Second)
	o.Hooks.ensureDefaults()
}

// Validate reports every fault at once. It expects EnsureDefaults to have run.
func (o *Options) Validate() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf("indexer: Options."+format, args...)) }
	for _, n := range []struct {
		name  string
		value int64
		min   int64
		max   int64
	}{
		{"Calls", int64(o.Calls), 1, 64},
		{"MaxBulkDocuments", int64(o.MaxBulkDocuments), 1, 100_000},
		{"MaxBulkBytes", int64(o.MaxBulkBytes), 1 << 10, 100 << 20}, // Elasticsearch's http.max_content_length is 100 MiB
		{"MaxDocumentBytes", int64(o.MaxDocumentBytes), 1 << 10, 100 << 20},
		{"MaxBufferedBytes", o.MaxBufferedBytes, 1 << 16, 1 << 40},
		{"MaxRecentBytes", int64(o.MaxRecentBytes), 1, 1 << 40},
		{"CallTimeout", int64(o.CallTimeout), int64(time.Millisecond), int64(time.Hour)},
		{"RetryFor", int64(o.RetryFor), 1, int64(24 * time.Hour)},
		{"Pause", int64(o.Pause), 1, int64(time.Minute)},
		{"MaxPause", int64(o.MaxPause), int64(o.Pause), int64(time.Hour)},
		{"ProbeEvery", int64(o.ProbeEvery), int64(100 * time.Millisecond), int64(24 * time.Hour)},
	} {
		if n.value < n.min || n.value > n.max {
			bad("%s is %d: it must be from %d to %d", n.name, n.value, n.min, n.max)
		}
	}
	if len(o.Documents) == 0 {
		bad("Documents: none declared, so nothing would be indexed; declare one or remove the indexer")
	}
	for i := range o.Documents {
		errs = append(errs, o.Documents[i].validate(o.Schema)...)
	}
	for i := range o.Documents {
		if slices.ContainsFunc(o.Documents[:i], func(d Document) bool { return d.Index == o.Documents[i].Index }) {
			bad("Documents: index %s is declared twice; put all fields into one", o.Documents[i].Index)
		}
	}
	return errors.Join(errs...)
}

func (d *Document) validate(schema event.Schema) (errs []error) {
	bad := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("indexer: Options.Documents: index %s: "+format, append([]any{d.Index}, args...)...))
	}
	if err := ValidIndex(d.Index); err != nil {
		errs = append(errs, fmt.Errorf("indexer: Options.Documents: %w", err))
	}
	if d.Changes != Whole && d.Changes != Partial {
		bad("changes is %q: it must be whole or partial", d.Changes)
	}
	if d.Key == nil {
		bad("no key; name the table whose rows the documents belong to")
	} else {
		for _, name := range d.Key.Fields() {
			if fieldOf(schema, name) < 0 {
				bad("the key names field %s, which the pipeline does not declare", name)
			}
		}
	}
	if d.When != "" && fieldOf(schema, d.When) < 0 {
		bad("there is no condition %s", d.When)
	}
	if d.Hides && d.Deleted == "" {
		bad("an event for which the condition does not hold deletes its document, and no field marks it; name a bool field as deleted")
	}
	d.validateParts(schema, bad)
	d.validateRouting(bad)
	if len(d.Set) == 0 {
		bad("set is empty: declare at least one field")
	}
	seen := map[string]bool{}
	for _, c := range d.columns() {
		switch at := fieldOf(schema, c.Field); {
		case at < 0:
			bad("set %s: field %s is not declared in the pipeline", c.Name, c.Field)
		case !fits(c.Type, schema.Fields[at].Type):
			bad("set %s: field %s cannot be a %s; remove the type, or use keyword or text for texts", c.Name, c.Field, c.Type)
		case c.Name == FieldDeleted && schema.Fields[at].Type != event.Bool:
			bad("set %s: searches hide documents in which it is true, so field %s must be a bool; give it another name", c.Name, c.Field)
		}
		if c.Name == "" || strings.HasPrefix(c.Name, "_") || strings.ContainsAny(c.Name, ". \t\n*,\"\\") {
			bad("set %q: a field's name must not be empty, begin with an underscore or contain dots, spaces, asterisks, commas or quotes", c.Name)
		}
		if seen[c.Name] {
			bad("set %s: declared twice", c.Name)
		}
		seen[c.Name] = true
	}
	return errs
}

func (d *Document) validateParts(schema event.Schema, bad func(string, ...any)) {
	switch at := fieldOf(schema, d.Time); {
	case d.Every == "" && d.Time == "":
	case d.Every != Day && d.Every != Month && d.Every != Year:
		bad("every is %q: it must be day, month or year", d.Every)
	case at < 0 || !schema.Fields[at].Type.IsTime():
		bad("time: %q is not a time field of the pipeline", d.Time)
	case d.Key != nil && !slices.Contains(d.Key.Fields(), d.Time):
		bad("time: field %s is not part of the row key, so it could change, and with it the document's part; use a time of the key",
			d.Time)
	}
	if d.Keep < 0 || d.Purge < 0 {
		bad("keep is %v and purge %v: both must be at least 0", d.Keep, d.Purge)
	}
}

// columns returns Set and the column of the deleted mark.
func (d *Document) columns() []Column {
	if d.Deleted == "" || slices.ContainsFunc(d.Set, func(c Column) bool { return c.Name == FieldDeleted && c.Field == d.Deleted }) {
		return d.Set
	}
	return append(slices.Clip(d.Set), Column{Name: FieldDeleted, Field: d.Deleted})
}

// ValidIndex checks the name of an index by Elasticsearch's rules, and excludes names that are inconvenient as file names.
func ValidIndex(name string) error {
	ok := name != "" && len(name) <= 200 && name[0] >= 'a' && name[0] <= 'z'
	for _, c := range []byte(name) {
		ok = ok && (c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c == '.')
	}
	if !ok {
		return fmt.Errorf("index %q: give a name of lower-case letters, digits, '-', '_' and '.', beginning with a letter", name)
	}
	return nil
}

// Mappings returns the mappings of the declared documents, for EnsureIndex. The options must be valid.
func (o Options) Mappings() []Mapping {
	var all []Mapping
	for _, d := range o.Documents {
		m := Mapping{Index: d.Index, Every: d.Every, Routing: d.routing()}
		for _, c := range d.columns() {
			t := c.Type
			if t == "" {
				t = typeOf(o.Schema.Fields[fieldOf(o.Schema, c.Field)].Type)
			}
			m.Fields = append(m.Fields, Field{Name: c.Name, Type: t})
		}
		all = append(all, m)
	}
	return all
}

func fieldOf(schema event.Schema, name string) int {
	return slices.IndexFunc(schema.Fields, func(f event.Field) bool { return f.Name == name })
}

func typeOf(t event.Type) Type {
	switch t {
	case event.Int:
		return Long
	case event.Float:
		return Double
	case event.Bool:
		return Boolean
	case event.TimeUS, event.TimeNS:
		return Long // which is exact
	case event.TimeMS, event.TimeS, event.Time, event.Date:
		return Date
	default:
		return Keyword
	}
}

func fits(t Type, of event.Type) bool {
	return t == "" || t == typeOf(of) || t == Text && of == event.Text
}
