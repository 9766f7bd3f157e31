// Package command lets people change rows: a customer confirms an order, the shop's own people cancel one.
//
// A command is a transition of a Machine, which the configuration declares: from states, to a state, by roles. It becomes an ordinary
// change in the pipeline's topic, and the pipeline applies it like any other. A Desk accepts commands against the version of the row that
// the caller has seen, stores them in an Outbox before it answers, and publishes them. A process that is interrupted in between publishes
// them again after its start, which does no harm, because a command has one version and one content.
//
// The invariants: two commands on the same version of a row are never both accepted, and each idempotency key has one command, within one
// database. A command that was answered is published, however often the process dies. A place that a command holds is freed only when it is
// certain that the command has not been, and will not be, applied. A Machine is pure.
package command
