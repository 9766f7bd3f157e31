# Every fuzz target of the repository, each for a bounded time. A failing input is kept in the package's testdata/fuzz.
FUZZTIME        ?= 30s
FUZZTIME_OTHERS ?= 10s

.PHONY: fuzz
fuzz: ## Run every fuzz target: those of hbase/internal/wire for FUZZTIME (30s) each, the others for FUZZTIME_OTHERS (10s)
	@grep -rHo --include='*_test.go' '^func Fuzz[A-Za-z0-9_]*' * | sed 's|/[^/]*:func | |' | sort -u | { \
		failed=0; \
		while read -r package target; do \
			case $$package in hbase/internal/wire) time=$(FUZZTIME);; *) time=$(FUZZTIME_OTHERS);; esac; \
			echo "$$package $$target, $$time"; \
			$(GO) test ./$$package -run '^$$' -fuzz "^$$target\$$" -fuzztime $$time -timeout 10m </dev/null || failed=1; \
		done; \
		exit $$failed; \
	}
