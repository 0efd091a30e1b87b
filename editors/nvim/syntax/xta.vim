" UPPAAL models in text.
if exists('b:current_syntax')
  finish
endif
syntax case match
syntax keyword xtaStatement process state init trans commit urgent branchpoint select guard sync assign probability system
syntax keyword xtaStatement progress gantt before_update after_update priority default query
syntax keyword xtaConditional if else
syntax keyword xtaRepeat for while do
syntax keyword xtaKeyword return assert forall exists sum deadlock
syntax keyword xtaType int bool clock chan void double string scalar scalarset struct typedef
syntax keyword xtaStorage const meta broadcast hybrid
syntax keyword xtaOperator not and or xor imply
syntax keyword xtaBoolean true false
syntax match xtaNumber /\<\d\+\(\.\d\+\)\?\>/
syntax match xtaArrow /->\|-u->\|-->/
syntax match xtaPath /\<[AE]\%(\[\]\|<>\)/
syntax region xtaString start=/"/ end=/"/ oneline
syntax match xtaComment /\/\/.*$/ contains=xtaTodo
syntax region xtaComment start=/\/\*/ end=/\*\// contains=xtaTodo
syntax match xtaPragma /\/\/@\s*\%(query\|expect\|allow\|xml\)\>.*$/ contains=xtaPath,xtaKeyword,xtaOperator,xtaNumber
syntax keyword xtaTodo TODO FIXME contained
highlight default link xtaStatement Statement
highlight default link xtaConditional Conditional
highlight default link xtaRepeat Repeat
highlight default link xtaKeyword Keyword
highlight default link xtaType Type
highlight default link xtaStorage StorageClass
highlight default link xtaOperator Operator
highlight default link xtaArrow Operator
highlight default link xtaPath Special
highlight default link xtaBoolean Boolean
highlight default link xtaNumber Number
highlight default link xtaString String
highlight default link xtaComment Comment
highlight default link xtaPragma PreProc
highlight default link xtaTodo Todo
let b:current_syntax = 'xta'
