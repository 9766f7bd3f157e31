package embedded_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"brine/hbase/embedded"
	"brine/hbase/hbasepb"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// Every method has its handler: an empty request gets an answer that is neither "unsupported" nor a bug.
func TestEveryMethodAnswers(t *testing.T) {
	s := start(t, embedded.Options{})
	methods := 0
	for service, params := range embedded.Methods() {
		c := dial(t, s.Addr(), service)
		for name, param := range params {
			methods++
			fillRequired(param.ProtoReflect())
			_, err := c.call(name, param, &hbasepb.ListNamespacesRequest{}, nil)
			switch e := exception(err); {
			case err != nil && e == nil:
				t.Errorf("%s.%s: %v", service, name, err)
			case containsBug(e.GetStackTrace()), strings.Contains(e.GetStackTrace(), "parameter of "),
				strings.Contains(e.GetStackTrace(), "does not support "+service+"."+name):
				t.Errorf("%s.%s: %s", service, name, e.GetStackTrace())
			}
		}
	}
	if methods < 40 {
		t.Errorf("only %d methods were called", methods)
	}
}

// fillRequired sets the required fields of a message.
func fillRequired(m protoreflect.Message) {
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		switch f := fields.Get(i); {
		case f.Cardinality() != protoreflect.Required:
		case f.Message() != nil:
			fillRequired(m.Mutable(f).Message())
		default:
			m.Set(f, f.Default())
		}
	}
}

// A method in two families is a mistake that no start survives.
func TestMethodOfTwoFamilies(t *testing.T) {
	defer func() {
		if p, _ := recover().(string); !strings.Contains(p, "ClientService.Get") {
			t.Errorf("panic %q does not name the method", p)
		}
	}()
	embedded.MergeTwice()
}

// The comment of each family names its methods and what they do not do, and LIMITS.md names those of region servers.
func TestFamiliesSayWhatTheyDoNotDo(t *testing.T) {
	files, err := filepath.Glob("rpc_*.go")
	if err != nil || len(files) < 10 {
		t.Fatal(files, err)
	}
	limits, err := os.ReadFile("LIMITS.md")
	if err != nil {
		t.Fatal(err)
	}
	served := 0
	for _, file := range files {
		doc, methods := familyIn(t, file)
		if !strings.Contains(doc, "What they do not do:\n  - ") {
			t.Errorf("%s does not say what its methods do not do", file)
		}
		for _, method := range methods {
			served++
			service, name, _ := strings.Cut(method, ".")
			word := regexp.MustCompile(`\b` + name + `\b`)
			if !word.MatchString(doc) {
				t.Errorf("%s: the comment of the family does not name %s", file, name)
			}
			if (service == "ClientService" || service == "AdminService") && !word.Match(limits) {
				t.Errorf("LIMITS.md does not name %s", name)
			}
		}
	}
	all := 0
	for _, params := range embedded.Methods() {
		all += len(params)
	}
	if served != all {
		t.Errorf("the files have %d methods, the server %d", served, all)
	}
}

// familyIn returns the comment of a file's map of methods, and the names of the methods.
func familyIn(t *testing.T, file string) (doc string, methods []string) {
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range f.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.VAR {
			continue
		}
		for _, spec := range g.Specs {
			v := spec.(*ast.ValueSpec)
			if !strings.HasSuffix(v.Names[0].Name, "Methods") {
				continue
			}
			doc = g.Doc.Text()
			for _, e := range v.Values[0].(*ast.CompositeLit).Elts {
				methods = append(methods, strings.Trim(e.(*ast.KeyValueExpr).Key.(*ast.BasicLit).Value, `"`))
			}
		}
	}
	return doc, methods
}
