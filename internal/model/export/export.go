// SPDX-License-Identifier: Apache-2.0

package export

import (
	"io"
	"strconv"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/model"
)

// Formats lists the formats of Write.
const Formats = "onnx, pmml or sql"

// Write writes the model in the named format.
func Write(w io.Writer, m *model.Model, format string) error {
	write, ok := map[string]func(*model.Model) ([]byte, error){"onnx": ONNX, "pmml": PMML, "sql": SQL}[format]
	if !ok {
		return &dp.ParamError{Op: "export", Param: "format", Want: "must be " + Formats, Got: strconv.Quote(format)}
	}
	file, err := write(m)
	if err != nil {
		return err
	}
	_, err = w.Write(file)
	return err
}
