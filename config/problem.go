package config

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Severity is how serious a problem is, and whether it keeps brine from starting.
type Severity string

// The severities.
const (
	Error   Severity = "error"   // brine does not start
	Warning Severity = "warning" // brine starts, but someone will regret it
	Advice  Severity = "advice"  // it works, but could be better
)

// Problem is one thing wrong with a configuration.
type Problem struct {
	Code     Code     `json:"code"`
	Severity Severity `json:"severity"`
	File     string   `json:"file,omitempty"`
	Line     int      `json:"line,omitempty"`    // from 1; 0 if the problem belongs to no line
	Column   int      `json:"column,omitempty"`  // from 1, in characters
	Env      string   `json:"env,omitempty"`     // the environment variable that holds the value, instead of a place in the file
	Setting  string   `json:"setting,omitempty"` // such as pipelines.scans.version
	Message  string   `json:"message"`           // what is wrong
	Fix      string   `json:"fix"`               // what to do
}

// flaw is what is wrong with a value and how to fix it: a Problem without a place.
type flaw struct {
	code         Code // empty if the caller knows it
	message, fix string
}

func (f *flaw) Error() string { return f.message + "; " + f.fix }

// Advice returns the fix, like the errors of rowkey, event and query.
func (f *flaw) Advice() string { return f.fix }

// advise splits an error into its message and its fix. The fix is otherwise if the error has none.
func advise(err error, otherwise string) (message, fix string) {
	var advised interface{ Advice() string }
	if !errors.As(err, &advised) {
		return err.Error(), otherwise
	}
	fix = advised.Advice()
	return strings.TrimSuffix(err.Error(), "; "+fix), cmp.Or(fix, otherwise)
}

// String returns the problem on one line: place, setting, message, fix, code.
func (p Problem) String() string {
	var b strings.Builder
	switch {
	case p.Env != "":
		b.WriteString(p.Env + ": ")
	case p.Line > 0:
		fmt.Fprintf(&b, "%s:%d:%d: ", p.File, p.Line, p.Column)
	case p.File != "":
		b.WriteString(p.File + ": ")
	}
	if p.Severity != Error {
		b.WriteString(string(p.Severity) + ": ")
	}
	if p.Setting != "" {
		b.WriteString(p.Setting + ": ")
	}
	b.WriteString(p.Message)
	if p.Fix != "" {
		b.WriteString("; " + p.Fix)
	}
	return b.String() + " [" + string(p.Code) + "]"
}

// Problems are the problems of a configuration, in the order of the file. They are encoded as JSON as they are.
type Problems []Problem

// String returns one line per problem.
func (ps Problems) String() string {
	var b strings.Builder
	for _, p := range ps {
		b.WriteString(p.String() + "\n")
	}
	return b.String()
}

// Err returns nil if no problem is an error, else an error with one line per such problem.
func (ps Problems) Err() error {
	errs := ps.only(Error)
	if len(errs) == 0 {
		return nil
	}
	return errors.New(strings.TrimSuffix(errs.String(), "\n"))
}

// Warnings returns the warnings: problems that someone will regret, although they do not prevent a start.
func (ps Problems) Warnings() Problems { return ps.only(Warning) }

func (ps Problems) only(s Severity) Problems {
	var out Problems
	for _, p := range ps {
		if p.Severity == s {
			out = append(out, p)
		}
	}
	return out
}

// OfTable returns the problems of a table's settings, and those of its writing pipelines that concern its rows.
func (ps Problems) OfTable(cfg *Config, t *Table) (of Problems) {
	places := []string{"tables." + t.Name + "."}
	for _, p := range cfg.Pipelines {
		for i, rows := range p.Rows {
			if rows.Table == t.Name {
				places = append(places, fmt.Sprintf("pipelines.%s.rows[%d]", p.Name, i), "pipelines."+p.Name+".version")
			}
		}
	}
	for _, p := range ps {
		if slices.ContainsFunc(places, func(place string) bool { return strings.HasPrefix(p.Setting, place) }) {
			of = append(of, p)
		}
	}
	return of
}

// sort sorts problems by their order in the file, those of the environment first.
func (ps Problems) sort() {
	slices.SortStableFunc(ps, func(a, b Problem) int {
		return cmp.Or(
			cmp.Compare(a.Line, b.Line),
			cmp.Compare(a.Column, b.Column),
			cmp.Compare(a.Env, b.Env),
			cmp.Compare(a.Setting, b.Setting),
			cmp.Compare(a.Code, b.Code),
			cmp.Compare(a.Message, b.Message))
	})
}

// Code names a kind of problem. Codes are stable: scripts may look for them, and docs/configuration.md lists them.
type Code string

