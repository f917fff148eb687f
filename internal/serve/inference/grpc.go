// SPDX-License-Identifier: Apache-2.0

package inference

import (
	"context"
	"errors"
	"slices"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"

	"github.com/discreet-dp/discreet/internal/serve/inference/oip"
	"github.com/discreet-dp/discreet/internal/table/read/coding"
)

// calls implements the calls of gRPC.
type calls struct{ *Server }

func (c calls) ServerLive(context.Context, *connect.Request[oip.ServerLiveRequest]) (
	*connect.Response[oip.ServerLiveResponse], error) {
	return connect.NewResponse(&oip.ServerLiveResponse{Live: true}), nil
}

func (c calls) ServerReady(context.Context, *connect.Request[oip.ServerReadyRequest]) (
	*connect.Response[oip.ServerReadyResponse], error) {
	return connect.NewResponse(&oip.ServerReadyResponse{Ready: c.isReady()}), nil
}

func (c calls) ModelReady(_ context.Context, r *connect.Request[oip.ModelReadyRequest]) (
	*connect.Response[oip.ModelReadyResponse], error) {
	_, err := c.find(r.Msg.GetName(), r.Msg.GetVersion())
	return connect.NewResponse(&oip.ModelReadyResponse{Ready: err == nil && c.isReady()}), nil
}

func (c calls) ServerMetadata(context.Context, *connect.Request[oip.ServerMetadataRequest]) (
	*connect.Response[oip.ServerMetadataResponse], error) {
	return connect.NewResponse(&oip.ServerMetadataResponse{Name: platform, Version: c.opts.Version,
		Extensions: extensions}), nil
}

func (c calls) ModelMetadata(_ context.Context, r *connect.Request[oip.ModelMetadataRequest]) (
	*connect.Response[oip.ModelMetadataResponse], error) {
	s, err := c.find(r.Msg.GetName(), r.Msg.GetVersion())
	if err != nil {
		return nil, callError(err)
	}
	d := s.describe()
	list := func(of []tensorMetadata) (out []*oip.ModelMetadataResponse_TensorMetadata) {
		for _, t := range of {
			out = append(out, &oip.ModelMetadataResponse_TensorMetadata{Name: t.Name, Datatype: t.Datatype, Shape: t.Shape})
		}
		return out
	}
	return connect.NewResponse(&oip.ModelMetadataResponse{Name: d.Name, Versions: d.Versions, Platform: d.Platform,
		Inputs: list(d.Inputs), Outputs: list(d.Outputs)}), nil
}

func (c calls) ModelInfer(ctx context.Context, r *connect.Request[oip.ModelInferRequest]) (
	*connect.Response[oip.ModelInferResponse], error) {
	var out *oip.ModelInferResponse
	err := c.answerCall(ctx, "grpc", r.Msg.GetModelName(), r.Msg.GetModelVersion(), func(s *served) (int, error) {
		asked, err := readMessage(r.Msg)
		if err != nil {
			return 0, err
		}
		a, err := s.predictRows(asked, c.opts.MaxRows, c.memoryOf(ctx))
		if err != nil {
			return 0, err
		}
		out = s.writeMessage(asked, a, len(r.Msg.GetRawInputContents()) > 0)
		return a.rows, nil
	})
	if err != nil {
		return nil, callError(err)
	}
	return connect.NewResponse(out), nil
}

// callError converts an error to one of gRPC.
func callError(err error) error {
	status, said := describeError(err)
	return connect.NewError(codeOf(status), errors.New(said))
}

// readMessage reads a request of gRPC.
func readMessage(r *oip.ModelInferRequest) (*call, error) {
	c := &call{id: r.GetId(), size: int64(proto.Size(r))}
	raw := r.GetRawInputContents()
	if len(raw) > 0 && len(raw) != len(r.GetInputs()) {
		return nil, refuse("raw contents must be given for all inputs or for none")
	}
	for k, in := range r.GetInputs() {
		one := input{name: in.GetName(), shape: in.GetShape()}
		switch {
		case len(raw) > 0 && in.GetContents() != nil:
			return nil, refuse("input %d must not have contents beside raw ones", k)
		case len(raw) > 0:
			one.cells = func(rows int) ([]coding.Cell, error) { return readBinary(in.GetDatatype(), raw[k], rows) }
		default:
			one.cells = func(rows int) ([]coding.Cell, error) {
				return readContents(in.GetDatatype(), in.GetContents(), rows)
			}
		}
		c.inputs = append(c.inputs, one)
	}
	for _, out := range r.GetOutputs() {
		c.outputs = append(c.outputs, output{name: out.GetName()})
	}
	if len(c.outputs) == 0 {
		c.outputs = []output{{name: labelOutput}, {name: scoreOutput}}
	}
	return c, checkOutputs(c.outputs)
}

