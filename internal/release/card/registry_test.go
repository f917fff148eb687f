// SPDX-License-Identifier: Apache-2.0

package card

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestRegistryTakesRecords has the registry's own check judge a record of every model (make registry). All
// passed at commit 3e9c812a924cf01d228f26f6c462c59c391c3f2a of the registry.
func TestRegistryTakesRecords(t *testing.T) {
	registry := os.Getenv("DISCREET_REGISTRY")
	if registry == "" {
		t.Skip("DISCREET_REGISTRY names no checkout of the OpenDP Deployments Registry (make registry)")
	}
	a, err := About(nil).Parse(append(about, "sector=Healthcare", "sources=none", "notes=none"))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range models(t) {
		c, _ := cardOf(t, m)
		if c.Epsilon == "0" {
			continue
		}
		var b bytes.Buffer
		c.About = a
		if err := c.WriteRegistry(&b); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "record.yaml")
		if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		check := exec.CommandContext(t.Context(), "python3", filepath.Join(registry, "scripts", "check.py"), "--skip",
			"check_urls", "--yaml_paths", path)
		if out, err := check.CombinedOutput(); err != nil || !bytes.Contains(out, []byte("No errors!")) {
			t.Errorf("%s at %s: %v\n%s", c.Learner, c.Epsilon, err, out)
		}
	}
}
