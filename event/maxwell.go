package event

import "bytes"

// maxwell judges an event that Maxwell has wrapped.
func (e *envelope) maxwell(b *Builder) (gone bool, err *Error) {
	kind := b.said(e.kind)
	switch string(kind) {
	case "insert", "bootstrap-insert":
		return false, e.images(b, false, true)
	case "update":
		return false, e.images(b, !e.keyOnly(), true)
	case "delete":
		return true, e.images(b, false, true)
	case "bootstrap-start", "bootstrap-complete":
		return false, e.leaveOut(b, Bootstrap)
	case "":
		return false, &Error{Reason: MissingField, Field: e.kind.path, Detail: "it is no change as Maxwell writes them"}
	}
	if bytes.HasPrefix(kind, []byte("table-")) || bytes.HasPrefix(kind, []byte("database-")) {
		return false, e.leaveOut(b, SchemaChange)
	}
	return false, &Error{Reason: Undecodable, Field: e.kind.path, Detail: "no change is of kind " + Quoted(kind)}
}
