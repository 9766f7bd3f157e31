// Package wording rewrites texts of Go's libraries, and of those that brine uses, in plain words: names of functions and types, time
// layouts and steps of a connection do not help the people who run brine.
package wording

import (
	"io"
	"regexp"
)

const quoted = `("(?:[^"\\]|\\.)*"|\\"(?:[^"\\]|\\\\(?:\\")?)*\\")` // also matches a string that a log line quotes again

// rules are applied in this order.
var rules = []struct {
	from *regexp.Regexp
	to   string
}{
	{regexp.MustCompile(`\b(?:kafka|kgo|http|net|os|json|yaml)\.\(\*?\w+\)\.\w+: `), ``},
	{regexp.MustCompile(`\[-?\d+\] (?:[A-Z]\w* ?)+: `), ``}, // kafka-go's name of an answer, before its description
	{regexp.MustCompile(`\bthe broker returns this error code for an offset fetch request if .*? being loaded by the coordinator`),
		`the group's coordinator is still loading what it knows of the group`},
	{regexp.MustCompile(`\bthe broker returns this error code for group coordinator requests, .*? coordinator is not active`),
		`the group's coordinator is not available`},
	{regexp.MustCompile(`\bthe broker returns this error code if .*? it is not a coordinator for`),
		`the broker does not coordinate the group`},
	{regexp.MustCompile(`\b(?:dial|read|write|listen|accept) (?:tcp|udp)[46]?:? (?:[^\s>]+->)?(\S)`), `$1`},
	{regexp.MustCompile(`: (?:connect|read|write|bind|accept4?|getsockopt): `), `: `},
	{regexp.MustCompile(`\blookup (\S+?)(?: on \S+)?: (?:no such host|server misbehaving|Temporary failure in name resolution)`),
		`no address is known for the host $1`},
	{regexp.MustCompile(`\blookup (tcp/\S+|\S+): (?:unknown port|invalid port)`), `$1 is not a port`},
	{regexp.MustCompile(`\b(?:i/o timeout|(?:net/http: )?(?:request canceled|timeout awaiting response headers)|context deadline ` +
		`exceeded)(?: \(Client\.Timeout exceeded[^)]*\))?`), `no answer in time`},
	{regexp.MustCompile(`\bno answer in time(?:: no answer in time)+`), `no answer in time`}, // from errors that say it in both ways
	{regexp.MustCompile(`\bcontext canceled\b`), `stopped`},
	{regexp.MustCompile(`\b(?:Get|Post|Put|Head|Delete|Patch) \\?"([^"\\]+)\\?": `), `$1: `},
	{regexp.MustCompile(`\bhttp: server gave HTTP response to HTTPS client`), `the server speaks http, not https`},
	{regexp.MustCompile(`\btls: first record does not look like a TLS handshake`), `the server does not speak TLS there`},
	{regexp.MustCompile(`\b(?:tls: failed to verify certificate: )?x509: certificate signed by unknown authority(?: \(possibly[^)]*\))?`),
		`the server's certificate is signed by an unknown authority`},
	{regexp.MustCompile(`\b(?:tls: failed to verify certificate: )?x509: `), `the server's certificate is refused: `},
	{regexp.MustCompile(`\bstrconv\.ParseBool: parsing ` + quoted + `: invalid syntax`), `$1 is not true or false`},
	{regexp.MustCompile(`\bstrconv\.\w+: parsing ` + quoted + `: invalid syntax`), `$1 is not a number`},
	{regexp.MustCompile(`\bstrconv\.\w+: parsing ` + quoted + `: value out of range`), `$1 is out of range`},
	{regexp.MustCompile(`\bparsing time ` + quoted + `(?: as ` + quoted + `: cannot parse ` + quoted + ` as ` + quoted +
		`|: [a-z]+ out of range|: extra text: ` + quoted + `)`), `$1 is not a time such as 2013-01-31T08:00:00Z`},
	{regexp.MustCompile(`\btime: (?:invalid duration|unknown unit ` + quoted + ` in duration|missing unit in duration) ` + quoted),
		`$2 is not a duration such as 10s, 5m or 2h`},
	{regexp.MustCompile(`\bexpected (?:a valid \d+ bit u?int|an int) but got ` + quoted + `(?: \(\w+\))?`), `$1 is not a whole number`},
	{regexp.MustCompile(`\bexpected a float but got ` + quoted + `(?: \(\w+\))?`), `$1 is not a number`},
	{regexp.MustCompile(`\bjson: cannot unmarshal (\w+)(?: \S+)? into Go (?:value|struct field \S+) of type \S+`),
		`this JSON is a $1, which is not expected`},
	{regexp.MustCompile(`\bjson: unknown field `), `this JSON has an unknown field `},
	{regexp.MustCompile(`\binvalid character ('.+?'|'\\'') (?:looking for [a-z ]+|in [a-z ]+|after [a-z: -]+)`), `not JSON at $1`},
	{regexp.MustCompile(`\bunexpected end of JSON input`), `the JSON ends too early`},
	{regexp.MustCompile(`\bcannot parse (?:JSON|empty string|object|array|number|string)\b.*?unparsed tail: ` + quoted), `not JSON`},
	{regexp.MustCompile(`\b(?:open|stat|lstat|mkdir|readdirent|unlinkat|fdopendir) (\S+): (no such file or directory|permission denied|is ` +
		`a directory|file exists|not a directory|no space left on device|too many open files)`), `$1: $2`},
	{regexp.MustCompile(`\bparse ` + quoted + `: (?:[^"\\;\n]|\\?"[^"\\]{1,3}\\?")*`), `$1 is not a URL`},
	{regexp.MustCompile(`\bunexpected EOF\b`), `the file or the connection ended too early`},
	{regexp.MustCompile(`: EOF\b`), `: the connection was closed`},
}

// Plain returns a text without the libraries' jargon.
func Plain(text string) string {
	for _, r := range rules {
		text = r.from.ReplaceAllString(text, r.to)
	}
	return text
}

// Writer returns a writer that passes texts on in plain words. Texts that belong together must be written in one call.
func Writer(out io.Writer) io.Writer { return writer{out} }

type writer struct{ out io.Writer }

func (w writer) Write(b []byte) (int, error) {
	if _, err := io.WriteString(w.out, Plain(string(b))); err != nil {
		return 0, err
	}
	return len(b), nil
}
