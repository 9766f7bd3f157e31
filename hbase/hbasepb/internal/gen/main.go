// Command gen generates the Go code of every .proto file in the working directory without a protoc binary: protocompile parses the files,
// and protoc-gen-go's generator writes the code.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/bufbuild/protocompile"
	"github.com/bufbuild/protocompile/linker"
	"github.com/bufbuild/protocompile/protoutil"
	"google.golang.org/protobuf/cmd/protoc-gen-go/internal_gengo"
	"google.golang.org/protobuf/compiler/protogen"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/pluginpb"
)

func main() {
	if err := run("."); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func run(dir string) error {
	files, err := Generate(context.Background(), dir)
	if err != nil {
		return err
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// Generate returns the content of each .pb.go file, keyed by file name.
func Generate(ctx context.Context, dir string) (map[string][]byte, error) {
	request, err := compile(ctx, dir)
	if err != nil {
		return nil, err
	}
	plugin, err := protogen.Options{}.New(request)
	if err != nil {
		return nil, err
	}
	for _, f := range plugin.Files {
		internal_gengo.GenerateFile(plugin, f)
	}
	out := make(map[string][]byte)
	response := plugin.Response()
	if response.Error != nil {
		return nil, fmt.Errorf("%s", response.GetError())
	}
	for _, f := range response.File {
		out[filepath.Base(f.GetName())] = []byte(f.GetContent())
	}
	return out, nil
}

// compile parses the files with their comments and orders them as plugins require: imports first.
func compile(ctx context.Context, dir string) (*pluginpb.CodeGeneratorRequest, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.proto"))
	if err != nil {
		return nil, err
	}
	var names []string
	for _, p := range paths {
		names = append(names, filepath.Base(p))
	}
	slices.Sort(names)
	compiler := protocompile.Compiler{
		Resolver:       &protocompile.SourceResolver{ImportPaths: []string{dir}},
		SourceInfoMode: protocompile.SourceInfoStandard,
	}
	linked, err := compiler.Compile(ctx, names...)
	if err != nil {
		return nil, err
	}
	return &pluginpb.CodeGeneratorRequest{
		FileToGenerate: names,
		Parameter:      proto.String("paths=source_relative"),
		ProtoFile:      importsFirst(linked),
	}, nil
}

func importsFirst(files linker.Files) []*descriptorpb.FileDescriptorProto {
	var out []*descriptorpb.FileDescriptorProto
	seen := make(map[string]bool)
	var visit func(f linker.File)
	visit = func(f linker.File) {
		if seen[f.Path()] {
			return
		}
		seen[f.Path()] = true
		for i := range f.Imports().Len() {
			visit(f.FindImportByPath(f.Imports().Get(i).Path()))
		}
		out = append(out, protoutil.ProtoFromFileDescriptor(f))
	}
	for _, f := range files {
		visit(f)
	}
	return out
}
