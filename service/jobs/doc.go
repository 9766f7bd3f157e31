// Package jobs runs what takes longer than an answer may: a few at a time, each with its progress, a way to end it, and results that stay.
//
//	jobs.go   what is started, listed and canceled, and what becomes of it
//	work.go   what a job does, and what it says of it meanwhile
//	store.go  jobs in the database of accounts, where other processes and later ones find them
//
// A job belongs to the process that started it, which says every few seconds that it still runs. One whose process has said nothing for
// longer than Options.Lease is shown as interrupted: it is never started again, and never shown as done. Any process may ask for its end.
//
// The invariants: a job is shown as ended only once the audit has its end; what runs and waits is bounded in number, what a job says in
// bytes, and what is kept in number and age; Close returns when nothing runs any more.
package jobs
