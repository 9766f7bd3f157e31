package config

import (
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// EnvPrefix begins the environment variables that override settings.
const EnvPrefix = "BRINE_"

// envSetting is a setting that an environment variable can set: BRINE_KAFKA_BROKERS sets kafka.brokers.
type envSetting struct {
	variable string
	path     []string // from the root of the file
	shape    shape
}

// envSettings lists them: the scalar settings and lists of text that stand in a section, not within a named thing.
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

// envName returns the variable that sets a setting: BRINE_KAFKA_BROKERS for kafka.brokers.
func envName(setting string) string {
	return EnvPrefix + strings.ToUpper(strings.ReplaceAll(setting, ".", "_"))
}

// overlay puts the environment's settings into the tree, in place of the file's.
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

// fromEnv makes the node that a variable's value stands for; lists are separated by commas.
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

// section finds or makes a mapping within a mapping. It is nil where the file has something else in its place, which is
// reported later.
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

// expand replaces ${VAR} in every value below n; $${ stands for ${ itself. Values of BRINE_ variables are taken as they are.
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
	var out strings.Builder
	written, at := n.Value, 0 // everything before at is in out
	for {
		i := strings.Index(written[at:], "${")
		if i < 0 {
			break
		}
		start := at + i
		if i > 0 && written[start-1] == '$' {
			out.WriteString(written[at:start-1] + "${")
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
		out.WriteString(written[at:start] + value)
		at = min(start+len("${}")+len(name), len(written))
	}
	if at > 0 && !l.broken[n] {
		l.written[n] = written
		n.Value, n.Tag = out.String()+written[at:], "!!str"
	}
}

func (l *loader) lookup(name string, closed bool, setting string) (value string, wrong *flaw) {
	const fix = "write ${NAME}, or $${ for the two characters themselves"
	if !closed {
		return "", &flaw{Variable, "a ${ is not closed", fix}
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
		fix := "see docs/configuration.md for the variables that do"
		if near != "" {
			fix = "did you mean " + EnvPrefix + near + "?"
		}
		out = append(out, Problem{Code: UnknownVariable, Severity: Warning, Env: variable, Message: "matches no setting", Fix: fix})
	}
	out.sort()
	return out
}
