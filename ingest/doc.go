// Package ingest is the Kafka loop: it assigns partitions, fetches, decodes, hands batches to a Writer, keeps the
// watermark and commits offsets, and writes dead letters. cmd/brine runs it once per pipeline half; verify reads with it.
//
// The invariant: an offset is committed only after everything before it is settled (durable in the store or in the dead
// letters), never backwards, and never by a member that lost the partition. (One exception, by the operator's policy
// alone: when a topic was made anew and its log is shorter than what is committed, OutOfRange: earliest goes back with it.)
//
// A record's way, and the file to read: fetch (fetch.go, recordbatch.go, chunk.go, fetcher.go) → decode, submit, settle
// (flight.go) → watermark (watermark.go) → commit (assignment.go), for each partition of an assignment (partition.go), for
// each generation of the group (group.go). Replay does the same over a fixed range (plan.go, replay.go).
//
// # How records get lost elsewhere
//
// Each line is a way in which records were lost, doubled or stuck somewhere, and the test that it cannot happen here.
//
//   - The process dies between settle and commit, or at any other moment: TestCrashBetweenSettleAndCommitLosesNothing,
//     TestKillAtAnyMomentLosesNothing.
//   - Flights settle out of order, and the commit passes one that is not settled: TestOutOfOrderSettleCommitsOnlyTheContiguousPart.
//   - A later success hides an earlier failure: TestLaterSuccessDoesNotHideAnEarlierFailure.
//   - A failed write is dropped after some attempts: TestWriterFailingCallIsRetried, TestStoreOutageIsRetriedForAsLongAsItLasts.
//   - A retry writes the whole batch again, or the wrong part of it: TestOnlyTheFailedEventsAreRetried.
//   - What waits for a sick region holds up everything else: TestWhatWaitsForASickRegionHoldsUpNothingElse; or is taken for another
//     record when memory is short: TestEasedFlightLeavesNothingToTheNextInItsPlace, TestRetriedFlightKeepsItsRecordsWhenItsRetryIsEased.
//   - A partition was taken away, and its old owner commits: TestRevokedPartitionNeverCommits.
//   - A commit goes back: TestCommitNeverGoesBackwards.
//   - A commit fails and is forgotten: TestCommitThatFailsIsMadeAgain.
//   - Members join and leave: TestMembersJoinAndLeaveWithoutLoss. A member dies: TestDeadMemberIsReplacedWithoutLoss.
//   - A slow store has the member thrown out of the group: TestSlowStoreIsNotThrownOutOfTheGroup.
//   - A hanging store holds up the rebalance of the whole group: TestRevokeIsBoundedThoughTheStoreHangs.
//   - A stop cuts off what is out: TestStopWaitsForASlowStore, TestGracefulStopRedeliversNothing; or never ends:
//     TestStopIsBoundedThoughTheStoreHangs.
//   - A poison record stops the topic, or is skipped without a trace: TestPoisonRecordIsDeadLetteredAmongGoodOnes.
//   - A dead letter is not durable and its record is passed: TestDeadLettersDownHoldsThePartition,
//     TestDeadLetterTopicDownHoldsThePartition, TestStopWhileDeadLettersAreDownCommitsNothingPastThem. It is not the whole record: TestDeadLetterIsTheWholeRecord.
//   - A letter is too large for the topic of dead letters: TestDeadLetterTooLargeForItsTopicHoldsThePartition. One is written twice and counted
//     twice: TestRepeatedDeadLettersAreReadOnce. One is closed though its record is not in the store: TestReplayedDeadLettersAreMarked,
//     TestHaltWhileDeadLettersAreReplayedMarksOnlyWhatIsDurable.
//   - A halted partition is passed, or ends the generation and makes the group rebalance for ever:
//     TestHaltedPartitionCommitsNothingPastItAndKeepsItsAssignment.
//   - Offsets have holes, and the watermark waits for them: TestHolesInOffsetsArePassed, TestBatchCompactedEmptyIsPassed.
//   - Records of aborted transactions are written: TestAbortedTransactionIsLeftOut, TestRestartInsideAnAbortedTransaction,
//     TestAbortedBatchesAreLeftOutByProducer. Those of open ones are: TestOpenTransactionIsWaitedForAndIsNoLag.
//   - Offsets are gone, and reading jumps over them silently: TestOffsetGoneStopsAndSays, TestOffsetGoneByPolicy,
//     TestTopicMadeAnew.
//   - "latest" passes what was written before the first commit, or before a new partition was seen:
//     TestLatestBeginsAtTheEndAndRemembersIt, TestNewPartitionIsReadFromItsFirstRecord.
//   - A new partition is not taken up: TestPartitionAddedInMidStreamIsTakenUp.
//   - Reading stalls after a leader moved or a broker went away: TestLeaderMovesAreFollowed, TestFailingFetchIsMadeAgain,
//     TestCutConnectionsAreMadeAgain, TestNoBrokerForAnHour.
//   - Damaged bytes are skipped: TestCorruptBatchIsNeverSkipped, TestAnswerCutOffInTheMiddleOfABatch.
//   - A record does not fit: TestRecordLargerThanAFetch, TestBatchesKeepTheirBounds.
//   - Memory runs out while the store stands still: TestBudgetIsNeverExceeded.
//   - An empty topic is taken for a fault: TestEmptyTopicIsWaitedOn; a missing one for an empty one:
//     TestMissingTopicIsSaidBeforeAnythingStarts.
//   - A replay moves the live group, or loses its place: TestReplayReadsJustItsRangeAndLeavesTheLiveGroupAlone,
//     TestReplayBesideTheLiveLoop, TestReplayIsResumedAfterAKill, TestLongRangesAreKeptShort. It hides that its range is partly gone:
//     TestReplayByTimeSaysWhatMayBeMissing.
//
// # Limits
//
// Static membership and cooperative rebalancing are not in kafka-go's ConsumerGroup: every rebalance stops all partitions
// of the group for as long as the slowest member drains. A topic made anew whose log has already grown past the committed
// offset, and a log that lost its tail by an unclean leader election and has grown again, look like the old one. While a
// topic is missing, kafka-go's own look-ups make it anew on brokers that create topics automatically; the first look-up,
// ours, does not.
package ingest