// readContents reads the contents of the field for the data type, one per row.
func readContents(datatype string, c *oip.InferTensorContents, rows int) ([]coding.Cell, error) {
	switch datatype {
	case "BYTES":
		return listCells(c.GetBytesContents(), rows, func(x []byte) coding.Cell { return coding.TextCell(string(x)) })
	case "BOOL":
		return listCells(c.GetBoolContents(), rows, coding.TruthCell)
	case "INT8", "INT16", "INT32":
		bits := 32 - 8*sizes[datatype]
		if slices.ContainsFunc(c.GetIntContents(), func(x int32) bool { return x<<bits>>bits != x }) {
			return nil, errElement(datatype)
		}
		return listCells(c.GetIntContents(), rows, func(x int32) coding.Cell { return coding.IntegerCell(int64(x)) })
	case "INT64":
		return listCells(c.GetInt64Contents(), rows, coding.IntegerCell)
	case "UINT8", "UINT16", "UINT32":
		bits := 32 - 8*sizes[datatype]
		if slices.ContainsFunc(c.GetUintContents(), func(x uint32) bool { return x<<bits>>bits != x }) {
			return nil, errElement(datatype)
		}
		return listCells(c.GetUintContents(), rows, func(x uint32) coding.Cell { return coding.IntegerCell(int64(x)) })
	case "UINT64":
		return listCells(c.GetUint64Contents(), rows, coding.UnsignedCell)
	case "FP32":
		return listCells(c.GetFp32Contents(), rows, coding.SingleCell)
	case "FP64":
		return listCells(c.GetFp64Contents(), rows, coding.NumberCell)
	}
	return nil, refuse("its data type must be BYTES, BOOL, FP64, FP32 or an integer's")
}

func listCells[T any](of []T, rows int, cell func(T) coding.Cell) ([]coding.Cell, error) {
	if len(of) != rows {
		return nil, errCells
	}
	out := make([]coding.Cell, rows)
	for r, x := range of {
		out[r] = cell(x)
	}
	return out, nil
}

// writeMessage makes an answer of gRPC, in raw form if the request was raw.
func (s *served) writeMessage(c *call, a *answer, raw bool) *oip.ModelInferResponse {
	out := &oip.ModelInferResponse{ModelName: s.name, ModelVersion: s.version, Id: c.id}
	for key, n := range coding.Numbers(a.undeclared) {
		if out.Parameters == nil {
			out.Parameters = map[string]*oip.InferParameter{}
		}
		out.Parameters[key] = &oip.InferParameter{ParameterChoice: &oip.InferParameter_Int64Param{Int64Param: int64(n)}}
	}
	for _, o := range c.outputs {
		t := &oip.ModelInferResponse_InferOutputTensor{Name: o.name, Datatype: datatypeOf(o.name),
			Shape: s.shapeOf(o.name, int64(a.rows))}
		switch texts, numbers := s.contentsOf(o.name, a); {
		case raw:
			_, size := s.answerLength(&call{outputs: []output{{o.name, true}}}, a)
			out.RawOutputContents = append(out.RawOutputContents, s.appendRaw(make([]byte, 0, size), o.name, a))
		case texts == nil:
			t.Contents = &oip.InferTensorContents{Fp64Contents: numbers}
		default:
			t.Contents = &oip.InferTensorContents{BytesContents: make([][]byte, len(texts))}
			for r, text := range texts {
				t.Contents.BytesContents[r] = []byte(text)
			}
		}
		out.Outputs = append(out.Outputs, t)
	}
	return out
}
