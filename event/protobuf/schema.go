package protobuf

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/bufbuild/protocompile"
	"github.com/bufbuild/protocompile/reporter"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"

	"brine/event"
)

// Schema is a compiled .proto file with its imports. It is safe for concurrent use.
type Schema struct {
	file  protoreflect.FileDescriptor
	types *dynamicpb.Types // of all files, for messages in an Any

	Sum [sha256.Size]byte // over the texts of all files, if CompileFile has read them
}

// SchemaError is a .proto file that does not compile.
type SchemaError struct {
	Msg string // begins with the place: file:line:column
	Fix string
}

func (e *SchemaError) Error() string { return e.Msg + "; " + e.Fix }

// Advice returns the fix.
func (e *SchemaError) Advice() string { return e.Fix }

// maxSource bounds a .proto file.
const maxSource = 8 << 20

// CompileFile compiles a .proto file. Its imports must be below its folder, or be Protobuf's own files.
func CompileFile(file string) (*Schema, error) {
	folder := filepath.Dir(file)
	at := strings.TrimSuffix(file, filepath.Base(file))
	sources := sha256.New()
	s, err := compile(filepath.Base(file), at, func(name string) (io.ReadCloser, error) {
		if !filepath.IsLocal(name) {
			return nil, fmt.Errorf("it is outside %s", folder)
		}
		f, err := os.Open(filepath.Join(folder, filepath.FromSlash(name)))
		if err != nil {
			return nil, err
		}
		return struct {
			io.Reader
			io.Closer
		}{io.TeeReader(io.LimitReader(f, maxSource), sources), f}, nil
	})
	if err == nil {
		sources.Sum(s.Sum[:0])
	}
	return s, err
}

// CompileText compiles the text of a file. imports are the texts of the files that it needs, by import name.
func CompileText(name, text string, imports map[string]string) (*Schema, error) {
	return compile(name, "", func(wanted string) (io.ReadCloser, error) {
		if wanted == name {
			return io.NopCloser(strings.NewReader(text)), nil
		}
		if t, ok := imports[wanted]; ok {
			return io.NopCloser(strings.NewReader(t)), nil
		}
		return nil, fs.ErrNotExist
	})
}

// compile compiles a file. at is the prefix of file names in messages.
func compile(name, at string, open func(string) (io.ReadCloser, error)) (s *Schema, err error) {
	defer rescue(&s, &err, at+name)
	var first error
	c := protocompile.Compiler{
		Resolver: protocompile.WithStandardImports(protocompile.CompositeResolver{
			&protocompile.SourceResolver{Accessor: open},
			&protocompile.SourceResolver{Accessor: protocompile.SourceAccessorFromMap(common)},
		}),
		MaxParallelism: 1,
		Reporter: reporter.NewReporter(func(e reporter.ErrorWithPos) error {
			if first == nil {
				first = e
			}
			return e
		}, nil),
	}
	files, err := c.Compile(context.Background(), name)
	if first != nil {
		err = first
	}
	if err != nil {
		return nil, explained(name, at, err)
	}
	return newSchema(files[0])
}

func explained(name, at string, err error) error {
	e := &SchemaError{Fix: "check whether protoc compiles it"}
	placed, missing := reporter.ErrorWithPos(nil), errors.Is(err, fs.ErrNotExist)
	switch where := errors.As(err, &placed); {
	case where && missing:
		e.Msg, e.Fix = "a file that it imports does not exist", "put it, with its whole path, below the folder of "+name
	case where:
		e.Msg = placed.Unwrap().Error()
	case missing:
		e.Msg, e.Fix = "there is no such file", "put it there, or fix its name"
	default:
		e.Msg = err.Error()
	}
	if placed != nil {
		pos := placed.GetPosition()
		name = fmt.Sprintf("%s:%d:%d", pos.Filename, pos.Line, pos.Col)
	}
	e.Msg = at + name + ": " + e.Msg
	return e
}

// LoadDescriptors makes a schema of a serialized FileDescriptorProto. imports are those of the files that it needs, by import name.
func LoadDescriptors(name string, serialized []byte, imports map[string][]byte) (s *Schema, err error) {
	defer rescue(&s, &err, name)
	l := loader{files: map[string]*descriptorpb.FileDescriptorProto{}}
	parse := func(name string, b []byte) error {
		d := new(descriptorpb.FileDescriptorProto)
		if err := proto.Unmarshal(b, d); err != nil {
			return &SchemaError{Msg: "the descriptor of " + name + " cannot be read: " + err.Error(), Fix: "check the registry"}
		}
		d.Name = &name
		l.files[name] = d
		return nil
	}
	for name, b := range imports {
		if err := parse(name, b); err != nil {
			return nil, err
		}
	}
	if err := parse(name, serialized); err != nil {
		return nil, err
	}
	fd, err := l.load(l.files[name], 0)
	if err != nil {
		return nil, &SchemaError{Msg: "the descriptor of " + name + " cannot be used: " + err.Error(), Fix: "check the registry"}
	}
	return newSchema(fd)
}

// rescue turns a panic into an error: nothing that somebody registers may end the process.
func rescue(s **Schema, err *error, name string) {
	if p := recover(); p != nil {
		*s, *err = nil, &SchemaError{Msg: fmt.Sprintf("%s cannot be compiled: %v", name, p), Fix: "check whether protoc compiles it"}
	}
}

