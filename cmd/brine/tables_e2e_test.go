package main

import (
	"strings"
	"testing"
)

// TestTablesAreAlteredAndRegionsChanged does what an operator does, on both servers: it alters a table, splits a region at a row, and
// merges it again.
func TestTablesAreAlteredAndRegionsChanged(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]func(*testing.T) stack{"embedded": embeddedStack, "real": realStack} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := newJob(t, start(t))
			expect := func(want string, args ...string) {
				t.Helper()
				if out := j.must(args...); !strings.Contains(out, want) {
					t.Errorf("brine %s: no %q in\n%s", strings.Join(args, " "), want, out)
				}
			}
			expect("nothing to do", "tables", "apply", "-c", j.file)
			j.replace("e: { versions: 1, compression: gz, bloom: row }", "e: { versions: 3, compression: gz, bloom: rowcol, mob: 200KiB }\n      d: { ttl: 92d }")
			j.replace("regions: 16", "regions: 16\n    max_filesize: 20GiB")
			if out, code := j.exit("tables", "apply", "-c", j.file); code != exitFailed || !strings.Contains(out, "nothing was changed") {
				t.Errorf("without a yes: exit %d, %s", code, out)
			}
			expect("altered", "tables", "apply", "-c", j.file, "--yes")
			expect("nothing to do", "tables", "apply", "-c", j.file)
			j.replace("d: { ttl: 92d }", "d: { ttl: 1d }")
			if out, code := j.exit("tables", "apply", "-c", j.file, "--yes"); code != exitUsage || !strings.Contains(out, "--allow-shorter-ttl") {
				t.Errorf("a loss that is not allowed: exit %d, %s", code, out)
			}
			expect("altered", "tables", "apply", "-c", j.file, "--yes", "--allow-shorter-ttl")

			expect(": 16 regions", "regions", "ls", "-c", j.file, j.table)
			expect(`split at 8abcW-1|`, "regions", "split", "-c", j.file, j.table, "key:8abc", "--at", "8abcW-1|", "--yes")
			expect("8abcW-1|  waybill=W-1", "regions", "ls", "-c", j.file, j.table)
			expect(": 17 regions", "regions", "ls", "-c", j.file, j.table)
			expect("merged", "regions", "merge", "-c", j.file, j.table, "key:8000", "key:8abcX", "--yes")
			expect(": 16 regions", "regions", "ls", "-c", j.file, j.table)
			expect("flushed", "regions", "flush", "-c", j.file, j.table)
			expect("will be compacted", "regions", "compact", "-c", j.file, j.table, "key:8abc", "--major")
		})
	}
}
