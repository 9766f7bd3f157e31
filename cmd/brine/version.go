package main

import (
	"encoding/json"
	"fmt"
	"runtime"
)

type versionCmd struct {
	JSON bool `help:"Print JSON."`
}

func (c *versionCmd) Run(e *env) error {
	if c.JSON {
		return json.NewEncoder(e.stdout).Encode(map[string]string{"version": version, "go": runtime.Version(),
			"platform": runtime.GOOS + "/" + runtime.GOARCH})
	}
	fmt.Fprintln(e.stdout, brineVersion())
	return nil
}

func brineVersion() string {
	return fmt.Sprintf("brine %s (%s, %s/%s)", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
