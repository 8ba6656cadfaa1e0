#!/usr/bin/env bash
set -euxo pipefail
export SGLANG_SIMULATE_ACC_LEN=3.51 SGLANG_SIMULATE_ACC_METHOD=match-expected
SGLANG_SIMULATE_ACC_TOKEN_MODE="real-draft-token"; export SGLANG_SIMULATE_ACC_TOKEN_MODE
unset OTHER
python3 -m sglang.launch_server --model-path deepseek-ai/DeepSeek-V4.1-Flash --speculative-algorithm DSPARK \
  --speculative-num-draft-tokens 6 --speculative-num-steps 5
