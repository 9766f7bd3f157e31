// Package derive computes fields of an event from its other fields, and decides which events are kept, by expressions in CEL, the Common
// Expression Language.
//
// A [Builder] compiles expressions against the fields of a schema, one after another; a decoder uses the resulting [Rules]. The invariant:
// the result of an expression is a function of the event's values alone. There is no clock, no offset, no state, and no table other than
// what the expression itself contains, so a replay decides as the first run did.
//
// Work is bounded before anything runs: an expression has no loops (macros are off), so its cost follows from its text and from maxText,
// the longest text that it may look at. [Builder] refuses expressions that could cost more than maxCost. What can still fail at run time
// (an overflow, a division by zero, a null where a value is needed) is an *event.Error: a dead letter.
//
// An evaluator belongs to one goroutine: it owns the values that it passes to CEL, and reuses them for the next event.
package derive
