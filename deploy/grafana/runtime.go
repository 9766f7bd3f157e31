package main

// goruntime answers: what do the processes themselves need, of memory, CPU, files and Go's collector?
func goruntime() *board {
	b := newBoard("brine-runtime", "Go runtime", "What the processes themselves use: memory, CPU, files, and Go's garbage collector.")
	processes(b)
	memory(b)
	collector(b)
	return b
}

func processes(b *board) {
	b.row("Processes")
	b.panel(
		graph("CPU", "short", "Cores that each process uses.",
			query{rate("process_cpu_seconds_total", process), "{{instance}}"}),
		graph("Goroutines", "short", "Goroutines of each process. A number that only rises is a bug in brine.",
			query{of("go_goroutines", process), "{{instance}}"}),
		graph("Open files", "short", "Files and connections that each process has open.",
			query{of("process_open_fds", process), "{{instance}}"}),
		graph("Uptime", "s", "Time that each process has run. A step down is a restart.",
			query{"time() - " + of("process_start_time_seconds", process), "{{instance}}"}),
		graph("Threads", "short", "Threads of the operating system. Go starts one for each blocking system call.",
			query{of("go_threads", process), "{{instance}}"}),
		graph("Versions", "short", "Processes by the version of brine and of Go.",
			query{sum("version, go", of("brine_build_info", process)), "{{version}}, {{go}}"}),
	)
}

func memory(b *board) {
	b.row("Memory")
	b.panel(
		graph("Memory", "bytes", "Resident memory of each process, and the part of it that Go's heap uses.",
			query{of("process_resident_memory_bytes", process), "{{instance}} resident"},
			query{of("go_memstats_heap_inuse_bytes", process), "{{instance}} heap"}),
		graph("Allocated bytes/s", "Bps",
			"Bytes a second that are allocated on the heap. brine allocates little for each record; a step up costs CPU in the collector.",
			query{rate("go_memstats_alloc_bytes_total", process), "{{instance}}"}),
		graph("Heap objects", "short", "Objects on the heap. A number that only rises is a leak.",
			query{of("go_memstats_heap_objects", process), "{{instance}}"}),
	)
}

func collector(b *board) {
	b.row("Garbage collector")
	b.panel(
		graph("Collections/s", "short", "Times a second that the collector ran.",
			query{rate("go_gc_duration_seconds_count", process), "{{instance}}"}),
		graph("Longest GC pause", "s", "The longest time that a recent collection stopped the process.",
			query{of("go_gc_duration_seconds", process+`, quantile=~"1|1.0"`), "{{instance}}"}),
		graph("Next GC heap size", "bytes", "The size of the heap at which the collector runs again; GOGC and GOMEMLIMIT set it.",
			query{of("go_memstats_next_gc_bytes", process), "{{instance}}"}),
	)
}
