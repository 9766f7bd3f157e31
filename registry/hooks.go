package registry

import "time"

// Hooks are called with what a client does; any may be nil. They must be safe for concurrent use and must not block.
type Hooks struct {
	Fetched func(FetchedInfo) // after each fetch of a schema that was not in memory
	Cached  func(CachedInfo)  // after each change of the schemas in memory
	Kept    func(KeptInfo)    // after each write of a cache file, and each failed read or write
}

// ensureDefaults replaces nil hooks with no-ops.
func (h *Hooks) ensureDefaults() {
	orNothing(&h.Fetched)
	orNothing(&h.Cached)
	orNothing(&h.Kept)
}

func orNothing[Info any](hook *func(Info)) {
	if *hook == nil {
		*hook = func(Info) {}
	}
}

// FetchedInfo is one requested schema.
type FetchedInfo struct {
	ID      ID
	FromDir bool          // read from Options.Cache, without a request to the registry
	Outcome Outcome       // 0: found
	Schema  *Schema       // the found schema
	Waited  time.Duration // for the registry or the file
	Err     error         // nil if the schema was found
}

// CachedInfo is what is in memory.
type CachedInfo struct {
	Schemas int
	Bytes   int64
	Evicted int // schemas that made room for the new one
}

// KeptInfo is one use of a cache file.
type KeptInfo struct {
	ID      ID
	Path    string
	Written bool  // whether it was a write, not a read
	Err     error // nil: it was written
}
