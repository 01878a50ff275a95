# bash completion for coforest; made by `coforest completion bash`
_coforest()
{
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} verb=${COMP_WORDS[1]} words=
    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        words="describe fit compare predict report trees evaluate encode generate completion help --help --version"
    else
        case $verb:$prev in
        describe:--delimiter) compopt +o default; return ;;
        describe:--charset) words="utf-8 latin1" ;;
        describe:--na) compopt +o default; return ;;
        fit:--clusters | fit:-k) compopt +o default; return ;;
        fit:--method) words="coforest kmodes lsm jdm jdm:full cbdm ocil ocil:original udm dlc dlc:fixed h2h hdc hdc:ndw adc lca k-prototypes ek-prototypes cof1 cof2 cof3 cof4 fcg slg rglg rgg" ;;
        fit:--restarts) compopt +o default; return ;;
        fit:--init) words="portfolio kmeans farthest random modes++ cao huang" ;;
        fit:--init-rows) compopt +o default; return ;;
        fit:--select) words="auto balance likelihood objective mixture" ;;
        fit:--keep) compopt +o default; return ;;
        fit:--variant) words="paper authors" ;;
        fit:--missing) words="value ignore drop error" ;;
        fit:--seed) compopt +o default; return ;;
        fit:--max-rebuilds) compopt +o default; return ;;
        fit:--max-passes) compopt +o default; return ;;
        fit:--time-limit) compopt +o default; return ;;
        fit:--threads) compopt +o default; return ;;
        fit:--shards) compopt +o default; return ;;
        fit:--journal) return ;;
        fit:--label) compopt +o default; return ;;
        fit:--ignore) compopt +o default; return ;;
        fit:--columns) compopt +o default; return ;;
        fit:--ordinal) compopt +o default; return ;;
        fit:--numeric) compopt +o default; return ;;
        fit:--categorical) compopt +o default; return ;;
        fit:--quantities) words="cut scaled values" ;;
        fit:--bins) compopt +o default; return ;;
        fit:--cut) compopt +o default; return ;;
        fit:--cuts) return ;;
        fit:--scale) words="auto range z" ;;
        fit:--gamma) compopt +o default; return ;;
        fit:--column-weights) compopt +o default; return ;;
        fit:--weights) compopt +o default; return ;;
        fit:--delimiter) compopt +o default; return ;;
        fit:--charset) words="utf-8 latin1" ;;
        fit:--na) compopt +o default; return ;;
        fit:--labels-out) return ;;
        fit:--table-out) return ;;
        fit:--modes-out) return ;;
        fit:--profiles-out) return ;;
        fit:--margins-out) return ;;
        fit:--alternatives-out) return ;;
        fit:--memberships-out) return ;;
        fit:--model-out) return ;;
        fit:--distances-out) return ;;
        fit:--cuts-out) return ;;
        fit:--history) return ;;
        fit:--report) return ;;
        fit:--map-out) return ;;
        compare:--clusters | compare:-k) compopt +o default; return ;;
        compare:--methods) words="default paper all coforest kmodes lsm jdm jdm:full cbdm ocil ocil:original udm dlc dlc:fixed h2h hdc hdc:ndw adc lca k-prototypes ek-prototypes cof1 cof2 cof3 cof4 fcg slg rglg rgg" ;;
        compare:--control) compopt +o default; return ;;
        compare:--runs) compopt +o default; return ;;
        compare:--init) words="portfolio kmeans farthest random modes++ cao huang" ;;
        compare:--seed) compopt +o default; return ;;
        compare:--variant) words="paper authors" ;;
        compare:--missing) words="value ignore drop error" ;;
        compare:--threads) compopt +o default; return ;;
        compare:--label) compopt +o default; return ;;
        compare:--ignore) compopt +o default; return ;;
        compare:--columns) compopt +o default; return ;;
        compare:--ordinal) compopt +o default; return ;;
        compare:--numeric) compopt +o default; return ;;
        compare:--categorical) compopt +o default; return ;;
        compare:--quantities) words="cut scaled values" ;;
        compare:--bins) compopt +o default; return ;;
        compare:--cut) compopt +o default; return ;;
        compare:--cuts) return ;;
        compare:--scale) words="auto range z" ;;
        compare:--gamma) compopt +o default; return ;;
        compare:--column-weights) compopt +o default; return ;;
        compare:--weights) compopt +o default; return ;;
        compare:--delimiter) compopt +o default; return ;;
        compare:--charset) words="utf-8 latin1" ;;
        compare:--na) compopt +o default; return ;;
        compare:--format) words="text csv json markdown latex" ;;
        compare:--out) return ;;
        predict:--labels-out) return ;;
        predict:--table-out) return ;;
        predict:--memberships-out) return ;;
        predict:--scores-out) return ;;
        predict:--threads) compopt +o default; return ;;
        predict:--delimiter) compopt +o default; return ;;
        predict:--charset) words="utf-8 latin1" ;;
        predict:--na) compopt +o default; return ;;
        report:--out | report:-o) return ;;
        report:--map-out) return ;;
        report:--label) compopt +o default; return ;;
        report:--perplexity) compopt +o default; return ;;
        report:--seed) compopt +o default; return ;;
        report:--threads) compopt +o default; return ;;
        report:--delimiter) compopt +o default; return ;;
        report:--charset) words="utf-8 latin1" ;;
        report:--na) compopt +o default; return ;;
        trees:--attr) compopt +o default; return ;;
        trees:--format) words="text dot svg json" ;;
        trees:--out | trees:-o) return ;;
        evaluate:--weights) return ;;
        evaluate:--delimiter) compopt +o default; return ;;
        evaluate:--charset) words="utf-8 latin1" ;;
        evaluate:--na) compopt +o default; return ;;
        encode:--out | encode:-o) return ;;
        encode:--delimiter) compopt +o default; return ;;
        encode:--charset) words="utf-8 latin1" ;;
        encode:--na) compopt +o default; return ;;
        generate:--kind) words="uniform planted mixed" ;;
        generate:--family) words="both categories numbers skewed outliers noise nonlinear imbalance" ;;
        generate:--rows) compopt +o default; return ;;
        generate:--columns) compopt +o default; return ;;
        generate:--values) compopt +o default; return ;;
        generate:--clusters | generate:-k) compopt +o default; return ;;
        generate:--noise) compopt +o default; return ;;
        generate:--seed) compopt +o default; return ;;
        generate:--out | generate:-o) return ;;
        help:help) words="describe fit compare predict report trees evaluate encode generate completion" ;;
        esac
    fi
    if [[ -z $words ]]; then
        case $verb:$cur in
        describe:-*) words="--help --json --delimiter --no-header --charset --na --trim --ignore-case" ;;
        fit:-*) words="--help -k --clusters --method --restarts --init --init-rows --select --keep --variant --paper --missing --seed --max-rebuilds --max-passes --time-limit --threads --shards --journal --label --ignore --columns --ordinal --numeric --categorical --quantities --bins --cut --cuts --scale --gamma --column-weights --weights --delimiter --no-header --charset --na --trim --ignore-case --labels-out --table-out --modes-out --profiles-out --margins-out --alternatives-out --memberships-out --model-out --distances-out --cuts-out --history --report --map-out --criteria --raw-names --no-clobber --keep-partial --json -q --quiet --demo" ;;
        compare:-*) words="--help -k --clusters --methods --control --runs --as-fit --init --seed --variant --missing --threads --label --ignore --columns --ordinal --numeric --categorical --quantities --bins --cut --cuts --scale --gamma --column-weights --weights --delimiter --no-header --charset --na --trim --ignore-case --format --out --no-clobber -q --quiet" ;;
        predict:-*) words="--help --labels-out --table-out --memberships-out --scores-out --no-clobber --raw-names --threads --json -q --quiet --delimiter --no-header --charset --na --trim --ignore-case" ;;
        report:-*) words="--help -o --out --map-out --label --perplexity --seed --threads --no-clobber -q --quiet --delimiter --no-header --charset --na --trim --ignore-case" ;;
        trees:-*) words="--help --attr --format -o --out --no-clobber" ;;
        evaluate:-*) words="--help --weights --json --delimiter --no-header --charset --na" ;;
        encode:-*) words="--help -o --out --no-clobber -q --quiet --delimiter --no-header --charset --na" ;;
        generate:-*) words="--help --kind --family --rows --columns --values -k --clusters --noise --seed -o --out --no-clobber" ;;
        completion:-*) words="--help" ;;
        completion:*) words="bash zsh fish man" ;;
        esac
    fi
    [[ -z $words ]] || mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
}
complete -o default -F _coforest coforest
