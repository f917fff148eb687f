// SPDX-License-Identifier: Apache-2.0

//go:build js && wasm

// Command worker is the explorer's engine in a thread of the page: it answers messages {id, call,
// args} by {id, progress} and then {id, result} or {id, error}. It has access to the content of
// messages only.
package main

import (
	"context"
	"encoding/json"
	"io"
	"runtime/debug"
	"syscall/js"

	"github.com/discreet-dp/discreet/internal/explorer/engine"
	"github.com/discreet-dp/discreet/internal/ground/build"
)

func main() {
	debug.SetMemoryLimit(1 << 30) // browsers stop a page that takes much more
	e := &engine.Engine{Program: build.Describe("discreet explorer")}
	handle := js.FuncOf(func(_ js.Value, in []js.Value) any {
		go answer(e, in[0])
		return nil
	})
	js.Global().Call("explorerReady", handle)
	select {}
}

// answer answers one message.
func answer(e *engine.Engine, message js.Value) {
	reply := func(key string, v any) {
		out := js.Global().Get("Object").New()
		out.Set("id", message.Get("id"))
		out.Set(key, toJS(v))
		js.Global().Call("postMessage", out)
	}
	var file *engine.File
	args := message.Get("args")
	if bytes := args.Get("bytes"); bytes.Truthy() {
		file = &engine.File{ReaderAt: &held{bytes}, Size: int64(bytes.Length())}
		args.Delete("bytes")
	}
	text := js.Global().Get("JSON").Call("stringify", args).String()
	result, err := e.Call(context.Background(), message.Get("call").String(), []byte(text), file,
		func(p any) { reply("progress", p) })
	if err != nil {
		reply("error", engine.Describe(err))
		return
	}
	reply("result", result)
}

// toJS converts a value for the page.
func toJS(v any) js.Value {
	if d, ok := v.(*engine.Download); ok {
		bytes := js.Global().Get("Uint8Array").New(len(d.Bytes))
		js.CopyBytesToJS(bytes, d.Bytes)
		out := js.Global().Get("Object").New()
		out.Set("name", d.Name)
		out.Set("bytes", bytes)
		return out
	}
	text, err := json.Marshal(v)
	if err != nil { // a number that JSON has not
		text = []byte("null")
	}
	return js.Global().Get("JSON").Call("parse", string(text))
}

// held is a file that stays in the page's memory: the parts that are read are copied.
type held struct{ bytes js.Value }

func (h *held) ReadAt(b []byte, at int64) (int, error) {
	n := js.CopyBytesToGo(b, h.bytes.Call("subarray", at, at+int64(len(b))))
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}
