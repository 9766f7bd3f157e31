package pipeline

import (
	"context"
	"time"

	"brine/hbase/internal/locate"
	"brine/hbase/internal/remote"
	"brine/hbase/internal/rpc"
	"brine/hbase/internal/wire"
)

// Env is what the pipeline needs from a client. Its functions may be called at any time from several goroutines.
type Env struct {
	Ctx context.Context // ends with the client
	Go  func(func())    // runs a goroutine that the client's Close waits for

	// Send makes one call of mutations to a region server.
	Send func(ctx context.Context, server string, encode rpc.Encoder) (wire.Response, error)

	// Locations of rows, as in package locate.
	Find         func(ctx context.Context, table string, row []byte) (*locate.Region, error)
	FindAround   func(ctx context.Context, table string, w locate.Wanted) ([]*locate.Region, error)
	Read         func(ctx context.Context, r *locate.Region) (*locate.Region, error)
	Disabled     func(ctx context.Context, table string) (bool, error)
	Correct      func(r *locate.Region, d remote.Diagnosis) *locate.Region
	Forget       func(r *locate.Region)
	ForgetServer func(addr string)
}

// Options bound what the pipeline holds and sends. They are the client's options of the same names.
type Options struct {
	MaxRequestRows   int // per call
	MaxRequestBytes  int // per call
	MaxBufferedBytes int // in all lanes
	MaxServerCalls   int // per server at a time
	MaxCellBytes     int
	OperationTimeout time.Duration
}
