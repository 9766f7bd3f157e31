// Package gssapi authenticates by Kerberos 5: contexts of GSS-API (RFC 4121) as both sides make them, the SASL mechanism GSSAPI on top
// (RFC 4752), and the initiator's tickets. Messages of Kerberos itself, keytabs and krb5.conf are read by gokrb5.
//
// Everything between two peers is a state machine over tokens, without a network and without a goroutine:
//
//	Client, Server         SASL: what to answer to which token, and the quality of protection agreed upon
//	Initiator, Acceptor    the context below it: AP-REQ, and the AP-REP that proves who answers
//	Context                what both hold then: keys and sequence numbers; Wrap and Unwrap
//	Stream                 what follows on the connection: int32 length │ wrapped bytes, again and again
//
// What talks to others is apart: Login holds a ticket-granting ticket and the tickets of servers, and has one goroutine, which renews the
// first at 5/6 of its life and ends with Close.
//
// The invariants: nothing is allocated on the word of a length beyond MaxToken, or beyond the limit that a Stream is given; no bytes make
// a decoder panic; a context is one only after the peer has proved that it holds the key of the principal that was asked for; what was
// agreed upon is the least that is accepted: a token that is not sealed ends a stream of sealed ones.
//
// Encryption types are 17, 18 and 19, of AES. RC4 and DES are refused.
package gssapi
