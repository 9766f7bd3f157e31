package embedded_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"brine/hbase/embedded"
)

// damagedServer returns the folder of a server with 100 rows in four regions, half of them in an sstable, half in a log.
func damagedServer(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "hbase")
	for half := range 2 {
		s, err := embedded.Start(embedded.Options{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		if half == 0 {
			createOn(t, s, "t", "2", "4", "6")
		}
		for n := half * 50; n < half*50+50; n++ {
			row := fmt.Sprintf("%02d", n)
			for _, r := range s.Regions("t") {
				if string(r.Start) <= row && (len(r.End) == 0 || row < string(r.End)) {
					if err := putRow(at(t, s, r), r.Name, row, "v"); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestRepair: after Repair a damaged folder can be opened, with every row outside the damaged part, in regions that contain each row once.
// The old folder is kept completely, and losses are reported.
func TestRepair(t *testing.T) {
	for _, c := range []struct {
		file   string
		damage func(path string) error
		rows   int    // at least
		lost   string // in the reported losses
	}{
		{"MANIFEST-*", flip, 100, ""},
		{"marker.manifest.*", os.Remove, 100, ""},
		{"BRINE-LENGTHS", os.Remove, 100, ""},
		{"*.log", flip, 50, ".log: its bytes from "},
		{"*.log", os.Remove, 50, ".log: it is missing"},
		{"*.sst", flip, 0, "cells belong to tables whose descriptions are lost"}, // in the only block of the table
	} {
		t.Run(c.file, func(t *testing.T) {
			dir := damagedServer(t)
			names, err := filepath.Glob(filepath.Join(dir, c.file))
			if err != nil || len(names) == 0 {
				t.Fatalf("%v, %v", names, err)
			}
			if err := c.damage(names[len(names)-1]); err != nil {
				t.Fatal(err)
			}
			aside := dir + ".damaged"
			r, err := embedded.Repair(dir, aside)
			if err != nil || !errors.Is(r.Damage, embedded.ErrDamaged) || !strings.Contains(fmt.Sprint(r.Lost), c.lost) || c.lost == "" && len(r.Lost) > 0 {
				t.Fatalf("%+v, %v", r, err)
			}
			if _, err := os.Stat(filepath.Join(aside, "BRINE-FORMAT")); err != nil {
				t.Errorf("what was there is not set aside: %v", err)
			}
			s := start(t, embedded.Options{Dir: dir})
			rows, next := 0, ""
			for _, region := range s.Regions("t") {
				if string(region.Start) != next {
					t.Errorf("a region begins at %q, the one before ends at %q", region.Start, next)
				}
				next = string(region.End)
				rows += len(scanCells(t, at(t, s, region), region.Name))
			}
			if rows < c.rows || rows != r.Rows || next != "" {
				t.Errorf("%d rows of %d; %+v", rows, c.rows, r)
			}
		})
	}
}

// TestRepairLeavesUndamagedFoldersAlone: Repair changes neither a folder that is not damaged nor one in use.
func TestRepairLeavesUndamagedFoldersAlone(t *testing.T) {
	dir := damagedServer(t)
	aside := dir + ".damaged"
	if r, err := embedded.Repair(dir, aside); r.Damage != nil || err != nil {
		t.Errorf("%+v, %v", r, err)
	}
	start(t, embedded.Options{Dir: dir})
	if _, err := embedded.Repair(dir, aside); !errors.Is(err, embedded.ErrInUse) {
		t.Errorf("in use: %v", err)
	}
	if _, err := os.Stat(aside); err == nil {
		t.Error("something was set aside")
	}
}

// flip flips 16 bytes in the middle of a file.
func flip(path string) error {
	file, err := os.ReadFile(path)
	for i := range file[len(file)/2:][:min(16, len(file)/2)] {
		file[len(file)/2+i] ^= 0xFF
	}
	return errors.Join(err, os.WriteFile(path, file, 0o600))
}
