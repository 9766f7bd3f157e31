package rowkey

import (
	"cmp"
	"strings"
)

// Describe returns the fields that the beginning of a row key, such as a region's start key, holds whole, read by the key that fits it:
// "waybill=UA-1545 …". It returns "" if there are none.
func (ks Keys) Describe(beginning []byte) string {
	key := cmp.Or(ks.Fit(beginning), ks.Newest())
	if key == nil {
		return ""
	}
	parts, err := key.Explain(beginning)
	var out []string
	for i, p := range parts {
		// The last part of a beginning may be cut short.
		last := err != nil && (i+1 == len(parts) || parts[i+1].Bytes == nil)
		if p.Value != "" && (!last || p.Width > 0) {
			out = append(out, p.Expr+"="+p.Value)
		}
	}
	return strings.Join(out, " ")
}
