package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"brine/account"
	"brine/examples"
	"brine/hbase/embedded"
	"brine/indexer"
	bleve "brine/indexer/embedded"
	brokers "brine/ingest/embedded"
)

// devFolder returns the data folder of a brine dev that has written nothing yet.
func devFolder(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "dev data")
	kafka, err := brokers.StartIn(filepath.Join(dir, "kafka"), net.Listen, func(err error) { t.Error(err) }, kfake.NumBrokers(1), kfake.Ports(0))
	if err != nil {
		t.Fatal(err)
	}
	kafka.Close()
	hbase, err := embedded.Start(embedded.Options{Dir: filepath.Join(dir, "hbase")})
	if err != nil {
		t.Fatal(err)
	}
	if err := hbase.Close(); err != nil {
		t.Fatal(err)
	}
	engine, err := bleve.Open(bleve.Options{Dir: filepath.Join(dir, "search")})
	if err != nil {
		t.Fatal(err)
	}
	if err := engine.EnsureIndex(t.Context(), indexer.Mapping{Index: "orders"}); err != nil {
		t.Fatal(err)
	}
	if err := engine.Close(); err != nil {
		t.Fatal(err)
	}
	people, err := account.Open(t.Context(), account.Options{Connect: "embedded:" + filepath.Join(dir, "accounts")})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := people.Add(t.Context(), "anna", "", account.Admin, "harbour violin teapot quilt"); err != nil {
		t.Fatal(err)
	}
	if err := people.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// flipFile flips 16 bytes in the middle of the first file that matches a pattern, and returns its name.
func flipFile(t *testing.T, pattern ...string) string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(pattern...))
	if err != nil || len(names) == 0 {
		t.Fatalf("%v, %v", names, err)
	}
	file, err := os.ReadFile(names[0])
	if err != nil {
		t.Fatal(err)
	}
	for i := range 16 {
		file[max(0, len(file)/2-16)+i] ^= 0xFF
	}
	if err := os.WriteFile(names[0], file, 0o600); err != nil {
		t.Fatal(err)
	}
	return names[0]
}

// TestDevRefusesDamage: on a damaged folder brine dev names the file and what can be done, and ends with the exit code for damaged data.
func TestDevRefusesDamage(t *testing.T) {
	notShort(t)
	t.Parallel()
	for _, c := range []struct{ file, hint string }{
		{"hbase/MANIFEST-*", "hint: brine dev --data DIR --repair"},
		{"hbase/*.log", "hint: brine dev --data DIR --repair"},
		{"kafka/meta.json", "hint: brine dev --data DIR --repair"},
		{"search/*/root.bolt", "hint: brine dev --data DIR --repair"},
		{"accounts/accounts.db", "hint: move the contents of its folder away and put accounts.db from a backup there"},
	} {
		t.Run(c.file, func(t *testing.T) {
			dir := devFolder(t)
			name := flipFile(t, dir, filepath.FromSlash(c.file))
			code, stdout, stderr := brine(t, "dev", "--data", dir, "--for", time.Minute.String())
			if code != exitDamaged || stdout != "" || !strings.Contains(stderr, name+" is damaged: ") || !strings.Contains(stderr, c.hint) {
				t.Errorf("exit %d\n%s%s", code, stdout, stderr)
			}
		})
	}
}

