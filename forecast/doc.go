// Package forecast predicts what would become of sampled records if pipelines wrote them now: the rows of each table and their spread over
// regions, dead letters, collisions, ties, and cells that a TTL would hide. It writes nothing.
//
// A Sample is a file, some records of a topic, or records in memory. Run reads it, twice if events collide, and returns a Report for each
// Target, which is a table that a pipeline writes. Each record has a place (its line, or its partition and offset), so that findings can
// name it.
package forecast
