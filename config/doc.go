// Package config reads brine.yaml and turns it into each package's Options.
//
// The settings are the structs of settings*.go: their tags say name, default and bounds, their comments say what a setting
// means. The loader, the JSON Schema and docs/configuration.md all come from these structs, so none can say what the others
// do not.
//
// The invariant: Load either gives a configuration that every builder turns into valid Options, or errors; it finds all
// errors of a file at once, each with its place and its fix, opens no connection and writes nothing.
package config

//go:generate go test -run TestGenerated . -update
