// Package forecast says what would become of sampled records if pipelines wrote them now: the rows of each table and how they would spread
// over regions, dead letters, collisions, ties, and cells that a TTL would hide. Nothing is written anywhere.
//
// A Sample is a file, some records of a topic, or records in memory; Run reads it, twice where events collide, and returns a Report
// for each Target, which is a table that a pipeline writes. A record's place (its line, or its partition and offset) goes with it, so
// that findings can name it.
package forecast
