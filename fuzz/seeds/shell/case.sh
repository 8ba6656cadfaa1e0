NUM_SPEC_TOKENS=${NUM_SPEC_TOKENS:-3}
case "$NUM_SPEC_TOKENS" in
  1|2) LEN=1.9 ;;
  [3-4]*) LEN=2.83;;
  *) LEN=$(( NUM_SPEC_TOKENS + 1 )) ;;
esac
if [[ "${EVAL_ONLY:-false}" != "true" && -n $LEN ]]; then
  ARGS=(--speculative-config "{\"method\": \"mtp\", \"num_speculative_tokens\": $NUM_SPEC_TOKENS, \"synthetic_acceptance_length\": $LEN}")
else
  ARGS=()
fi
vllm serve zai-org/GLM-5.2 "${ARGS[@]}" ${EXTRA:+--extra "$EXTRA"} &> server.log &
