// Package embedded is an HBase server in this process, on a loopback port, speaking HBase's own wire and storing in Pebble:
// for `brine dev`, for tests, and for faults on demand. HBase's Java client works against it. It
// shares only the wire's bytes and messages with our client, so that neither hides the other's mistakes.
//
// One Server is a cluster: a catalogue of namespaces, tables and regions, and nodes, each with its own listener, connections,
// scanners and start code. With Options.Servers 1 the one node is region server and master; with more the master has a
// listener of its own, so that it can live or die by itself. All nodes answer the registry's calls. Regions belong to a node
// and do not show in the stored keys, so that to move, split or merge them writes only hbase:meta: one commit decides, and
// what a crash leaves is the catalogue before it or after it (transition.go). At each start the regions of enabled tables are
// dealt out in turn.
//
// A request's way, read top to bottom:
//
//	conn.serve       preamble, connection header, then frames; each request in its own goroutine
//	conn.run         control functions first (faults.go), then the method's handler (call.go)
//	rpc_*.go         the handlers: a file for each family of methods, which says above its map of them what they do not do
//	internal/filter  the filters and comparators of reads and conditions
//	internal/store   cells in Pebble, with HBase's order and semantics
//	conn.reply       result or exception, whole frames, in whatever order they are ready
//
// What the handlers work on: cluster.go (the catalogue) and meta.go (its regions, in hbase:meta), node.go (a server through its
// lives) and life.go (one of them), regions.go (tables and regions) and transition.go (where regions are, and how that changes),
// mutation.go (writes), scanner.go (reads).
//
// Faults on demand:
//
//	Server.Control             seizes requests and answers, delays, drops or silences them
//	Exceptions                 all exceptions that a client may meet, for Outcome.Exception and its like
//	Server.Split, Merge, Move  with Server.Hold and Options.InTransition, which keep the regions closed for a while
//	Node                       Kill, Stop, Restart, Freeze, Slow, SetClock; the master is a Node too
//	Server.CutMeta, HoldMaster hbase:meta that does not answer, a master that is initializing
//
// The invariants: a mutation is acknowledged only after it is durable (see Options.Fsync) and is applied whole or not at
// all; a read sees rows whole; what is not supported is answered with a clear exception and listed in LIMITS.md; no bytes
// from a connection make the server panic, or allocate what they only announce; what the requests and answers of all
// connections hold is bounded, and a client that does not read or does not finish is cut off first (Options.MaxHeld, gate.go).
package embedded
