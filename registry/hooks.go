package registry

import "time"

// Hooks are called with what a client does; any may be nil. They must be safe for concurrent use and must not block.
type Hooks struct {
	Fetched func(FetchedInfo) // after every fetch of a schema that was not in memory
	Cached  func(CachedInfo)  // whenever what is in memory changes
	Kept    func(KeptInfo)    // after every file of the cache that was written, or could not be read or written
}

// ensureDefaults puts a no-op where a hook is nil.
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

// FetchedInfo is one schema that was asked for.
type FetchedInfo struct {
	ID      ID
	FromDir bool          // it was read from Options.Cache, and the registry was not asked
	Outcome Outcome       // 0: found
	Schema  *Schema       // that was found
	Waited  time.Duration // for the registry or the file
	Err     error         // nil if it was found
}

// CachedInfo is what is in memory.
type CachedInfo struct {
	Schemas int
	Bytes   int64
	Evicted int // schemas that made room for the one that came
}

// KeptInfo is one use of a file of the cache.
type KeptInfo struct {
	ID      ID
	Path    string
	Written bool  // it was to be written, not to be read
	Err     error // nil: it was written
}
