package derive

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/env"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"

	"brine/event"
)

// The bounds of an expression's text, as it is compiled.
const (
	maxSource  = 4096 // characters
	maxNodes   = 500  // names, values and calls
	maxNesting = 100  // levels
	maxRegex   = 500  // instructions of a compiled regular expression
)

// unstable is the reason why a field of the record's position must not decide anything.
const unstable = "is the record's position in the topic, which changes when the topic is mirrored or restored; a replay would give " +
	"another result"

// refused are the sources of fields that no expression may name.
var refused = map[string]bool{"$partition": true, "$offset": true}

// variables are the types of fields in expressions. A field that no expression can name has none.
var variables = map[event.Type]*cel.Type{
	event.Text: cel.NullableType(cel.StringType), event.Int: cel.NullableType(cel.IntType), event.Float: cel.NullableType(cel.DoubleType),
	event.Bool: cel.NullableType(cel.BoolType), event.TimeMS: cel.NullableType(cel.TimestampType),
	event.TimeUS: cel.NullableType(cel.TimestampType), event.TimeNS: cel.NullableType(cel.TimestampType),
	event.Date: cel.NullableType(cel.TimestampType),
}

// unnamed returns the reason why no expression can name the field, or an empty string if one can.
func unnamed(f event.Field) string {
	switch {
	case refused[f.Where()]:
		return unstable
	case f.Type == event.Decimal:
		return "is declared decimal, which expressions do not support; declare it float, or { type: text, from: number }"
	case f.Type == event.Bytes:
		return "is declared bytes, which expressions do not support; declare it text if the bytes are text"
	case variables[f.Type.Stored()] == nil:
		return fmt.Sprintf("is declared %s, which expressions do not support; declare the field inside it that you need", f.Type)
	}
	return ""
}

// language returns CEL without macros and without anything unbounded, but with a few functions of ours.
func language() (*cel.Env, error) {
	return cel.NewCustomEnv(
		cel.StdLib(cel.StdLibSubset(&env.LibrarySubset{DisableMacros: true, ExcludeFunctions: []*env.Function{
			env.NewFunction("dyn"), env.NewFunction("type")}})),
		cel.ClearMacros(), cel.DefaultUTCTimeZone(true),
		cel.ParserExpressionSizeLimit(maxSource), cel.ExpressionNodeLimit(maxNodes), cel.ParserRecursionLimit(maxNesting),
		cel.RegexProgramSizeLimit(maxRegex),
		onText("lowerAscii", lower), onText("upperAscii", upper), onText("trim", trim),
		cel.Function("substring",
			cel.MemberOverload("string_substring_from", []*cel.Type{cel.StringType, cel.IntType}, cel.StringType,
				cel.BinaryBinding(func(text, from ref.Val) ref.Val { return substring(text, from, nil) })),
			cel.MemberOverload("string_substring", []*cel.Type{cel.StringType, cel.IntType, cel.IntType}, cel.StringType,
				cel.FunctionBinding(func(args ...ref.Val) ref.Val { return substring(args[0], args[1], args[2]) }))),
		cel.Function("ms", cel.Overload("timestamp_ms", []*cel.Type{cel.TimestampType}, cel.IntType,
			cel.UnaryBinding(func(at ref.Val) ref.Val { return types.Int(at.(types.Timestamp).UnixMilli()) }))),
		cel.Function("time_ms", cel.Overload("ms_timestamp", []*cel.Type{cel.IntType}, cel.TimestampType,
			cel.UnaryBinding(func(ms ref.Val) ref.Val { return types.Timestamp{Time: time.UnixMilli(int64(ms.(types.Int))).UTC()} }))),
	)
}

// onText declares a function from a text to one that is no longer. Such functions handle only ASCII, so that they mean the same in every
// version of Unicode.
func onText(name string, f func(string) string) cel.EnvOption {
	return cel.Function(name, cel.MemberOverload("string_"+name, []*cel.Type{cel.StringType}, cel.StringType,
		cel.UnaryBinding(func(text ref.Val) ref.Val { return types.String(f(string(text.(types.String)))) })))
}

// substring returns the characters of a text from from up to, but not including, to. If to is nil, it returns all after from.
func substring(text, from, to ref.Val) ref.Val {
	s, start := string(text.(types.String)), int64(from.(types.Int))
	end := int64(len(s)) // at least its number of characters
	if to != nil {
		end = int64(to.(types.Int))
	}
	first, ok := byteOf(s, start)
	last := len(s)
	if ok && to != nil {
		last, ok = byteOf(s, end)
	}
	if !ok || start > end {
		return types.NewErr("substring(%d, %d) of %d characters", start, end, utf8.RuneCountInString(s))
	}
	return types.String(s[first:last])
}

// byteOf returns the byte at which character n of s begins, or the end of s if it has n characters. If it has fewer, ok is false.
func byteOf(s string, n int64) (at int, ok bool) {
	for i := range s {
		if n == 0 {
			return i, true
		}
		n--
	}
	return len(s), n == 0
}

func lower(s string) string { return mapped(s, 'A', 'Z') }

func upper(s string) string { return mapped(s, 'a', 'z') }

// mapped changes the case of the ASCII letters from first to last; it copies only if something changes.
func mapped(s string, first, last byte) string {
	const other = 'a' - 'A'
	var out []byte
	for i := range len(s) {
		if c := s[i]; first <= c && c <= last {
			if out == nil {
				out = []byte(s)
			}
			out[i] = c ^ other
		}
	}
	if out == nil {
		return s
	}
	return string(out)
}

// trim removes ASCII whitespace around a text.
func trim(s string) string { return strings.Trim(s, " \t\r\n\v\f") }
