// Command convert makes brine's input from two Python packages as downloaded by pip. `make data` runs it.
//
//	convert -packages data/packages -out data    writes scans.jsonl.gz and orders.jsonl.gz
//	convert -packages data/packages -sample FILE writes the scan events of January 2013
//
// It counts what it reads, and fails if the counts are not those of the package versions that it was written for.
package main

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"flag"
	"fmt"
	"iter"
	"os"
	"path/filepath"
)

func main() {
	packages := flag.String("packages", "data/packages", "folder with "+flightsPackage+" and "+ordersPackage)
	out := flag.String("out", "", "folder to write scans.jsonl.gz and orders.jsonl.gz to")
	sampleFile := flag.String("sample", "", "file to write the scan events of January 2013 to")
	flag.Parse()
	if err := run(*packages, *out, *sampleFile); err != nil {
		fmt.Fprintln(os.Stderr, "convert:", err)
		os.Exit(1)
	}
}

func run(packages, out, sampleFile string) error {
	if out == "" && sampleFile == "" {
		return fmt.Errorf("nothing to do: give -out DIR or -sample FILE")
	}
	if sampleFile != "" {
		scans, err := readScans(packages, isJanuary)
		if err != nil {
			return err
		}
		if err := write(sampleFile, scans.all()); err != nil {
			return err
		}
		fmt.Printf("%s: %s\n", sampleFile, scans.counts())
	}
	if out == "" {
		return nil
	}
	scans, err := readScans(packages, isAny)
	if err != nil {
		return err
	}
	if err := write(filepath.Join(out, "scans.jsonl.gz"), scans.all()); err != nil {
		return err
	}
	fmt.Printf("scans.jsonl.gz: %s\n", scans.counts())
	orders, err := readOrders(packages)
	if err != nil {
		return err
	}
	if err := write(filepath.Join(out, "orders.jsonl.gz"), orders.all()); err != nil {
		return err
	}
	fmt.Printf("orders.jsonl.gz: %s (simulated data, derived statuses)\n", orders.counts())
	return nil
}

// write writes a file of one JSON object per line, completely or not at all.
func write[T any](name string, events iter.Seq[T]) (err error) {
	file, err := os.CreateTemp(filepath.Dir(name), ".convert-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = file.Close()
			_ = os.Remove(file.Name())
		}
	}()
	zip, err := gzip.NewWriterLevel(file, gzip.BestCompression)
	if err != nil {
		return err
	}
	buffer := bufio.NewWriterSize(zip, 1<<20)
	encoder := json.NewEncoder(buffer)
	encoder.SetEscapeHTML(false)
	for e := range events {
		if err := encoder.Encode(e); err != nil {
			return err
		}
	}
	if err := buffer.Flush(); err != nil {
		return err
	}
	if err := zip.Close(); err != nil {
		return err
	}
	if err := file.Chmod(0o644); err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	return os.Rename(file.Name(), name)
}
