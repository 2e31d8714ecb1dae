# Packages: `cpack -G DEB` after a build with -DCMAKE_INSTALL_PREFIX=/usr (docs/install.md; deploy/release.sh does it).
# What `cmake --install` puts as the component `library` are two packages there, as Debian has it, and the models are in
# the program's alone.
configure_file(deploy/systemd/assay-serve.service.in assay-serve.service @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/assay-serve.service DESTINATION lib/systemd/system)
install(FILES deploy/systemd/serve.yaml DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples)

install(TARGETS assay_shared LIBRARY COMPONENT runtime NAMELINK_SKIP EXCLUDE_FROM_ALL)
install(TARGETS assay_shared LIBRARY COMPONENT development NAMELINK_ONLY EXCLUDE_FROM_ALL)
install(FILES engine/assay.h TYPE INCLUDE COMPONENT development EXCLUDE_FROM_ALL)
install(FILES ${CMAKE_BINARY_DIR}/engine/assay.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development
  EXCLUDE_FROM_ALL)

set(CPACK_GENERATOR DEB)
set(CPACK_COMPONENTS_ALL program runtime development)
set(CPACK_PACKAGE_VENDOR Assay)
if(NOT CPACK_PACKAGE_CONTACT) # who builds packages for others says -DCPACK_PACKAGE_CONTACT="NAME <ADDRESS>"
  set(CPACK_PACKAGE_CONTACT "Assay <assay@localhost>")
endif()
set(CPACK_PACKAGING_INSTALL_PREFIX ${CMAKE_INSTALL_PREFIX})
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
# After the files are there, before they are packed: what Debian asks of a package and `cmake --install` has no use for.
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_SOURCE_DIR}/cmake/debian.cmake)
set(CPACK_ASSAY_SOURCE ${CMAKE_SOURCE_DIR})

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME assay)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION database)
# What is opened late, and not seen in the files (lib/base/late.h); only training needs the ones that are recommended.
foreach(room db llm proto worker server learn)
  get_property(late_${room} GLOBAL PROPERTY ASSAY_LATE_PACKAGES_assay_${room})
endforeach()
list(JOIN late_learn ", " CPACK_DEBIAN_PROGRAM_PACKAGE_RECOMMENDS)
set(late_library ${late_db} ${late_llm} ${late_proto} ${late_worker})
set(late_program ${late_library} ${late_server})
list(JOIN late_program ", " CPACK_DEBIAN_PROGRAM_PACKAGE_DEPENDS)
set(CPACK_COMPONENT_PROGRAM_DESCRIPTION "judge of the SQL that text-to-SQL systems write
Given a question, a database and candidate queries, Assay says which one may
be trusted, how sure that is, which clauses are suspect and why, explained
from the data; or it abstains. Queries run read-only and within limits.
.
This package has the program, its models and a service for systemd, which is
off until it is switched on.")
set(CPACK_DEBIAN_PROGRAM_PACKAGE_CONTROL_EXTRA
  ${CMAKE_SOURCE_DIR}/deploy/debian/conffiles ${CMAKE_SOURCE_DIR}/deploy/debian/postinst
  ${CMAKE_SOURCE_DIR}/deploy/debian/prerm ${CMAKE_SOURCE_DIR}/deploy/debian/postrm)

get_target_property(abi assay_shared SOVERSION)
file(WRITE ${CMAKE_BINARY_DIR}/debian/shlibs "libassay ${abi} libassay${abi} (>= ${PROJECT_VERSION})\n")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME libassay${abi})
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONTROL_EXTRA
  ${CMAKE_BINARY_DIR}/debian/shlibs ${CMAKE_SOURCE_DIR}/deploy/debian/triggers)
list(JOIN late_library ", " CPACK_DEBIAN_RUNTIME_PACKAGE_DEPENDS)
string(PREPEND CPACK_DEBIAN_RUNTIME_PACKAGE_DEPENDS "assay (= ${PROJECT_VERSION}-1), ") # for the models
set(CPACK_COMPONENT_RUNTIME_DESCRIPTION "judge of the SQL that text-to-SQL systems write, as a library
What the command assay check does, for programs of one's own: one process,
no server.")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libassay-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "libassay${abi} (= ${PROJECT_VERSION}-1)")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "judge of the SQL that text-to-SQL systems write, development files
Header and pkg-config file of libassay.")

include(CPack)
