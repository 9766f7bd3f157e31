// Package brokers is what the brokers of a configuration know of its pipelines: their topics, where their groups are in them, and their
// dead letters. It says of an error which kind it is, and what fixes it.
//
// A configuration that has no pipelines, for nothing but the brokers is known, gets those that the brokers know.
//
//	brokers.go      clients, and the kinds of their errors
//	topics.go       Topics: records, settings and samples of topics
//	groups.go       Group: where a half of a pipeline is in its topic
//	deadletters.go  DeadLetters: the dead letters of pipelines
package brokers
