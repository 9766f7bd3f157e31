package registry

import (
	"encoding/binary"
	"encoding/hex"
	"strconv"
)

// Framing is how a record names the schema with which it was written.
type Framing string

const (
	// Confluent is the header __value_schema_id or __key_schema_id (01 and a GUID of 16 bytes, or 00 and an id of 4), or else the first bytes
	// of the value itself: 00 and an id of 4 bytes, or 01 and a GUID.
	Confluent Framing = "confluent"
	// Apicurio is the header apicurio.value.contentId or apicurio.value.globalId (8 bytes), or else 00 and a contentId of 4 bytes.
	Apicurio Framing = "apicurio"
	// Apicurio8 is Apicurio with a contentId of 8 bytes, which its older serializers write.
	Apicurio8 Framing = "apicurio8"
	// ApicurioGlobal and Apicurio8Global have a globalId instead after the 00, from serializers whose use-id is globalId.
	ApicurioGlobal  Framing = "apicurio_global"
	Apicurio8Global Framing = "apicurio8_global"
)

// Framings are all framings.
var Framings = []Framing{Confluent, Apicurio, Apicurio8, ApicurioGlobal, Apicurio8Global}

// Part is the part of a record that is framed. Each has its own header names.
type Part uint8

// The parts of a record.
const (
	Value Part = iota
	Key
)

func (p Part) String() string {
	if p == Key {
		return "key"
	}
	return "value"
}

// Kind is the kind of an ID.
type Kind uint8

// The kinds of ids. Numbers of different kinds never mean the same.
const (
	Number    Kind = iota + 1 // Confluent's API
	GUID                      // Confluent's API, since 8.0
	ContentID                 // Apicurio's: one per text
	GlobalID                  // Apicurio's: one per version of an artifact
)

// ID identifies a schema in a registry. It is comparable; the zero ID identifies none.
type ID struct {
	Kind   Kind
	Number int64    // unless Kind is GUID
	GUID   [16]byte // if Kind is GUID
}

func (id ID) String() string {
	switch id.Kind {
	case Number:
		return "id " + strconv.FormatInt(id.Number, 10)
	case GUID:
		return "guid " + id.guid()
	case ContentID:
		return "contentId " + strconv.FormatInt(id.Number, 10)
	case GlobalID:
		return "globalId " + strconv.FormatInt(id.Number, 10)
	}
	return "no id"
}

