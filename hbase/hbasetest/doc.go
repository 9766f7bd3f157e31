// Package hbasetest is for tests. Run starts an HBase in the test's process:
//
//	client := hbasetest.Run(t).Client(t)
//
// Conform is the conformance suite of HBase clients and servers: text scripts of operations with their answers, which any client runs
// against any server. Our client and HBase's own Java client run them against the embedded and the real server, and all four combinations
// return the answers in the scripts, which the Java client got from the real server. Both clients also run the scripts with a move on a
// real cluster of several region servers, where no region may stay on its server. Tests of another server or client can import the package.
//
// The invariant: an answer contains nothing that differs from run to run; VOLATILE.md lists what is masked or not printed.
//
// # The language
//
// A line is an operation, words between spaces. Lines that begin with "+ " continue it; lines that begin with two spaces are its answer;
// "#" begins a comment. A comment "# only java: why" means that our client cannot run the script; "# needs acl", "# needs quotas" or
// "# needs 2" that a real server must be set up for it, or be an HBase 2.
//
//	create TABLE FAMILY[;KEY=VALUE…]… [splits=KEY,…]
//	alter TABLE FAMILY;KEY=VALUE…                             its regions are opened again
//	disable | enable | drop | exists | regions TABLE
//	describe TABLE FAMILY KEY…
//	tables [matching=REGEX]                                   REGEX of names without the run's prefix; an empty one matches none
//	create-namespace | drop-namespace NAME
//	flush TABLE
//	compact TABLE                                             flush, major compaction, and wait for its end
//	split TABLE KEY                                           the region that has the key, at the key
//	merge TABLE ROW ROW…                                      the regions that have the rows
//	move TABLE ROW                                            the region that has the row, to another server if there is one
//	snapshot TABLE NAME [flush | skipflush]
//	snapshots TABLE                                           those of the table
//	clone-snapshot NAME TABLE
//	restore-snapshot | drop-snapshot NAME
//	grant TABLE USER ACTIONS [COLUMN] [merge]                 ACTIONS are letters of RWXCA; users' names begin with user
//	revoke TABLE USER ACTIONS [COLUMN]                        - means all
//	permissions TABLE
//	throttle TABLE [USER] KIND LIMIT UNIT                     LIMIT 0 removes it
//	space TABLE BYTES POLICY                                  BYTES 0 removes it
//	quotas TABLE                                              those of the table, and of users within it
//	add-peer ID [disabled] [serial] [bandwidth=N] [tables=TABLE,…]
//	remove-peer | enable-peer | disable-peer ID
//	peers
//	normalizer TABLE on | off                                 the switch is the cluster's: only one script uses it
//	normalize TABLE
//	slow-log TABLE                                            only whether it is answered
//	put TABLE ROW CELL…
//	delete TABLE ROW MARKER…
//	batch TABLE                                               + put ROW CELL… | + delete ROW MARKER…
//	mutate TABLE                                              + lines of batch, of one row: all as one
//	check TABLE ROW COLUMN absent | OP VALUE                  + lines of mutate, if the row satisfies it
//	increment TABLE ROW COLUMN=N…
//	append TABLE ROW COLUMN=BYTES…
//	load TABLE ROW…                                           + OPERATION…, see below
//	get TABLE ROW [columns=COLUMN,…] [versions=N] [times=FROM,TO]
//	gets TABLE                                                + ROW [options of get]
//	values TABLE ROW [options of get]                         get without times, for those that the server set
//	scan TABLE [options of get] [start=ROW] [stop=ROW] [reverse] [limit=N] [caching=N] [bytes=N] [raw]
//	     [prefix=BYTES] [until=ROW] [metrics]                 by a PrefixFilter, an InclusiveStopFilter; the server's counts
//	                                                          + N OPERATION…, run after N rows while the scan is open
//	count TABLE
//	digest TABLE                                              see Digest
//
// load puts, deletes and reads the rows in batches, one after the other, while the operations of its further lines run concurrently. Every
// batch's answer and every row read back must match what was written; a last batch has a version of its own, so that the remaining cells do
// not show how many batches there were. An OP is less, at-most, is, is-not, at-least or greater, and its left side is the stored value.
//
// A COLUMN is family:qualifier, or family: for the whole family. A CELL is family:qualifier@time=value. A MARKER is
// family:qualifier@time/version or /column, or family:@time/family or /family-version. A time is ms since 1970, or now, now-N, now+N, where
// now is the start of the run. Bytes are written as they are if they are letters, digits or _.-| and as \xHH otherwise; word*N stands for N
// times word. In answers, more than 64 bytes are replaced by their number and the first 16 hex digits of their SHA-256. An answer "error
// NAME" has the class of the exception without its package.
package hbasetest
