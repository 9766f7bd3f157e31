package registry

import (
	"fmt"
	"io"
	"net/http"
)

// errTooLong is the error for an answer longer than this.
type errTooLong int64

func (e errTooLong) Error() string {
	return fmt.Sprintf("the answer is longer than %d bytes", int64(e))
}

// bounded is a transport that limits the length of answers, after decompression.
type bounded struct {
	base http.RoundTripper
	most int64
}

func (b *bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := b.base.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	answer.Body = &boundedBody{ReadCloser: answer.Body, most: b.most, left: b.most}
	return answer, nil
}

type boundedBody struct {
	io.ReadCloser
	most, left int64
}

func (b *boundedBody) Read(p []byte) (int, error) {
	if b.left < 0 {
		return 0, errTooLong(b.most)
	}
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1] // one byte more, to detect that there is more
	}
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return n, errTooLong(b.most)
	}
	return n, err
}
