# Joins the modules FILES into the classic script OUT, for a page without a server, where a browser loads no modules.
# FILES must have each module after the modules that it imports from. The accepted forms are
# `import {a, b} from "./name.js";` and `export function|async function|const|class NAME`.
set(all "// Made by page/bundle.cmake.\n\"use strict\";\n")
foreach(file IN LISTS FILES)
  get_filename_component(name ${file} NAME_WE)
  file(READ ${file} text)
  set(export "export (async function|function|const|class) ([A-Za-z]+)")
  string(REGEX MATCHALL "\nexport [a-z]+( function)? [A-Za-z]+" exports "\n${text}")
  list(TRANSFORM exports REPLACE "^.* ([A-Za-z]+)$" "\\1")
  list(JOIN exports ", " exports)
  string(REGEX REPLACE "import ({[^}]*}) from \"\\./([a-z]+)\\.js\";" "const \\1 = module_\\2;" text "${text}")
  string(REGEX REPLACE "${export}" "\\1 \\2" text "${text}")
  if(text MATCHES "(^|\n)(import|export) ")
    message(FATAL_ERROR "${file}: an import or export that page/bundle.cmake does not know")
  endif()
  string(APPEND all "\nconst module_${name} = (() => {\n${text}\nreturn {${exports}};\n})();\n")
endforeach()
file(WRITE ${OUT} "${all}")
