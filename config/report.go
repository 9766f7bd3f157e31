package config

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"brine/mask"
)

// at reports an error at a node.
func (l *loader) at(n *yaml.Node, setting string, code Code, message, fix string) {
	l.report(Error, n, 0, setting, code, message, fix)
}

// atLine reports an error in the file as a whole.
func (l *loader) atLine(line, column int, code Code, message, fix string) {
	l.problems = append(l.problems, Problem{Code: code, Severity: Error, File: l.file, Line: line, Column: column, Message: message, Fix: fix})
}

// fault reports an error in a setting's value, warn a warning. If the setting is absent, they show its nearest parent.
func (l *loader) fault(setting string, code Code, message, fix string) {
	l.report(Error, l.near(setting).value, 0, setting, code, message, fix)
}

func (l *loader) warn(setting string, code Code, message, fix string) {
	l.report(Warning, l.near(setting).value, 0, setting, code, message, fix)
}

// faultName reports an error in the name of a setting that users choose; warnName reports a warning.
func (l *loader) faultName(setting string, code Code, message, fix string) {
	l.report(Error, l.near(setting).key, 0, setting, code, message, fix)
}

func (l *loader) warnName(setting string, code Code, message, fix string) {
	l.report(Warning, l.near(setting).key, 0, setting, code, message, fix)
}

// near returns the place of a setting, or of its nearest parent in the file.
func (l *loader) near(setting string) place {
	for {
		if p, ok := l.places[setting]; ok || setting == "" {
			return p
		}
		setting = setting[:max(0, strings.LastIndexAny(setting, ".["))]
	}
}

// has reports whether the file or the environment has the setting.
func (l *loader) has(setting string) bool {
	_, ok := l.places[setting]
	return ok
}

// Place is the place of a setting.
type Place struct {
	Setting      string
	File         string
	Line, Column int    // from 1; 0 if it has no line
	Env          string // the environment variable that holds its value, instead
}

// placeOf returns the place of a setting's value, or of its nearest parent in the file.
func (l *loader) placeOf(setting string) Place {
	n := l.near(setting).value
	if v, ok := l.variable[n]; ok {
		return Place{Setting: setting, Env: v}
	}
	p := Place{Setting: setting, File: l.file}
	if n != nil {
		p.Line, p.Column = n.Line, n.Column
	}
	return p
}

// itsValue replaces a value that must not be printed.
const itsValue = "its value"

// fromEnvironment reports whether a setting's value, or a part of it, comes from the environment.
func (l *loader) fromEnvironment(setting string) bool {
	n := l.places[setting].value
	return l.variable[n] != "" || l.written[n] != ""
}

// show returns a setting's value for people. It is the value as written, so that the value of a ${…} is never printed. Secrets and the
// values of BRINE_ variables are not printed either, because a variable may hold a misplaced secret.
func (l *loader) show(n *yaml.Node, d *definition) string {
	if l.variable[n] != "" || d.secret {
		return itsValue
	}
	if s, ok := l.written[n]; ok {
		return quote(s)
	}
	return quote(n.Value)
}

// shown returns the text to show for each setting whose value does not come from the file.
func (l *loader) shown() map[string]string {
	out := map[string]string{}
	for setting, f := range l.fresh {
		out[setting] = f.written
	}
	for setting, at := range l.places {
		if v := l.variable[at.value]; v != "" {
			out[setting] = "${" + v + "}"
		}
	}
	return out
}

// withhold keeps a value out of all messages, which print standIn instead.
func (l *loader) withhold(value, standIn string) {
	if value != "" {
		l.withheld[value] = standIn
	}
}

// shortestSecret is the least length in bytes at which withheld values are also replaced outside quotes. A shorter one may be any word of a
// message.
const shortestSecret = 6

// withholdAll replaces withheld values in the messages, the longest first, because they may contain others.
func (l *loader) withholdAll() {
	values := slices.SortedFunc(maps.Keys(l.withheld), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b))
	})
	for i := range l.problems {
		message := &l.problems[i].Message
		for _, value := range values {
			*message = strings.ReplaceAll(*message, quote(value), l.withheld[value])
			if len(value) >= shortestSecret {
				*message = strings.ReplaceAll(*message, value, l.withheld[value])
			}
		}
	}
}

// report adds a problem at n, offset bytes into its value.
func (l *loader) report(severity Severity, n *yaml.Node, offset int, setting string, code Code, message, fix string) {
	p := Problem{Code: code, Severity: severity, Setting: setting, Message: message, Fix: fix}
	if v, ok := l.variable[n]; ok {
		p.Env = v
	} else {
		p.File = l.file
		if n != nil {
			p.Line, p.Column = n.Line, n.Column+l.shift(n, offset)
		}
	}
	l.problems = append(l.problems, p)
}

// shift returns how many columns to the right of its node a byte of its value is. It returns 0 if that is unknown, as in values with
// several lines or escapes.
func (l *loader) shift(n *yaml.Node, offset int) int {
	if offset <= 0 || offset > len(n.Value) || n.Line < 1 || n.Line > len(l.lines) {
		return 0
	}
	quote := 0
	if n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0 {
		quote = 1
	}
	line := []rune(l.lines[n.Line-1])
	start := n.Column - 1 + quote
	if start > len(line) || !strings.HasPrefix(string(line[start:]), n.Value[:offset]) {
		return 0
	}
	return quote + utf8.RuneCountInString(n.Value[:offset])
}

// Written returns the configuration as written, with the environment applied. It has no secrets or comments, keeps ${…} as it is, and has a
// BRINE_ variable's name instead of its value. Settings that it lacks have their defaults.
func (c *Config) Written() (string, error) {
	if c.written == nil {
		return "", nil
	}
	text, err := yaml.Marshal(c.written)
	return string(text), err
}

var onlyVariables = regexp.MustCompile(`^(\$\{[^}]*\})+$`)

// secretText returns what may be shown of a secret written with ${: nothing, unless all of it comes from elsewhere.
func secretText(written string) string {
	if onlyVariables.MatchString(written) {
		return written
	}
	return mask.Text
}

// withoutSecrets copies the tree below a setting. There are no secrets below names that users choose; a test checks that.
func (l *loader) withoutSecrets(n *yaml.Node, setting string) *yaml.Node {
	hidden := func(value string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: value} }
	written, replaced := l.written[n]
	secret := slices.Contains(secretSettings(), setting)
	switch {
	case l.variable[n] != "":
		return hidden("${" + l.variable[n] + "}")
	case replaced && secret:
		return hidden(secretText(written))
	case replaced:
		return hidden(written)
	case secret, n.Kind == yaml.AliasNode:
		return hidden(mask.Text)
	}
	out := &yaml.Node{Kind: n.Kind, Style: n.Style, Tag: n.Tag, Value: n.Value}
	for i, child := range n.Content {
		at := setting
		if n.Kind == yaml.MappingNode && i%2 == 1 {
			at = join(setting, n.Content[i-1].Value)
		}
		if n.Kind == yaml.MappingNode && i%2 == 0 {
			out.Content = append(out.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: child.Value})
			continue
		}
		out.Content = append(out.Content, l.withoutSecrets(child, at))
	}
	return out
}
