// Package derive makes fields of an event from its other fields, and decides which events are kept: expressions in CEL, the Common
// Expression Language.
//
// A [Builder] compiles expressions against the fields of a schema, one after another; its [Rules] are what a decoder asks. The
// invariant: what an expression answers is a function of the event's values alone. There is no clock, no offset, no state, and no
// table but what the expression holds itself, so a replay decides as the first run did.
//
// Work is bounded before anything runs: an expression has no loops (macros are off), so its cost follows from its text and from
// maxText, the longest text that it may look at; one that could cost more than maxCost is refused by [Builder]. What is left
// to fail while events come, an overflow, a division by zero, a null where a value is needed, is an *event.Error: a dead letter.
//
// An evaluator belongs to one goroutine: the values that it hands to CEL are its own and are used again for the next event.
package derive
