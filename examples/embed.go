// Package examples holds configurations that work as they are. cmd/brine runs one of them as `brine dev`; people base their own on them.
//
// The invariant: every file loads without an error or a warning, and its test writes its sample. Only a design, which is as its authors
// have it, may have a warning, which docs/designs.md then names.
package examples

import _ "embed"

// Dev is the configuration of `brine dev`; the servers' addresses come from the command.
//
//go:embed dev.yaml
var Dev []byte
