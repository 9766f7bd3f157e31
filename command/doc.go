// Package command lets people change rows: a customer confirms an order, the shop's own people cancel one.
//
// A command is a transition of a Machine, which the configuration declares: from states, to a state, by roles. It becomes an ordinary
// change of the pipeline's topic, and is applied by the pipeline as any other. A Desk accepts commands against the version of the row that
// the caller has seen, stores them in an Outbox before it answers, and publishes them; who was cut off in between publishes them again
// after its start, which does no harm, since a command has one version and one content.
//
// The invariants: two commands on one version of a row are never both accepted, and of one key of idempotency there is one command, as far
// as one database is asked. A command that was answered is published, however often the process dies. A place that a command holds is
// freed only when it is certain that the command has not been, and will not be, applied. A Machine is pure.
package command
