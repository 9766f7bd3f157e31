// Package registry finds the schema with which a record was written: it reads the record's framing and requests the schema of its id from a
// schema registry.
//
// Frame (frame.go, message.go) is pure and reads only bytes. A Client keeps every schema that it has seen, in memory and on disk, because
// what an id names never changes: if a registry is away, only records with new ids must wait.
//
// The invariant: a schema is returned for an id only if the registry, or the cache of that registry's URL, answered for exactly that id and
// kind of id. Anything else is an Error whose Outcome determines what to do with the record: wait, dead-letter it, or halt.
//
// It speaks Confluent's API, which Karapace and Redpanda also have, and Apicurio below /apis/ccompat/v7. There, a number is a contentId,
// unless the server runs in its legacy id mode, which is not supported. A globalId is first looked up in Apicurio's own API, next to
// ccompat.
package registry
