package hbase

import "errors"

// Errors that callers test with errors.Is.
var (
	ErrNoTable     = errors.New("no such table")
	ErrNoFamily    = errors.New("no such column family")
	ErrTableExists = errors.New("table exists")
	ErrDisabled    = errors.New("table is disabled")
	ErrDenied      = errors.New("access denied")
	ErrClosed      = errors.New("client is closed")
)
