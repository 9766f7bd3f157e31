package broker

import (
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"sync"

	"github.com/segmentio/kafka-go/protocol"
	"github.com/segmentio/kafka-go/protocol/alteruserscramcredentials"
	"github.com/segmentio/kafka-go/protocol/apiversions"
	"github.com/segmentio/kafka-go/protocol/createtopics"
	"github.com/segmentio/kafka-go/protocol/deletegroups"
	"github.com/segmentio/kafka-go/protocol/deletetopics"
	"github.com/segmentio/kafka-go/protocol/describeconfigs"
	"github.com/segmentio/kafka-go/protocol/describegroups"
	"github.com/segmentio/kafka-go/protocol/findcoordinator"
	"github.com/segmentio/kafka-go/protocol/heartbeat"
	"github.com/segmentio/kafka-go/protocol/incrementalalterconfigs"
	"github.com/segmentio/kafka-go/protocol/joingroup"
	"github.com/segmentio/kafka-go/protocol/leavegroup"
	"github.com/segmentio/kafka-go/protocol/listgroups"
	"github.com/segmentio/kafka-go/protocol/listoffsets"
	meta "github.com/segmentio/kafka-go/protocol/metadata"
	"github.com/segmentio/kafka-go/protocol/offsetcommit"
	"github.com/segmentio/kafka-go/protocol/offsetfetch"
	"github.com/segmentio/kafka-go/protocol/produce"
	"github.com/segmentio/kafka-go/protocol/saslauthenticate"
	"github.com/segmentio/kafka-go/protocol/saslhandshake"
	"github.com/segmentio/kafka-go/protocol/syncgroup"
)

// ErrMalformed is the error of an answer that does not hold what it announces.
var ErrMalformed = errors.New("the answer of the broker is malformed")

// answerTypes are the answers that kafka-go decodes for us. It allocates what an answer announces: an array of 2³¹ elements, or a string
// longer than memory, ends the process. The walk over an answer checks that all of it is there before kafka-go sees it. Tests call more
// than brine does: they delete topics, and alter configurations and users.
var answerTypes = map[protocol.ApiKey]reflect.Type{
	protocol.AlterUserScramCredentials: reflect.TypeFor[alteruserscramcredentials.Response](),
	protocol.ApiVersions:               reflect.TypeFor[apiversions.Response](),
	protocol.CreateTopics:              reflect.TypeFor[createtopics.Response](),
	protocol.DeleteGroups:              reflect.TypeFor[deletegroups.Response](),
	protocol.DeleteTopics:              reflect.TypeFor[deletetopics.Response](),
	protocol.DescribeConfigs:           reflect.TypeFor[describeconfigs.Response](),
	protocol.DescribeGroups:            reflect.TypeFor[describegroups.Response](),
	protocol.FindCoordinator:           reflect.TypeFor[findcoordinator.Response](),
	protocol.Heartbeat:                 reflect.TypeFor[heartbeat.Response](),
	protocol.IncrementalAlterConfigs:   reflect.TypeFor[incrementalalterconfigs.Response](),
	protocol.JoinGroup:                 reflect.TypeFor[joingroup.Response](),
	protocol.LeaveGroup:                reflect.TypeFor[leavegroup.Response](),
	protocol.ListGroups:                reflect.TypeFor[listgroups.Response](),
	protocol.ListOffsets:               reflect.TypeFor[listoffsets.Response](),
	protocol.Metadata:                  reflect.TypeFor[meta.Response](),
	protocol.OffsetCommit:              reflect.TypeFor[offsetcommit.Response](),
	protocol.OffsetFetch:               reflect.TypeFor[offsetfetch.Response](),
	protocol.Produce:                   reflect.TypeFor[produce.Response](),
	protocol.SaslAuthenticate:          reflect.TypeFor[saslauthenticate.Response](),
	protocol.SaslHandshake:             reflect.TypeFor[saslhandshake.Response](),
	protocol.SyncGroup:                 reflect.TypeFor[syncgroup.Response](),
}

// parsedHere are the answers that this package reads itself, within its own limits.
var parsedHere = map[protocol.ApiKey]bool{
	protocol.Fetch: true, protocol.DeleteRecords: true, consumerBeatKey: true, consumerDescribeKey: true,
}

// call identifies a request by the first bytes of it.
type call struct {
	key     protocol.ApiKey
	version int16
	id      int32 // its answer has the same
}

// checked reports whether kafka-go decodes the answer. It refuses versions that it does not know, and we parse those ourselves.
func (c call) checked() bool {
	return !parsedHere[c.key] && (answerTypes[c.key] == nil || c.version <= c.key.MaxVersion())
}

