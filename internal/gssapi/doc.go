// Package gssapi authenticates with Kerberos 5: it has both sides of GSS-API contexts (RFC 4121), the SASL mechanism GSSAPI on top (RFC
// 4752), and the initiator's tickets. gokrb5 parses the messages of Kerberos itself, keytabs and krb5.conf.
//
// Everything between two peers is a state machine over tokens, without a network and without a goroutine:
//
//	Client, Server         SASL: the answer to each token, and the negotiated quality of protection
//	Initiator, Acceptor    the context below it: AP-REQ, and the AP-REP that proves the acceptor's identity
//	Context                the shared keys and sequence numbers; Wrap and Unwrap
//	Stream                 the rest of the connection: int32 length │ wrapped bytes, repeated
//
// Network access is separate: Login holds a ticket-granting ticket and the tickets of servers. It has one goroutine, which renews the
// former after 5/6 of its life and ends with Close.
//
// The invariants: a length alone allocates nothing beyond MaxToken, or beyond the limit given to a Stream; no bytes make a decoder panic; a
// context exists only after the peer has proved that it holds the key of the requested principal; nothing less than the negotiated
// protection is accepted: a token that is not sealed ends a stream of sealed ones.
//
// Encryption types are 17, 18 and 19, of AES. RC4 and DES are refused.
package gssapi
