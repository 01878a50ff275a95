# fish completion for coforest: the program itself tells what may stand where (cli/verbs/cmd_completion.c).
function __coforest_complete
    set -l words (commandline -opc)
    set -l typed (commandline -ct)
    set -l name (string match -r -- '^--[^=]*=' "$typed")
    for line in ($words[1] __complete $words[2..-1] "$typed" 2>/dev/null)
        if test "$line" = :files
            string replace -r -- '^' "$name" (__fish_complete_path (string replace -- "$name" '' "$typed"))
        else
            echo $line
        end
    end
end
complete -c coforest -f -a '(__coforest_complete)'
