// Package kafkaauth authenticates to Kafka's brokers: with bearer tokens (SASL's OAUTHBEARER, RFC 7628), with Kerberos (GSSAPI, RFC 4752)
// and with AWS keys (AWS_MSK_IAM), as mechanisms of kafka-go. The mechanisms are safe for concurrent use, start no goroutine before the
// first connection to a broker, and need no Close: what they hold is freed with them.
//
//	OAuth      a token of an OAuth 2.0 token endpoint (client credentials), or of a file that another program writes
//	Kerberos   tickets of a keytab or a ticket cache
//	AWS        requests to Amazon MSK, signed by franz-go
package kafkaauth
