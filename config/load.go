package config

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"go.yaml.in/yaml/v3"
)

// maxFile is more than the size of any configuration that a person writes.
const maxFile = 4 << 20

// Load reads the file, applies the environment and checks the result. The configuration is nil if Problems.Err is not. env is os.LookupEnv,
// or that of a test.
func Load(file string, env func(string) (string, bool)) (*Config, Problems) {
	return loadFile(file, env, Parse)
}

func loadFile(file string, env func(string) (string, bool),
	parse func(string, []byte, func(string) (string, bool)) (*Config, Problems),
) (*Config, Problems) {
	source, err := os.ReadFile(file)
	if err != nil {
		return nil, Problems{{Code: Unreadable, Severity: Error, File: file, Message: "cannot be read: " + reason(err),
			Fix: "give the configuration's path with -c"}}
	}
	return parse(file, source, env)
}

// reason returns the error of a file operation without the file's name.
func reason(err error) string {
	if e, ok := errors.AsType[*os.PathError](err); ok {
		return e.Err.Error()
	}
	return err.Error()
}

// Parse is Load for a source already in memory. file is the name that problems show.
func Parse(file string, source []byte, env func(string) (string, bool)) (*Config, Problems) {
	l := newLoader(file, env)
	return l.done(l.load(source))
}

// LoadHBase is Load for commands that need nothing but the HBase of a configuration: of its sections it reads `hbase`, which must name one,
// and `memory`. The others may be absent or wrong.
func LoadHBase(file string, env func(string) (string, bool)) (*Config, Problems) {
	return loadFile(file, env, ParseHBase)
}

// ParseHBase is LoadHBase for a source already in memory.
func ParseHBase(file string, source []byte, env func(string) (string, bool)) (*Config, Problems) {
	l := newLoader(file, env)
	root := l.parse(source)
	if root == nil {
		return l.done(nil)
	}
	l.overlay(root)
	defs, _ := definitionsOf(reflect.TypeFor[Config]())
	defs = slices.DeleteFunc(defs, func(d definition) bool { return d.name != "hbase" && d.name != "memory" })
	for i := 0; i+1 < len(root.Content); i += 2 {
		if find(defs, root.Content[i].Value) != nil {
			l.expand(root.Content[i+1], root.Content[i].Value)
		}
	}
	cfg := &Config{}
	l.settings(root, reflect.ValueOf(cfg).Elem(), "", defs, func(_, _ *yaml.Node) {})
	l.checkCluster(&cfg.Cluster)
	if cfg.Cluster.Connect == "" && !l.has("hbase.connect") {
		l.fault("hbase.connect", Missing, "is missing", "write hbase: { connect: \"rpc://localhost:16000\" }")
	}
	return l.done(cfg)
}

func newLoader(file string, env func(string) (string, bool)) *loader {
	return &loader{file: file, env: env, places: map[string]place{}, written: map[*yaml.Node]string{},
		variable: map[*yaml.Node]string{}, broken: map[*yaml.Node]bool{}, withheld: map[string]string{},
		fresh: map[string]*fresh{}, files: map[string]string{}}
}

// done returns the results of a run.
func (l *loader) done(cfg *Config) (*Config, Problems) {
	l.withholdAll()
	l.problems.sort()
	if l.problems.Err() != nil {
		return nil, l.problems
	}
	return cfg, l.problems
}

// loader is one run of Load.
type loader struct {
	file     string
	lines    []string // of the source
	env      func(string) (string, bool)
	places   map[string]place      // by setting, for the checks
	written  map[*yaml.Node]string // scalars as written, before ${…} was replaced, for problems to show
	variable map[*yaml.Node]string // the environment variable that a node was made from
	broken   map[*yaml.Node]bool   // already reported
	withheld map[string]string     // values that no problem may show (secrets, and values from the environment), and what to show instead
	fresh    map[string]*fresh     // by setting: texts in which something was replaced
	files    map[string]string     // by setting: fingerprint of what its file holds; see Renewals
	problems Problems
	renewed  *renewed
}

// renewed is called when the files of certificates have changed; see Config.Renewed.
type renewed struct {
	atomic.Pointer[func(section string, err error)]
}

// Renewed has a function called when the files with the certificates of a section have changed: with nil if new connections use them, or
// with the reason why the earlier ones stay in use. It must not block. Those of hbase.tls and of the ports have hooks of their own.
func (c *Config) Renewed(f func(section string, err error)) {
	if c.renewed != nil { // it was loaded
		c.renewed.Store(&f)
	}
}

// place is the place of a setting in the file.
type place struct{ key, value *yaml.Node }

func (l *loader) load(text []byte) *Config {
	root := l.parse(text)
	if root == nil {
		return nil
	}
	cfg := l.loadTree(root)
	cfg.source = source{l.file, text, l.env}
	return cfg
}

func (l *loader) loadTree(root *yaml.Node) *Config {
	l.overlay(root)
	l.expand(root, "")
	l.renewed = new(renewed)
	cfg := &Config{renewed: l.renewed}
	l.object(root, reflect.ValueOf(cfg).Elem(), "")
	l.check(cfg)
	cfg.written, cfg.shown, cfg.files = l.withoutSecrets(root, ""), l.shown(), l.files
	return cfg
}

// source is what a configuration was loaded from.
type source struct {
	file string
	text []byte
	env  func(string) (string, bool)
}

