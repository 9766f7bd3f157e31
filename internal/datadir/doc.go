// Package datadir is what the data folders of the embedded stores have in common: only their owner may read them, and one that
// was closed in order holds an inventory, so that whatever is missing or changed at the next start is noticed before anything is
// read, or deleted because nothing names it any more.
//
// The inventory is the file INVENTORY: each file's checksum, length and name, a line each, and a last line with the checksum of
// those lines. Unseal takes it away before the store writes. A folder without one was not closed in order, and its store says
// by itself what may be missing: the end of what was being written.
package datadir
