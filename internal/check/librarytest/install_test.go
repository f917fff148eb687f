// SPDX-License-Identifier: Apache-2.0

package librarytest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/size"
)

// Go installs each program by version, from outside of the repository: a copy of it gets a tag, and git
// is told that the copy is where the module's path leads. Other modules come from the module cache. A
// program that was installed so says its version and the checksum of its source.
func TestInstallByVersion(t *testing.T) {
	size.OnlyLong(t, "builds three programs from nothing")
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	if err := exec.Command("git", "-C", root, "rev-parse", "HEAD").Run(); err != nil {
		t.Skip("this is no clone of the repository, or git is absent")
	}
	cache, err := exec.Command("go", "env", "GOMODCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	const version = "0.99.1"
	dir := t.TempDir()
	repository, bin := filepath.Join(dir, "repository"), filepath.Join(dir, "bin")
	do := func(name string, args ...string) string {
		t.Helper()
		c := exec.Command(name, args...)
		c.Dir = dir
		c.Env = append(os.Environ(), "GOBIN="+bin, "GOMODCACHE="+filepath.Join(dir, "modules"), "GOWORK=off", "GOSUMDB=off",
			"GOFLAGS=-modcacherw -trimpath", "GOPRIVATE="+modulePath, "GOPROX"+"Y=file://"+strings.TrimSpace(string(cache))+"/cache/download",
			"GONOPROX"+"Y="+modulePath, "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=url.file://"+repository+".insteadOf",
			"GIT_CONFIG_VALUE_0=https://"+modulePath)
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %v: %v\n%s", name, args, err, out)
		}
		return string(out)
	}
	do("git", "clone", "--quiet", "--bare", root, repository)
	do("git", "-C", repository, "tag", "v"+version)
	for program, asked := range map[string]string{"discreet": "version", "discreet-net": "version", "discreet-serve": "--version"} {
		do("go", "install", modulePath+"/cmd/"+program+"@v"+version)
		if said := do(filepath.Join(bin, program), asked); !strings.HasPrefix(said, program+" "+version+" h1:") {
			t.Errorf("%s says %q, which does not begin with its name, version and checksum", program, said)
		}
	}
}
