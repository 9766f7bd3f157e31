// Package embedded is an HBase server in this process, on a loopback port, speaking HBase's own wire and storing in Pebble:
// for `brine dev`, for tests, and for faults on demand. HBase's Java client works against it. cmd/brine and tests import
// it; it shares only the wire's bytes and messages with our client, so that neither hides the other's mistakes.
//
// One Server is a cluster: a catalogue of namespaces, tables and regions, and nodes, each a region server with its own
// listener. The first node is the master and the registry too; there is one node so far. Regions belong to a node and do not
// show in the stored keys, so that moving or splitting one writes only hbase:meta.
//
// A request's way, read top to bottom:
//
//	conn.serve      preamble, connection header, then frames; each request in its own goroutine
//	call.run        control functions first (faults.go), then the method's handler
//	handlers        registry.go, master*.go, admin.go, get.go, mutate.go, multi.go, scan.go
//	internal/store  cells in Pebble, with HBase's order and semantics
//	conn.answer     result or exception, whole frames, in whatever order they are ready
//
// Faults on demand: Server.Control seizes requests of a test's choice and answers, delays, drops or silences them; Exceptions
// is the catalogue of all exceptions that a client may meet, for Outcome.Exception and its like.
//
// The invariants: a mutation is acknowledged only after it is durable (see Options.Fsync) and is applied whole or not at
// all; a read sees rows whole; what is not supported is answered with a clear exception and listed in LIMITS.md; no bytes
// from a connection make the server panic or allocate more than they are long.
package embedded
