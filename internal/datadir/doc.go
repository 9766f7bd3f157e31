// Package datadir is the common part of the embedded stores' data folders: only the owner may read them, and a folder that was closed
// properly has an inventory, so that missing or changed files are noticed at the next start, before anything is read, or deleted because
// nothing refers to it any more.
//
// The inventory is the file INVENTORY: each file's checksum, length and name, one per line, and a last line with the checksum of those
// lines. Unseal removes it before the store writes. A folder without an inventory was not closed properly, and its store must determine by
// itself what may be missing: the end of what was being written.
package datadir
