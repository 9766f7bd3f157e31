// Package archtest checks the import rules of this module in a test. Nothing imports it.
//
// The invariant: imports point one way, as the table in archtest_test.go defines; a new package must be entered there before it may import
// any package of ours.
package archtest
