package config

import (
	"errors"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// EnvPrefix is the prefix of environment variables that override settings.
const EnvPrefix = "BRINE_"

// envSetting is a setting that an environment variable can set, such as kafka.brokers by BRINE_KAFKA_BROKERS.
type envSetting struct {
	variable string
	path     []string // from the root of the file
	shape    shape
}

// envSettings returns the scalar settings and lists of texts that are in a section, not within a named element.
func envSettings() []envSetting {
	var out []envSetting
	walk(reflect.TypeFor[Config](), "", func(section string, d *definition) {
		if s := shapeOf(d.typ); s.scalar() && !strings.ContainsAny(section, "<[") {
			at := join(section, d.name)
			out = append(out, envSetting{envName(at), strings.Split(at, "."), s})
		}
	})
	return out
}

// envName returns the variable that sets a setting, such as BRINE_KAFKA_BROKERS for kafka.brokers.
func envName(setting string) string {
	return EnvPrefix + strings.ToUpper(strings.ReplaceAll(setting, ".", "_"))
}

// overlay replaces settings in the tree by those of the environment.
func (l *loader) overlay(root *yaml.Node) {
	for _, e := range envSettings() {
		value, ok := l.env(e.variable)
		if !ok {
			continue
		}
		parent := root
		for _, section := range e.path[:len(e.path)-1] {
			if parent = l.section(parent, section); parent == nil {
				break
			}
		}
		if parent != nil {
			put(parent, e.path[len(e.path)-1], l.fromEnv(e, value))
		}
	}
}

// fromEnv returns the node for a variable's value. Lists are separated by commas.
func (l *loader) fromEnv(e envSetting, value string) *yaml.Node {
	node := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: value}
	if e.shape == texts {
		node = &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
		for s := range strings.SplitSeq(value, ",") {
			item := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: strings.TrimSpace(s)}
			l.variable[item] = e.variable
			l.withhold(item.Value, itsValue)
			node.Content = append(node.Content, item)
		}
	}
	l.variable[node] = e.variable
	l.withhold(value, itsValue)
	return node
}

// section finds or creates a mapping within a mapping. It returns nil if the file has something else in its place, which is reported later.
func (l *loader) section(parent *yaml.Node, name string) *yaml.Node {
	for i := 0; i+1 < len(parent.Content); i += 2 {
		if parent.Content[i].Value != name {
			continue
		}
		n := parent.Content[i+1]
		if isNull(n) {
			n.Kind, n.Tag, n.Value = yaml.MappingNode, "!!map", ""
		}
		if n.Kind != yaml.MappingNode {
			return nil
		}
		return n
	}
	n := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Line: parent.Line, Column: parent.Column}
	put(parent, name, n)
	return n
}

// put sets a key of a mapping.
func put(parent *yaml.Node, name string, value *yaml.Node) {
	for i := 0; i+1 < len(parent.Content); i += 2 {
		if parent.Content[i].Value == name {
			parent.Content[i+1] = value
			return
		}
	}
	key := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: name, Line: value.Line, Column: value.Column}
	parent.Content = append(parent.Content, key, value)
}

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// expand replaces ${VAR} and ${file:PATH} in every value below n; $${ stands for a literal ${. It leaves the values of BRINE_ variables as
// they are.
func (l *loader) expand(n *yaml.Node, setting string) {
	if _, ok := l.variable[n]; ok {
		return
	}
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			l.expand(n.Content[i+1], join(setting, n.Content[i].Value))
		}
	case yaml.SequenceNode:
		for i, item := range n.Content {
			l.expand(item, setting+"["+strconv.Itoa(i)+"]")
		}
	case yaml.ScalarNode:
		l.expandText(n, setting)
	}
}

func (l *loader) expandText(n *yaml.Node, setting string) {
	var parts []part
	written, at := n.Value, 0 // everything before at is in parts
	for {
		i := strings.Index(written[at:], "${")
		if i < 0 {
			break
		}
		start := at + i
		if i > 0 && written[start-1] == '$' {
			parts = append(parts, part{text: written[at:start-1] + "${"})
			at = start + len("${")
			continue
		}
		name, _, closed := strings.Cut(written[start+len("${"):], "}")
		value, wrong := l.lookup(name, closed, setting)
		l.withhold(value, "${"+name+"}")
		if wrong != nil {
			l.report(Error, n, start, setting, wrong.code, wrong.message, wrong.fix)
			l.broken[n] = true
		}
		file, _ := strings.CutPrefix(name, filePrefix)
		if file == name {
			file = ""
		}
		parts = append(parts, part{text: written[at:start]}, part{text: value, file: file})
		at = min(start+len("${}")+len(name), len(written))
	}
	if at > 0 && !l.broken[n] {
		l.written[n] = written
		f := &fresh{parts: append(parts, part{text: written[at:]})}
		for _, p := range f.parts {
			f.last += p.text
			f.files = f.files || p.file != ""
		}
		n.Value, n.Tag = f.last, "!!str"
		f.written = written
		l.fresh[setting] = f
		if f.files {
			l.held(setting, []byte(f.last))
		}
	}
}

