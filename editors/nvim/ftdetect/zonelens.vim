" UPPAAL models and queries. Only XML files that contain a model are handled.
autocmd BufRead,BufNewFile *.xta,*.ta setfiletype xta
autocmd BufRead,BufNewFile *.q setfiletype uppaal-q
autocmd BufRead,BufNewFile *.xml
      \ if join(getline(1, 20), "\n") =~# '<nta\>\|//Uppaal Team//' | set filetype=uppaal-xml | endif
