// Package elastic is the indexer.Engine for Elasticsearch 8 and 9 and OpenSearch. It uses only the transport of go-elasticsearch: its
// client requests GET / first, which not every server answers, and its bulk helper loses items when a flush fails.
//
// The invariants: every item of a bulk answer is matched with its document by position and id, and an item without an answer is unknown.
// Writes go through an alias that must exist, so that the server never creates an index with a mapping of its own.
package elastic
