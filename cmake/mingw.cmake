# A toolchain that compiles for Windows with GCC (Debian: gcc-mingw-w64-ucrt64, or before Debian 13 gcc-mingw-w64-x86-64-posix):
#   cmake -S . -B build-windows -DCMAKE_TOOLCHAIN_FILE=cmake/mingw.cmake
# The C library is the UCRT, which every Windows since 10 has.
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
find_program(MINGW NAMES x86_64-w64-mingw32ucrt-gcc x86_64-w64-mingw32-gcc-posix x86_64-w64-mingw32-gcc REQUIRED)
set(CMAKE_C_COMPILER ${MINGW})
if(NOT MINGW MATCHES "ucrt") # a compiler that links the older C library unless told otherwise
  set(specs ${CMAKE_BINARY_DIR}/ucrt.specs)
  if(NOT EXISTS ${specs})
    execute_process(COMMAND ${MINGW} -dumpspecs OUTPUT_VARIABLE text)
    string(REPLACE "-lmsvcrt" "-lucrt" text "${text}")
    file(WRITE ${specs} "${text}")
  endif()
  set(CMAKE_C_FLAGS_INIT "-specs=${specs} -D_UCRT -D__MSVCRT_VERSION__=0xE00")
  set(setjmp "-Wl,--defsym=_setjmp=__intrinsic_setjmp") # the name that its thread library asks for
endif()
set(CMAKE_EXE_LINKER_FLAGS_INIT "-static ${setjmp}")
set(CMAKE_SHARED_LINKER_FLAGS_INIT "-static ${setjmp}")
# Libraries of this machine are of no use there.
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