// guid returns the GUID as the API writes it.
func (id ID) guid() string {
	h := hex.EncodeToString(id.GUID[:])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// Framed is a record's value or key without its framing.
type Framed struct {
	ID       ID
	Data     []byte // the bytes after the frame; for Protobuf, the message indexes or name may come first, see Message
	InHeader bool   // the id came from a header, and Data is the whole value
	Indexes  []byte // Protobuf's message indexes, if the id came from a header
}

// FrameError is the error for a value or key whose framing cannot be read. No retry can read it: it is a dead letter.
type FrameError struct {
	Msg string
	Fix string
}

func (e *FrameError) Error() string  { return e.Msg + "; " + e.Fix }
func (e *FrameError) Advice() string { return e.Fix }

const (
	confluentPrefix = 1 + 4
	guidPrefix      = 1 + 16
	longPrefix      = 1 + 8
	gluePrefix      = 1 + 1 + 16
)

// Frame returns the id with which the data was written, and the data. header returns the last header with a name; it may be nil. The result
// shares the memory of data and headers. Frame allocates only for an error.
func (f Framing) Frame(part Part, data []byte, header func(name string) ([]byte, bool)) (Framed, error) {
	if header != nil {
		framed, found, err := f.inHeader(part, data, header)
		if found || err != nil {
			return framed, err
		}
	}
	id, n := f.prefix(data)
	if n == 0 {
		return Framed{}, f.fault(part, data, header)
	}
	if id.Number < 0 {
		return Framed{}, &FrameError{Msg: "the " + part.String() + " names " + id.String() + ", but a registry has no ids below 0",
			Fix: "use a registry's serializer, or declare the record's actual format"}
	}
	return Framed{ID: id, Data: data[n:]}, nil
}

// prefix reads the id before the data and returns its length including the magic byte, or 0 if there is none.
func (f Framing) prefix(b []byte) (id ID, n int) {
	if len(b) < confluentPrefix {
		return ID{}, 0
	}
	switch short := int64(int32(binary.BigEndian.Uint32(b[1:]))); {
	case f == Confluent && b[0] == 1 && len(b) >= guidPrefix:
		return ID{Kind: GUID, GUID: [16]byte(b[1:guidPrefix])}, guidPrefix
	case b[0] != 0:
	case f == Confluent:
		return ID{Kind: Number, Number: short}, confluentPrefix
	case f == Apicurio:
		return ID{Kind: ContentID, Number: short}, confluentPrefix
	case f == ApicurioGlobal:
		return ID{Kind: GlobalID, Number: short}, confluentPrefix
	case len(b) < longPrefix:
	case f == Apicurio8:
		return ID{Kind: ContentID, Number: int64(binary.BigEndian.Uint64(b[1:]))}, longPrefix
	case f == Apicurio8Global:
		return ID{Kind: GlobalID, Number: int64(binary.BigEndian.Uint64(b[1:]))}, longPrefix
	}
	return ID{}, 0
}

// The names of the headers by part.
var (
	confluentHeader = [...]string{Value: "__value_schema_id", Key: "__key_schema_id"}
	contentHeader   = [...]string{Value: "apicurio.value.contentId", Key: "apicurio.key.contentId"}
	globalHeader    = [...]string{Value: "apicurio.value.globalId", Key: "apicurio.key.globalId"}
)

// inHeader reads the id from a header, if there is one.
func (f Framing) inHeader(part Part, data []byte, header func(string) ([]byte, bool)) (framed Framed, found bool, err error) {
	if f == Confluent {
		h, ok := header(confluentHeader[part])
		if !ok || h == nil { // a null header counts as none, as in Confluent's own reader
			return Framed{}, false, nil
		}
		id, n := f.prefix(h)
		if n == 0 || id.Number < 0 {
			return Framed{}, false, badHeader(confluentHeader[part], h, "01 and 16 bytes of a GUID")
		}
		return Framed{ID: id, Data: data, InHeader: true, Indexes: h[n:]}, true, nil
	}
	name, kind := contentHeader[part], ContentID
	h, ok := header(name)
	if !ok {
		name, kind = globalHeader[part], GlobalID
		if h, ok = header(name); !ok {
			return Framed{}, false, nil
		}
	}
	if len(h) != 8 || h[0] > 0x7f {
		return Framed{}, false, badHeader(name, h, "8 bytes, big-endian")
	}
	return Framed{ID: ID{Kind: kind, Number: int64(binary.BigEndian.Uint64(h))}, Data: data, InHeader: true}, true, nil
}

func badHeader(name string, h []byte, form string) error {
	return &FrameError{Msg: "the header " + name + " holds " + shown(h) + ", which is not an id",
		Fix: "write it the way a registry's serializer does: " + form}
}

// fault returns the reason why data has no id.
func (f Framing) fault(part Part, data []byte, header func(string) ([]byte, bool)) error {
	what := "the " + part.String()
	if header != nil {
		if other, name := f.other(part, header); other != "" {
			return &FrameError{Msg: what + " has no id as " + string(f) + " frames it, but there is a header " + name,
				Fix: "write registry.framing: " + string(other)}
		}
	}
	if len(data) >= gluePrefix && data[0] == 3 && (data[1] == 0 || data[1] == 5) {
		return &FrameError{Msg: what + " is framed for the AWS Glue Schema Registry (" + shown(data[:2]) + "), which brine does not support",
			Fix: "use a registry with Confluent's API, or name the schema's file"}
	}
	if len(data) > 0 && data[0] == 0 {
		return &FrameError{Msg: what + " ends within the id that it begins with: it has " + strconv.Itoa(len(data)) + " bytes",
			Fix: "check what writes it, and registry.framing"}
	}
	return &FrameError{Msg: what + " begins with " + shown(data) + ", not with 00 and a schema id",
		Fix: "use a registry's serializer, or declare the record's actual format"}
}

// other returns the framing, other than f, whose header is present.
func (f Framing) other(part Part, header func(string) ([]byte, bool)) (Framing, string) {
	if f != Confluent {
		if _, ok := header(confluentHeader[part]); ok {
			return Confluent, confluentHeader[part]
		}
		return "", ""
	}
	for _, name := range []string{contentHeader[part], globalHeader[part]} {
		if _, ok := header(name); ok {
			return Apicurio, name
		}
	}
	return "", ""
}

// shown returns the beginning of bytes, for people.
func shown(b []byte) string {
	const most = 8
	switch {
	case len(b) == 0:
		return "nothing"
	case len(b) > most:
		return hex.EncodeToString(b[:most]) + "…"
	}
	return hex.EncodeToString(b)
}
