# What every room shares: language level, warnings, sanitizers, and small macros:
#   assay_rows(<out> <file> <row> <text>)        the rows of an X-macro list, so that what is listed there is listed once
#   assay_room(<name> SOURCES ... [DEPS ...])    a static library, included by path from the root
#   assay_late(<room> <header> <module>)         a library that the room opens late (lib/base/late.h), after assay_room
#   assay_test(<room> [SERIAL] SOURCES ...)      one Criterion binary a room, labelled unit; DEPS as above. With SERIAL
#                                                it runs alone, since it has deadlines in real time
#   assay_fuzzer(<name> SOURCES ... DEPS ...)    a libFuzzer target (clang) or a corpus replayer (gcc)
set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS ON)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

option(ASSAY_ASAN "AddressSanitizer and UndefinedBehaviorSanitizer" OFF)
option(ASSAY_TSAN "ThreadSanitizer" OFF)
option(ASSAY_WERROR "Warnings are errors (CI)" OFF)
option(ASSAY_MUTATIONS "Faults on purpose, for the tests of the fleet; never for a release" OFF)
option(ASSAY_LTO "Link-time optimisation" OFF)
set(ASSAY_PGO "" CACHE STRING "Profile-guided optimisation: `train` makes a build that writes profiles, `use` one by them (bench/pgo.sh)")
set(ASSAY_PGO_DIR ${CMAKE_BINARY_DIR}/profile CACHE PATH "Where the profiles are")
option(ASSAY_LIBFUZZER "Build the fuzzers with libFuzzer (needs clang)" OFF)

find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(GLIB REQUIRED IMPORTED_TARGET glib-2.0)
pkg_check_modules(SQLITE REQUIRED IMPORTED_TARGET sqlite3)
pkg_check_modules(PQ REQUIRED IMPORTED_TARGET libpq)
pkg_check_modules(MARIADB REQUIRED IMPORTED_TARGET libmariadb)
pkg_check_modules(MSGPACK IMPORTED_TARGET msgpack-c)
if(NOT MSGPACK_FOUND) # the name before msgpack-c 6 split from the C++ library
  pkg_check_modules(MSGPACK REQUIRED IMPORTED_TARGET msgpack)
endif()
pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson)
pkg_check_modules(YAML REQUIRED IMPORTED_TARGET yaml-0.1)
pkg_check_modules(SMARTCOLS REQUIRED IMPORTED_TARGET smartcols)
pkg_check_modules(CURL REQUIRED IMPORTED_TARGET libcurl)
pkg_check_modules(RDKAFKA REQUIRED IMPORTED_TARGET rdkafka)
pkg_check_modules(HIREDIS REQUIRED IMPORTED_TARGET hiredis)
pkg_check_modules(MICROHTTPD REQUIRED IMPORTED_TARGET libmicrohttpd)
pkg_check_modules(GNUTLS REQUIRED IMPORTED_TARGET gnutls) # what libmicrohttpd speaks TLS with
pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash)
pkg_check_modules(XGBOOST IMPORTED_TARGET xgboost)

add_library(assay_flags INTERFACE)
target_include_directories(assay_flags INTERFACE ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR})
target_compile_definitions(assay_flags INTERFACE _GNU_SOURCE G_DISABLE_DEPRECATED)
target_compile_options(assay_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wstrict-prototypes -Wmissing-prototypes
  -Wvla -Wno-missing-field-initializers -fno-omit-frame-pointer)
if(ASSAY_WERROR)
  target_compile_options(assay_flags INTERFACE -Werror)
endif()
if(ASSAY_ASAN)
  target_compile_options(assay_flags INTERFACE -fsanitize=address,undefined -fno-sanitize-recover=undefined)
  target_link_options(assay_flags INTERFACE -fsanitize=address,undefined)
  if(CMAKE_C_COMPILER_ID STREQUAL "GNU") # from 13 on it takes the poisoning of fresh memory for a read, and its fake
    # stack, on by default then, holds no object of 64 bytes' alignment (XXH3_state_t)
    target_compile_options(assay_flags INTERFACE -Wno-maybe-uninitialized --param=asan-use-after-return=0)
  endif()