// loader links descriptors.
type loader struct {
	files map[string]*descriptorpb.FileDescriptorProto
	done  protoregistry.Files
}

const maxImports = 64 // depth of imports

func (l *loader) load(d *descriptorpb.FileDescriptorProto, depth int) (protoreflect.FileDescriptor, error) {
	if depth > maxImports {
		return nil, errors.New("files import each other")
	}
	for _, name := range d.GetDependency() {
		if _, err := l.done.FindFileByPath(name); err == nil {
			continue
		}
		if own, ok := l.files[name]; ok {
			if _, err := l.load(own, depth+1); err != nil {
				return nil, err
			}
		} else if text, ok := common[name]; ok {
			s, err := CompileText(name, text, nil)
			if err != nil {
				return nil, err
			}
			if _, err := l.load(protodesc.ToFileDescriptorProto(s.file), depth+1); err != nil {
				return nil, err
			}
		} else if err := l.standard(name); err != nil {
			return nil, err
		}
	}
	fd, err := protodesc.NewFile(d, &l.done)
	if err != nil {
		return nil, err
	}
	return fd, l.done.RegisterFile(fd)
}

// standard finds one of Protobuf's own files.
func (l *loader) standard(name string) error {
	if !strings.HasPrefix(name, "google/protobuf/") {
		return fmt.Errorf("%s is missing, which it imports", name)
	}
	fd, err := protoregistry.GlobalFiles.FindFileByPath(name)
	if err != nil {
		return fmt.Errorf("%s is missing, which it imports", name)
	}
	for i := range fd.Imports().Len() {
		if path := fd.Imports().Get(i).Path(); path != name {
			if _, err := l.done.FindFileByPath(path); err != nil {
				if err := l.standard(path); err != nil {
					return err
				}
			}
		}
	}
	return l.done.RegisterFile(fd)
}

func newSchema(fd protoreflect.FileDescriptor) (*Schema, error) {
	all := new(protoregistry.Files)
	if err := register(all, fd); err != nil {
		return nil, &SchemaError{Msg: err.Error(), Fix: "check whether protoc compiles it"}
	}
	return &Schema{file: fd, types: dynamicpb.NewTypes(all)}, nil
}

// register enters a file and its imports.
func register(all *protoregistry.Files, fd protoreflect.FileDescriptor) error {
	if _, err := all.FindFileByPath(fd.Path()); err == nil {
		return nil
	}
	for i := range fd.Imports().Len() {
		if err := register(all, fd.Imports().Get(i).FileDescriptor); err != nil {
			return err
		}
	}
	return all.RegisterFile(fd)
}

// Messages returns the names of the file's messages, including nested ones, in the order of the file.
func (s *Schema) Messages() (names []string) {
	var add func(protoreflect.MessageDescriptors)
	add = func(ms protoreflect.MessageDescriptors) {
		for i := range ms.Len() {
			if !ms.Get(i).IsMapEntry() {
				names = append(names, string(ms.Get(i).FullName()))
				add(ms.Get(i).Messages())
			}
		}
	}
	add(s.file.Messages())
	return names
}

// Message finds a message of the file by its name, with or without the package, or returns nil.
func (s *Schema) Message(name string) *Message {
	for _, full := range []protoreflect.FullName{protoreflect.FullName(name), s.file.Package() + "." + protoreflect.FullName(name)} {
		within := s.file.Messages()
		rest, ok := strings.CutPrefix(string(full), string(s.file.Package())+".")
		if s.file.Package() == "" {
			rest, ok = strings.TrimPrefix(string(full), "."), true
		}
		if !ok {
			continue
		}
		if md := find(within, rest); md != nil {
			return &Message{schema: s, desc: md}
		}
	}
	return nil
}

func find(within protoreflect.MessageDescriptors, name string) protoreflect.MessageDescriptor {
	var md protoreflect.MessageDescriptor
	for part := range strings.SplitSeq(name, ".") {
		if md = within.ByName(protoreflect.Name(part)); md == nil || md.IsMapEntry() {
			return nil
		}
		within = md.Messages()
	}
	return md
}

// MessageAt finds a message by its index in the file, then within that message, and so on, or returns nil.
func (s *Schema) MessageAt(indexes []int) *Message {
	within := s.file.Messages()
	var md protoreflect.MessageDescriptor
	for _, i := range indexes {
		if i < 0 || i >= within.Len() || within.Get(i).IsMapEntry() {
			return nil
		}
		md = within.Get(i)
		within = md.Messages()
	}
	if md == nil {
		return nil
	}
	return &Message{schema: s, desc: md}
}

// Message is a message of a schema. As a Format it reads records whose values are such messages, with nothing before them.
type Message struct {
	schema *Schema
	desc   protoreflect.MessageDescriptor
}

// Name returns the message's full name.
func (m *Message) Name() string { return string(m.desc.FullName()) }

// Shape returns what such messages look like from outside.
func (m *Message) Shape() event.Shape {
	out, fields := event.Shape{Name: m.Name(), Members: map[string]bool{}}, m.desc.Fields()
	for i := range fields.Len() {
		out.Members[string(fields.Get(i).Name())] = fields.Get(i).Message() != nil
	}
	return out
}

// File returns the name of its file.
func (m *Message) File() string { return path.Base(m.desc.ParentFile().Path()) }
