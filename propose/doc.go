// Package propose proposes a first configuration for a sample of records: the fields with their types and time formats, a choice of row
// keys, each with the reads that it serves, how evenly it spreads and whether it is unique in the sample, and a choice of versions, each
// with its ties.
//
// Of makes a Proposal from records; Proposal.YAML writes it as a commented brine.yaml. The proposal holds for the sample, which it states;
// what only the publisher knows (whether a unique field stays unique) is left to the reader. The package is pure: the same records give the
// same proposal.
package propose
