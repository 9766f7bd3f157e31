// Package letters is what is done about the dead letters of a pipeline: fixed on their way back, and looked at before that.
//
// A fix (service/fixes) holds expressions that replace what records hold of some fields. A Preview says of single letters what would become
// of them, as they are or with a fix: the rows and documents that would be written and what stands there. Nothing here writes.
//
// The invariant: a fix does not move a change to another row or another version, unless the caller says so; what is written is
// then still ordered by versions that the records' own timestamps bound.
package letters
