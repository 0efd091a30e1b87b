" UPPAAL models in XML.
if exists('b:current_syntax')
  finish
endif
runtime! syntax/xml.vim
let b:current_syntax = 'uppaal-xml'
