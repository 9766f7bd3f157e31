package display

import (
	"brine/rowkey"
	"brine/skew"
)

// Start returns the start key of a region, and the fields that are whole in it.
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
