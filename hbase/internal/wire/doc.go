// Package wire is HBase's RPC as bytes: the preamble and header that open a connection, the frames of requests and
// responses, the cell blocks behind them, and the hand-written coding of Multi, the call that carries every mutation:
// the client's directions and the server's.
//
// Encoders append to the caller's buffer. Decoders return views into the bytes they were given: valid as long as those are.
//
// The invariants: no input makes a decoder panic, read outside its input, or allocate more than a small multiple of it;
// every length is checked against what is there before it is used. What a compressed cell block expands to is bounded by the
// caller. No I/O, no goroutines, no state.
package wire
