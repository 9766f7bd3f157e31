//go:build !linux

package service

func releaseProgram() {}