// check reports what is wrong with an answer, which begins with its id.
func (c call) check(answer []byte) error {
	r := reader{b: answer}
	if id := r.int32(); r.bad || id != c.id {
		return fmt.Errorf("%w: %d bytes with the id %d answer the %v request %d", ErrMalformed, len(answer), id, c.key, c.id)
	}
	walk, err := walkOf(c.key, c.version)
	if err != nil {
		return err
	}
	if walk(&r); r.bad {
		return fmt.Errorf("%w: its %d bytes to the %v request (version %d) announce more than they hold", ErrMalformed, len(answer), c.key,
			c.version)
	}
	return nil
}

// callOf returns the call that a request begins with: length int32 · key int16 · version int16 · id int32.
func callOf(request []byte) (c call, ok bool) {
	if len(request) < 12 {
		return c, false
	}
	c.key = protocol.ApiKey(binary.BigEndian.Uint16(request[4:]))
	c.version = int16(binary.BigEndian.Uint16(request[6:]))
	c.id = int32(binary.BigEndian.Uint32(request[8:]))
	return c, parsedHere[c.key] || answerTypes[c.key] != nil
}

// walk passes over a value of the protocol. The reader is bad afterwards if not all of the value is there.
type walk func(*reader)

type walked struct {
	key     protocol.ApiKey
	version int16
}

var walks sync.Map // walked → walk

func walkOf(key protocol.ApiKey, version int16) (walk, error) {
	if w, ok := walks.Load(walked{key, version}); ok {
		return w.(walk), nil
	}
	t := answerTypes[key]
	if t == nil {
		return nil, fmt.Errorf("broker: no layout for the answers of %v", key)
	}
	flexible := false // from the first version with tagged fields on, in all structures
	for field := range t.Fields() {
		eachRange(field, func(first, last int16, tag bool) { flexible = flexible || tag && first <= version })
	}
	body := walkOfType(t, version, flexible)
	w := walk(func(r *reader) {
		if flexible {
			r.tags() // the header's
		}
		body(r)
	})
	walks.Store(walked{key, version}, w)
	return w, nil
}

// eachRange calls do for each range of versions in a field's tag, as in "min=v0,max=v8|min=v9,max=v12,tag".
func eachRange(field reflect.StructField, do func(first, last int16, tag bool)) {
	for part := range strings.SplitSeq(field.Tag.Get("kafka"), "|") {
		first, last, tag := -1, -1, false // a field without ranges is kafka-go's own
		for option := range strings.SplitSeq(part, ",") {
			name, value, _ := strings.Cut(option, "=v")
			switch name {
			case "min":
				first, _ = strconv.Atoi(value)
			case "max":
				last, _ = strconv.Atoi(value)
			case "tag":
				tag = true
			}
		}
		do(int16(first), int16(last), tag)
	}
}

func walkOfType(t reflect.Type, version int16, flexible bool) walk {
	switch t.Kind() {
	case reflect.Bool, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Float64:
		size := int(t.Size())
		return func(r *reader) { r.skip(size) }
	case reflect.String:
		if flexible {
			return (*reader).skipCompact
		}
		return func(r *reader) { r.skip(max(0, int(r.int16()))) }
	case reflect.Struct:
		return walkOfStruct(t, version, flexible)
	case reflect.Slice:
		if t.Elem().Kind() != reflect.Uint8 {
			return walkOfArray(walkOfType(t.Elem(), version, flexible), flexible)
		}
		if flexible {
			return (*reader).skipCompact
		}
		return func(r *reader) { r.skip(max(0, int(r.int32()))) }
	default:
		panic(fmt.Sprintf("broker: an answer of kafka-go has a field of type %v", t))
	}
}

func walkOfStruct(t reflect.Type, version int16, flexible bool) walk {
	var fields []walk
	for field := range t.Fields() {
		there := false
		eachRange(field, func(first, last int16, tag bool) { there = there || !tag && first <= version && version <= last })
		if there {
			fields = append(fields, walkOfType(field.Type, version, flexible))
		}
	}
	return func(r *reader) {
		for _, walk := range fields {
			walk(r)
		}
		if flexible {
			r.tags()
		}
	}
}

// walkOfArray: each element takes a byte at least, so that the walk ends however many are announced.
func walkOfArray(element walk, flexible bool) walk {
	return func(r *reader) {
		n := 0
		if flexible {
			n = r.length()
		} else {
			n = int(r.int32())
		}
		if n > len(r.b) {
			r.b, r.bad = nil, true
		}
		for ; n > 0 && !r.bad; n-- {
			element(r)
		}
	}
}

func (r *reader) skipCompact() { r.skip(r.length()) }
