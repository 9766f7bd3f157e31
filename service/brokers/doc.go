// Package brokers is what the brokers of a configuration know of its pipelines: their topics, the positions of their groups, and their dead
// letters. Its errors have a fault kind and a fix.
//
// A configuration without pipelines, for which only the brokers are known, gets the pipelines that the brokers know.
//
//	brokers.go      clients, and the kinds of their errors
//	topics.go       Topics: records, settings and samples of topics
//	groups.go       Group: the position of a half in its topic
//	deadletters.go  DeadLetters: the dead letters of pipelines
package brokers