// The codes of problems with the file, or with one setting on its own.
const (
	Unreadable      Code = "unreadable"
	Syntax          Code = "syntax"
	UnknownSetting  Code = "unknown-setting"
	Duplicate       Code = "duplicate"
	Missing         Code = "missing"
	Type            Code = "type"
	Choice          Code = "choice"
	Range           Code = "range"
	Variable        Code = "variable"
	UnknownVariable Code = "unknown-variable"
	Name            Code = "name"
	Address         Code = "address"
)

// The codes of conflicts between settings.
const (
	KeySyntax       Code = "key-syntax"
	keyLint         Code = "key-…" // followed by a rule of rowkey's Lint
	SeveralKeys     Code = "several-keys"
	SplitPoints     Code = "splits"
	UnknownTable    Code = "unknown-table"
	UnknownFamily   Code = "unknown-family"
	UnknownField    Code = "unknown-field"
	UnknownIndex    Code = "unknown-index"
	UnknownTarget   Code = "unknown-index-field"
	FieldTypes      Code = "field-types"
	FieldPath       Code = "field-path"
	VersionType     Code = "version-type"
	VersionTTL      Code = "version-ttl"
	VersionTies     Code = "version-ties"
	NothingToWrite  Code = "nothing-to-write"
	NoStore         Code = "no-store"
	DeadLetterTopic Code = "dead-letter-topic"
	ControlTopic    Code = "control-topic"
	Buffer          Code = "buffer"
	LongName        Code = "long-name"
	ManyFamilies    Code = "many-families"
	ManyVersions    Code = "many-versions"
	FewRetries      Code = "few-retries"
	UnsafeWrites    Code = "unsafe-writes"
	PartialEvent    Code = "partial-event"
	OpenPassword    Code = "open-password"
	PartialNulls    Code = "partial-nulls"
	SharedFamily    Code = "shared-family"
	KeyNames        Code = "as"
	EachRow         Code = "each"
	Members         Code = "members"
	MembersNulls    Code = "members-nulls"
	KeptNulls       Code = "kept-nulls"
	SharedNulls     Code = "shared-nulls"
	StoredNulls     Code = "stored-nulls"
	RowTTL          Code = "row-ttl"
	ManyRows        Code = "many-rows"
	ColumnDiffers   Code = "column-differs"
	PartialPack     Code = "partial-pack"
	PackDiffers     Code = "pack-differs"
	ImagesCode      Code = "images"
	EnvelopeCode    Code = "envelope"
	Tombstones      Code = "tombstones"
	HardDeletes     Code = "hard-deletes"
	Routing         Code = "index-routing"
	Parts           Code = "index-parts"
	DocumentTTL     Code = "document-ttl"
	DocumentNulls   Code = "document-nulls"
	LookUp          Code = "look-up"
	ViewCode        Code = "view"
	Expression      Code = "expression"
	OtherwiseCode   Code = "otherwise"
	Changeable      Code = "when-changes"
	CommandsCode    Code = "commands"
	Unused          Code = "unused"
)

