# Every fuzz target of the repository, each for a bounded time. A failing input is kept in the package's testdata/fuzz.
FUZZTIME        ?= 30s
FUZZTIME_OTHERS ?= 10s

.PHONY: fuzz
fuzz: ## Run every fuzz target: those of hbase/internal/wire for FUZZTIME (30s) each, the others for FUZZTIME_OTHERS (10s)
	@targets=$$(grep -rHo --include='*_test.go' '^func Fuzz[A-Za-z0-9_]*' *); failed=; count=0; \
	while read -r package target; do \
		case $$package in hbase/internal/wire) time=$(FUZZTIME);; *) time=$(FUZZTIME_OTHERS);; esac; \
		echo "$$package $$target, $$time"; count=$$((count + 1)); \
		$(GO) test ./$$package -run '^$$' -fuzz "^$$target\$$" -fuzztime $$time -timeout 10m </dev/null || failed="$$failed $$package:$$target"; \
	done < <(sed 's|/[^/]*:func | |' <<<"$$targets" | sort -u); \
	echo "$$count fuzz targets, failed:$${failed:- none}"; \
	[ -z "$$failed" ] && [ -n "$$targets" ]
