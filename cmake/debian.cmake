# Run by CPack for all packages at once, once their files lie below ${CPACK_TEMPORARY_DIRECTORY}/<component>: compressed
# manuals, copyright and changelog, the service's settings in /etc, and times that depend on nothing but
# $SOURCE_DATE_EPOCH.
function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

if(NOT DEFINED ENV{SOURCE_DATE_EPOCH})
  string(TIMESTAMP now "%s" UTC)
  set(ENV{SOURCE_DATE_EPOCH} ${now})
endif()
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC) # of $SOURCE_DATE_EPOCH

# The licence of the words in the program, as a copyright file has one: a space before each line, a dot for an empty
# one.
file(READ ${CPACK_ASSAY_SOURCE}/models/words.LICENSE words)
string(REGEX REPLACE "\n\n" "\n.\n" words "${words}")
string(REGEX REPLACE "\n(.)" "\n \\1" words "${words}")
file(READ ${CPACK_ASSAY_SOURCE}/deploy/debian/copyright copyright)
string(APPEND copyright "\nFiles: models/words.lex\nCopyright: 2006 Princeton University\nLicense: WordNet-3.0\n ${words}")

foreach(component ${CPACK_COMPONENTS_ALL})
  string(TOUPPER ${component} upper)
  set(name ${CPACK_DEBIAN_${upper}_PACKAGE_NAME})
  set(root ${CPACK_TEMPORARY_DIRECTORY}/${component})
  set(home ${root}${CPACK_PACKAGING_INSTALL_PREFIX})
  set(doc ${home}/share/doc/${name})
  file(GLOB manuals ${home}/share/man/man1/*.1)
  if(manuals)
    run(gzip -9nf ${manuals})
  endif()
  file(WRITE ${doc}/changelog.Debian
    "${name} (${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}) unstable; urgency=medium\n\n"
    "  * Built from its sources.\n\n -- ${CPACK_PACKAGE_CONTACT}  ${date}\n")
  run(gzip -9nf ${doc}/changelog.Debian)
  file(WRITE ${doc}/copyright "${copyright}")
  if(component STREQUAL program)
    file(MAKE_DIRECTORY ${root}/etc/assay ${root}/var/lib/assay/databases)
    file(RENAME ${doc}/examples/serve.yaml ${root}/etc/assay/serve.yaml)
    file(REMOVE_RECURSE ${doc}/examples)
  endif()
  run(find ${root} -type d -exec chmod 0755 {} +)
  run(find ${root} -exec touch -h -d @$ENV{SOURCE_DATE_EPOCH} {} +)
endforeach()
