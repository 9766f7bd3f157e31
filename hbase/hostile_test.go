package hbase

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"brine/hbase/hbasepb"
	"brine/hbase/internal/remote"
	"brine/hbase/internal/wire"

	"google.golang.org/protobuf/proto"
)

// announced returns a frame that announces length bytes and contains only come of them.
func announced(length uint32, come int) []byte {
	return append(binary.BigEndian.AppendUint32(nil, length), make([]byte, come)...)
}

// hostile are nonsensical answers of a server to calls on rows, with what the error must say about them.
var hostile = []struct {
	name  string
	reply func(c *peerCall) *reply
	says  string
}{
	{"garbage", func(*peerCall) *reply { return &reply{raw: bytes.Repeat([]byte("HTTP/1.1 400 Bad Request\r\n"), 9)} }, "frame is longer than the limit: 1213486160 bytes, limit 29360128"},
	{"garbage in a frame", func(*peerCall) *reply { return &reply{raw: []byte{0, 0, 0, 3, 0xff, 0xff, 0xff}} }, "malformed bytes on the wire"},
	{"an empty frame", func(*peerCall) *reply { return &reply{raw: announced(0, 0)} }, "malformed bytes on the wire"},
	{"a giant length", func(*peerCall) *reply { return &reply{raw: announced(1<<31-1, 0)} }, "frame is longer than the limit: 2147483647 bytes, limit 29360128"},
	{"a negative length", func(*peerCall) *reply { return &reply{raw: announced(1<<32-1, 0)} }, "frame length -1"},
	{"an answer of 250 MB", func(*peerCall) *reply { return &reply{raw: announced(250<<20, 1<<20)} }, "frame is longer than the limit: 262144000 bytes, limit 29360128"},
	{"a frame that is cut off", func(*peerCall) *reply { return &reply{raw: announced(100, 10), drop: true} }, "read: "},
	{"a frame that does not go on", func(*peerCall) *reply { return &reply{raw: announced(1<<20, 10)} }, "no answer"},
	{"cut connections", func(*peerCall) *reply { return &reply{drop: true} }, "EOF"},
	{"answers to other calls", func(c *peerCall) *reply {
		frame, _ := wire.AppendResponse(nil, &hbasepb.ResponseHeader{CallId: proto.Uint32(c.Header.GetCallId() + 1000)}, &hbasepb.GetResponse{}, nil)
		return &reply{raw: frame}
	}, "no answer"},
	{"no answers", func(*peerCall) *reply { return &reply{silent: true} }, "no answer"},
	{"a huge stack", func(*peerCall) *reply {
		return exception("NotServingRegionException", remote.Package+"NotServingRegionException: "+strings.Repeat("x", 1<<20))
	}, "answered NotServingRegionException: xxx"},
	{"neither a result nor an exception", func(c *peerCall) *reply {
		if c.method == "Scan" {
			return &reply{param: &hbasepb.ScanResponse{CellsPerResult: []uint32{1}}}
		}
		if c.method == "Get" {
			return &reply{param: &hbasepb.GetResponse{Result: &hbasepb.Result{AssociatedCellCount: proto.Int32(1)}}}
		}
		return &reply{param: &hbasepb.MultiResponse{}}
	}, "invalid answer"},
	{"malformed cells", func(c *peerCall) *reply {
		cells := bytes.Repeat([]byte{0, 0, 0, 90}, 20)
		switch c.method {
		case "Scan":
			return &reply{param: &hbasepb.ScanResponse{CellsPerResult: []uint32{2}}, cells: cells}
		case "Get":
			return &reply{param: &hbasepb.GetResponse{Result: &hbasepb.Result{AssociatedCellCount: proto.Int32(2)}}, cells: cells}
		}
		return &reply{param: &hbasepb.GetResponse{Result: &hbasepb.Result{AssociatedCellCount: proto.Int32(2)}}, cells: cells}
	}, "invalid answer"},
}

// ofMeta reports whether a call is about hbase:meta.
func ofMeta(c *peerCall) bool {
	in := new(hbasepb.ScanRequest)
	return c.method != "Scan" || proto.Unmarshal(c.Param, in) != nil || string(in.GetRegion().GetValue()) == "hbase:meta,,1"
}

