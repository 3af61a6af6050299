package sdk

import (
	"bytes"
	"io"

	"deepoj/plugins/abi"
)

// Questions read one request, as their names say, and answers write one value of theirs.

func ReadPlanRequest(in io.Reader) (abi.PlanRequest, error) { return read(in, (*reader).planRequest) }

func ReadDiagnosticsRequest(in io.Reader) (abi.DiagnosticsRequest, error) {
	return read(in, (*reader).diagnosticsRequest)
}

func Written(v any) ([]byte, error) {
	var out bytes.Buffer
	var err error
	switch v := v.(type) {
	case abi.Manifest:
		err = write(&out, v, (*writer).manifest)
	case abi.Plan:
		err = write(&out, v, (*writer).plan)
	case abi.DiagnosticsReply:
		err = write(&out, v, (*writer).diagnosticsReply)
	}
	return out.Bytes(), err
}
