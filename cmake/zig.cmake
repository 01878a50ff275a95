# A toolchain that compiles for other systems, with zig from the package index (pip install ziglang):
#   cmake -S . -B build-wasm -DCMAKE_TOOLCHAIN_FILE=cmake/zig.cmake -DZIG_TARGET=wasm32-wasi
# ZIG_TARGET is what zig calls the target; ZIG is the program, if it is neither in PATH nor a package of python3.
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES ZIG ZIG_TARGET)
if(NOT ZIG)
  find_program(ZIG zig)
endif()
if(NOT ZIG)
  execute_process(COMMAND python3 -c "import ziglang, os; print(os.path.dirname(ziglang.__file__) + '/zig', end='')"
    OUTPUT_VARIABLE zig_of_python ERROR_QUIET)
  set(ZIG "${zig_of_python}" CACHE FILEPATH "The zig program" FORCE)
endif()
if(NOT ZIG)
  message(FATAL_ERROR "There is no zig here; install it with pip install ziglang, or name it with -DZIG=PATH")
endif()

string(REGEX MATCH "^[^-]+" CMAKE_SYSTEM_PROCESSOR "${ZIG_TARGET}")
if(ZIG_TARGET MATCHES "wasi")
  set(CMAKE_SYSTEM_NAME WASI)
  list(APPEND CMAKE_MODULE_PATH ${CMAKE_CURRENT_LIST_DIR})
  # Every browser has had these instructions since 2023. The stack is a fixed part of the memory.
  set(CMAKE_C_FLAGS_INIT "-msimd128 -D_WASI_EMULATED_SIGNAL")
  set(CMAKE_EXE_LINKER_FLAGS_INIT "-Wl,-z,stack-size=1048576 -lwasi-emulated-signal -s")
elseif(ZIG_TARGET MATCHES "windows")
  set(CMAKE_SYSTEM_NAME Windows)
elseif(ZIG_TARGET MATCHES "macos")
  set(CMAKE_SYSTEM_NAME Darwin)
else()
  set(CMAKE_SYSTEM_NAME Linux)
endif()

set(CMAKE_C_COMPILER ${ZIG} cc --target=${ZIG_TARGET})
foreach(tool ar ranlib) # CMake wants programs of their own
  set(wrapper ${CMAKE_BINARY_DIR}/zig-${tool})
  file(WRITE ${wrapper} "#!/bin/sh\nexec \"${ZIG}\" ${tool} \"$@\"\n")
  execute_process(COMMAND chmod +x ${wrapper})
  string(TOUPPER ${tool} name)
  set(CMAKE_${name} ${wrapper})
endforeach()
# Libraries of this machine are of no use there.
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
