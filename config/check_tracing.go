package config

import (
	"net/url"
	"strings"
)

func (l *loader) checkTracing(to string) {
	if path, isFile := strings.CutPrefix(to, "file:"); to == "" || to == "stdout" || isFile && path != "" {
		return
	}
	u, err := url.Parse(to)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		l.fault("tracing.to", Address, "is no place that spans can go to", "write http://host:4318, file:PATH or stdout")
	} else if u.User != nil {
		l.fault("tracing.to", Address, "holds a user name or password, and brine sends none to a collector", "write http://host:4318")
	}
}
