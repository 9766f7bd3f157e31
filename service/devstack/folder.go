package devstack

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"brine/internal/datadir"
	"brine/internal/fault"
	"brine/service/stores"
)

// dataFormat is the version of the layout of a data folder: its servers, their names, and what each keeps next to its own format.
const dataFormat = 1

// layout lists what a data folder may contain.
var layout = datadir.Layout{"FORMAT", "kafka", "hbase", "search", "accounts", "accounts/*", "damaged-*"}

// lock locks a data folder for this process. The lock is released when the process ends, however it ends.
func lock(dir string) (unlock func(), err error) {
	if err := layout.Make(dir); err != nil {
		return nil, fmt.Errorf("--data: %w", err)
	}
	lock, err := datadir.Lock(dir)
	if errors.Is(err, datadir.ErrInUse) {
		return nil, fault.New(fault.Data, fmt.Errorf("--data: %s is in use by another brine", dir), "stop it, or choose another folder")
	}
	if err != nil {
		return nil, fmt.Errorf("--data: %w", err)
	}
	if err := checkFormat(dir); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return func() { _ = lock.Close() }, nil
}

// checkFormat refuses a folder that a newer brine wrote, and marks a folder without a mark.
func checkFormat(dir string) error {
	name := filepath.Join(dir, "FORMAT")
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		text = []byte(strconv.Itoa(dataFormat) + "\n")
		err = os.WriteFile(name, text, 0o600)
	}
	if err != nil {
		return fmt.Errorf("--data: %w", err)
	}
	format, err := strconv.Atoi(strings.TrimSpace(string(text)))
	switch {
	case err != nil:
		return stores.Damaged("--data", datadir.Damaged(name, "it holds no number"))
	case format > dataFormat:
		return fault.New(fault.Data, fmt.Errorf("--data: %s was written by a newer brine: format %d, but this one knows only %d", dir, format,
			dataFormat),
			"use the brine that wrote it, or a newer one, or choose another folder")
	}
	return nil
}
