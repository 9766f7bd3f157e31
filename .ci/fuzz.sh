#!/usr/bin/env bash
# Runs every fuzz target of the repository, each for a bounded time: those of hbase/internal/wire for the first argument, the others for the
# second. A failing input is kept in the package's testdata/fuzz, and go says so.
#
# At the end of its time go's fuzzer sometimes takes its own deadline for a failure (go.dev/issue/75804, fixed in go 1.27): a run that ends with
# "context deadline exceeded" and names no failing input has found nothing.
#
# An input that is interesting is made smaller for up to 60 s by default, and nothing else is tried meanwhile: FuzzExpression stood still at that,
# since CEL's parser keeps what it has seen in tables, and an input reaches other code the second time. So the tries are few.
set -uo pipefail
cd "$(dirname "$0")/.."
said=$(mktemp)
trap 'rm -f "$said"' EXIT

# target PACKAGE NAME TIME runs one.
target() {
  echo "$1 $2, $3"
  go test "./$1" -run '^$' -fuzz "^$2\$" -fuzztime "$3" -fuzzminimizetime 500x -timeout 10m </dev/null 2>&1 | tee "$said" ||
    { grep -q '^ *context deadline exceeded' "$said" && ! grep -q 'Failing input written' "$said"; }
}

count=0 failed=()
while read -r package name; do
  time=$2
  [[ $package == hbase/internal/wire ]] && time=$1
  count=$((count + 1))
  target "$package" "$name" "$time" || failed+=("$package:$name")
done < <(grep -rHo --include='*_test.go' '^func Fuzz[A-Za-z0-9_]*' ./* | sed 's|^\./||; s|/[^/]*:func | |' | sort -u)
echo "$count fuzz targets, failed: ${failed[*]:-none}"
((count > 0 && ${#failed[@]} == 0))
