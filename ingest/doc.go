// Package ingest is the Kafka loop. It assigns partitions, fetches and decodes records, hands batches to a Writer, keeps the watermark,
// commits offsets and writes dead letters.
//
// The invariant: an offset is committed only after everything before it is settled (durable in the store or in the dead letters), never
// backwards, and never by a member that has lost the partition. The one exception is the operator's choice: when a topic was recreated and
// its log is shorter than the committed offset, OutOfRange: earliest moves the offset back.
//
// The path of a record, for each partition of an assignment: the functions to read in order, each with its file:
//
//	Loop.Run → consume        loop.go        chooses the protocol. Classic: works through generations of the group, which broker.Member joins
//	Loop.open, Loop.now       topics.go      find out which topics exist
//	Loop.assign               start.go       makes the partitions; each resumes at its commit or begins at Options.Start
//	assignment.run            assignment.go  called through Member.Attend: a goroutine per partition, and commits beside them
//	consumeByBrokers          consumer.go    the consumer protocol instead: keeper.Take starts single partitions, and Release ends them
//	partition.run → stream    partition.go   one uninterrupted reading; after a halt it starts again at the watermark
//	stream.fetch              fetch.go       fetches chunks of records, charged to the Budget; gone.go decides about offsets that are gone
//	stream.submit → takeOff   flight.go      cuts a chunk into flights, decodes each and submits it to the Writer
//	stream.settle → land      flight.go      sees a flight to its end: buries dead letters, sorts failures
//	stream.await              park.go        land waits here for the Writer; a flight held up only by a failing region is parked
//	stream.resubmit           again.go       decodes again what is retried; shrink, in park.go, lets go of what is durable
//	stream.reject             rejects.go     land ends here: buries what is still rejected; too many in a row halt the partition
//	watermark.settle          watermark.go   everything below its low edge is settled
//	commitUntil → commitNow   commit.go      commits the low edges while the generation still holds
//
// Between takeOff and await the flight belongs to the Writer. For rows that is package sink; continue reading at Sink.Submit in sink.go.
//
// Replay does the same over a fixed range (plan.go, replay.go). Kafka's protocol is in internal/broker, dead letters are in deadletter, and
// offsets answers questions about topics and groups.
//
// # How records get lost elsewhere
//
// Each item is a way in which records were lost, doubled or stuck somewhere, with the test that shows it cannot happen here.
//
//   - The process dies between settle and commit, or at any other moment: TestCrashBetweenSettleAndCommitLosesNothing,
//     TestKillAtAnyMomentLosesNothing.
//   - Flights settle out of order, and the commit passes one that is not settled: TestOutOfOrderSettleCommitsOnlyTheContiguousPart.
//   - A later success hides an earlier failure: TestLaterSuccessDoesNotHideAnEarlierFailure.
//   - A failed write is dropped after a few attempts: TestWriterFailingCallIsRetried, TestStoreOutageIsRetriedForAsLongAsItLasts.
//   - A retry writes the whole batch again, or the wrong part of it: TestOnlyTheFailedEventsAreRetried.
//   - Records that wait for a failing region hold up everything else: TestWhatWaitsForAFailingRegionHoldsUpNothingElse; or are taken for
//     other records when memory is short: TestStalledFlightLeavesNothingToTheNextInItsPlace,
//     TestRetriedFlightKeepsItsRecordsWhenItsRetryStalls.
//   - A partition was taken away, and its old owner commits: TestRevokedPartitionNeverCommits.
//   - A topic created later is read from where it was noticed: TestNewTopicIsReadFromItsFirstRecord; so is one missing at the start:
//     TestTopicThatWasMissingBeginsAtItsFirstRecord; or an added partition: TestAddedPartitionsOfAMemberWithNone.
//   - A topic is assigned to nobody because the leader has not seen it: TestOnlyOneMemberHasSeenTheNewTopic.
//   - A commit goes backwards: TestCommitNeverGoesBackwards.
//   - A commit fails and is forgotten: TestCommitThatFailsIsMadeAgain; or it is the last of a stop, and is not repeated:
//     TestLastCommitOfAStopIsRepeated, TestLastCommitOfAStopWaitsForTheCoordinator.
//   - Records are lost when members join and leave: TestMembersJoinAndLeaveWithoutLoss. Or when a member dies:
//     TestDeadMemberIsReplacedWithoutLoss.
//   - A restart makes the whole group rebalance: TestStaticMemberRestartsWithoutARebalance; or leaves its partitions without an owner:
//     TestStaticMemberThatStaysAwayIsReplaced. Two processes take themselves for the same member:
//     TestSecondProcessOfAnInstanceEndsTheFirst. Members without partitions rejoin forever: TestMemberWithoutPartitionsWaitsForSome.
//   - A reload moves partitions to a member that still reads by the old filter: TestHandOver, TestRealHandOver; or leaves them without an
//     owner: TestHandOverWithoutASuccessor, TestHandOverThatIsLate, TestPlaceThatTheGroupGaveAway, TestPlaceThatIsHandedOnUnused.
//   - The coordinator fails, moves or refuses: TestEveryAnswerToAHeartbeat, TestEveryFailureOfAJoinIsTriedAgain,
//     TestCoordinatorMovesAreFollowed; or each failure costs a rebalance: TestCoordinatorAwayForAWhileCostsNoRebalance.
//   - A slow store gets the member thrown out of the group: TestSlowStoreIsNotThrownOutOfTheGroup.
//   - A hanging store holds up the rebalance of the whole group: TestRevokeIsBoundedThoughTheStoreHangs.
//   - A stop cuts off pending flights: TestStopWaitsForASlowStore, TestGracefulStopRedeliversNothing; or never ends:
//     TestStopIsBoundedThoughTheStoreHangs, TestStopIsBoundedThoughItsCommitsFail.
//   - A poison record stops the topic, or is skipped without a trace: TestPoisonRecordIsDeadLetteredAmongGoodOnes.
//   - A record is passed before its dead letter is durable: TestDeadLettersDownHoldsThePartition, TestDeadLetterTopicDownHoldsThePartition,
//     TestStopWhileDeadLettersAreDownCommitsNothingPastThem. The dead letter is not the whole record: TestDeadLetterIsTheWholeRecord.
//   - A dead letter is too large for its topic: TestDeadLetterTooLargeForItsTopicHoldsThePartition. One is written twice and counted twice:
//     TestRepeatedDeadLettersAreReadOnce. One is closed although its record is not in the store: TestReplayedDeadLettersAreMarked,
//     TestHaltWhileDeadLettersAreReplayedMarksOnlyWhatIsDurable.
//   - A halted partition is passed, or ends the generation so that the group rebalances forever:
//     TestHaltedPartitionCommitsNothingPastItAndKeepsItsAssignment.
//   - A misconfigured pipeline drains its topic into dead letters: TestManyRejectsInARowHalt; or a correct one halts because of rejects
//     among other records: TestRejectsAmongOthersDoNotHalt.
//   - The watermark waits for offsets that do not exist: TestHolesInOffsetsArePassed, TestBatchCompactedEmptyIsPassed.
//   - Records of aborted transactions are written: TestAbortedTransactionIsLeftOut, TestRestartInsideAnAbortedTransaction,
//     TestAbortedBatchesAreLeftOutByProducer. Records of open transactions are: TestOpenTransactionIsWaitedForAndIsNoLag.
//   - Offsets are gone, and reading jumps over them silently: TestOffsetGoneStopsAndSays, TestOffsetGoneByPolicy, TestTopicRecreated.
//     Offsets of another topic of the same name are taken for its own: TestLongerRecreatedTopicIsKnownByItsID,
//     TestTopicRecreatedWhileRunning. Looking for a deleted topic creates it: TestTopicGoneIsWaitedForAndNotMade.
//   - "latest" skips what was written before the first commit, or before a new partition was seen: TestLatestBeginsAtTheEndAndRemembersIt,
//     TestNewPartitionIsReadFromItsFirstRecord.
//   - A new partition is never read: TestPartitionAddedInMidStreamIsTakenUp.
//   - Reading stalls after a leader moved or a broker went away: TestLeaderMovesAreFollowed, TestFailingFetchIsMadeAgain,
//     TestCutConnectionsAreMadeAgain, TestNoBrokerForAnHour. A broker that dies during startup ends the process:
//     TestStartIsMadeAgainWhenItFails.
//   - Corrupt bytes are skipped: TestCorruptBatchIsNeverSkipped, TestAnswerCutOffInTheMiddleOfABatch.
//   - A record exceeds the fetch size: TestRecordLargerThanAFetch, TestBatchesKeepTheirBounds.
//   - Memory runs out while the store hangs: TestBudgetIsNeverExceeded, TestBudgetHoldsThroughAnOutageOfMinutes,
//     TestNothingDecodedIsKeptThroughAnOutage; or the backlog is written slowly afterwards: TestCatchesUpAtFullRateAfterAnOutage. A loop
//     whose store hangs keeps others from their memory: TestLoopsShareTheirMemory.
//   - An empty topic is taken for a fault: TestEmptyTopicIsWaitedOn; or a missing topic for an empty one:
//     TestMissingTopicIsReportedBeforeAnythingStarts.
//   - A replay moves the live group, or loses its place: TestReplayReadsJustItsRangeAndLeavesTheLiveGroupAlone,
//     TestReplayBesideTheLiveLoop, TestReplayIsResumedAfterAKill, TestLongRangesAreKeptShort. It hides that part of its range is gone:
//     TestReplayByTimeSaysWhatMayBeMissing.
//
// # Limits
//
// With the classic protocol, rebalancing is eager: every rebalance stops all partitions of the group until the slowest member has drained.
// With the consumer protocol, only partitions that move stop. A log that lost its tail in an unclean leader election and has grown again
// looks like the old one. So does a recreated topic on brokers before Kafka 2.8, where topics have no id. When brokers have forgotten a
// group's offsets together with its topic, the group counts as new and begins at Options.Start.
package ingest
