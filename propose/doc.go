// Package propose makes a first configuration of a sample of records: the fields with their types and the formats of their times,
// row keys to choose from, each with the reads that it serves, how evenly it spreads and whether it is unique in the sample, and versions,
// each with its ties.
//
// Of makes a Proposal of records; Proposal.YAML writes it as a commented brine.yaml. What is proposed holds of the sample, which is said
// beside it; what only the publisher knows (whether a field that was unique stays so) is left to the reader. It is pure: the same records
// give the same proposal.
package propose
