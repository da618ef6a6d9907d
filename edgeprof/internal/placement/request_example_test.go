package placement_test

import (
	"bytes"
	"fmt"

	"github.com/foretime/foretime/edgeprof/internal/placement"
	"github.com/foretime/foretime/shared/uncertainty"
)

// Numbers come back as they were spelled.
func ExampleParseRequest() {
	request, problems, err := placement.ParseRequest([]byte(`{"model": "m", "conv_layers": 5, "pool_layers": 3, "fc_layers": 3, "filter_details": 1376,
		"total_parameters": 10000000000000000000, "model_input_size": 602112, "model_output_size": 4000}`))
	if err != nil || len(problems) > 0 {
		fmt.Println(problems, err)
		return
	}
	fastest := placement.Candidate{Node: "rpi-1", Seconds: uncertainty.Point(0.25)}
	var answer bytes.Buffer
	if err := request.Answer(fastest).Write(&answer); err != nil {
		fmt.Println(err)
	}
	fmt.Print(answer.String())
	// Output:
	// {
	//   "message": "Profiling data received",
	//   "model_characteristics": {
	//     "conv_layers": 5,
	//     "fc_layers": 3,
	//     "filter_details": 1376,
	//     "model": "m",
	//     "model_input_size": 602112,
	//     "model_output_size": 4000,
	//     "pool_layers": 3,
	//     "total_parameters": 10000000000000000000
	//   },
	//   "profiling_prediction": {
	//     "class": "",
	//     "device_model": "",
	//     "model": "m",
	//     "node": "rpi-1",
	//     "node_uuid": "",
	//     "predicted_execution_time": 0.25
	//   },
	//   "status": "success"
	// }
}
