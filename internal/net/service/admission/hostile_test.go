// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"bytes"
	"runtime"
	"strings"
	"testing"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/discreet-dp/discreet/internal/check/testkit/size"
	_ "github.com/discreet-dp/discreet/internal/net/service/rpc"
)

// TestHostileMessagesOfCallsTakeLittle repeats each field of each message of each call, requests and replies,
// at any depth: what is decoded takes memory in proportion to its bytes. It finds the calls in the registry, so
// that a new one is tried, too.
func TestHostileMessagesOfCallsTakeLittle(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector's own memory counts")
	}
	length := size.Of(256<<10, 1<<20)
	calls := 0
	try := func(c connect.Codec, of protoreflect.MessageDescriptor, name string, message []byte) {
		var before, after runtime.MemStats
		to := dynamicOf(of)
		runtime.ReadMemStats(&before)
		err := c.Unmarshal(message, to)
		runtime.ReadMemStats(&after)
		if took, most := int(after.TotalAlloc-before.TotalAlloc), 32*len(message)+(1<<16); took > most {
			t.Errorf("%s of %s by %s: %d bytes take %d, want at most %d (%v)", name, of.Name(), c.Name(), len(message), took, most, err)
		}
	}
	protoregistry.GlobalFiles.RangeFilesByPackage("discreet.v1", func(f protoreflect.FileDescriptor) bool {
		for i := range f.Services().Len() {
			for k := range f.Services().Get(i).Methods().Len() {
				m := f.Services().Get(i).Methods().Get(k)
				calls++
				for name, b := range hostileOf(m.Input(), length, 3) {
					try(protobuf{bytesPerPart}, m.Input(), name, b)
				}
				for name, b := range hostileOf(m.Output(), length, 3) {
					try(protobuf{bytesPerPartOfReply}, m.Output(), name, b)
				}
				for name, b := range hostileTexts(m.Input(), length) {
					try(text{"json"}, m.Input(), name, b)
				}
			}
		}
		return true
	})
	if calls < 17 {
		t.Errorf("%d calls were tried", calls)
	}
}

// dynamicOf returns an empty message of the generated type.
func dynamicOf(of protoreflect.MessageDescriptor) proto.Message {
	if kind, err := protoregistry.GlobalTypes.FindMessageByName(of.FullName()); err == nil {
		return kind.New().Interface()
	}
	return dynamicpb.NewMessage(of)
}

// hostileOf returns messages that repeat one field, by its path.
func hostileOf(of protoreflect.MessageDescriptor, length, depth int) map[string][]byte {
	out := map[string][]byte{}
	for i := range of.Fields().Len() {
		f := of.Fields().Get(i)
		for name, unit := range map[string][]byte{
			"empty":  append(protowire.AppendTag(nil, f.Number(), protowire.BytesType), 0),
			"short":  append(protowire.AppendTag(nil, f.Number(), protowire.BytesType), 1, 0),
			"number": append(protowire.AppendTag(nil, f.Number(), protowire.VarintType), 1),
		} {
			out[string(f.Name())+" "+name] = bytes.Repeat(unit, length/len(unit))
		}
		if f.IsList() {
			out[string(f.Name())+" packed"] = protowire.AppendBytes(protowire.AppendTag(nil, f.Number(), protowire.BytesType),
				bytes.Repeat([]byte{1}, length))
		}
		if f.Message() != nil && depth > 0 {
			for name, inner := range hostileOf(f.Message(), length, depth-1) {
				out[string(f.Name())+"."+name] = protowire.AppendBytes(protowire.AppendTag(nil, f.Number(), protowire.BytesType), inner)
			}
		}
	}
	return out
}

// hostileTexts returns messages in JSON that repeat an element of one field, or a key that is not known.
func hostileTexts(of protoreflect.MessageDescriptor, length int) map[string][]byte {
	names := []string{"unknown"}
	for i := range of.Fields().Len() {
		names = append(names, of.Fields().Get(i).JSONName())
	}
	out := map[string][]byte{"nested": []byte(`{"unknown":` + strings.Repeat("[", length/2) + strings.Repeat("]", length/2) + "}"),
		"keys": []byte(`{"x":1` + strings.Repeat(`,"x":1`, length/6) + "}")}
	for _, name := range names {
		for _, unit := range []string{"1", "{}", "[]", `""`, "null"} {
			out[name+" "+unit] = []byte(`{"` + name + `":[` + unit + strings.Repeat(","+unit, length/(1+len(unit))) + "]}")
		}
	}
	return out
}
