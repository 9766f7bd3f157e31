// Package memnet is a network in memory on which things go wrong as on a real one: what Kafka and HBase listen on, and clients dial
// over, inside a testing/synctest bubble. It is for tests and simulations.
//
//	Network, Place (network.go)  servers and processes, and what is wrong with the network at each
//	link (link.go)               a connection: two pipes, and what happens to the answers on it
//	pipe (pipe.go)               one direction: bytes, and when they arrive
//
// A connection takes any amount: no write waits for its reader. So nobody holds a mutex while it waits for a write, in which a bubble's
// time would stand still forever.
package memnet
