// Package archtest holds the import rules of this module as a test. Nothing imports it.
//
// The invariant: imports point one way, as the table in archtest_test.go says; a new package must be entered there before
// it may import anything of ours.
package archtest
