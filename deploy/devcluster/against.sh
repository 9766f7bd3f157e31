# shellcheck shell=bash
# Tests against an HBase that is started for them alone. releases.sh and moves.sh source this file; they name the make target, the packages and
# the tests, each of which must say that it passed: one that is skipped, or not there any more, is a failure.

# pattern is the tests as go test -run takes them.
pattern() {
  local test out=()
  for test in "${tests[@]}"; do out+=("^${test//\//\$/^}\$"); done
  (IFS='|' && echo "${out[*]}")
}

# skip WHY tells of what is not tested.
skip() {
  echo "$target: $*" >&2
  [[ ${BRINE_REAL:-} != required ]] || exit 1
}

# can_test reports whether anything can be tested here.
can_test() {
  for_tests
  local why
  [[ ${BRINE_REAL:-} != off ]] || { skip "nothing is tested: BRINE_REAL=off"; return 1; }
  why=$(why_not)
  [[ -z $why ]] || { skip "nothing is tested: $why"; return 1; }
}

# run_tests WHAT runs them against what is up in DEVCLUSTER_RUN, and looks for each one's end.
run_tests() {
  local test log=$DEVCLUSTER_RUN/tests.log failed=0
  (
    set -a
    source "$DEVCLUSTER_RUN/env"
    BRINE_REAL=required
    BRINE_REAL_HBASE_VERSION=${HBASE_VERSION:-}
    cd "$here/../.." && go test -v -count=1 -timeout 15m -run "$(pattern)" "${packages[@]}"
  ) >"$log" 2>&1 || failed=1
  for test in "${tests[@]}"; do
    grep -qF -- "--- PASS: $test (" "$log" || { echo "$target: $test did not pass on $1" >&2; failed=1; }
  done
  ((failed == 0)) || { awk -f "$here/../../internal/testenv/log.awk" "$log" >&2; return 1; }
}
