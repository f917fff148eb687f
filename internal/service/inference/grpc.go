// SPDX-License-Identifier: Apache-2.0

package inference

import (
	"context"
	"errors"

	"connectrpc.com/connect"

	"github.com/discreet-dp/discreet/internal/service/inference/oip"
	"github.com/discreet-dp/discreet/internal/table/coding"
)

// calls answers the calls of gRPC.
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
		a, err := s.predictRows(asked, c.opts.MaxRows)
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

// callError is an error as gRPC has it.
func callError(err error) error {
	status, said := describeError(err)
	return connect.NewError(codeOf(status), errors.New(said))
}

// readMessage reads a request of gRPC.
func readMessage(r *oip.ModelInferRequest) (*call, error) {
	c := &call{id: r.GetId()}
	raw := r.GetRawInputContents()
	if len(raw) > 0 && len(raw) != len(r.GetInputs()) {
		return nil, refuse("raw contents must be given for all inputs or for none")
	}
	for k, in := range r.GetInputs() {
		one := input{name: in.GetName(), datatype: in.GetDatatype(), shape: in.GetShape()}
		var err error
		switch {
		case len(raw) > 0 && in.GetContents() != nil:
			err = refuse("input %d must not have contents beside raw ones", k)
		case len(raw) > 0:
			one.cells, err = readBinary(one.datatype, raw[k])
		default:
			one.cells, err = readContents(one.datatype, in.GetContents())
		}
		if err != nil {
			return nil, err
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

// readContents reads the contents of the field that the data type names.
func readContents(datatype string, c *oip.InferTensorContents) (cells []coding.Cell, err error) {
	switch datatype {
	case "BYTES":
		cells = listCells(c.GetBytesContents(), func(x []byte) coding.Cell { return coding.TextCell(string(x)) })
	case "BOOL":
		cells = listCells(c.GetBoolContents(), coding.TruthCell)
	case "INT8", "INT16", "INT32":
		cells = listCells(c.GetIntContents(), func(x int32) coding.Cell { return integerCell(int64(x)) })
	case "INT64":
		cells = listCells(c.GetInt64Contents(), integerCell)
	case "UINT8", "UINT16", "UINT32":
		cells = listCells(c.GetUintContents(), func(x uint32) coding.Cell { return integerCell(int64(x)) })
	case "UINT64":
		cells = listCells(c.GetUint64Contents(), unsignedCell)
	case "FP32":
		cells = listCells(c.GetFp32Contents(), func(x float32) coding.Cell { return floatCell(float64(x)) })
	case "FP64":
		cells = listCells(c.GetFp64Contents(), floatCell)
	default:
		err = refuse("the data type of an input must be BYTES, BOOL, FP64, FP32 or an integer's")
	}
	return cells, err
}

func listCells[T any](of []T, cell func(T) coding.Cell) (out []coding.Cell) {
	for _, x := range of {
		out = append(out, cell(x))
	}
	return out
}

// writeMessage is an answer of gRPC, raw where the request was.
func (s *served) writeMessage(c *call, a *answer, raw bool) *oip.ModelInferResponse {
	out := &oip.ModelInferResponse{ModelName: s.name, ModelVersion: s.version, Id: c.id}
	for _, o := range c.outputs {
		t := &oip.ModelInferResponse_InferOutputTensor{Name: o.name, Datatype: datatypeOf(o.name),
			Shape: s.shapeOf(o.name, int64(a.rows))}
		switch texts, numbers := s.contentsOf(o.name, a); {
		case raw:
			out.RawOutputContents = append(out.RawOutputContents, s.appendRaw(nil, o.name, a))
		case texts == nil:
			t.Contents = &oip.InferTensorContents{Fp64Contents: numbers}
		default:
			t.Contents = new(oip.InferTensorContents)
			for _, text := range texts {
				t.Contents.BytesContents = append(t.Contents.BytesContents, []byte(text))
			}
		}
		out.Outputs = append(out.Outputs, t)
	}
	return out
}
