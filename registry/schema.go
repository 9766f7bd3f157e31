package registry

import "strconv"

// Type is the language of a schema.
type Type string

// The types in Confluent's API. A Schema may have another type if its registry knows more.
const (
	Avro       Type = "AVRO"
	Protobuf   Type = "PROTOBUF"
	JSONSchema Type = "JSON"
)

// Schema is what an id names. All callers share it, so nobody may change it.
type Schema struct {
	ID   ID     `json:"id"`
	Type Type   `json:"type"`
	Text string `json:"text"`
	// Descriptor is the serialized FileDescriptorProto of a Protobuf schema, if the registry has it, as Confluent's does. Otherwise it is nil.
	Descriptor []byte `json:"descriptor,omitempty"`
	// References are all schemas that this one needs directly or indirectly, each after those that it needs itself.
	References []Reference `json:"references,omitempty"`
	// Subjects are where the schema is registered, if the registry reported that. They are only for messages.
	Subjects []Subject `json:"subjects,omitempty"`
}

// Reference is a schema that another one needs.
type Reference struct {
	Name       string `json:"name"` // as in the other schema: a file to import, a type, a URL
	Subject    string `json:"subject"`
	Version    int    `json:"version"`
	Text       string `json:"text"`
	Descriptor []byte `json:"descriptor,omitempty"` // see Schema.Descriptor
}

// Subject is a version of a subject.
type Subject struct {
	Name    string `json:"subject"`
	Version int    `json:"version"`
}

func (s Subject) String() string { return s.Name + " v" + strconv.Itoa(s.Version) }

// String returns the schema's name for messages: its id and where it is registered.
func (s *Schema) String() string {
	switch len(s.Subjects) {
	case 0:
		return s.ID.String()
	case 1:
		return s.ID.String() + " (" + s.Subjects[0].String() + ")"
	}
	return s.ID.String() + " (" + s.Subjects[0].String() + " and " + strconv.Itoa(len(s.Subjects)-1) + " more)"
}

// Files returns the texts of the references by name, as a Protobuf compiler imports them.
func (s *Schema) Files() map[string]string {
	files := make(map[string]string, len(s.References))
	for _, r := range s.References {
		files[r.Name] = r.Text
	}
	return files
}

// size returns roughly how much memory the schema takes.
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
