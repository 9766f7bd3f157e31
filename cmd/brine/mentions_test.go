package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"brine/internal/completion"
)

// TestMentionedCommandsAndFlagsExist checks that every brine COMMAND and every --flag in brine's texts and in the documentation exists.
func TestMentionedCommandsAndFlagsExist(t *testing.T) {
	t.Parallel()
	parser, err := newParser(&env{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	m := mentions{t: t, app: parser.Model.Node}
	m.inPackages("../..")
	for _, dir := range []string{"../../docs", "../../examples", "../../deploy"} {
		m.inPages(dir)
	}
	m.inPage("../../README.md")
	const least = 200 // a scan that finds fewer is broken
	t.Logf("%d commands, %d flags", m.commands, m.flags)
	if m.commands < least || m.flags < least {
		t.Errorf("%d commands and %d flags are mentioned; are they still found?", m.commands, m.flags)
	}
}

// TestEveryCommandIsOnItsPage checks that docs/cli.md has a line for every command, with its subcommands.
func TestEveryCommandIsOnItsPage(t *testing.T) {
	t.Parallel()
	parser, err := newParser(&env{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../docs/cli.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range parser.Model.Leaves(true) {
		var words []string
		for n := command; n.Type == kong.CommandNode; n = n.Parent {
			words = slices.Insert(words, 0, n.Name)
		}
		has := false
		for line := range strings.Lines(string(page)) {
			has = has || strings.HasPrefix(line, "| `brine "+words[0]) && regexp.MustCompile(`\b`+words[len(words)-1]+"`? ").MatchString(line)
		}
		if !has {
			t.Errorf("docs/cli.md has no line for brine %s", strings.Join(words, " "))
		}
	}
}

// mentions checks texts against the command line.
type mentions struct {
	t               *testing.T
	app             *kong.Node
	commands, flags int
}

// inPackages checks the packages that brine is built from. Code that only tests, benchmarks and pictures need has flags of its own.
func (m *mentions) inPackages(root string) {
	apart := []string{"acceptance", "bench", "deploy", "internal/archtest", "internal/testenv"}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		dir, err := filepath.Rel(root, path)
		if slices.Contains(apart, filepath.ToSlash(dir)) || d.Name() == "testdata" || dir != "." && strings.HasPrefix(d.Name(), ".") {
			return filepath.SkipDir
		}
		m.inPackage(path)
		return err
	})
	if err != nil {
		m.t.Fatal(err)
	}
}

// inPackage checks the texts that the code of a folder can print. A flag without a command must belong to one of the commands that the file
// declares or, if it declares none, to any command.
func (m *mentions) inPackage(dir string) {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		m.t.Fatal(err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		tree, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			m.t.Fatal(err)
		}
		own := m.declared(tree)
		ast.Inspect(tree, func(n ast.Node) bool {
			if field, ok := n.(*ast.Field); ok && field.Tag != nil {
				tag, _ := strconv.Unquote(field.Tag.Value) // the parser has already parsed it
				m.text(file, reflect.StructTag(tag).Get("help"), own)
				return false
			}
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				text, _ := strconv.Unquote(lit.Value) // the same here
				m.text(file, text, own)
			}
			return true
		})
	}
}

// declared returns the commands whose structs a file declares.
func (m *mentions) declared(tree *ast.File) (own []*kong.Node) {
	types := map[string]*kong.Node{}
	every(m.app, func(n *kong.Node) { types[n.Target.Type().Name()] = n })
	ast.Inspect(tree, func(n ast.Node) bool {
		if spec, ok := n.(*ast.TypeSpec); ok && types[spec.Name.Name] != nil && spec.Name.Name != "cli" {
			own = append(own, types[spec.Name.Name])
		}
		return true
	})
	return own
}

// every visits a command and its subcommands.
func every(n *kong.Node, visit func(*kong.Node)) {
	visit(n)
	for _, child := range n.Children {
		every(child, visit)
	}
}

// inPages checks the Markdown pages, examples and scripts below a folder.
func (m *mentions) inPages(dir string) {
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && slices.Contains([]string{".md", ".yaml", ".yml", ".json", ".sh"}, filepath.Ext(path)) {
			m.inPage(path)
		}
		return err
	})
	if err != nil {
		m.t.Fatal(err)
	}
}

// code returns what a page shows to be typed: text in backticks, or a line of a block or a comment that begins with brine.
var code = regexp.MustCompile("(?m)`(brine [^`]*|--[a-z][^` ]*)`|^[ \\t#>$]*(brine .*)$")

func (m *mentions) inPage(path string) {
	text, err := os.ReadFile(path)
	if err != nil {
		m.t.Fatal(err)
	}
	joined := strings.ReplaceAll(string(text), "\\\n", " ")
	for _, found := range code.FindAllStringSubmatch(joined, -1) {
		line := found[1] + found[2]
		if words := strings.Fields(line); len(words) > 1 && found[1] != "" && words[0] == "brine" && regexp.MustCompile(`^[a-z]+$`).MatchString(words[1]) && child(m.app, words[1]) == nil {
			m.t.Errorf("%s: there is no command %q in %q", path, words[1], line)
		}
		m.text(path, line, nil)
	}
}

var (
	// mentioned matches brine with a command and everything that may belong to its line, or a flag on its own.
	mentioned = regexp.MustCompile(`\bbrine ([a-z]+)([^;|&\n]*)|--[a-z][a-z-]*`)
	flag      = regexp.MustCompile(`--[a-z][a-z-]*`)
	others    = regexp.MustCompile(`kafka-[a-z]+\.sh[^;)]*`) // commands of other tools
)

// text checks what a text mentions. own are the commands that a flag without a command can belong to; none means all.
func (m *mentions) text(file, text string, own []*kong.Node) {
	text = others.ReplaceAllString(text, "")
	for _, found := range mentioned.FindAllStringSubmatch(text, -1) {
		node := child(m.app, found[1])
		if node == nil { // brine in a sentence, or a flag
			for _, f := range flag.FindAllString(found[0], -1) {
				m.flag(file, text, f, own)
			}
			continue
		}
		m.commands++
		for _, word := range strings.Fields(found[2]) {
			if below := child(node, strings.Trim(word, ".,:)`\"")); below != nil {
				node = below
			}
		}
		for _, f := range flag.FindAllString(found[2], -1) {
			m.flag(file, text, f, []*kong.Node{node})
		}
	}
}

func (m *mentions) flag(file, text, name string, of []*kong.Node) {
	m.flags++
	if of == nil {
		every(m.app, func(n *kong.Node) { of = append(of, n) })
	}
	has := func(n *kong.Node) (found bool) {
		every(n, func(n *kong.Node) { found = found || completion.FlagOf(n, name) != nil })
		return found
	}
	if name != "--help" && !slices.ContainsFunc(of, has) {
		m.t.Errorf("%s: there is no flag %s where %.120q mentions it", file, name, text)
	}
}

func child(n *kong.Node, name string) *kong.Node {
	for _, c := range n.Children {
		if c.Name == name {
			return c
		}
	}
	return nil
}
