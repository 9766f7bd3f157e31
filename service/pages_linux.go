package service

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"syscall"
)

// releaseProgram releases the mapped pages of the executable. Startup touches most of them, because every package initializes itself,
// including the embedded servers, the index engine and the accounts. Nothing is lost: the pages are backed by the file and never written. A
// page that is used again is read from the page cache, and Linux maps its neighbors with it.
func releaseProgram() { adviseProgram(syscall.MADV_DONTNEED) }

// adviseProgram calls madvise for all pages of the executable that are readable and were never written. If the kernel refuses, the pages
// stay mapped. A mapping that is read-only now may have been written when the dynamic linker set its pointers, which the file does not
// contain. Such a mapping has pages of its own (Anonymous) and is skipped.
func adviseProgram(advice uintptr) {
	self, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return
	}
	maps, err := os.Open("/proc/self/smaps")
	if err != nil {
		return
	}
	defer maps.Close() //nolint:errcheck // only read from
	var from, to uintptr
	read := false
	for s := bufio.NewScanner(maps); s.Scan(); {
		line := s.Text()
		var begin, end uintptr
		var access string
		if _, err := fmt.Sscanf(line, "%x-%x %s", &begin, &end, &access); err == nil {
			from, to, read = begin, end, !strings.Contains(access, "w") && strings.HasSuffix(line, " "+self)
			continue
		}
		if own, ok := strings.CutPrefix(line, "Anonymous:"); ok && read && strings.Fields(own)[0] == "0" {
			_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, from, to-from, advice)
		}
	}
}
