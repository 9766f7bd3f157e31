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

// adviseProgram advises the system of all pages of the executable that are read and were never written; where that is refused they stay as
// they are. A part that cannot be written now may have been when the dynamic linker set its pointers, which its file does not have: such a
// part has pages of its own (Anonymous), and is left alone.
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
