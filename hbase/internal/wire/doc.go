// Package wire is the byte format of HBase's RPC: the preamble and header that open a connection, the frames of requests and responses, the
// cell blocks in them, and the hand-written coding of Multi, the call that carries every mutation. It has both the client's and the
// server's side.
//
// Encoders append to the caller's buffer. Decoders return views into the bytes passed to them, which are valid as long as those bytes.
//
// The invariants: no input makes a decoder panic, read outside its input, or allocate more than a small multiple of it; every length is
// checked against the available bytes before use. The caller bounds the size of expanded cell blocks. There is no I/O, and there are no
// goroutines and no state.
package wire
