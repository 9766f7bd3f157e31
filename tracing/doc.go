// Package tracing follows some records through brine as OpenTelemetry spans: the record, the flight that it is written with, and the calls
// that carry the flight's mutations to region servers, or its documents to the search engine. It also follows a question that is asked in a
// sampled trace, down to the searches that answer it.
//
// A record is followed if its producer has sampled it, according to its header traceparent (W3C Trace Context); its span is then part of
// the producer's trace. Of the records without that header, one in OneIn is followed.
//
//	producer's span ─▶ record ─▶ flight ─▶ Multi, or bulk and get, for each call
//	                                 ▲
//	            other records ───────┘ by a link
//
//	asker's span ─▶ query ─▶ search, for each page
//
// The invariant: tracing never blocks anything. Spans that cannot be delivered are dropped, and if no record is followed, nothing is
// allocated.
package tracing
