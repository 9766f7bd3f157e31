// Package tabledump writes an HBase table as lines of JSON and makes a table from them again, byte for byte. It is for tests, and for
// viewing and editing tables with a text editor. It works on any HBase, using our client.
//
// The first line describes the table. Each further line is a cell with its timestamp and type:
//
//	{"table":"orders","families":[{"name":"f","values":{"VERSIONS":"3"}}],"splits":["m"]}
//	{"row":"o-1","family":"f","qualifier":"state","timestamp":1700000000000,"type":"put","value":"paid"}
//	{"row":"o-2","family":"f","qualifier":"sum","timestamp":1700000000000,"type":"put","value":{"base64":"AAAAAAAAAGQ="}}
//
// Bytes that are text are a string, all others {"base64": …}. Types are put, delete, delete-column, delete-family and
// delete-family-version.
//
// The invariant: Load makes the same cells from what Dump writes of a table. A line that cannot be parsed ends Load with an error that
// names it, and nothing missing is filled in.
package tabledump
