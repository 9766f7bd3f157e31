// Package registry finds the schema that a record was written with: it reads the record's framing and asks a schema registry for the
// schema of the id that it holds.
//
// Frame (frame.go, message.go) is pure and reads bytes only. A Client keeps every schema that it has seen, in memory and on disk, since
// what an id names never changes: a registry that is away stops only records of ids that were never seen.
//
// The invariant: a schema is returned for an id only if the registry, or the cache of that registry's URL, answered for exactly that id
// and kind of id. Anything else is an Error whose Outcome says what to do with the record: wait, dead-letter it, or halt.
//
// It speaks Confluent's API, which Karapace and Redpanda have too, and Apicurio below /apis/ccompat/v7. There a number is a contentId,
// unless the server runs in its legacy id mode, which is not supported; a globalId is first looked up in Apicurio's own API, beside
// ccompat.
package registry
