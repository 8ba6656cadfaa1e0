cat > conf.yaml <<-EOF
	speculative_config:
	  decoding_type: MTP
	  num_nextn_predict_layers: 3
	EOF
TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS=1.83 mpirun -n 4 trtllm-serve nvidia/DeepSeek-R1 --extra_llm_api_options conf.yaml
env SGLANG_SIMULATE_ACC_LEN="2.99" bash -c 'python -m sglang.launch_server --model m --speculative-num-steps 3'
for i in 1 2 3; do f() { local A=$1; echo "${A##*/}" "${A%.*}" "${A/x/y}"; }; f "$i"; done
srun --export=ALL,SGLANG_SIMULATE_ACC_LEN=2.99 docker run -e B=1 image:tag@sha256:00 sglang serve
