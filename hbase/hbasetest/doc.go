// Package hbasetest holds the conformance suite of HBase clients and servers: text scripts of operations with their answers,
// which any client runs against any server. Our client and HBase's own Java client run them against the embedded and the
// real server, and all four give the answers in the scripts, which the Java client got from the real server. Tests of hbase
// and hbase/embedded, and whoever brings another server or client, import it.
//
// The invariant: an answer holds nothing that differs from run to run; VOLATILE.md lists what is masked or not printed.
//
// # The language
//
// A line is an operation, words between spaces; lines that begin with "+ " are its further lines; lines that begin with two
// spaces are its answer; "#" begins a comment. A comment "# only java: why" means that our client cannot run the script.
//
//	create TABLE FAMILY[;KEY=VALUE…]… [splits=KEY,…]
//	disable | enable | drop | exists | regions TABLE
//	describe TABLE FAMILY KEY…
//	tables
//	create-namespace NAME
//	drop-namespace NAME, flush TABLE, compact TABLE           only java
//	put TABLE ROW CELL…
//	delete TABLE ROW MARKER…
//	batch TABLE                                               + put ROW CELL… | + delete ROW MARKER…
//	get TABLE ROW [columns=COLUMN,…] [versions=N] [times=FROM,TO]
//	gets TABLE                                                + ROW [options of get]
//	scan TABLE [options of get] [start=ROW] [stop=ROW] [reverse] [limit=N] [caching=N] [bytes=N] [raw]
//	count TABLE
//	digest TABLE                                              see Digest
//
// A COLUMN is family:qualifier or family: for all of it. A CELL is family:qualifier@time=value. A MARKER is
// family:qualifier@time/version or /column, or family:@time/family or /family-version. A time is ms since 1970, or now,
// now-N, now+N, where now is when the run began. Bytes are written as they are when they are letters, digits or _.-| and as
// \xHH otherwise; word*N stands for N times word. In answers, bytes of more than 64 are their number and the first 16 hex
// digits of their SHA-256. An answer "error NAME" has the class of the exception without its package.
package hbasetest