// TestDamagedAccountsAreRefused: brine dev without its accounts and brine account with damaged ones create no new ones, and end with the
// exit code for damaged data. A repair says that the accounts cannot be restored, and deletes nothing.
func TestDamagedAccountsAreRefused(t *testing.T) {
	notShort(t)
	t.Parallel()
	dir := devFolder(t)
	name := filepath.Join(dir, "accounts", "accounts.db")
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	if code, stdout, stderr := brine(t, "dev", "--data", dir, "--for", time.Minute.String()); code != exitDamaged || stdout != "" || !strings.Contains(stderr, name+" is damaged: it is missing") {
		t.Errorf("exit %d\n%s%s", code, stdout, stderr)
	}
	if err := os.WriteFile(name, whole[:len(whole)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	cfg := filepath.Join(t.TempDir(), "brine.yaml")
	settings := fmt.Appendf(bytes.Clone(examples.Dev), "accounts: { connect: %q }\n", "embedded:"+filepath.Join(dir, "accounts"))
	if err := os.WriteFile(cfg, settings, 0o600); err != nil {
		t.Fatal(err)
	}
	if code, stdout, stderr := brine(t, "account", "list", "-c", cfg); code != exitDamaged || stdout != "" || !strings.Contains(stderr, name+" is damaged: it has ") || !strings.Contains(stderr, "hint: move the contents of its folder away") {
		t.Errorf("exit %d\n%s%s", code, stdout, stderr)
	}
	code, stdout, stderr := brine(t, "dev", "--repair", "--data", dir)
	for _, part := range []string{name + " is damaged: ", "  saved: nothing: ", "  lost:  nothing can restore these: ", filepath.Join(dir, "damaged-1")} {
		if code != exitOK || !strings.Contains(stdout, part) {
			t.Errorf("exit %d, no %q\n%s%s", code, part, stdout, stderr)
		}
	}
	if aside, err := os.ReadFile(filepath.Join(dir, "damaged-1", "accounts", "accounts.db")); err != nil || len(aside) != len(whole)/2 {
		t.Errorf("set aside: %d bytes, %v", len(aside), err)
	}
	if code, stdout, stderr := brine(t, "account", "list", "-c", cfg); code != exitOK || strings.Contains(stdout, "anna") {
		t.Errorf("exit %d\n%s%s", code, stdout, stderr)
	}
	if code, stdout, stderr := brine(t, "dev", "--repair", "--data", dir); code != exitOK || !strings.HasPrefix(stdout, "Nothing in ") {
		t.Errorf("exit %d\n%s%s", code, stdout, stderr)
	}
}

// TestDataIsItsOwners checks that only the owner can read what brine dev stores, both in a folder that it created and in one that an older
// brine made readable for all.
func TestDataIsItsOwners(t *testing.T) {
	notShort(t)
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	begun := func(map[string]reading) bool { return true } // its first progress: all its files are open
	for range 2 {
		devJSON(t, begun, "--data", dir)
		files := 0
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := d.Info()
			if err != nil {
				return err
			}
			want := fs.FileMode(0o600)
			if d.IsDir() {
				want = 0o700
			}
			if files++; info.Mode().Perm() != want {
				t.Errorf("%s: %v", path, info.Mode())
			}
			return os.Chmod(path, want|want>>3|want>>6) // as an older brine set it
		})
		if err != nil || files < 20 {
			t.Fatalf("%d files, %v", files, err)
		}
	}
}

// TestDevRepairs: after --repair, a brine dev whose HBase and index were damaged has all its rows and documents again. The repair reports
// what it saved, what it lost, and where it put the damaged files.
func TestDevRepairs(t *testing.T) {
	notShort(t)
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	devJSON(t, settledAll(nil), "--data", dir)
	if code, stdout, stderr := brine(t, "dev", "--repair", "--data", dir); code != exitOK || stdout != "Nothing in "+dir+" is damaged.\n" {
		t.Fatalf("exit %d\n%s%s", code, stdout, stderr)
	}
	manifest := flipFile(t, dir, "hbase", "MANIFEST-*")
	root := flipFile(t, dir, "search", "orders*", "root.bolt")
	if code, _, stderr := brine(t, "dev", "--data", dir); code != exitDamaged || !strings.Contains(stderr, manifest) {
		t.Fatalf("exit %d\n%s", code, stderr)
	}
	code, stdout, stderr := brine(t, "dev", "--repair", "--data", dir)
	for _, part := range []string{manifest + " is damaged: ", root + " is damaged: ", " rows, ", "lost:  the documents of index orders", filepath.Join(dir, "damaged-1"), "brine dev --data " + dir + " continues"} {
		if code != exitOK || !strings.Contains(stdout, part) {
			t.Errorf("exit %d, no %q\n%s%s", code, part, stdout, stderr)
		}
	}
	for _, name := range []string{"hbase", "search"} {
		if _, err := os.Stat(filepath.Join(dir, "damaged-1", name)); err != nil {
			t.Error(err)
		}
	}
	again, _ := devJSON(t, settledAll(nil), "--data", dir)
	for half, n := range devEvents {
		if again[half].Events != n {
			t.Errorf("%s wrote %d events again, want %d", half, again[half].Events, n)
		}
	}
}

// TestRepairNeedsData checks that --repair needs the folder to repair.
func TestRepairNeedsData(t *testing.T) {
	for _, args := range [][]string{{}, {"--data", filepath.Join(t.TempDir(), "none")}} {
		if code, stdout, stderr := brine(t, append([]string{"dev", "--repair"}, args...)...); code != exitUsage || stdout != "" || !strings.Contains(stderr, "--data") {
			t.Errorf("%v: exit %d\n%s%s", args, code, stdout, stderr)
		}
	}
}
