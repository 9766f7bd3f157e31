// Package letters handles the dead letters of a pipeline: it fixes them on their way back, and previews that.
//
// A fix (service/fixes) holds expressions that replace some fields of records. A Preview shows what would become of single dead letters, as
// they are or fixed: the rows and documents that would be written, and what is there now. A Preview does not write.
//
// The invariant: a fix does not move a change to another row or another version, unless the caller allows it; even then, what is written is
// ordered by versions that the records' own timestamps bound.
package letters
