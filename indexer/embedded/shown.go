package embedded

import (
	"context"
	"fmt"

	bleve "github.com/blevesearch/bleve/v2/search"
	"github.com/blevesearch/bleve/v2/search/query"

	"brine/indexer"
)

// shown returns the version of a document that a search finds, or −1.
func (s *store) shown(ctx context.Context, id string) (version int64, err error) {
	reader, err := s.scorch.Reader()
	if err != nil {
		return 0, err
	}
	defer func() { _ = reader.Close() }() // everything has been read
	found, err := query.NewDocIDQuery([]string{id}).Searcher(ctx, reader, nil, bleve.SearcherOptions{Score: "none"})
	if err != nil {
		return 0, fmt.Errorf("search index %s: %w", s.name, err)
	}
	defer func() { _ = found.Close() }() // everything has been read
	match, err := found.Next(&bleve.SearchContext{DocumentMatchPool: bleve.NewDocumentMatchPool(found.DocumentMatchPoolSize(), 0)})
	if err != nil || match == nil {
		return -1, err
	}
	var failed error
	err = readFrom(reader, []string{id}, func(_, stored []byte) {
		version, failed = indexer.VersionOf(stored[min(headerSize, len(stored)):])
	})
	if err == nil {
		err = failed
	}
	return version, err
}
