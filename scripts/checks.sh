# shellcheck shell=bash
# Sourced by scripts/test and scripts/campaign: runs checks, counts them, and says how long each took.
jobs=$(nproc)
passed=0
failed=0
failures=()

# one NAME COMMAND...: a check of its own, counted as one test; exit code 77 means that it cannot be done here
one() {
    local name=$1 log began=$SECONDS
    shift
    log=$(mktemp)
    "$@" >"$log" 2>&1
    local code=$?
    if [ $code -eq 0 ]; then
        passed=$((passed + 1))
        echo "ok      $name, $((SECONDS - began)) s"
        grep -h -e '^SKIPPED: ' -e '^stat::number_of_executed_units' "$log"
    elif [ $code -eq 77 ]; then
        echo "skipped $name"
        grep -h '^SKIPPED: ' "$log"
    else
        failed=$((failed + 1))
        failures+=("$name")
        echo "FAILED  $name, $((SECONDS - began)) s"
        tail -n 60 "$log"
    fi
    rm -f "$log"
}

# built PRESET CMAKE-OPTIONS...: a preset of CMakePresets.json in build-PRESET; a failure counts as a failed test
built() {
    local name=$1 dir=build-$1 log began=$SECONDS
    shift
    log=$(mktemp)
    echo "build   $name ..."
    cmake --preset "$name" -DCOFOREST_WERROR=ON "$@" >"$log" 2>&1 && cmake --build "$dir" -j "$jobs" >>"$log" 2>&1
    local code=$?
    if [ $code -eq 0 ]; then
        echo "built   $name, $((SECONDS - began)) s"
    else
        failed=$((failed + 1))
        failures+=("$name: build")
        echo "FAILED  $name: build"
        grep -E 'error|warning|Error' -A 5 "$log" | head -n 60
    fi
    rm -f "$log"
    return $code
}

# suite NAME CTEST-OPTIONS...: the tests of build-NAME, each counted
suite() {
    local name=$1 dir=build-$1 log began=$SECONDS total bad skipped
    shift
    log=$(mktemp)
    ctest --test-dir "$dir" -j "$jobs" --output-on-failure --timeout 900 "$@" >"$log" 2>&1
    total=$(sed -n 's/.*tests failed out of \([0-9]*\).*/\1/p' "$log")
    bad=$(sed -n 's/.*, \([0-9]*\) tests failed out of.*/\1/p' "$log")
    skipped=$(grep -c '\*\*\*Skipped' "$log")
    if [ -z "$total" ] || [ "$total" -eq 0 ]; then
        failed=$((failed + 1))
        failures+=("$name: no test ran")
        cat "$log"
    else
        passed=$((passed + total - bad - skipped))
        failed=$((failed + bad))
        echo "suite   $name: $((total - bad - skipped)) of $total tests passed, $skipped skipped, $((SECONDS - began)) s"
        if [ "$bad" -ne 0 ]; then
            failures+=("$name: $bad tests")
            grep -vE '^ *(Start|[0-9]+/[0-9]+ .* Passed)' "$log" | head -n 150
        fi
    fi
    # what a test that did not fail printed is in ctest's own log only
    grep -h -E '^SKIPPED: ' "$dir/Testing/Temporary/LastTest.log" | sort -u
    rm -f "$log"
}

# fuzzed TARGET SECONDS FOLDER: the target over its corpus and what it invents from there, which stays in FOLDER. A finding
# ends with 1, since libFuzzer's own 77 would count as skipped.
fuzzed() {
    mkdir -p "$3"
    build-fuzz/tests/fuzz/"$1" -max_total_time="$2" -timeout=20 -rss_limit_mb=4096 -print_final_stats=1 \
        -error_exitcode=1 -artifact_prefix="$3/" "$3" "tests/fuzz/corpus/${1#fuzz_}"
}

fuzz_targets() {
    find build-fuzz/tests/fuzz -maxdepth 1 -type f -name 'fuzz_*' -perm -100 -exec basename {} \; | sort
}

# finish: the last line, and the exit code
finish() {
    if [ ${#failures[@]} -gt 0 ]; then
        printf 'failed: %s\n' "${failures[@]}"
    fi
    echo "$passed passed, $failed failed"
    [ "$failed" -eq 0 ]
}
