" UPPAAL queries.
if exists('b:current_syntax')
  finish
endif
runtime! syntax/xta.vim
let b:current_syntax = 'uppaal-q'
