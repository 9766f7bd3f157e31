// Package elastic is the indexer.Engine for Elasticsearch 8 and 9 and OpenSearch, over go-elasticsearch's transport alone: its
// client asks GET / first, which not every server answers, and its bulk helper loses items when a flush fails.
//
// The invariants: every item of a bulk answer is matched with its document by place and id, and one without an answer is
// unknown; writes go through an alias that must exist, so that the server never invents an index with a mapping of its own.
package elastic
