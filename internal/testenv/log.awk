# What `go test -v` prints, without the lines that say only that a test ran and passed: what is left is each package's result,
# what failed, and what tests logged (counts, digests, measured values). Tests that run in parallel are printed interleaved, so
# the last lines of each test that failed are printed again, in one piece, before its package's result.
/^ *=== (RUN|PAUSE|CONT|NAME)/ { current = $3; next }
/^ *--- (PASS|SKIP):/ { forget($3); next }
/^ *--- FAIL:/ { failed[++failures] = $3; print; fflush(); next }
/^FAIL\t/ { repeat() }
/^ok  \t/ { repeat() }
/^PASS$/ || /^time=/ || /\[rapid\] OK/ || /\[no test files\]$/ { next }
{ remember($0); print; fflush() }

function remember(line) { printed[current]++; lines[current, printed[current] % 12] = line }

function forget(test,  i) {
	for (i = 0; i < 12; i++) delete lines[test, i]
	delete printed[test]
}

function repeat(  i, j, test) {
	for (i = 1; i <= failures; i++) {
		test = failed[i]
		print "failed: " test
		for (j = printed[test] > 12 ? printed[test] - 11 : 1; j <= printed[test]; j++) print "  " lines[test, j % 12]
	}
	fflush()
	for (test in printed) forget(test)
	failures = 0
	current = ""
}
