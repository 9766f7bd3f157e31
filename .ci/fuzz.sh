#!/usr/bin/env bash
# Runs every fuzz target of the repository, each for a bounded time: those of hbase/internal/wire for the first argument, the others for the
# second. A failing input is kept in the package's testdata/fuzz, and go says so. Each package is built once, and as many targets run side by
# side as there are processors, each with one worker: a target's own minute would otherwise go into linking.
#
# At the end of its time go's fuzzer sometimes takes its own deadline for a failure (go.dev/issue/75804, fixed in go 1.27): a run that ends with
# "context deadline exceeded" and names no failing input has found nothing.
#
# An input that is interesting is made smaller for up to 60 s by default, and nothing else is tried meanwhile: FuzzExpression stood still at that,
# since CEL's parser keeps what it has seen in tables, and an input reaches other code the second time. So the tries are few.
set -uo pipefail
cd "$(dirname "$0")/.."
root=$PWD built=$(mktemp -d)
trap 'rm -rf "$built"' EXIT

# target PACKAGE NAME TIME runs one, in its package's folder, and prints what it said in one piece.
target() {
  local package=$1 name=$2 time=$3 binary=$built/${1//\//_}
  cd "$root/$package" || return 1
  if "$binary" -test.run '^$' -test.fuzz "^$name\$" -test.fuzztime "$time" -test.fuzzminimizetime 500x -test.timeout 10m -test.parallel 1 \
    -test.fuzzcachedir "$(go env GOCACHE)/fuzz/brine/$package" </dev/null >"$binary.$name" 2>&1 ||
    { grep -q '^ *context deadline exceeded' "$binary.$name" && ! grep -q 'Failing input written' "$binary.$name"; }; then
    echo "$package $name, $time: $(grep '^fuzz: elapsed' "$binary.$name" | tail -n 1)"
  else
    echo "$package $name, $time: FAILED"
    cat "$binary.$name"
    echo "$package:$name" >>"$built/failed"
  fi
}

# build PACKAGE makes its test binary, with the coverage that the fuzzer steers by.
build() { go test -c -fuzz . -o "$built/${1//\//_}" "./$1" || echo "$1" >>"$built/failed"; }

targets=$(grep -rHo --include='*_test.go' '^func Fuzz[A-Za-z0-9_]*' ./* | sed 's|^\./||; s|/[^/]*:func | |' | sort -u)
for package in $(cut -d' ' -f1 <<<"$targets" | uniq); do build "$package"; done
export -f target
export root built
while read -r package name; do
  time=$2
  [[ $package == hbase/internal/wire ]] && time=$1
  printf '%s\0' "$package $name $time"
done <<<"$targets" | xargs -0 -n 1 -P "$(nproc)" bash -c 'read -r package name time <<<"$1"; target "$package" "$name" "$time"' -
count=$(grep -c . <<<"$targets")
echo "$count fuzz targets, failed: $(paste -sd' ' "$built/failed" 2>/dev/null || echo none)"
((count > 0)) && [[ ! -e $built/failed ]]
