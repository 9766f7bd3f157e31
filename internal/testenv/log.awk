# What `go test -v` prints, without the lines that say only that a test ran and passed: what is left is each package's result,
# what failed, and what tests logged (counts, digests, measured values).
/^ *=== (RUN|PAUSE|CONT|NAME)/ || /^ *--- (PASS|SKIP)/ || /^PASS$/ || /^time=/ || /\[rapid\] OK/ || /\[no test files\]$/ { next }
{ print; fflush() }
