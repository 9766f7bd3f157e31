// Package publish puts files into topics, each record once: JSON lines or CSV become records (Source), and records are published in
// transactions that commit how many are there (Transactions), or at the end of a topic that nobody else writes to (Appender). Patience
// begins again what failed while brokers are away. A Job is all of them together.
//
// The invariant: the same files give the same records in the same order, so that a publishing that was killed goes on behind the last
// record that readers of committed records can see.
package publish
