# Every fuzz target of the repository, each for a bounded time. A failing input is kept in the package's testdata/fuzz, and go says so.
# At the end of its time go's fuzzer sometimes takes its own deadline for a failure (go.dev/issue/75804, mended in go 1.27): a run that ends with
# "context deadline exceeded" and names no failing input has found nothing.
FUZZTIME        ?= 30s
FUZZTIME_OTHERS ?= 10s

.PHONY: fuzz
fuzz: ## Run every fuzz target: those of hbase/internal/wire for FUZZTIME (30s) each, the others for FUZZTIME_OTHERS (10s)
	@targets=$$(grep -rHo --include='*_test.go' '^func Fuzz[A-Za-z0-9_]*' *); failed=; count=0; said=$$(mktemp); trap 'rm -f "$$said"' EXIT; \
	while read -r package target; do \
		case $$package in hbase/internal/wire) time=$(FUZZTIME);; *) time=$(FUZZTIME_OTHERS);; esac; \
		echo "$$package $$target, $$time"; count=$$((count + 1)); \
		$(GO) test ./$$package -run '^$$' -fuzz "^$$target\$$" -fuzztime $$time -timeout 10m </dev/null 2>&1 | tee "$$said" || \
			{ grep -q '^ *context deadline exceeded' "$$said" && ! grep -q 'Failing input written' "$$said"; } || failed="$$failed $$package:$$target"; \
	done < <(sed 's|/[^/]*:func | |' <<<"$$targets" | sort -u); \
	echo "$$count fuzz targets, failed:$${failed:- none}"; \
	[ -z "$$failed" ] && [ -n "$$targets" ]