// filePrefix marks a file's content in ${…}: ${file:/run/secrets/password}.
const filePrefix = "file:"

// fresh is the text of a setting. Parts of it may come from files that other programs change.
type fresh struct {
	written string // as written in the configuration
	parts   []part
	files   bool // whether any part comes from a file

	mu   sync.Mutex
	last string
}

// part is a piece of a text. If file is set, text is the file's last known content.
type part struct{ text, file string }

// now returns the text with the current content of its files. It returns the former text if a file cannot be read or good rejects the new
// text.
func (f *fresh) now(good func(string) bool) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var text strings.Builder
	for _, p := range f.parts {
		if p.file == "" {
			text.WriteString(p.text)
			continue
		}
		held, err := readSecret(p.file)
		if err != nil {
			return f.last
		}
		text.WriteString(held)
	}
	if good(text.String()) {
		f.last = text.String()
	}
	return f.last
}

// followed returns a function that reads a setting again, or nil if no part of it comes from a file.
func (l *loader) followed(setting string, good func(string) bool) func() string {
	f := l.fresh[setting]
	if f == nil || !f.files {
		return nil
	}
	return func() string { return f.now(good) }
}

// secret returns a function that reads a setting again if any part of it comes from a file, and otherwise returns the text that it has.
func (l *loader) secret(setting, text string) func() string {
	if now := l.followed(setting, notEmpty); now != nil {
		return now
	}
	return func() string { return text }
}

// secrets returns a function that returns two settings as secret does, or nil if no part of either comes from a file.
func (l *loader) secrets(a, b, first, second string) func() (string, string) {
	if l.followed(a, notEmpty) == nil && l.followed(b, notEmpty) == nil {
		return nil
	}
	x, y := l.secret(a, first), l.secret(b, second)
	return func() (string, string) { return x(), y() }
}

// maxSecret is more than the size of any secret.
const maxSecret = 64 << 10

// readSecret returns the content of a file without its trailing newline.
func readSecret(file string) (string, error) {
	info, err := os.Stat(file) // checked before opening, because a pipe would block
	switch {
	case err != nil:
		return "", errors.New(reason(err))
	case !info.Mode().IsRegular():
		return "", errors.New("not a regular file")
	case info.Size() > maxSecret:
		return "", errors.New("more than 64 KiB")
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return "", errors.New(reason(err))
	}
	if !utf8.Valid(b) {
		return "", errors.New("not UTF-8 text")
	}
	return strings.TrimSuffix(strings.TrimSuffix(string(b), "\n"), "\r"), nil
}

func (l *loader) lookup(name string, closed bool, setting string) (value string, wrong *flaw) {
	const fix = "write ${NAME} or ${file:PATH}, or $${ for a literal ${"
	if !closed {
		return "", &flaw{Variable, "a ${ is not closed", fix}
	}
	if file, ok := strings.CutPrefix(name, filePrefix); ok {
		value, err := readSecret(file)
		if err != nil {
			return "", &flaw{Variable, "the file " + quote(file) + " cannot be read: " + err.Error(), "name one that brine can read"}
		}
		return value, nil
	}
	if !variableName.MatchString(name) {
		shown := quote(name)
		if slices.Contains(secretSettings(), setting) {
			shown = "what ${ and } enclose"
		}
		return "", &flaw{Variable, shown + " is not the name of a variable", fix}
	}
	value, ok := l.env(name)
	if !ok {
		return "", &flaw{Variable, "the environment variable " + name + " is not set", "set it before starting brine"}
	}
	return value, nil
}

// UnknownEnv warns about BRINE_ variables that look like settings but match none. environ is os.Environ().
func UnknownEnv(environ []string) Problems {
	var known, sections []string
	for _, e := range envSettings() {
		known = append(known, strings.TrimPrefix(e.variable, EnvPrefix))
		sections = append(sections, strings.ToUpper(e.path[0]))
	}
	var out Problems
	for _, entry := range environ {
		variable, _, _ := strings.Cut(entry, "=")
		name, ok := strings.CutPrefix(variable, EnvPrefix)
		if !ok || slices.Contains(known, name) {
			continue
		}
		section, _, _ := strings.Cut(name, "_")
		near := nearest(name, known)
		if near == "" && !slices.Contains(sections, section) {
			continue
		}
		fix := "see docs/configuration.md for the known variables"
		if near != "" {
			fix = "did you mean " + EnvPrefix + near + "?"
		}
		out = append(out, Problem{Code: UnknownVariable, Severity: Warning, Env: variable, Message: "matches no setting", Fix: fix})
	}
	out.sort()
	return out
}
