: "${AL:=2.99}"
OPTS+=" --num-speculative-tokens 3"
OPTS="$OPTS --mtp-acceptance-rate=$(echo "($AL-1)/3" | bc -l)"
while getopts "a:b" o; do case $o in a) X=$OPTARG;; esac; done
exec python3 -m atom.entrypoints.openai_server $OPTS <<< "text" | tee >(cat) 2>&1
