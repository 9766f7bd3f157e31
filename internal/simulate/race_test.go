//go:build race

package simulate

// raceEnabled says that the race detector is on, under which everything takes many times as long.
const raceEnabled = true
