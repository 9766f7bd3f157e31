// Package memnet is an in-memory network with the faults of a real one. Kafka and HBase listen on it, and clients dial over it, inside a
// testing/synctest bubble. It is for tests and simulations.
//
//	Network, Place (network.go)  servers and processes, and the faults of the network at each
//	link (link.go)               a connection: two pipes, and what happens to the answers on it
//	pipe (pipe.go)               one direction: bytes, and when they arrive
//
// A connection takes any amount: no write waits for its reader. So no goroutine holds a mutex while it waits for a write, which would stop
// the bubble's time forever.
package memnet
