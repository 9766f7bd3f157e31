package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"brine/internal/datadir"
)

// Errors of Open, for use with errors.Is.
var (
	ErrInUse       = errors.New("data folder is in use")
	ErrNewerFormat = errors.New("data folder was written by a newer version")
	ErrDamaged     = datadir.ErrDamaged
)

// format is the version of the layout in doc.go. Open refuses a folder with a greater one.
const format = 3

const (
	formatWithoutTTLs    = 1 // is kept
	formatWithoutLengths = 2 // is upgraded to the newest
)

const formatFile = "BRINE-FORMAT"

// folderLayout is the names of Pebble's files and ours.
var folderLayout = datadir.Layout{"*.sst", "*.log", "MANIFEST-*", "OPTIONS-*", "marker.*", "*.dbtmp", "BRINE-*"}

// openDir opens a locked folder. Pebble gets the folder only if nothing is missing, because it deletes files that its manifest does not
// name.
func openDir(o Options, f *fence) (_ *life, err error) {
	n, err := readFormat(o.Dir)
	if err != nil {
		return nil, err
	}
	if _, err := datadir.Unseal(o.Dir); err != nil {
		return nil, err
	}
	lengths, err := openLengths(o.Dir)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, lengths.close())
		}
	}()
	if err := checkFolder(o.Dir, n, lengths); err != nil {
		return nil, err
	}
	if n == 0 {
		if n, err = format, writeFormat(o.Dir); err != nil {
			return nil, err
		}
	}
	fs := folderFS{FS: o.FS, fsync: o.Fsync, lengths: lengths}
	db, err := pebble.Open(o.Dir, o.pebble(fencedFS{FS: fs, fence: f}, f))
	if err != nil {
		return nil, openError(o.Dir, err)
	}
	if n == formatWithoutLengths {
		if err := writeFormat(o.Dir); err != nil {
			return nil, errors.Join(err, db.Close())
		}
	}
	return &life{db: db, lengths: lengths, tails: n > formatWithoutTTLs, fence: f}, nil
}

// IsFolder reports whether a folder has any of the files that only a store's folder has.
func IsFolder(dir string) bool {
	for _, name := range []string{formatFile, lengthsFile, "MANIFEST-*", "marker.manifest.*"} {
		if found, _ := filepath.Glob(filepath.Join(datadir.EscapeGlob(dir), name)); len(found) > 0 {
			return true
		}
	}
	return false
}

// readFormat returns a folder's format, or 0 if it has none yet.
func readFormat(dir string) (int, error) {
	name := filepath.Join(dir, formatFile)
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(text)))
	switch {
	case err != nil || n < 1:
		return 0, datadir.Damaged(name, "it has no format number")
	case n > format:
		return 0, fmt.Errorf("%s: %w: format %d, but this one knows %d", dir, ErrNewerFormat, n, format)
	}
	return n, nil
}

func writeFormat(dir string) error {
	return datadir.Replace(dir, formatFile, []byte(strconv.Itoa(format)+"\n"))
}

// checkFolder checks the files of an unsealed folder against what is known of them.
func checkFolder(dir string, n int, l *lengths) error {
	desc, err := pebble.Peek(dir, vfs.Default)
	if err != nil {
		return openError(dir, err)
	}
	switch {
	case desc.Exists && n == 0:
		return datadir.Damaged(filepath.Join(dir, formatFile), "it is missing")
	case desc.Exists && n > formatWithoutLengths && l.find(filepath.Base(desc.ManifestFilename)) < 0:
		return datadir.Damaged(filepath.Join(dir, lengthsFile), "it does not name %s", filepath.Base(desc.ManifestFilename))
	case !desc.Exists && l.hasLog():
		return datadir.Damaged(filepath.Join(dir, "marker.manifest.*"), "it is missing, or names a file that does not exist")
	}
	for _, o := range l.of {
		if err := o.check(dir); err != nil {
			return err
		}
	}
	if desc.Exists && n <= formatWithoutLengths {
		return checkManifest(desc.ManifestFilename)
	}
	return nil
}

// hasLog reports whether there is a log, which implies that there was a manifest.
func (l *lengths) hasLog() bool {
	for _, o := range l.of {
		if strings.HasSuffix(o.name, ".log") {
			return true
		}
	}
	return false
}

// check checks a log or manifest against its recorded length.
func (o length) check(dir string) error {
	name := filepath.Join(dir, o.name)
	file, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return datadir.Damaged(name, "it is missing")
	}
	if err != nil {
		return err
	}
	if int64(len(file)) < o.bytes {
		return datadir.Damaged(name, "it has %d bytes, but %d were written", len(file), o.bytes)
	}
	if to := readableTo(file[:o.bytes]); int64(to) < o.bytes {
		return datadir.Damaged(name, "its bytes from %d on differ from those written", to)
	}
	return nil
}

// checkManifest checks that all of a manifest without a recorded length is readable.
func checkManifest(name string) error {
	file, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if to := readableTo(file); to < len(file) {
		return datadir.Damaged(name, "its bytes from %d on differ from those written", to)
	}
	return nil
}

// openError returns the reason why Pebble cannot open a folder: an error of the system, a newer format, or otherwise damage.
func openError(dir string, err error) error {
	var refused syscall.Errno
	switch {
	case strings.Contains(err.Error(), "unknown format major version"):
		return fmt.Errorf("%s: %w: %w", dir, ErrNewerFormat, err)
	case errors.As(err, &refused) && refused != syscall.ENOENT:
		return fmt.Errorf("data folder %s: %w", dir, err)
	}
	return datadir.Damaged(dir, "%v", err)
}
