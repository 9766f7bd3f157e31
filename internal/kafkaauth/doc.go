// Package kafkaauth proves to Kafka's brokers who we are: by bearer tokens (SASL's OAUTHBEARER, RFC 7628), by Kerberos (GSSAPI, RFC 4752)
// and by keys of AWS (AWS_MSK_IAM), as mechanisms of kafka-go. They are safe for concurrent use, start no goroutine until a broker is
// connected to, and need no end: what they hold goes with them.
//
//	OAuth      a token of an OAuth 2.0 token endpoint (client credentials), or of a file that somebody else writes
//	Kerberos   tickets of a keytab or a ticket cache
//	AWS        requests to Amazon MSK, signed by franz-go
package kafkaauth
