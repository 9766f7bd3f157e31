// Package config reads brine.yaml and turns it into each package's Options.
//
// The settings are the structs in settings*.go: their tags hold names, defaults and bounds, and their comments describe each setting. The
// loader, the JSON Schema and docs/configuration.md are all derived from these structs, so they cannot disagree.
//
// The invariant: Load either returns a configuration that every builder turns into valid Options, or returns errors. It finds all errors of
// a file at once, each with its place and its fix, opens no connection and writes nothing.
package config

//go:generate go test -run TestGenerated . -update
