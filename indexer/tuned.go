package indexer

import "context"

// Tuned is an Engine with settings for its indexes that can be changed in place. Others hold from when an index was made.
type Tuned interface {
	// Untuned are the settings that an index, or one of its parts, has otherwise than a new one would.
	Untuned(ctx context.Context, index string) ([]Setting, error)
	// Tune changes settings of an index and all its parts, as Untuned has given them.
	Tune(ctx context.Context, index string, settings []Setting) error
}

// Setting is one that is to be changed.
type Setting struct {
	Name    string `json:"setting"` // in the configuration
	Is      string `json:"is"`      // of parts that differ: each value once
	Becomes string `json:"becomes"`
}
