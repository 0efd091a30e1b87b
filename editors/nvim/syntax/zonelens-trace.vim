" The text of a trace.
if exists('b:current_syntax')
  finish
endif
syntax match zonelensFormula /^\%1l.*/
syntax match zonelensSummary /^\%2l.*/
syntax match zonelensStep /^\s*\d\+\ze\s.*t = /
syntax match zonelensTime /t = [0-9/]\+/
syntax match zonelensProcess /\<\h\w*\%((\S\{-})\)\?\ze: \S\+ →/
syntax match zonelensArrow /→\|->/
syntax match zonelensPlace /\S\+:\d\+\%(:\d\+\)\?/
highlight default link zonelensFormula Statement
highlight default link zonelensSummary Comment
highlight default link zonelensStep Number
highlight default link zonelensTime Constant
highlight default link zonelensProcess Identifier
highlight default link zonelensArrow Operator
highlight default link zonelensPlace Underlined
let b:current_syntax = 'zonelens-trace'
