// SPDX-License-Identifier: Apache-2.0

package inference

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/internal/table/read/coding"
)

// sizes are the bytes per element of each type except BYTES.
var sizes = map[string]int{"BOOL": 1, "INT8": 1, "UINT8": 1, "INT16": 2, "UINT16": 2, "INT32": 4, "UINT32": 4,
	"INT64": 8, "UINT64": 8, "FP32": 4, "FP64": 8}

// errElement is for a cell that the data type of its input, which its sender declares, does not have.
func errElement(datatype string) error {
	return refuse("it must hold what its data type %s can be: whole numbers within its range, numbers, true and false, "+
		"or texts in BYTES", datatype)
}

// integerOf reads an integer of a data type, which may be written like 12.0.
func integerOf(datatype, token string) (cell coding.Cell, ok bool) {
	if x, err := strconv.ParseFloat(token, 64); err == nil && strings.Trim(token, "-0123456789") != "" {
		if x != math.Trunc(x) || math.Abs(x) >= 1<<63 {
			return cell, false
		}
		token = strconv.FormatInt(int64(x), 10)
	}
	if bits := 8 * sizes[datatype]; datatype[0] == 'U' {
		x, err := strconv.ParseUint(token, 10, bits)
		return coding.UnsignedCell(x), err == nil
	} else {
		x, err := strconv.ParseInt(token, 10, bits)
		return coding.IntegerCell(x), err == nil
	}
}

func knownType(datatype string) bool { return datatype == "BYTES" || sizes[datatype] > 0 }

// readBinary reads the cells of a tensor in the format of the protocol's binary extension:
// little-endian, with a length of four bytes before each text. There must be one per row.
func readBinary(datatype string, raw []byte, rows int) ([]coding.Cell, error) {
	if datatype == "BYTES" {
		cells := make([]coding.Cell, 0, min(rows, len(raw)/4))
		for len(raw) > 0 {
			if len(cells) == rows {
				return nil, errCells
			}
			if len(raw) < 4 {
				return nil, refuse("its binary texts must have their lengths before them")
			}
			n := binary.LittleEndian.Uint32(raw)
			if uint64(n) > uint64(len(raw)-4) {
				return nil, refuse("its binary texts must be as long as they say")
			}
			cells = append(cells, coding.TextCell(string(raw[4:4+n])))
			raw = raw[4+n:]
		}
		return cells, checkCells(cells, rows)
	}
	size := sizes[datatype]
	if size == 0 {
		return nil, refuse("its data type must be BYTES, BOOL, FP64, FP32 or an integer's")
	}
	if len(raw)%size != 0 {
		return nil, refuse("its binary data must have %d bytes for each element", size)
	}
	if len(raw)/size != rows {
		return nil, errCells
	}
	cells := make([]coding.Cell, 0, rows)
	for ; len(raw) > 0; raw = raw[size:] {
		cells = append(cells, readElement(datatype, raw))
	}
	return cells, nil
}

var errCells = refuse("it must have as many cells as its shape has rows")

func checkCells(cells []coding.Cell, rows int) error {
	if len(cells) != rows {
		return errCells
	}
	return nil
}

func readElement(datatype string, raw []byte) coding.Cell {
	switch order := binary.LittleEndian; datatype {
	case "BOOL":
		return coding.TruthCell(raw[0] != 0)
	case "INT8":
		return coding.IntegerCell(int64(int8(raw[0])))
	case "UINT8":
		return coding.IntegerCell(int64(raw[0]))
	case "INT16":
		return coding.IntegerCell(int64(int16(order.Uint16(raw))))
	case "UINT16":
		return coding.IntegerCell(int64(order.Uint16(raw)))
	case "INT32":
		return coding.IntegerCell(int64(int32(order.Uint32(raw))))
	case "UINT32":
		return coding.IntegerCell(int64(order.Uint32(raw)))
	case "INT64":
		return coding.IntegerCell(int64(order.Uint64(raw)))
	case "UINT64":
		return coding.UnsignedCell(order.Uint64(raw))
	case "FP32":
		return coding.SingleCell(math.Float32frombits(order.Uint32(raw)))
	default:
		return coding.NumberCell(math.Float64frombits(order.Uint64(raw)))
	}
}

// readData reads the cells of a tensor in JSON: a list, possibly nested, of texts, numbers, booleans
// and null, which is missing. There must be one per row, of the data type.
// data must be valid JSON.
func readData(datatype string, data []byte, rows int) ([]coding.Cell, error) {
	if !knownType(datatype) {
		return nil, refuse("its data type must be BYTES, BOOL, FP64, FP32 or an integer's")
	}
	if len(data) == 0 || data[0] != '[' {
		return nil, refuse("its data must be a list")
	}
	cells := make([]coding.Cell, 0, min(rows, len(data)/2))
	for i := 0; i < len(data); {
		switch c := data[i]; {
		case c == '[' || c == ']' || c == ',' || c == ' ' || c == '\n' || c == '\t' || c == '\r':
			i++
		case len(cells) == rows:
			return nil, errCells
		case c == '{':
			return nil, refuse("its data must be texts, numbers, true, false and null")
		case c == '"' && datatype != "BYTES":
			return nil, errElement(datatype)
		case c == '"':
			n := textEnd(data[i:])
			text, err := readText(data[i : i+n])
			if err != nil {
				return nil, refuse("it must have texts that can be read")
			}
			cells = append(cells, coding.TextCell(text))
			i += n
		default:
			n := i
			for n < len(data) && bytes.IndexByte([]byte(",] \n\t\r"), data[n]) < 0 {
				n++
			}
			cell, ok := readToken(datatype, string(data[i:n]))
			if !ok {
				return nil, errElement(datatype)
			}
			cells = append(cells, cell)
			i = n
		}
	}
	return cells, checkCells(cells, rows)
}

// textEnd returns the length of the JSON string at the start of data.
func textEnd(data []byte) int {
	for i := 1; i < len(data); i++ {
		switch data[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(data)
}

func readText(quoted []byte) (text string, err error) {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return string(quoted[1 : len(quoted)-1]), nil
	}
	err = json.Unmarshal(quoted, &text)
	return text, err
}

// readToken reads null, true, false or a number, if the data type has it.
func readToken(datatype, token string) (cell coding.Cell, ok bool) {
	x, err := strconv.ParseFloat(token, 64)
	switch {
	case token == "null":
		return coding.Cell{}, true
	case token == "true" || token == "false":
		return coding.TruthCell(token == "true"), datatype == "BOOL" || datatype == "BYTES"
	case datatype == "BYTES":
		return coding.ParseNumber(token)
	case datatype == "FP64":
		return coding.NumberCell(x), err == nil
	case datatype == "FP32":
		return coding.SingleCell(float32(x)), err == nil && !math.IsInf(float64(float32(x)), 0)
	case datatype == "BOOL":
		return cell, false
	}
	return integerOf(datatype, token)
}

func appendDoubles(raw []byte, x []float64) []byte {
	for _, v := range x {
		raw = binary.LittleEndian.AppendUint64(raw, math.Float64bits(v))
	}
	return raw
}
