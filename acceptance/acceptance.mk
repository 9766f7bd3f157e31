# The order centre of examples/shop.yaml, whole, on real servers of its own; SCALE=4 has each order four times, SCALE=full is 13,920,352 orders of
# 215,091 users, which takes two hours and 16 GB of disk (and HEAP=10g DEVCLUSTER_ELASTICSEARCH_HEAP=2g). DEVCLUSTER_RUN=DIR uses the servers of that folder, and leaves them and what they hold.
SCALE ?= 1
HEAP  ?= 2g

.PHONY: shop
shop: data/orders.jsonl.gz ## Write 155,848 orders into real servers and check the answer of every view against the input, into bench/results/shop.json (SCALE)
	$(GO) run ./acceptance --scale $(SCALE) --heap $(HEAP)
