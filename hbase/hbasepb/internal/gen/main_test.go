package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// The committed code must match the committed .proto files.
func TestGeneratedCodeIsUpToDate(t *testing.T) {
	dir := filepath.Join("..", "..")
	files, err := Generate(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatal("no .proto files found")
	}
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is not what its .proto file makes: run go generate ./hbase/hbasepb", name)
		}
	}
}