// Whatever a server answers, reads and writes end in time. Their errors name its address and what is wrong with its answers, in a text of
// reasonable length.
func TestAHostileServerIsLeftInTime(t *testing.T) {
	const patience = 10 * time.Second
	for _, h := range hostile {
		for _, meta := range []bool{false, true} {
			name := h.name
			if meta {
				name += " of hbase:meta"
			}
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					p := newPeer(t)
					p.answer = func(c *peerCall) *reply {
						if meta != (c.method == "Scan" && ofMeta(c)) || c.method == "GetMetaRegionLocations" {
							return nil
						}
						return h.reply(c)
					}
					opts := p.options()
					opts.Patience, opts.OperationTimeout, opts.MaxAnswerBytes = patience, time.Hour, 28<<20
					c := p.open(opts)
					for op, do := range rowCalls(c) {
						start := time.Now()
						err := do(t.Context())
						if took := time.Since(start); took > patience+2*opts.RPCTimeout {
							t.Errorf("%s took %v", op, took)
						}
						if err == nil || !strings.Contains(err.Error(), peerAddr) || !strings.Contains(err.Error(), h.says) {
							t.Errorf("%s: %.300v; does not say %q", op, err, h.says)
						}
						if err != nil && len(err.Error()) > 2*wire.MaxText {
							t.Errorf("%s: the error has %d bytes", op, len(err.Error()))
						}
					}
					c.Close()
					p.stop()
				})
			})
		}
	}
}

// rowCalls returns reads and writes, one of each kind.
func rowCalls(c *Client) map[string]func(context.Context) error {
	return map[string]func(context.Context) error{
		"get": func(ctx context.Context) error { _, err := c.Get(ctx, "t", Get{Row: []byte("a")}); return err },
		"get all": func(ctx context.Context) error {
			_, err := c.GetAll(ctx, "t", []Get{{Row: []byte("a")}, {Row: []byte("b")}})
			return err
		},
		"scan": func(ctx context.Context) error {
			for _, err := range c.Scan(ctx, "t", Scan{}) {
				return err
			}
			return nil
		},
		"put": func(ctx context.Context) error {
			failed, err := c.Submit(ctx, puts("a")).Wait(ctx)
			for i := range failed {
				err = errors.Join(err, &failed[i])
			}
			return err
		},
	}
}

// Gets whose joint answer is too long are retried in parts.
func TestGetsWhoseAnswerIsTooLongComeInParts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPeer(t)
		const most = 3 // number of gets whose answer fits
		p.answer = func(c *peerCall) *reply {
			if c.method != "Multi" {
				return nil
			}
			m, out := c.multi(), new(hbasepb.MultiResponse)
			n := 0
			for _, ra := range m.RegionAction {
				result := new(hbasepb.RegionActionResult)
				for _, a := range ra.Action {
					n++
					result.ResultOrException = append(result.ResultOrException, &hbasepb.ResultOrException{Index: a.Index, Result: new(hbasepb.Result)})
				}
				out.RegionActionResult = append(out.RegionActionResult, result)
			}
			if n > most {
				return &reply{raw: announced(uint32(defaults.MaxAnswerBytes)+1, 0)}
			}
			return &reply{param: out}
		}
		c := p.open(p.options())
		gets := make([]Get, 10)
		for i := range gets {
			gets[i].Row = []byte{'a' + byte(i)}
		}
		rows, err := c.GetAll(t.Context(), "t", gets)
		if err != nil || len(rows) != len(gets) || string(rows[9].Row) != "j" {
			t.Errorf("%v %v", rows, err)
		}
		c.Close()
		p.stop()
	})
}

// TestAMalformedResultLeavesNoRowOut answers several gets with a result that cannot be decoded, once at each position. The gets behind it,
// whose cells cannot be found any more, are retried too: they must not be taken for rows that do not exist.
func TestAMalformedResultLeavesNoRowOut(t *testing.T) {
	rows := []string{"a", "b", "c", "d"}
	for bad := range rows {
		synctest.Test(t, func(t *testing.T) {
			p := newPeer(t)
			calls := 0
			p.answer = func(c *peerCall) *reply {
				if c.method != "Multi" {
					return nil
				}
				calls++
				out, cells := new(hbasepb.MultiResponse), []byte(nil)
				for _, ra := range c.multi().RegionAction {
					result := new(hbasepb.RegionActionResult)
					for _, a := range ra.Action {
						n := proto.Int32(1)
						if calls == 1 && string(a.Get.Row) == rows[bad] {
							n = proto.Int32(100)
						}
						result.ResultOrException = append(result.ResultOrException, &hbasepb.ResultOrException{Index: a.Index, Result: &hbasepb.Result{AssociatedCellCount: n}})
						cells = wire.AppendCell(cells, wire.Cell{Row: a.Get.Row, Family: []byte("f"), Timestamp: 1, Type: Put, Value: a.Get.Row})
					}
					out.RegionActionResult = append(out.RegionActionResult, result)
				}
				return &reply{param: out, cells: cells}
			}
			c := p.open(p.options())
			var gets []Get
			for _, row := range rows {
				gets = append(gets, Get{Row: []byte(row)})
			}
			got, err := c.GetAll(t.Context(), "t", gets)
			for i, row := range rows {
				if err != nil || len(got[i].Cells) != 1 || string(got[i].Cells[0].Value) != row {
					t.Errorf("result %d is malformed: row %s: error %v, read %v", bad, row, err, got)
				}
			}
			if calls != 2 {
				t.Errorf("%d calls", calls)
			}
			c.Close()
			p.stop()
		})
	}
}
