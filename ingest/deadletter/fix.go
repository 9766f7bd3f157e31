package deadletter

import "brine/event"

// Fix returns what helps against a reason, or an empty text if nothing is known.
func Fix(reason event.Reason) string { return fixes[reason] }

var fixes = map[event.Reason]string{
	event.Undecodable:    "fix the producer, or declare the format that it writes: the record is not in the pipeline's format",
	event.UnknownSchema:  "register the schema, or name the registry that its producer uses (registry.url, registry.framing); then replay",
	event.MissingField:   "fix the producer, or declare another path for the field; the row key and the version need it",
	event.WrongType:      "fix the producer, or declare the type that the field has",
	event.BadVersion:     "declare the unit that the field has: time_ms or time_s",
	event.FutureVersion:  "fix the clock of the machine that made the record, or declare the unit that the field has",
	event.LateVersion:    "raise the pipeline's allowed_lateness, and with it purge_deletes_after",
	event.KeyTooLong:     "remove the field from the key, or use a part or a hash of it",
	event.BadKey:         "give the key's field an encoding that accepts this value",
	event.BadName:        "fix the producer: the name cannot be a column's name",
	event.BadExpression:  "check field != null in the expression if a field can be absent, then replay; or fix the producer",
	event.TooLarge:       "raise hbase.max_cell_bytes or search.max_document_bytes, here and on the servers",
	event.Refused:        "see the server's message about this row above",
	event.MappingRefused: "fix the index's field, or the type that the pipeline declares",
}
