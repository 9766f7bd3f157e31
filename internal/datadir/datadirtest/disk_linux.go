package datadirtest

import (
	"errors"
	"os"
	"syscall"
	"testing"
)

// SmallDisk mounts a disk of 20 MB until the test ends, and returns its folder. If the machine does not permit mounting, the test is
// skipped, or fails if BRINE_REAL=required, as with any other missing server.
func SmallDisk(t testing.TB) string {
	t.Helper()
	return smallDisk(t, syscall.Mount)
}

func smallDisk(t testing.TB, mount func(source, target, fstype string, flags uintptr, data string) error) string {
	t.Helper()
	dir := t.TempDir()
	if err := mount("tmpfs", dir, "tmpfs", 0, "size=20m"); err != nil {
		if os.Getenv("BRINE_REAL") == "required" {
			t.Fatalf("this machine lets the test mount no tmpfs, and BRINE_REAL=required: %v", err)
		}
		t.Skipf("this machine lets the test mount no tmpfs: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// Fill appends to a file until its disk is full.
func Fill(t testing.TB, name string) {
	t.Helper()
	f, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for block := make([]byte, 64<<10); err == nil; {
		_, err = f.Write(block)
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
}
