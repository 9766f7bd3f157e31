package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// fromTar reads the named files of a .tar.gz, in the order of names.
func fromTar(archive string, names ...string) ([][]byte, error) {
	file, err := os.Open(archive)
	if err != nil {
		return nil, fmt.Errorf("%w; make data downloads it", err)
	}
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", archive, err)
	}
	found := make([][]byte, len(names))
	for entries := tar.NewReader(unzipped); ; {
		entry, err := entries.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", archive, err)
		}
		for i, name := range names {
			if entry.Name != name {
				continue
			}
			if found[i], err = io.ReadAll(entries); err != nil {
				return nil, fmt.Errorf("%s: %s: %w", archive, name, err)
			}
		}
	}
	for i, name := range names {
		if found[i] == nil {
			return nil, fmt.Errorf("%s: has no %s", archive, name)
		}
	}
	return found, nil
}

// fromZip reads a file of a zip archive.
func fromZip(archive io.ReaderAt, size int64, name string) ([]byte, error) {
	files, err := zip.NewReader(archive, size)
	if err != nil {
		return nil, err
	}
	return fs.ReadFile(files, name)
}

// fromWheel reads a file of a Python wheel, which is a zip archive.
func fromWheel(archive, name string) (*bytes.Reader, error) {
	file, err := os.Open(archive)
	if err != nil {
		return nil, fmt.Errorf("%w; make data downloads it", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	content, err := fromZip(file, info.Size(), name)
	if err != nil {
		return nil, fmt.Errorf("%s: %s: %w", archive, name, err)
	}
	return bytes.NewReader(content), nil
}