// codeMeanings explains the codes, in the order in which the documentation lists them.
var codeMeanings = []struct {
	code    Code
	meaning string
}{
	{Unreadable, "The file, or one that it names, does not exist, cannot be read, or has the wrong contents."},
	{Syntax, "The file is not YAML, is empty, or holds several documents."},
	{UnknownSetting, "There is no setting with this name here."},
	{Duplicate, "A name is given twice."},
	{Missing, "A required setting is missing or empty."},
	{Type, "A value has the wrong type: a list instead of a text, a number without its unit."},
	{Choice, "A value is not one of the setting's choices."},
	{Range, "A value is too small or too large."},
	{Variable, "`${…}` names an environment variable that is not set, or a file that cannot be read."},
	{UnknownVariable, "A `BRINE_` variable looks like a setting but matches none (warning)."},
	{Name, "A name holds characters that Kafka, HBase or the search engine refuses."},
	{Address, "An address does not have the form that its setting requires."},
	{KeySyntax, "A row key cannot be parsed: its syntax is wrong, or a field is missing or has the wrong type."},
	{keyLint, "A row key is valid but will perform badly: it can collide, or puts the load on one region. The rest of the code is the rule " +
		"of `brine key lint` (warnings and advice)."},
	{SeveralKeys, "A table has a key that does not apply from version 0 on, or a second one; only one is supported so far."},
	{SplitPoints, "The table cannot be split this way: the key does not spread rows, or the split points are not ascending."},
	{UnknownTable, "A pipeline or a view names a table that is not in `tables`."},
	{UnknownFamily, "A column is in a family that its table does not have."},
	{UnknownField, "A setting names a field that the pipeline does not declare."},
	{UnknownIndex, "A pipeline writes documents to an index that is not in `indexes`."},
	{UnknownTarget, "A document sets a field that its index does not have."},
	{FieldTypes, "A field's type does not fit the index, or two pipelines declare one key's field differently."},
	{FieldPath, "A path begins with `$` but is not a part of a record, or a key uses something that changes with the topic."},
	{VersionType, "The version is not a time or a whole number, is not a valid seq(at, n), or does not fit another setting."},
	{VersionTTL, "A family has a TTL, but the version is not a time: cells would expire at once or never."},
	{VersionTies, "Versions of whole seconds can tie, or those of `seq(at, n)` where n has a default, or sampled records do, and the last " +
		"one applied wins (warning)."},
	{NothingToWrite, "A pipeline has neither rows nor documents."},
	{NoStore, "A pipeline needs hbase.connect or search.connect, but it is missing."},
	{DeadLetterTopic, "A pipeline would read dead letters, its own or others."},
	{ControlTopic, "A pipeline would read, or write its dead letters to, brine's control topic."},
	{Buffer, "A buffer does not fit into memory."},
	{LongName, "A family's or column's name is long, and is stored in every cell (warning)."},
	{ManyFamilies, "A table has more than three families, and each is flushed with the others (warning)."},
	{ManyVersions, "More versions are kept than can ever exist (warning), or than brine reads (advice)."},
	{FewRetries, "Retries run out before a region has moved (warning)."},
	{UnsafeWrites, "A region server that dies loses acknowledged rows (warning)."},
	{PartialEvent, "The table's rows are events, which never change in part (warning)."},
	{OpenPassword, "A password is sent over a connection that is not encrypted (warning)."},
	{PartialNulls, "Null fields empty their columns, but the pipeline's changes carry only some fields."},
	{SharedFamily, "Rows are replaced in a family that another pipeline also writes."},
	{KeyNames, "A name under `as` is not in the key, or is also the name of another field of the event."},
	{EachRow, "There cannot be a row for each word: the key does not hold the word, or it does not come from a text."},
	{Members, "A field without members is to be written as columns of members, or a setting for them is on another column."},
	{MembersNulls, "Null members cannot empty their columns, because the possible columns are unknown."},
	{KeptNulls, "A column of an entity keeps its former value when its field becomes null (warning)."},
	{SharedNulls, "Two entries store nulls in one column of an entity, so that each empties what the other wrote (warning)."},
	{StoredNulls, "A null is to be stored in a column of bytes, where any cell is a value."},
	{RowTTL, "A row's ttl cannot work: it is not a time, its versions are not timestamps, or it would also expire delete markers."},
	{ManyRows, "A document belongs to one row of an event, but the event becomes several rows in that table."},
	{ColumnDiffers, "A column is filled from fields with different types, or with different names (warning)."},
	{PartialPack, "A cell holds several fields, but the pipeline's changes carry only some."},
	{PackDiffers, "Two pipelines write the same cell with different fields."},
	{EnvelopeCode, "The records' envelope does not fit the pipeline: its former values or its versions are not sufficient."},
	{ImagesCode, "Before- and after-images do not fit the pipeline, or rows that a change leaves behind would look like rows " +
		"that exist."},
	{Parts, "An index in parts needs a date that never changes: one filled from a time of the row key."},
	{DocumentTTL, "Rows expire by their TTL, but their documents stay, because the index has no `every` (warning)."},
	{DocumentNulls, "Row and document can differ if whole changes with nulls tie in their version, because the row keeps the field that " +
		"is null (warning)."},
	{Routing, "An index is routed by a field whose value cannot be read from the ids of all its documents."},
	{Tombstones, "`deletes: tombstone`, but a record's key and time do not say which row a record without a value deletes and " +
		"when; or together with images, which already say so. For unwrapped rows, `deletes` does not say what a record without a value " +
		"is (warning)."},
	{HardDeletes, "Rows cannot be deleted hard: their versions are not timestamps, they are events, or delete markers would be dropped " +
		"too early."},
	{LookUp, "Fields of a key cannot be looked up there: no column holds one, it does not stay, or the table's own key needs what a change " +
		"lacks."},
	{ViewCode, "A view cannot be answered: by neither the key nor the index, not in its order, or its rows cannot be found that way."},
	{Expression, "An expression of `let` or `when` is invalid, has the wrong type, or could cost too much for one event."},
	{OtherwiseCode, "An event that `when` excludes cannot delete what an earlier one has made."},
	{Changeable, "A `when` can give different results for two changes of one row, and what the first has written stays (warning)."},
	{CommandsCode, "Commands cannot be published as changes of the pipeline, or their states do not fit together."},
	{Unused, "A field, table or index is declared but not used (warning)."},
}
