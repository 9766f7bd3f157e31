package registry

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// dir stores schemas in files, one each, below a folder for the set of the registry's URLs, so that a client of another registry gets none
// of them. A set that has only some URLs in common may be another registry's.
//
// A file is a line, "brine-schema 1" and the hex SHA-256 of the rest, followed by the Schema as JSON. It is written next to its place and
// renamed, so that it is there whole or not at all.
type dir struct{ folder string } // empty: none

const fileMagic = "brine-schema 1 "

func (d *dir) open(folder string, urls []string) error {
	if folder == "" {
		return nil
	}
	set := slices.Compact(slices.Sorted(slices.Values(urls))) // of one registry, in whichever order they are asked
	sum := sha256.Sum256([]byte(strings.Join(set, "\n")))
	d.folder = filepath.Join(folder, hex.EncodeToString(sum[:8]))
	if err := os.MkdirAll(d.folder, 0o700); err != nil {
		return fmt.Errorf("registry: creating the cache folder: %w", err)
	}
	return nil
}

// path returns the file of an id.
func (d *dir) path(id ID) string {
	number := strconv.FormatInt(id.Number, 10)
	switch id.Kind {
	case Number:
		return filepath.Join(d.folder, "id-"+number+".json")
	case ContentID:
		return filepath.Join(d.folder, "content-"+number+".json")
	case GlobalID:
		return filepath.Join(d.folder, "global-"+number+".json")
	}
	return filepath.Join(d.folder, "guid-"+id.guid()+".json")
}

// read returns the stored schema, or nil if there is none. After an error, the file cannot be used, and the caller proceeds as if there
// were none.
func (d *dir) read(id ID, most int64) (*Schema, error) {
	if d.folder == "" {
		return nil, nil
	}
	f, err := os.Open(d.path(id))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	defer f.Close()
	// Text may be longer in the file than in the answer, because it is escaped again and bytes are base64.
	text, err := io.ReadAll(io.LimitReader(f, 8*most))
	if err != nil {
		return nil, err
	}
	head, body, ok := bytes.Cut(text, []byte("\n"))
	sum, magic := strings.CutPrefix(string(head), fileMagic)
	if want := sha256.Sum256(body); !ok || !magic || sum != hex.EncodeToString(want[:]) {
		return nil, errors.New("the file has changed since it was written")
	}
	s := new(Schema)
	if err := json.Unmarshal(body, s); err != nil {
		return nil, err
	}
	if s.ID != id {
		return nil, fmt.Errorf("the file holds the schema of %s", s.ID)
	}
	return s, nil
}

func (d *dir) write(s *Schema) (err error) {
	body, err := json.Marshal(s)
	if err != nil {
		return err
	}
	path := d.path(s.ID)
	f, err := os.CreateTemp(d.folder, filepath.Base(path)+".*.tmp")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	sum := sha256.Sum256(body)
	_, err = f.WriteString(fileMagic + hex.EncodeToString(sum[:]) + "\n")
	if err == nil {
		_, err = f.Write(body)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
