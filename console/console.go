// Package console holds the web console: pages for browsers, which use only the HTTP API. Their source is TypeScript in src, from which
// `make console` builds the files in dist. These are committed, so that Go alone builds brine.
package console

import (
	"embed"
	"io/fs"
)

//go:embed all:dist
var dist embed.FS

// Users returns the files of the users' listener: the order centre and the parcel tracking.
func Users() fs.FS { return below("dist/users") }

// Operators returns the files of the operators' listener. The users' files include none of them.
func Operators() fs.FS { return below("dist/operators") }

func below(dir string) fs.FS {
	files, err := fs.Sub(dist, dir)
	if err != nil {
		panic("BUG: " + err.Error()) // we chose the name
	}
	return files
}
