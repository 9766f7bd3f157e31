// Package ingest is the Kafka loop: it assigns partitions, fetches, decodes, hands batches to a Writer, keeps the
// watermark and commits offsets, and writes dead letters. cmd/brine runs it once per pipeline half.
//
// The invariant: an offset is committed only after everything before it is settled (durable in the store or in the dead
// letters), never backwards, and never by a member that lost the partition.
package ingest
