package service

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"syscall"
)

// releaseProgram gives back the pages of the executable that are mapped. A start touches most of them, since every package prepares itself,
// those of the embedded servers, the index engine and the accounts too. Nothing is lost: the pages are the file's and never written, and
// one that is used again is found in the system's cache, where Linux maps it with those around it.
func releaseProgram() { adviseProgram(syscall.MADV_DONTNEED) }

// adviseProgram advises the system of all pages of the executable that are only read; where that is refused they stay as they are.
func adviseProgram(advice uintptr) {
	self, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return
	}
	maps, err := os.Open("/proc/self/maps")
	if err != nil {
		return
	}
	defer maps.Close() //nolint:errcheck // only read from
	for s := bufio.NewScanner(maps); s.Scan(); {
		var from, to uintptr
		var access string
		if _, err := fmt.Sscanf(s.Text(), "%x-%x %s", &from, &to, &access); err != nil || strings.Contains(access, "w") ||
			!strings.HasSuffix(s.Text(), " "+self) {
			continue
		}
		_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, from, to-from, advice)
	}
}
