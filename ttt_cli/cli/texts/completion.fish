function %(complete_func)s
    set -l response (env %(complete_var)s=fish_complete COMP_WORDS=(commandline -cp | string collect) \
        COMP_CWORD=(commandline -t | string collect) %(prog_name)s)
    for completion in $response
        set -l found (string split --max 1 "," -- $completion)
        switch $found[1]
            case dir
                __fish_complete_directories $found[2]
            case file
                __fish_complete_path $found[2]
            case '*'
                echo $found[2]
        end
    end
end
complete --no-files --command %(prog_name)s --arguments "(%(complete_func)s)"
