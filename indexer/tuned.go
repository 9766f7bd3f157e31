package indexer

import "context"

// Tuned is an Engine whose indexes have settings that can be changed in place. Other settings are fixed when an index is created.
type Tuned interface {
	// Untuned returns the settings that differ between an index, or one of its parts, and a new one.
	Untuned(ctx context.Context, index string) ([]Setting, error)
	// Tune changes settings of an index and all its parts to the values that Untuned has returned.
	Tune(ctx context.Context, index string, settings []Setting) error
}

// Setting is a setting to change.
type Setting struct {
	Name    string `json:"setting"` // in the configuration
	Is      string `json:"is"`      // if parts differ: each value once
	Becomes string `json:"becomes"`
}
