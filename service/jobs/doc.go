// Package jobs runs what takes longer than a request may: a few jobs at a time, each with its progress, a way to cancel it, and results
// that are kept.
//
//	jobs.go   starting, listing and canceling jobs, and recording their end
//	work.go   the work of a job, and its output
//	store.go  jobs in the database of accounts, where other and later processes find them
//
// A job belongs to the process that started it, which reports every few seconds that the job is still running. A job whose process has been
// silent for longer than Options.Lease is shown as interrupted: it is never started again, and never shown as done. Any process may cancel
// it.
//
// The invariants: a job is shown as ended only once the audit has its end; the number of running and waiting jobs, the bytes of a job's
// output, and the number and age of stored jobs are bounded; Close returns only when no job is running any more.
package jobs
