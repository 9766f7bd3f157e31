package indexer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"brine/event"
	"brine/search"
)

// Engine is a search index server, or one in this process. Outcomes are HTTP status codes, whatever the engine:
//
//	200, 201  written
//	400       the document does not fit the mapping
//	401, 403  access denied
//	404       no such index
//	409       the document is newer than, or not as, the operation says
//	413       the request is too large
//	429, 5xx  later
//
// An Engine is safe for concurrent use, and does not retain its arguments.
type Engine interface {
	search.Searcher

	// EnsureIndex creates the index, or adds the fields that it or one of its parts lacks. If the index has a field with another type or
	// analyzer, it changes nothing and returns a *MappingError.
	EnsureIndex(ctx context.Context, m Mapping) error
	// Mapping describes the actual index; the error wraps search.ErrNoIndex if there is none.
	Mapping(ctx context.Context, index string) (Mapping, error)
	// Bulk applies ops in order, independently of each other, and sets results[i] to the outcome of ops[i]. If it returns an error, the
	// outcome of all ops is unknown; a *RequestError is the reason that the server refused the whole request.
	Bulk(ctx context.Context, ops []Op, results []Result) error
	// Get reads documents as the last answered Bulk left them and sets docs[i] to the document of refs[i].
	Get(ctx context.Context, refs []Ref, docs []Stored) error
	// Shown returns the version of a document that Search shows now, or −1 if it shows none. Unlike Get, it does not see what is not yet
	// refreshed.
	Shown(ctx context.Context, ref Ref) (version int64, err error)
	// Purge removes documents that are marked as deleted and older than a version, except those that are written meanwhile. It returns the
	// number of removed documents.
	Purge(ctx context.Context, index string, before int64) (int, error)
	// Refresh makes written documents visible to Search.
	Refresh(ctx context.Context, index string) error
	Close() error
}

// OpKind is the condition under which an operation is applied.
type OpKind uint8

// The kinds of operation. All but Delete write the whole of Op.Source.
const (
	Put     OpKind = iota + 1 // if the document is absent or its version is not greater than Op.Version (external_gte)
	Create                    // if the document is absent
	Replace                   // if the document is still as it was read: Op.SeqNo and Op.PrimaryTerm
	Delete                    // if the document is still as it was read: it is removed, with its version
)

// Op is one write of one document.
type Op struct {
	Kind        OpKind
	Index       string
	ID          []byte
	Source      []byte // a JSON object
	Version     int64
	SeqNo       int64
	PrimaryTerm int64
}

// Ref names a document.
type Ref struct {
	Index string
	ID    []byte
}

// Stored is a document as it was read.
type Stored struct {
	Found       bool
	Source      []byte
	Version     int64 // with which a Put is compared
	SeqNo       int64
	PrimaryTerm int64
}

// Result is the outcome of one operation; Kind and Reason are the engine's own words if it failed. The zero Result means unknown. Only the
// beginning of Kind counts, because the names of faults change from release to release: "document_", "mapper_" and "strict_" mean that the
// document is at fault, "index_" that the index is.
type Result struct {
	Status int
	Kind   string
	Reason string

	// For a Create or Replace that was applied: what the next Replace has to name, and the index it was applied to, if Op.Index is a name that
	// stands for one. An empty Home means that this is not known.
	SeqNo       int64
	PrimaryTerm int64
	Home        string
}

// RequestError is a request that the server refused as a whole.
type RequestError struct {
	Server string // host:port; empty for a request about one document
	Status int
	Kind   string
	Reason string
}

func (e *RequestError) Error() string {
	text := "status " + strconv.Itoa(e.Status) + ": " + e.Reason
	if e.Server != "" {
		return e.Server + ": " + text
	}
	return text
}

// Unquoted returns an error without what an index says about one document, which may quote its contents or its id.
func Unquoted(err error) error {
	if e := (*RequestError)(nil); errors.As(err, &e) && e.Server == "" {
		return &RequestError{Status: e.Status, Kind: e.Kind, Reason: cmp.Or(e.Kind, event.Hidden)}
	}
	return err
}

// Type is how an index treats a field.
type Type string

// The types of fields, by Elasticsearch's names.
const (
	Keyword Type = "keyword" // one value, compared byte by byte
	Text    Type = "text"    // words
	Boolean Type = "boolean"
	Long    Type = "long"
	Date    Type = "date" // ms since 1970
	Double  Type = "double"
)

// Valid reports whether t is one of the types.
func (t Type) Valid() bool {
	switch t {
	case Keyword, Text, Boolean, Long, Date, Double:
		return true
	}
	return false
}

