package pipeline

import (
	"context"
	"time"

	"brine/hbase/internal/locate"
	"brine/hbase/internal/remote"
	"brine/hbase/internal/rpc"
	"brine/hbase/internal/wire"
)

// Env is what the pipeline needs from a client. Its functions may be called at any time, from several goroutines.
type Env struct {
	Ctx context.Context // the client's life
	Go  func(func())    // runs a goroutine that the client waits for when it closes

	// Send makes one call of mutations to a region server.
	Send func(ctx context.Context, server string, encode rpc.Encoder) (wire.Response, error)

	// Where rows are, as package locate says.
	Find         func(ctx context.Context, table string, row []byte) (*locate.Region, error)
	FindAround   func(ctx context.Context, table string, w locate.Wanted) ([]*locate.Region, error)
	Read         func(ctx context.Context, r *locate.Region) (*locate.Region, error)
	Disabled     func(ctx context.Context, table string) (bool, error)
	Correct      func(r *locate.Region, d remote.Diagnosis) *locate.Region
	Forget       func(r *locate.Region)
	ForgetServer func(addr string)
}

// Options bound what the pipeline holds and sends. They are the client's options of these names.
type Options struct {
	MaxRequestRows   int // in one call
	MaxRequestBytes  int // in one call
	MaxBufferedBytes int // over all lanes
	MaxServerCalls   int // to one server at a time
	MaxCellBytes     int
	OperationTimeout time.Duration
}
