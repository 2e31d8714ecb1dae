# Writes the commit of SOURCE to OUT. Changes OUT only if the commit has changed, so that nothing is rebuilt needlessly.
execute_process(COMMAND git -C ${SOURCE} rev-parse --short=9 HEAD
                OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT commit) # a tarball, an image's context
  set(commit "$ENV{SOURCE_COMMIT}")
endif()
if(NOT commit)
  set(commit "unknown")
endif()
file(CONFIGURE OUTPUT ${OUT} CONTENT "#define ASSAY_COMMIT \"${commit}\"\n")
