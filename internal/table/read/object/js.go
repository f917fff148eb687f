// SPDX-License-Identifier: Apache-2.0

//go:build js

package object

import (
	"context"
	"errors"
	"io"
)

// A page in a browser has no access to stores.
var errPage = errors.New(op + ": there are no stores of objects in a browser's page: run discreet outside of it")

// Object does not exist in browsers: Open refuses every address.
type Object struct{ io.ReaderAt }

// Hold returns ctx unchanged.
func Hold(ctx context.Context) context.Context { return ctx }

// Open refuses every address.
func Open(context.Context, string) (*Object, error) { return nil, errPage }

// List refuses every address.
func List(context.Context, string) ([]string, error) { return nil, errPage }

func (*Object) Size() int64                    { return 0 }
func (*Object) Close() error                   { return nil }
func (*Object) Forget()                        {}
func (*Object) Reader() io.Reader              { return nil }
func (*Object) Section(int64, int64) io.Reader { return nil }
