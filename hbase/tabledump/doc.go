// Package tabledump writes an HBase table as lines of JSON and makes a table of them again, byte for byte: for tests, and for what is
// looked at and changed with a text editor. It works on any HBase, by our client.
//
// The first line is the table, each further one a cell, with its timestamp and type:
//
//	{"table":"orders","families":[{"name":"f","values":{"VERSIONS":"3"}}],"splits":["m"]}
//	{"row":"o-1","family":"f","qualifier":"state","timestamp":1700000000000,"type":"put","value":"paid"}
//	{"row":"o-2","family":"f","qualifier":"sum","timestamp":1700000000000,"type":"put","value":{"base64":"AAAAAAAAAGQ="}}
//
// Bytes that are text are a string, all others {"base64": …}. Types are put, delete, delete-column, delete-family and
// delete-family-version.
//
// The invariant: what Dump writes of a table, Load makes into cells that are the same; what cannot be read ends Load with its line, and
// nothing that is missing is filled in.
package tabledump