endif()
if(ASSAY_TSAN)
  target_compile_options(assay_flags INTERFACE -fsanitize=thread)
  target_link_options(assay_flags INTERFACE -fsanitize=thread)
endif()
if(CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT ASSAY_ASAN AND NOT ASSAY_TSAN)
  target_compile_options(assay_flags INTERFACE -fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
  target_link_options(assay_flags INTERFACE -Wl,-z,relro,-z,now)
endif()
if(ASSAY_LTO)
  set(CMAKE_INTERPROCEDURAL_OPTIMIZATION ON)
endif()
# Objects have other paths in the two builds: profiles are named by what follows the build folder. gcc.
if(ASSAY_PGO STREQUAL "train")
  set(pgo_flags -fprofile-generate -fprofile-update=atomic)
elseif(ASSAY_PGO STREQUAL "use")
  set(pgo_flags -fprofile-use -fprofile-partial-training -Wno-missing-profile -Wno-coverage-mismatch
                -Wno-stringop-overread) # of xxhash, once it is inlined by the counts
elseif(ASSAY_PGO)
  message(FATAL_ERROR "ASSAY_PGO is train or use, not ${ASSAY_PGO}")
endif()
if(ASSAY_PGO)
  list(APPEND pgo_flags -fprofile-dir=${ASSAY_PGO_DIR} -fprofile-prefix-path=${CMAKE_BINARY_DIR})
  target_compile_options(assay_flags INTERFACE ${pgo_flags})
  target_link_options(assay_flags INTERFACE ${pgo_flags})
endif()
if(ASSAY_MUTATIONS)
  target_compile_definitions(assay_flags INTERFACE ASSAY_MUTATIONS)
endif()
if(ASSAY_LIBFUZZER) # without this libFuzzer sees no coverage of the rooms
  target_compile_options(assay_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
target_link_libraries(assay_flags INTERFACE Threads::Threads PkgConfig::GLIB m)

# Each line of the file that the regular expression <row> matches, replaced by <text>. A changed file configures anew.
function(assay_rows out file row text)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  file(STRINGS ${file} rows REGEX "${row}")
  list(TRANSFORM rows REPLACE "${row}" "${text}")
  set(${out} ${rows} PARENT_SCOPE)
endfunction()

function(assay_room name)
  cmake_parse_arguments(ROOM "" "" "SOURCES;DEPS" ${ARGN})
  add_library(${name} STATIC ${ROOM_SOURCES})
  target_link_libraries(${name} PUBLIC assay_flags ${ROOM_DEPS})
endfunction()

# Opens late what pkg_check_modules found as <module>. <header>, in the room's folder, lists the calls, and the header
# that it includes, <header>_late.h, is made here: the names of the library and of its package, and what each call is.
function(assay_late room header module)
  list(GET ${module}_LINK_LIBRARIES 0 library)
  target_include_directories(${room} SYSTEM PUBLIC ${${module}_INCLUDE_DIRS})
  execute_process(COMMAND ${CMAKE_OBJDUMP} -p ${library} OUTPUT_VARIABLE head COMMAND_ERROR_IS_FATAL ANY)
  if(NOT head MATCHES "SONAME +([^\n]+)")
    message(FATAL_ERROR "${library} has no soname")
  endif()
  set(soname ${CMAKE_MATCH_1})
  cmake_path(GET header STEM name)
  string(TOUPPER ${name} prefix)
  set(package ${name}) # what is said where there is no dpkg
  file(REAL_PATH ${library} path)
  string(REGEX REPLACE "^/usr/" "*/" path ${path}) # dpkg knows a merged /usr by either name of a file
  execute_process(COMMAND dpkg-query -S ${path} OUTPUT_VARIABLE owner ERROR_QUIET)
  if(owner MATCHES "^([^:]+):")
    set(package ${CMAKE_MATCH_1})
    set_property(GLOBAL APPEND PROPERTY ASSAY_LATE_PACKAGES_${room} ${package})
  endif()
  set(rows ${CMAKE_CURRENT_SOURCE_DIR}/${header})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${rows})
  file(READ ${rows} calls)
  string(REGEX MATCHALL " X\\([A-Za-z0-9_]+\\)" calls "${calls}")
  list(TRANSFORM calls REPLACE " X\\((.*)\\)" "#define \\1 ${name}.\\1\n")
  string(CONCAT calls ${calls})
  cmake_path(REPLACE_FILENAME header ${name}_late.h)
  file(CONFIGURE OUTPUT ${header} CONTENT
    "#define ${prefix}_FILE \"${soname}\"\n#define ${prefix}_PACKAGE \"${package}\"\n${calls}" @ONLY)
endfunction()

function(assay_test room)
  cmake_parse_arguments(TEST "SERIAL" "LABEL" "SOURCES;DEPS;ARGS" ${ARGN})
  if(NOT TEST_LABEL)
    set(TEST_LABEL unit)
  endif()
  add_executable(test_${room} ${TEST_SOURCES})
  target_link_libraries(test_${room} PRIVATE assay_flags test_support ${TEST_DEPS} PkgConfig::CRITERION)
  target_compile_definitions(test_${room} PRIVATE TEST_DATA="${CMAKE_SOURCE_DIR}/tests/data"
    SHARED_DATA="${CMAKE_SOURCE_DIR}/../shared/data" SOURCE_ROOT="${CMAKE_SOURCE_DIR}")
  # Criterion's macros are not clean under -Wpedantic; the test's own code still is under the rest.
  target_compile_options(test_${room} PRIVATE -Wno-pedantic -Wno-missing-prototypes)
  add_test(NAME ${room} COMMAND test_${room} -j2 ${TEST_ARGS})
  set_tests_properties(${room} PROPERTIES LABELS ${TEST_LABEL} TIMEOUT 900 RUN_SERIAL ${TEST_SERIAL}
    ENVIRONMENT "LSAN_OPTIONS=suppressions=${CMAKE_SOURCE_DIR}/tests/lsan.supp:print_suppressions=0")
endfunction()

# Threads that share something: a plain program, since Criterion's runner does not survive ThreadSanitizer. It runs with
# the other tests, and under the tsan preset, which builds no more than the target race_tests.
#
# GLib's slices (before 2.76) hand memory from one thread to another under locks that TSan does not know, and it then
# takes two owners, one after the other, for a race; it knows malloc.
add_custom_target(race_tests)
function(assay_race_test name)
  cmake_parse_arguments(RACE "" "LABEL" "SOURCES;DEPS" ${ARGN})
  if(NOT RACE_LABEL)
    set(RACE_LABEL unit)
  endif()
  add_executable(${name} ${name}.c ${RACE_SOURCES})
  target_link_libraries(${name} PRIVATE assay_flags ${RACE_DEPS})
  add_dependencies(race_tests ${name})
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS "${RACE_LABEL};race" TIMEOUT 300 ENVIRONMENT G_SLICE=always-malloc)
endfunction()

# A fuzz target is one file with LLVMFuzzerTestOneInput. With clang it becomes a libFuzzer binary; without, it
# replays the saved corpus (tests/fuzz/corpus/<name>), which is what a plain test run does.
function(assay_fuzzer name)
  cmake_parse_arguments(FUZZ "" "" "SOURCES;DEPS" ${ARGN})
  add_executable(fuzz_${name} ${FUZZ_SOURCES})
  target_link_libraries(fuzz_${name} PRIVATE assay_flags ${FUZZ_DEPS})
  target_compile_options(fuzz_${name} PRIVATE -Wno-missing-prototypes)
  set(corpus ${CMAKE_SOURCE_DIR}/tests/fuzz/corpus/${name})
  if(ASSAY_LIBFUZZER)
    target_compile_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
    target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
    add_test(NAME fuzz_${name} COMMAND fuzz_${name} -runs=0 ${corpus})
  else()
    target_sources(fuzz_${name} PRIVATE ${CMAKE_SOURCE_DIR}/tests/fuzz/replay_main.c)
    add_test(NAME fuzz_${name} COMMAND fuzz_${name} ${corpus})
  endif()
  set_tests_properties(fuzz_${name} PROPERTIES LABELS fuzz TIMEOUT 600)
endfunction()
