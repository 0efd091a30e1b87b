" The simulator's buffer.
if exists('b:current_syntax')
  finish
endif
syntax match zonelensTitle /^\%1l.*/
syntax match zonelensTitle /^\%(Possible\|Blocked\|Locations\|Variables\|Clocks\|Walk\|Choose\).*$/
syntax match zonelensMessage /^! .*/
syntax match zonelensNumber /^\s*>\?\s*\d\+\ze  /
syntax match zonelensProcess /\<\h\w*\%((\S\{-})\)\?\ze: \S\+ →/
syntax match zonelensArrow /→/
syntax match zonelensDelay /after \zs[[(][^)\]]*[)\]]\%( or [[(][^)\]]*[)\]]\)*/
syntax match zonelensChange /●.*$/
syntax match zonelensZone /^\%(Zone\|No zone\):/
syntax match zonelensHelp /^<CR> or .*/
highlight default link zonelensTitle Title
highlight default link zonelensMessage WarningMsg
highlight default link zonelensNumber Number
highlight default link zonelensProcess Identifier
highlight default link zonelensArrow Operator
highlight default link zonelensDelay Constant
highlight default link zonelensChange DiffChange
highlight default link zonelensZone Title
highlight default link zonelensHelp Comment
let b:current_syntax = 'zonelens-simulation'
