package registry

import "strconv"

// Type is the language of a schema.
type Type string

// The types that registries know by Confluent's API. A Schema may have another, of a registry that knows more.
const (
	Avro       Type = "AVRO"
	Protobuf   Type = "PROTOBUF"
	JSONSchema Type = "JSON"
)

// Schema is what an id names. It is shared by all who ask for it: nobody changes it.
type Schema struct {
	ID   ID     `json:"id"`
	Type Type   `json:"type"`
	Text string `json:"text"`
	// Descriptor is the serialized FileDescriptorProto of a Protobuf schema, of registries that have such: Confluent's. Nil elsewhere.
	Descriptor []byte `json:"descriptor,omitempty"`
	// References are all schemas that this one needs, and those that they need, each after those that it needs itself.
	References []Reference `json:"references,omitempty"`
	// Subjects are where the schema is registered, as far as the registry said so. They are for messages.
	Subjects []Subject `json:"subjects,omitempty"`
}

// Reference is a schema that another one needs.
type Reference struct {
	Name       string `json:"name"` // as the other one calls it: a file to import, a type, a URL
	Subject    string `json:"subject"`
	Version    int    `json:"version"`
	Text       string `json:"text"`
	Descriptor []byte `json:"descriptor,omitempty"` // as Schema.Descriptor
}

// Subject is a version of a subject.
type Subject struct {
	Name    string `json:"subject"`
	Version int    `json:"version"`
}

func (s Subject) String() string { return s.Name + " v" + strconv.Itoa(s.Version) }

// String names the schema in messages: its id and where it is registered.
func (s *Schema) String() string {
	switch len(s.Subjects) {
	case 0:
		return s.ID.String()
	case 1:
		return s.ID.String() + " (" + s.Subjects[0].String() + ")"
	}
	return s.ID.String() + " (" + s.Subjects[0].String() + " and " + strconv.Itoa(len(s.Subjects)-1) + " more)"
}

// Files returns the texts of the references by name, as a compiler of Protobuf imports them.
func (s *Schema) Files() map[string]string {
	files := make(map[string]string, len(s.References))
	for _, r := range s.References {
		files[r.Name] = r.Text
	}
	return files
}

// size is what the schema costs in memory, roughly.
func (s *Schema) size() int64 {
	const overhead = 512
	n := overhead + len(s.Text) + len(s.Descriptor)
	for i := range s.References {
		r := &s.References[i]
		n += overhead/4 + len(r.Name) + len(r.Subject) + len(r.Text) + len(r.Descriptor)
	}
	for _, subject := range s.Subjects {
		n += overhead/8 + len(subject.Name)
	}
	return int64(n)
}
