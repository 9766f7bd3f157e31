package embedded

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// tagged are the tagged fields of requests: brokers send them to each other.
var tagged = []string{"ReplicaState", "ReplicaDirectoryID", "HighWatermark", "ClusterID", "OfflineLogDirs", "CordonedLogDirs"}

// fill sets every field of v to a random value, with zero to two elements in arrays. Tagged fields keep their defaults.
func fill(rng *rand.Rand, v reflect.Value) {
	setDefault(v)
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			switch f := v.Type().Field(i); {
			case f.Type == tagsType, f.Name == "Version", slices.Contains(tagged, f.Name):
			default:
				fill(rng, v.Field(i))
			}
		}
	case reflect.Pointer:
		if rng.IntN(3) > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			fill(rng, v.Elem())
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), rng.IntN(3), 2))
		for i := range v.Len() {
			fill(rng, v.Index(i))
		}
	case reflect.Array:
		for i := range v.Len() {
			fill(rng, v.Index(i))
		}
	case reflect.String:
		v.SetString([]string{"", guardedTopic, "group", "0", "broker"}[rng.IntN(5)])
	case reflect.Bool:
		v.SetBool(rng.IntN(2) == 0)
	case reflect.Float64:
		v.SetFloat(rng.Float64())
	default:
		if v.CanInt() {
			v.SetInt(rng.Int64N(7) - 2)
		} else {
			v.SetUint(rng.Uint64N(3))
		}
	}
}

// everyRequest calls f with a request of each key and version.
func everyRequest(f func(q kmsg.Request)) {
	for key := range int16(kmsg.MaxKey + 1) {
		q := kmsg.RequestForKey(key)
		for version := int16(0); q != nil && version <= q.MaxVersion(); version++ {
			q = kmsg.RequestForKey(key)
			q.SetVersion(version)
			f(q)
		}
	}
}

// TestLayoutIsThatOfRequests checks that what kmsg writes passes, that kmsg reads whatever passes, and that nothing passes if cut short or
// with an extra byte.
func TestLayoutIsThatOfRequests(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	seen := 0
	everyRequest(func(q kmsg.Request) {
		l := layoutOf(q)
		for range 20 {
			fill(rng, reflect.ValueOf(q).Elem())
			b := q.AppendTo(nil)
			if err := l.check(b, q.IsFlexible()); err != nil {
				t.Fatalf("%s v%d: %v: %x %+v\n%v", kmsg.NameForKey(q.Key()), q.GetVersion(), err, b, q, l)
			}
			if err := l.check(append(b, 0), q.IsFlexible()); err == nil {
				t.Errorf("%s v%d with a byte more passes", kmsg.NameForKey(q.Key()), q.GetVersion())
			}
			for n := range b {
				if err := l.check(b[:n], q.IsFlexible()); err == nil {
					t.Errorf("%s v%d cut to %d of %d bytes passes", kmsg.NameForKey(q.Key()), q.GetVersion(), n, len(b))
				}
			}
			seen++
		}
	})
	t.Logf("%d requests", seen)
}
