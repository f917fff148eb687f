// SPDX-License-Identifier: Apache-2.0

package learntest

import (
	"testing"

	"github.com/discreet-dp/discreet/examples"
	"github.com/discreet-dp/discreet/internal/check/testkit/realdata"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// ReadReal reads files of the real data sets by a shipped schema, e.g.
// "adult.yaml". It skips the test if they are absent.
func ReadReal(t testing.TB, name string, files ...string) *dataset.Table {
	t.Helper()
	text, err := examples.Schema(name)
	if err != nil {
		t.Fatal(err)
	}
	s, err := schema.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	paths := make([]string, len(files))
	for i, f := range files {
		paths[i] = realdata.File(t, f)
	}
	tab, err := dataset.Read(t.Context(), s, dataset.Options{}, paths...)
	if err != nil {
		t.Fatal(err)
	}
	return tab
}
