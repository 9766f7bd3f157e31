// Package ingest is the Kafka loop: it assigns partitions, fetches, decodes, hands batches to a Writer, keeps the
// watermark and commits offsets, and writes dead letters.
//
// The invariant: an offset is committed only after everything before it is settled (durable in the store or in the dead
// letters), never backwards, and never by a member that lost the partition. (One exception, by the operator's policy
// alone: when a topic was made again and its log is shorter than what is committed, OutOfRange: earliest goes back with it.)
//
// A record's way, for each partition of an assignment; the next function to read, and its file:
//
//	Loop.Run → consume        loop.go        a generation of the group after another; broker.Member joins and sends heartbeats
//	Loop.open, Loop.now       topics.go      which topics there are
//	Loop.assign               start.go       a partition each, which goes on at its commit or begins at Options.Start
//	assignment.run            assignment.go  called by consume through Member.Attend: a goroutine per partition, and commits beside them
//	partition.run → stream    partition.go   one uninterrupted reading; after a halt it begins again at the watermark
//	stream.fetch              fetch.go       chunks of records, charged to the Budget; gone.go decides about offsets that are gone
//	stream.submit → takeOff   flight.go      a chunk is cut into flights; each is decoded and submitted to the Writer
//	stream.settle → land      flight.go      a flight is seen to its end: dead letters are buried, failures sorted
//	stream.await              park.go        land waits here for the Writer; a flight held up by a failing region alone is parked
//	stream.resubmit           again.go       what is retried is decoded again; shrink.go lets go of what is durable
//	stream.reject             rejects.go     land ends here: what is still rejected is buried, or too many in a row halt the partition
//	watermark.settle          watermark.go   everything below its low edge is settled
//	commitUntil → commitNow   commit.go      the low edges are committed, for a generation that still holds
//
// Between takeOff and await the flight is the Writer's: for rows that is package sink, whose sink.go goes on with Sink.Submit.
//
// Replay does the same over a fixed range (plan.go, replay.go). Kafka's protocol is in internal/broker, dead letters in deadletter;
// offsets is for questions about topics and groups.
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
//   - What waits for a failing region holds up everything else: TestWhatWaitsForAFailingRegionHoldsUpNothingElse; or is taken for another
//     record when memory is short: TestStalledFlightLeavesNothingToTheNextInItsPlace, TestRetriedFlightKeepsItsRecordsWhenItsRetryStalls.
//   - A partition was taken away, and its old owner commits: TestRevokedPartitionNeverCommits.
//   - A topic that comes later is read from where it was noticed: TestNewTopicIsReadFromItsFirstRecord; one that was missing at the start:
//     TestTopicThatWasMissingBeginsAtItsFirstRecord; a partition: TestAddedPartitionsOfAMemberWithNone.
//   - A topic is assigned to nobody, since the leader has not seen it: TestOnlyOneMemberHasSeenTheNewTopic.
//   - A commit goes back: TestCommitNeverGoesBackwards.
//   - A commit fails and is forgotten: TestCommitThatFailsIsMadeAgain.
//   - Members join and leave: TestMembersJoinAndLeaveWithoutLoss. A member dies: TestDeadMemberIsReplacedWithoutLoss.
//   - A restart makes the whole group rebalance: TestStaticMemberRestartsWithoutARebalance; or leaves its partitions to nobody:
//     TestStaticMemberThatStaysAwayIsReplaced. Two processes believe to be one member: TestSecondProcessOfAnInstanceEndsTheFirst.
//     There are more members than partitions, and those without any rejoin forever: TestMemberWithoutPartitionsWaitsForSome.
//   - The coordinator fails, moves or says no: TestEveryAnswerToAHeartbeat, TestEveryFailureOfAJoinIsTriedAgain,
//     TestCoordinatorMovesAreFollowed; and each time the group rebalances: TestCoordinatorAwayForAWhileCostsNoRebalance.
//   - A slow store has the member thrown out of the group: TestSlowStoreIsNotThrownOutOfTheGroup.
//   - A hanging store holds up the rebalance of the whole group: TestRevokeIsBoundedThoughTheStoreHangs.
//   - A stop cuts off what is pending: TestStopWaitsForASlowStore, TestGracefulStopRedeliversNothing; or never ends:
//     TestStopIsBoundedThoughTheStoreHangs.
//   - A poison record stops the topic, or is skipped without a trace: TestPoisonRecordIsDeadLetteredAmongGoodOnes.
//   - A dead letter is not durable and its record is passed: TestDeadLettersDownHoldsThePartition,
//     TestDeadLetterTopicDownHoldsThePartition, TestStopWhileDeadLettersAreDownCommitsNothingPastThem. It is not the whole record:
//     TestDeadLetterIsTheWholeRecord.
//   - A dead letter is too large for its topic: TestDeadLetterTooLargeForItsTopicHoldsThePartition. One is written twice and
//     counted twice: TestRepeatedDeadLettersAreReadOnce. One is closed though its record is not in the store:
//     TestReplayedDeadLettersAreMarked, TestHaltWhileDeadLettersAreReplayedMarksOnlyWhatIsDurable.
//   - A halted partition is passed, or ends the generation and makes the group rebalance forever:
//     TestHaltedPartitionCommitsNothingPastItAndKeepsItsAssignment.
//   - A pipeline that is wrong drains its topic into dead letters: TestManyRejectsInARowHalt; or one that is right halts for what others
//     reject beside it: TestRejectsAmongOthersDoNotHalt.
//   - Offsets have holes, and the watermark waits for them: TestHolesInOffsetsArePassed, TestBatchCompactedEmptyIsPassed.
//   - Records of aborted transactions are written: TestAbortedTransactionIsLeftOut, TestRestartInsideAnAbortedTransaction,
//     TestAbortedBatchesAreLeftOutByProducer. Those of open ones are: TestOpenTransactionIsWaitedForAndIsNoLag.
//   - Offsets are gone, and reading jumps over them silently: TestOffsetGoneStopsAndSays, TestOffsetGoneByPolicy,
//     TestTopicRecreated. Those of another topic of the same name are taken for its own: TestLongerRecreatedTopicIsKnownByItsID,
//     TestTopicRecreatedWhileRunning. Looking for a topic that was deleted makes it: TestTopicGoneIsWaitedForAndNotMade.
//   - "latest" passes what was written before the first commit, or before a new partition was seen:
//     TestLatestBeginsAtTheEndAndRemembersIt, TestNewPartitionIsReadFromItsFirstRecord.
//   - A new partition is not taken up: TestPartitionAddedInMidStreamIsTakenUp.
//   - Reading stalls after a leader moved or a broker went away: TestLeaderMovesAreFollowed, TestFailingFetchIsMadeAgain,
//     TestCutConnectionsAreMadeAgain, TestNoBrokerForAnHour. A broker that dies while a process starts ends that:
//     TestStartIsMadeAgainWhenItFails.
//   - Damaged bytes are skipped: TestCorruptBatchIsNeverSkipped, TestAnswerCutOffInTheMiddleOfABatch.
//   - A record does not fit: TestRecordLargerThanAFetch, TestBatchesKeepTheirBounds.
//   - Memory runs out while the store hangs: TestBudgetIsNeverExceeded, TestBudgetHoldsThroughAnOutageOfMinutes,
//     TestNothingDecodedIsKeptThroughAnOutage; or what has piled up meanwhile is written slowly: TestCatchesUpAtFullRateAfterAnOutage.
//   - An empty topic is taken for a fault: TestEmptyTopicIsWaitedOn; a missing one for an empty one:
//     TestMissingTopicIsReportedBeforeAnythingStarts.
//   - A replay moves the live group, or loses its place: TestReplayReadsJustItsRangeAndLeavesTheLiveGroupAlone,
//     TestReplayBesideTheLiveLoop, TestReplayIsResumedAfterAKill, TestLongRangesAreKeptShort. It hides that its range is partly gone:
//     TestReplayByTimeSaysWhatMayBeMissing.
//
// # Limits
//
// Rebalancing is eager: every rebalance stops all partitions of the group for as long as the slowest member drains. A log that
// lost its tail by an unclean leader election and has grown again looks like the old one; so does a topic that was recreated,
// on brokers before Kafka 2.8, where topics have no id. When brokers have forgotten a group's offsets together with its topic,
// the group is a new one, which begins at Options.Start.
package ingest
