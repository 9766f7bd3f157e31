package display

import (
	"brine/rowkey"
	"brine/skew"
)

// Start shows where a region begins: its start key, and the fields that it holds whole.
func Start(keys rowkey.Keys, at skew.Key) string {
	if len(at) == 0 {
		return at.Start()
	}
	fields := keys.Describe(at)
	if fields == "" {
		return at.String()
	}
	return at.String() + "  " + fields
}
