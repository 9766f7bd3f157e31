// Package publish puts files into topics, each record once. Source turns JSON lines or CSV into records. They are published in transactions
// that commit how many are there (Transactions), or appended to a topic that nobody else writes to (Appender). Patience restarts what
// failed while brokers are away. A Job combines all of them.
//
// The invariant: the same files yield the same records in the same order, so that a killed publish resumes after the last record that
// readers of committed records can see.
package publish
