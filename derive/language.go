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

// Bounds of an expression's text, as it is compiled.
const (
	maxSource  = 4096 // characters
	maxNodes   = 500  // names, values and calls
	maxNesting = 100  // levels
	maxRegex   = 500  // instructions of a compiled regular expression
)

// unstable says why a field of the record's place must not decide anything.
const unstable = "says where a record lies, which is another place after a mirror or a restore; a replay would decide otherwise"

// refused are sources of fields that no expression may name.
var refused = map[string]bool{"$partition": true, "$offset": true}

// variables are the types that the fields have in expressions. A field that no expression can name has none.
var variables = map[event.Type]*cel.Type{
	event.Text: cel.NullableType(cel.StringType), event.Int: cel.NullableType(cel.IntType), event.Float: cel.NullableType(cel.DoubleType),
	event.Bool: cel.NullableType(cel.BoolType), event.TimeMS: cel.NullableType(cel.TimestampType),
	event.TimeUS: cel.NullableType(cel.TimestampType), event.TimeNS: cel.NullableType(cel.TimestampType),
	event.Date: cel.NullableType(cel.TimestampType),
}

// unnamed says why no expression can name the field; empty if one can.
func unnamed(f event.Field) string {
	switch {
	case refused[f.Where()]:
		return unstable
	case f.Type == event.Decimal:
		return "is declared decimal, of which expressions know nothing; declare it float, or { type: text, from: number }"
	case f.Type == event.Bytes:
		return "is declared bytes, of which expressions know nothing; declare it text if the bytes are one"
	case variables[f.Type.Stored()] == nil:
		return fmt.Sprintf("is declared %s, of which expressions know nothing; declare the field inside it that is meant", f.Type)
	}
	return ""
}

// language is CEL without macros and without what has no bound, and a few functions of ours.
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

// onText declares a function of a text that makes another, no longer one: of ASCII alone, so that it means the same in every version
// of Unicode.
func onText(name string, f func(string) string) cel.EnvOption {
	return cel.Function(name, cel.MemberOverload("string_"+name, []*cel.Type{cel.StringType}, cel.StringType,
		cel.UnaryBinding(func(text ref.Val) ref.Val { return types.String(f(string(text.(types.String)))) })))
}

// substring cuts characters from, and up to but without to, out of a text; to nil means its end.
func substring(text, from, to ref.Val) ref.Val {
	s, start := string(text.(types.String)), int64(from.(types.Int))
	end := int64(len(s)) // no fewer than its characters
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

// byteOf is where character n of s begins; its end, where there are n. There is none beyond.
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

// mapped changes the case of the letters of ASCII from first to last; it copies only what changes.
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

// trim drops the blanks of ASCII around a text.
func trim(s string) string { return strings.Trim(s, " \t\r\n\v\f") }