// Formerly returns the configuration with the tables, indexes and pipelines of an earlier one, as returned by its Written, and everything
// else unchanged. The values of ${…} and the content of named files are the current ones. A caller that needs the earlier ones compares
// what Pipeline.EachMeant reports. What c masks is masked, too.
func (c *Config) Formerly(written string) (*Config, Problems) {
	l := newLoader(c.source.file, c.source.env)
	then, now := l.parse([]byte(written)), l.parse(c.source.text)
	if then == nil || now == nil {
		return l.done(nil)
	}
	root := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	take := func(from *yaml.Node, wanted func(section string) bool) {
		for i := 0; i+1 < len(from.Content); i += 2 {
			if wanted(from.Content[i].Value) {
				root.Content = append(root.Content, from.Content[i], from.Content[i+1])
			}
		}
	}
	meant := []string{"tables", "indexes", "pipelines"}
	take(now, func(section string) bool { return !slices.Contains(meant, section) && section != "views" })
	take(then, func(section string) bool { return slices.Contains(meant, section) })
	cfg := l.loadTree(root)
	for _, p := range cfg.Pipelines {
		if now := c.Pipeline(p.Name); now != nil {
			p.Mask = slices.Concat(p.Mask, now.Mask)
		}
	}
	return l.done(cfg)
}

// parse parses the source as one YAML mapping.
func (l *loader) parse(source []byte) *yaml.Node {
	source = bytes.TrimPrefix(source, []byte("\ufeff"))
	l.lines = strings.Split(string(source), "\n")
	if len(source) > maxFile {
		l.atLine(1, 1, Syntax, "the file is larger than 4 MiB", "give a brine.yaml")
		return nil
	}
	decoder := yaml.NewDecoder(bytes.NewReader(source))
	var doc, next yaml.Node
	if err := decoder.Decode(&doc); err != nil && len(bytes.TrimSpace(source)) > 0 && err.Error() != "EOF" {
		l.syntax(err)
		return nil
	}
	if doc.Kind == 0 || doc.Content[0].Tag == "!!null" {
		l.atLine(1, 1, Syntax, "the file holds no settings", "begin with kafka: { brokers: [localhost:9092] }; see examples/scans.yaml")
		return nil
	}
	if decoder.Decode(&next) == nil {
		l.atLine(next.Line, 1, Syntax, "a second document begins here", "keep one configuration in a file: remove the line ---")
		return nil
	}
	root := doc.Content[0]
	if root.Kind != yaml.MappingNode {
		l.at(root, "", Type, "the file is not a mapping of settings", "begin with kafka: { brokers: [localhost:9092] }; see examples/scans.yaml")
		return nil
	}
	return root
}

// indentingTab finds the first line that is indented by a tab. That is the likeliest reason for a syntax error, and the scanner's message
// does not name it.
func (l *loader) indentingTab() (line, column int) {
	for i, s := range l.lines {
		indent := s[:len(s)-len(strings.TrimLeft(s, " \t"))]
		rest := s[len(indent):]
		if tab := strings.IndexByte(indent, '\t'); tab >= 0 && strings.TrimSpace(rest) != "" && rest[0] != '#' {
			return i + 1, tab + 1
		}
	}
	return 0, 0
}

var yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?(.*)$`)

// syntaxFixes maps the scanner's most common messages to fixes.
var syntaxFixes = []struct{ words, fix string }{
	{"mapping values are not allowed", "quote a value that contains \": \", and check the indentation"},
	{"cannot start any token", "quote a value that begins with @, %, ` or a tab"},
	{"did not find expected ',' or", "close the bracket or brace that is open here"},
	{"did not find expected key", "line this setting up with its neighbours"},
	{"could not find expected ':'", "write name: value"},
	{"unexpected end of stream", "close the quotes that are open here"},
	{"control characters", "save the file as plain text in UTF-8"},
	{"UTF-8", "save the file as UTF-8"},
}

// syntax reports an error of the YAML scanner, which knows the line only roughly, and no column.
func (l *loader) syntax(err error) {
	if line, column := l.indentingTab(); line > 0 {
		l.atLine(line, column, Syntax, "a tab indents this line", "indent with spaces")
		return
	}
	line, words := 1, err.Error()
	if m := yamlLine.FindStringSubmatch(words); m != nil {
		words = m[2]
		if n, err := strconv.Atoi(m[1]); err == nil {
			line = min(n, len(l.lines))
		}
	}
	if what, _, ok := strings.Cut(words, " '"); ok && strings.Contains(what, "anchor") { // what follows may be a password that begins with *
		l.atLine(line, 1, Syntax, "a value that begins with * is an alias, and no anchor has that name", "quote the value")
		return
	}
	words, _, _ = strings.Cut(words, " `") // a value follows
	fix := "fix the YAML here or in the line above"
	for _, s := range syntaxFixes {
		if strings.Contains(words, s.words) {
			fix = s.fix
			break
		}
	}
	l.atLine(line, 1, Syntax, "not YAML: "+words, fix)
}

// Files returns the given files, and the .yaml files in the given folders, in order.
func Files(paths []string) ([]string, error) {
	var out []string
	for _, p := range paths {
		info, err := os.Stat(p)
		if err != nil || !info.IsDir() {
			out = append(out, p) // Load reports a missing file
			continue
		}
		err = filepath.WalkDir(p, func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() && (strings.HasSuffix(path, ".yaml") || strings.HasSuffix(path, ".yml")) {
				out = append(out, path)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	if len(out) == 0 {
		return nil, errors.New("no .yaml files in it")
	}
	return out, nil
}
