// SPDX-License-Identifier: Apache-2.0

//go:build js

package object

import (
	"context"
	"errors"
	"io"
)

// A page in a browser asks nobody for anything.
var errPage = errors.New(op + ": there are no stores of objects in a browser's page: run discreet outside of it")

// Object is none here: Open refuses them all.
type Object struct{ io.ReaderAt }

// Hold has nothing to hold here.
func Hold(ctx context.Context) context.Context { return ctx }

// Open refuses.
func Open(context.Context, string) (*Object, error) { return nil, errPage }

// List refuses.
func List(context.Context, string) ([]string, error) { return nil, errPage }

func (*Object) Size() int64                    { return 0 }
func (*Object) Close() error                   { return nil }
func (*Object) Forget()                        {}
func (*Object) Reader() io.Reader              { return nil }
func (*Object) Section(int64, int64) io.Reader { return nil }
