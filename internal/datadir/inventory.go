package datadir

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// InventoryFile is the name of the inventory in its folder.
const InventoryFile = "INVENTORY"

// lockFile is the name of the file whose lock marks a folder as in use. No inventory lists it.
const lockFile = "LOCK"

const heading = "brine inventory 1\n"

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// item is one file in an inventory.
type item struct {
	sum  uint32
	size int64
	name string // relative to the folder, with slashes
}

// Seal writes the inventory of a folder and makes it durable. Nobody may be writing to the folder.
func (l Layout) Seal(dir string) error {
	items, err := l.take(dir)
	if err != nil {
		return fmt.Errorf("inventory of %s: %w", dir, err)
	}
	if err := Replace(dir, InventoryFile, encode(items)); err != nil {
		return fmt.Errorf("inventory of %s: %w", dir, err)
	}
	return nil
}

// Unseal checks a folder against its inventory and removes the inventory, so that the folder may be written to. It reports whether there
// was an inventory. If a file is missing or has changed, the error is a Damage, and nothing is modified.
func Unseal(dir string) (sealed bool, err error) {
	name := filepath.Join(dir, InventoryFile)
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	items, ok := decode(text)
	if !ok {
		return true, Damaged(name, "it is no inventory of the folder's files")
	}
	for _, want := range items {
		if err := want.check(dir); err != nil {
			return true, err
		}
	}
	if err := os.Remove(name); err != nil {
		return true, err
	}
	return true, syncDir(dir)
}

// check checks a file against the inventory.
func (want item) check(dir string) error {
	name := filepath.Join(dir, filepath.FromSlash(want.name))
	is, err := look(name, want.name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Damaged(name, "it is missing; it was there when brine stopped")
	case err != nil:
		return err
	case is.size != want.size:
		return Damaged(name, "it has %d bytes; it had %d when brine stopped", is.size, want.size)
	case is.sum != want.sum:
		return Damaged(name, "its %d bytes are not those it had when brine stopped", is.size)
	}
	return nil
}

// take returns the items of a folder's files.
func (l Layout) take(dir string) (items []item, err error) {
	err = l.walk(dir, func(name string, d fs.DirEntry) error {
		if d.IsDir() {
			return nil
		}
		i, err := look(filepath.Join(dir, name), filepath.ToSlash(name))
		items = append(items, i)
		return err
	})
	return items, err
}

// look reads a whole file and returns its item.
func look(path, name string) (item, error) {
	f, err := os.Open(path)
	if err != nil {
		return item{}, err
	}
	defer f.Close()
	h := crc32.New(castagnoli)
	n, err := io.CopyBuffer(h, f, make([]byte, 256<<10))
	return item{sum: h.Sum32(), size: n, name: name}, err
}

func encode(items []item) []byte {
	text := []byte(heading)
	for _, i := range items {
		text = fmt.Appendf(text, "%08x %d %q\n", i.sum, i.size, i.name)
	}
	return fmt.Appendf(text, "end %08x\n", crc32.Checksum(text, castagnoli))
}

// decode reverses encode.
func decode(text []byte) (items []item, ok bool) {
	end := bytes.LastIndex(text, []byte("\nend ")) + 1
	if end == 0 || !bytes.Equal(text[end:], fmt.Appendf(nil, "end %08x\n", crc32.Checksum(text[:end], castagnoli))) {
		return nil, false
	}
	lines, ok := strings.CutPrefix(string(text[:end]), heading)
	for line := range strings.Lines(lines) {
		var i item
		if _, err := fmt.Sscanf(line, "%08x %d %q\n", &i.sum, &i.size, &i.name); err != nil {
			return nil, false
		}
		items = append(items, i)
	}
	return items, ok
}

// Replace writes a file of a folder atomically: whenever the process or the machine ends, the file has either the old or the new content.
func Replace(dir, name string, content []byte) error {
	path := filepath.Join(dir, name)
	f, err := os.OpenFile(path+".tmp", os.O_CREATE|os.O_TRUNC|os.O_WRONLY, fileMode)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(path+".tmp"))
	}
	if err := os.Rename(path+".tmp", path); err != nil {
		return err
	}
	return syncDir(dir)
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