// Names of the fields that brine itself writes into every document. Declared fields must not begin with an underscore.
const (
	FieldRow      = "_row"  // keyword: the document's id, to sort by
	FieldVersion  = "_ver"  // long: the greatest version in the document
	FieldVersions = "_vers" // object, not indexed: the version of each field, in documents of partial changes
	FieldKey      = "_key"  // not indexed: the row key, if the id is a hash of it
	FieldDeleted  = "deleted"
)

// Field is one declared field of an index.
type Field struct {
	Name     string
	Type     Type
	Analyzer string `json:",omitempty"` // cuts a text into words; empty: the engine's default
}

// Mapping describes an index, without brine's own fields.
type Mapping struct {
	Index  string
	Fields []Field
	Every  Every    // its parts; empty: none
	Uneven []Uneven // of an actual index

	Routing *Routing // determines the shards of its documents; nil: their ids do
}

// Type returns the type of a field, or "" if there is no such field.
func (m Mapping) Type(name string) Type {
	for _, f := range m.Fields {
		if f.Name == name {
			return f.Type
		}
	}
	return ""
}

// Uneven is a field that differs between the indexes behind a name, in the form that one of these has: without a type if the index lacks
// it. A Mapping has one Uneven for each of the indexes, and the field among its Fields in the form of the first index that has it.
type Uneven struct {
	Field
	In string // the index's own name
}

// forms returns the forms in which the indexes behind a name have a field, or lack it.
func (m Mapping) forms(name string) []Uneven {
	var all []Uneven
	for _, u := range m.Uneven {
		if u.Name == name {
			all = append(all, u)
		}
	}
	for _, f := range m.Fields {
		if f.Name == name && all == nil {
			return []Uneven{{Field: f}}
		}
	}
	return all
}

// Missing returns the fields that have, which is the actual mapping, or one of its parts lacks. If fields have another type or analyzer, it
// returns a *MappingError.
func (m Mapping) Missing(have Mapping) ([]Field, error) {
	if m.Every != have.Every {
		return nil, fmt.Errorf("index %s is stored %s but declared to be stored %s: existing documents cannot be split into parts; declare it "+
			"as it is, or write to a new index", m.Index, have.Every, m.Every)
	}
	if !m.Routing.Same(have.Routing) {
		return nil, fmt.Errorf("index %s is routed %s but declared to be routed %s: existing documents would be on other shards than "+
			"new ones; %s",
			m.Index, have.Routing, m.Routing, fixOfRouting(have.Routing))
	}
	var missing []Field
	var bad []FieldConflict
	for _, f := range m.Fields {
		forms := have.forms(f.Name)
		if at := slices.IndexFunc(forms, f.unlike); at >= 0 {
			bad = append(bad, f.conflict(forms[at]))
		} else if len(forms) == 0 || slices.ContainsFunc(forms, func(is Uneven) bool { return is.Type == "" }) {
			missing = append(missing, f)
		}
	}
	if len(bad) > 0 {
		return nil, &MappingError{Index: m.Index, Fields: bad}
	}
	return missing, nil
}

// unlike reports whether an index has the field in another form than declared.
func (f Field) unlike(is Uneven) bool {
	return is.Type != "" && is.Type != f.Type || f.cutOtherwise(is)
}

func (f Field) cutOtherwise(is Uneven) bool {
	return f.Type == Text && is.Type == Text && f.Analyzer != "" && is.Analyzer != "" && is.Analyzer != f.Analyzer
}

func (f Field) conflict(is Uneven) FieldConflict {
	c := FieldConflict{Name: f.Name, Want: f.Type, Have: is.Type, In: is.In}
	if f.cutOtherwise(is) {
		c.WantAnalyzer, c.HaveAnalyzer = f.Analyzer, is.Analyzer
	}
	return c
}

// FieldConflict is a field that an index has with another type or analyzer than declared.
type FieldConflict struct {
	Name       string
	Want, Have Type

	WantAnalyzer, HaveAnalyzer string // empty: the types differ

	In string // the first of the indexes with this conflict; empty: all have it
}

func (c FieldConflict) String() string {
	s := c.Name + " is "
	if c.HaveAnalyzer != "" {
		s += "cut into words by " + c.HaveAnalyzer
	} else {
		s += string(c.Have)
	}
	if c.In != "" {
		s += " in " + c.In
	}
	if c.HaveAnalyzer != "" {
		return s + ", and search.analyzer is " + c.WantAnalyzer
	}
	return s + ", not " + string(c.Want)
}

// MappingError lists the fields of an index that have another type or analyzer than declared.
type MappingError struct {
	Index  string
	Fields []FieldConflict
}

func (e *MappingError) Error() string {
	s := "index " + e.Index + " has fields that differ from the declaration:"
	for i, f := range e.Fields {
		if i > 0 {
			s += ";"
		}
		s += " " + f.String()
	}
	return s + "; a field's type and analyzer cannot be changed in place: declare them as they are, or rebuild the index with brine reindex"
}
