package indexer

import (
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/valyala/fastjson"

	"brine/event"
)

// appendValue appends v as JSON. A Float always has a point or an exponent, so that it is read back as a float.
func appendValue(dst []byte, v event.Value) []byte {
	switch v.Type {
	case event.Int, event.TimeMS:
		return strconv.AppendInt(dst, v.Int(), 10)
	case event.Float:
		return appendFloat(dst, v.Float())
	case event.Bool:
		return strconv.AppendBool(dst, v.Bool())
	case event.Text:
		return appendString(dst, v.Text())
	case event.TimeUS, event.TimeNS:
		return strconv.AppendInt(dst, v.Int(), 10)
	case event.Date: // its midnight in UTC
		return strconv.AppendInt(dst, v.Milliseconds(), 10)
	case event.Decimal, event.Bytes: // engines cannot hold a JSON number of 38 digits
		text, _ := v.Textual()
		return appendString(dst, []byte(text))
	default:
		return append(dst, "null"...)
	}
}

func appendFloat(dst []byte, f float64) []byte {
	if math.IsNaN(f) || math.IsInf(f, 0) { // JSON cannot hold it, so no JSON text decodes to it
		return append(dst, "null"...)
	}
	start := len(dst)
	dst = strconv.AppendFloat(dst, f, 'g', -1, 64)
	for _, c := range dst[start:] {
		if c == '.' || c == 'e' {
			return dst
		}
	}
	return append(dst, '.', '0')
}

// appendString appends s as a JSON string; bytes that are not UTF-8 become U+FFFD.
func appendString(dst, s []byte) []byte {
	const digits = "0123456789abcdef"
	dst = append(dst, '"')
	from := 0
	for i := 0; i < len(s); {
		b := s[i]
		if b >= ' ' && b != '"' && b != '\\' && b < utf8.RuneSelf {
			i++
			continue
		}
		if b >= utf8.RuneSelf {
			r, size := utf8.DecodeRune(s[i:])
			if r == utf8.RuneError && size == 1 {
				dst = append(append(dst, s[from:i]...), "\ufffd"...)
				from = i + 1
			}
			i += size
			continue
		}
		dst = append(dst, s[from:i]...)
		switch b {
		case '"', '\\':
			dst = append(dst, '\\', b)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = append(dst, '\\', 'u', '0', '0', digits[b>>4], digits[b&15])
		}
		i++
		from = i
	}
	return append(append(dst, s[from:]...), '"')
}

// appendStored appends a value of a stored document exactly as appendValue wrote it, however the engine has changed its form.
func appendStored(dst []byte, v *fastjson.Value) []byte {
	if v.Type() == fastjson.TypeString {
		return appendString(dst, v.GetStringBytes())
	}
	return v.MarshalTo(dst)
}
