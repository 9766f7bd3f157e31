// Package console holds the web console: pages for browsers, which ask the HTTP API and nothing else. Their source is TypeScript in src,
// from which `make console` builds the files of dist; they are committed, so that brine is built with Go alone.
package console

import (
	"embed"
	"io/fs"
)

//go:embed all:dist
var dist embed.FS

// Users is what the users' listener serves: the order centre, and where parcels are.
func Users() fs.FS { return below("dist/users") }

// Operators is what the operators' listener serves. Nothing of it is among the files of users.
func Operators() fs.FS { return below("dist/operators") }

func below(dir string) fs.FS {
	files, err := fs.Sub(dist, dir)
	if err != nil {
		panic("BUG: " + err.Error()) // the name is ours
	}
	return files
}
