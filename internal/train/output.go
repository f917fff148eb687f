// SPDX-License-Identifier: Apache-2.0

package train

import (
	"cmp"
	"context"
	"fmt"

	"github.com/discreet-dp/discreet/internal/ground/atomicfile"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ledger"
	"github.com/discreet-dp/discreet/internal/model"
)

// Output is the file to which a model is written.
type Output struct {
	Path string // "" for none
	// Force allows replacing a schema, a key or a paid model.
	Force bool
}

// Check refuses to overwrite a file of value, before anything is paid.
func (o Output) Check() error { return o.check(nil) }

// check is Check where the file may hold stored, a result that is there already.
func (o Output) check(stored []byte) error {
	if o.Path == "" || o.Force {
		return nil
	}
	if err := atomicfile.CheckSpared(o.Path, stored); err != nil {
		return &RequestError{&dp.Advised{Err: fmt.Errorf("model %w", err), Next: dp.Step{Kind: dp.ReplaceFile}}}
	}
	return nil
}

// publish writes a result to its file.
func (o Output) publish(ctx context.Context, j *ledger.Job) error {
	if o.Path == "" {
		return nil
	}
	if err := cmp.Or(o.check(j.Stored()), atomicfile.Check(o.Path)); err != nil {
		return err
	}
	return j.Publish(ctx, o.Path)
}

// save writes the bytes of a result that is not stored in a ledger. The file may hold these very bytes.
func (o Output) save(text []byte) error {
	if err := o.check(text); err != nil || o.Path == "" {
		return err
	}
	return model.SaveFile(o.Path, text)
}

// SaveUncounted writes a model that is not stored in a ledger. The file may hold that very model.
func (o Output) SaveUncounted(m *model.Model) error {
	text, err := model.Marshal(m)
	if err != nil {
		return err
	}
	return o.save(text)
}
