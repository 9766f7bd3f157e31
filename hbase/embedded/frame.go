package embedded

import (
	"fmt"
	"io"
	"sync"

	"brine/hbase/internal/wire"

	"google.golang.org/protobuf/encoding/protowire"
)

// maxKept is the largest buffer that is kept for reuse.
const maxKept = 1 << 20

var frames = sync.Pool{New: func() any { b := make([]byte, 0, 4096); return &b }}

// readBytes reads n bytes into a pooled buffer. The buffer grows as the bytes come, not on the word of their length; hold is told how far.
func readBytes(in io.Reader, n int, hold func(int) error) (*[]byte, error) {
	frame := frames.Get().(*[]byte)
	b := (*frame)[:0]
	for len(b) < n {
		step := min(n-len(b), max(firstRead, len(b)))
		if err := hold(step); err != nil {
			return nil, err
		}
		if cap(b)-len(b) < step {
			grown := make([]byte, len(b), len(b)+step)
			copy(grown, b)
			b = grown
		}
		if _, err := io.ReadFull(in, b[len(b):len(b)+step]); err != nil {
			return nil, err
		}
		b = b[:len(b)+step]
	}
	*frame = b
	return frame, nil
}

func putFrame(frame *[]byte) {
	if cap(*frame) <= maxKept {
		frames.Put(frame)
	}
}

// callID finds the call id (field 1) in the first bytes of a frame, whose header may be cut off behind it.
func callID(head []byte) (uint32, error) {
	if _, n := protowire.ConsumeVarint(head); n >= 0 {
		number, typ, m := protowire.ConsumeTag(head[n:])
		if m >= 0 && number == 1 && typ == protowire.VarintType {
			if id, l := protowire.ConsumeVarint(head[n+m:]); l >= 0 {
				return uint32(id), nil
			}
		}
	}
	return 0, fmt.Errorf("%w: no call id in the header of a request that is too big", wire.ErrMalformed)
}
